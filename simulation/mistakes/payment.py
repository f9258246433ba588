"""Mistakes with money: wrong or missing payments, or a tray that does not balance."""

from dataclasses import dataclass
from typing import Final

from models.events import PaymentMade, TrayCounted
from models.money import Cents
from simulation.mistakes.catalogue import first, mistake, scene
from simulation.round import Round
from simulation.steps import Hand
from simulation.table import Table

_TRAY: Final = 2_000_000


@dataclass(frozen=True, slots=True)
class _Wrong:
    """A hand, and its payment error: in cents, in shares of its stake, and of its due."""

    cards: str
    flat: Cents = 0
    stakes: int = 0
    dues: int = 0


_WRONG: Final = (
    _Wrong("X X", flat=500),
    _Wrong("X X", flat=-500),
    _Wrong("9 X", stakes=-1),
    _Wrong("A X", stakes=1, dues=-1),
)
"""Five dollars over, five short, a push taken, a blackjack paid even money."""


@mistake("wrong_payout")
def _pays_wrongly(table: Table) -> None:
    """Pay a hand wrongly, or the side bet where the table takes one."""
    if table.side_bet is None:
        _pays_a_hand_wrongly(table)
    else:
        _pays_a_side_bet_wrongly(table)


def _pays_a_side_bet_wrongly(table: Table) -> None:
    round_, spot = scene(table), first(table)
    round_.open()
    if spot not in round_.sides:
        round_.lay_side(spot, table.side_wager(round_.hands[spot][0].bet, always=True))
    round_.deal_initial()
    round_.check_hole()
    round_.play_players()
    round_.play_dealer()
    for hand in round_.hands[spot]:
        round_.turn_up(hand)
    round_.settle_side(spot, wrongly=True)
    round_.finish()


def _pays_a_hand_wrongly(table: Table) -> None:
    spot, wrong = first(table), table.chance.choice(_WRONG)
    round_ = scene(table, cards={(spot, 0): wrong.cards})
    round_.until_players()
    hand = round_.hands[spot][0]
    if round_.blackjack(hand):
        _pay(round_, hand, wrong)
    round_.play_players()
    round_.play_dealer()
    for other in round_.unsettled():
        if other is hand:
            _pay(round_, hand, wrong)
        else:
            round_.settle_hand(other)
    round_.close()


def _pay(round_: Round, hand: Hand, wrong: _Wrong) -> None:
    round_.turn_up(hand)
    hand.finished = True
    error = wrong.flat + wrong.stakes * hand.stake + wrong.dues * round_.due(hand)
    round_.settle_hand(hand, error)


@mistake("payment_missing", spots=2)
def _forgets_to_pay(table: Table) -> None:
    round_ = scene(table, cards={(first(table), 0): "X X"})
    round_.until_players()
    round_.play_players()
    round_.play_dealer()
    for hand in round_.unsettled()[:-1]:
        round_.settle_hand(hand)
    for hand in round_.unsettled():
        round_.turn_up(hand)
    round_.close()


@mistake("tray_mismatch")
def _counts_a_chip_too_few(table: Table) -> None:
    table.write(TrayCounted(amount=_TRAY), console=True)
    begun = len(table.steps)
    scene(table).play()
    paid = sum(
        step.fact.amount for step in table.steps[begun:] if isinstance(step.fact, PaymentMade)
    )
    table.write(TrayCounted(amount=_TRAY - paid - 500), console=True)
