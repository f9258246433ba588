"""Mistakes with players' cards, and with the deck itself."""

from typing import Final

from models.cards import DECK, Card
from models.events import CardExposed
from models.rulebook import Rulebook
from settlement.houserules import HouseRules
from settlement.play import closed_to_cards, hand_with
from simulation.mistakes.catalogue import first, mistake, scene
from simulation.table import Table

_MOST_DECKS: Final = 8


def _one_card_to_aces(rules: Rulebook) -> bool:
    hand = hand_with((Card("AS"), Card("7D")), split=True)
    return closed_to_cards(hand, HouseRules(rules)) == "extra_card_on_split_ace"


@mistake("extra_card_after_double")
def _serves_a_doubled_hand(table: Table) -> None:
    spot = first(table)
    round_ = scene(table, cards={(spot, 0): "6 5 8 2"})
    round_.until_players()
    hand = round_.hands[spot][0]
    round_.double(hand, hand.bet)
    round_.extra_card(hand)
    round_.end()


@mistake("extra_card_on_split_ace", when=_one_card_to_aces)
def _serves_a_split_ace(table: Table) -> None:
    spot = first(table)
    round_ = scene(table, cards={(spot, 0): "A A 7 2", (spot, 1): "8"})
    round_.until_players()
    hand = round_.hands[spot][0]
    round_.split(hand)
    round_.extra_card(hand)
    round_.end()


@mistake("card_after_stand")
def _serves_a_hand_that_stood(table: Table) -> None:
    spot = first(table)
    round_ = scene(table, "6 X 3", cards={(spot, 0): "X 5 2"})
    round_.until_players()
    hand = round_.hands[spot][0]
    round_.stand(hand, console=True)
    round_.extra_card(hand)
    round_.end()


@mistake("card_after_breaking")
def _serves_a_broken_hand(table: Table) -> None:
    spot = first(table)
    round_ = scene(table, cards={(spot, 0): "X 6 X 2"})
    round_.until_players()
    hand = round_.hands[spot][0]
    round_.act(hand, "hit")
    round_.deal(spot)
    round_.extra_card(hand)
    round_.after_card(hand)
    round_.end()


@mistake("card_to_blackjack")
def _serves_a_blackjack(table: Table) -> None:
    spot = first(table)
    round_ = scene(table, cards={(spot, 0): "A X 5"})
    round_.until_players()
    round_.extra_card(round_.hands[spot][0])
    round_.end()


@mistake("missing_card")
def _forgets_a_doubled_hand(table: Table) -> None:
    """Forget the card of a double whose chips are laid."""
    spot = first(table)
    round_ = scene(table, cards={(spot, 0): "6 5"})
    round_.until_players()
    hand = round_.hands[spot][0]
    round_.lay_double(hand, hand.bet, console=True)
    round_.end()


@mistake("impossible_card")
def _deals_one_too_many(table: Table) -> None:
    """Draw the same deuce once more than the decks hold it."""
    table.start_afresh()
    spot, copies = first(table), table.rules.decks + 1
    round_ = scene(table, cards={(spot, 0): " ".join(["2S"] * max(2, copies))})
    round_.until_players()
    hand = round_.hands[spot][0]
    while len(hand.cards) < copies:
        round_.hit(hand)
    round_.end()


@mistake("foreign_card")
def _turns_up_another_card(table: Table) -> None:
    """Turn up another card than was dealt: the hole card, or one that a player switched."""
    if table.has_shoe:
        _switches_the_hole_card(table)
    else:
        _switches_a_drawn_card(table)


def _switches_the_hole_card(table: Table) -> None:
    round_ = scene(table)
    round_.until_players()
    round_.play_players()
    other = _another(round_.hole)
    table.write(CardExposed(to="dealer", card=other), other)
    round_.hole_shown = True
    round_.play_dealer()
    round_.finish()


def _switches_a_drawn_card(table: Table) -> None:
    spot = first(table)
    round_ = scene(table, cards={(spot, 0): "6 5 8"})
    round_.until_players()
    hand = round_.hands[spot][0]
    round_.double(hand, hand.bet)
    other = _another(hand.cards[-1])
    table.write(CardExposed(to=spot, card=other), other)
    round_.end()


def _another(card: Card | None) -> Card:
    """Return a card of the same points, so that nothing else about the hand changes."""
    assert card is not None, "the card to be replaced is known"
    return next(other for other in DECK if other.points == card.points and other != card)


@mistake(
    "burn_missing",
    when=lambda rules: rules.burn_after_shuffle > 0 and rules.shoe == "dealt_out",
    knobs=("burn_after_shuffle=1",),
)
def _forgets_to_burn(table: Table) -> None:
    table.start_shoe(burns=0)
    scene(table).play()


@mistake("wrong_deck_count")
def _shuffles_a_deck_more(table: Table) -> None:
    decks = table.rules.decks
    table.start_shoe(decks=decks + 1 if decks < _MOST_DECKS else decks - 1)
    scene(table).play()


@mistake("dealt_past_cut_card", when=lambda rules: rules.shoe == "dealt_out")
def _ignores_the_cut_card(table: Table) -> None:
    table.start_afresh()
    table.shoe.bring_cut(5)
    scene(table).play()
    scene(table).play()
