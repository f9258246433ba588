"""Mistakes with money: paid wrongly, not paid, or a tray that does not balance."""

from typing import Final

from models.events import PaymentMade, TrayCounted
from simulation.mistakes.catalogue import first, mistake, scene
from simulation.table import Table

_TRAY: Final = 2_000_000


@mistake("wrong_payout")
def _pays_too_much(table: Table) -> None:
    """The hand settled first is paid five dollars over."""
    round_ = scene(table)
    round_.until_players()
    round_.play_players()
    round_.play_dealer()
    wrong, *rest = round_.unsettled()
    round_.settle_hand(wrong, error=500)
    for hand in rest:
        round_.settle_hand(hand)
    round_.close()


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
