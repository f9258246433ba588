"""What a fact of an account states: two facts are the same unless they say different things."""

from typing import Any

import pytest
from msgspec.structs import replace

from models import events as ev
from models.cards import Card
from models.events import AnyFact
from settlement.reckoning.record import gist

WAGER = ev.WagerPlaced(at=1, spot=1, kind="side", amount=500, bet="pairs", bettor="ANN")
PAYMENT = ev.PaymentMade(at=1, spot=1, kind="side", amount=500, bet="pairs", bettor="ANN")
DEALT = ev.CardDealt(at=1, to=1, card=Card.AS)


@pytest.mark.parametrize(
    ("fact", "other"),
    [
        (WAGER, {"kind": "toke"}),
        (WAGER, {"bet": "lucky"}),
        (WAGER, {"bettor": None}),
        (PAYMENT, {"kind": "main"}),
        (PAYMENT, {"bet": "lucky"}),
        (PAYMENT, {"bettor": None}),
        (ev.WagerRemoved(at=1, spot=1, kind="main", amount=500), {"by": "floor"}),
        (ev.HandCalledOff(at=1, spot=1), {"hand": 0}),
        (ev.CardMoved(at=1, card=Card.AS, origin="rack", to="rack"), {"card": Card.AH}),
        (ev.TrayCounted(at=1, amount=1), {"amount": 2}),
        (DEALT, {"card": Card.AH}),
        (DEALT, {"at": 2}),
    ],
)
def test_facts_that_say_different_things_differ(fact: AnyFact, other: dict[str, Any]) -> None:
    assert gist(fact) != gist(replace(fact, **other))


def test_what_a_fact_rests_on_makes_no_difference() -> None:
    assert gist(replace(WAGER, seq=7, table="BJ-01", evidence=(3,))) == gist(WAGER)
    assert gist(replace(DEALT, probability=0.9)) == gist(DEALT)
