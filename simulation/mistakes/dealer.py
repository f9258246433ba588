"""Mistakes in the dealer's own draws."""

from models.cards import Card
from models.rulebook import Rulebook
from settlement.dealer import must_draw
from settlement.hands import counted
from settlement.houserules import HouseRules
from simulation.mistakes.catalogue import mistake, scene
from simulation.round import Round
from simulation.table import Table


def _draws_to_soft_17(rules: Rulebook) -> bool:
    return must_draw(counted((Card("AS"), Card("6S"))), HouseRules(rules))


def _overdraws(table: Table, dealer: str) -> None:
    """Play the dealer's hand out and then take one more card."""
    round_ = scene(table, dealer)
    round_.until_players()
    round_.play_players()
    round_.play_dealer()
    round_.extra_draw()
    round_.finish()


def _underdraws(table: Table, dealer: str) -> None:
    """Turn the dealer's hole card and stop."""
    round_ = scene(table, dealer)
    round_.until_players()
    round_.play_players()
    round_.turn_hole()
    round_.finish()


@mistake("dealer_hit_hard_17")
def _hits_hard_17(table: Table) -> None:
    _overdraws(table, "X 7 2")


@mistake("dealer_hit_18_plus")
def _hits_18(table: Table) -> None:
    _overdraws(table, "X 8 2")


@mistake("dealer_hit_soft_17", when=lambda rules: not _draws_to_soft_17(rules))
def _hits_soft_17(table: Table) -> None:
    _overdraws(table, "6 A 2")


@mistake("dealer_stood_soft_17", when=_draws_to_soft_17)
def _stands_on_soft_17(table: Table) -> None:
    _underdraws(table, "6 A")


@mistake("dealer_stood_below_17")
def _stands_below_17(table: Table) -> None:
    _underdraws(table, "9 6")


@mistake("dealer_drew_after_breaking")
def _draws_after_breaking(table: Table) -> None:
    _overdraws(table, "9 6 X 2")


@mistake("dealer_drew_on_blackjack")
def _draws_on_blackjack(table: Table) -> None:
    _overdraws(table, "X A 5")


@mistake("dealer_drew_no_live_hands")
def _draws_for_nobody(table: Table) -> None:
    round_: Round = scene(table, "9 7 2", others=("X L X",))
    round_.rig_all("hit")
    round_.until_players()
    round_.play_players()
    round_.turn_hole()
    round_.extra_draw()
    round_.finish()
