"""A card that was due, and of which both sensors say the same, need not wait for what is late."""

from collections.abc import Callable, Sequence
from random import Random

import pytest

from models.events import AnyFact, AnyObservation, CardDealt, RoundOpened
from models.judgements import ReviewRaised
from settlement.reconcile import Reconciler
from settlement.reconcile.timing import DUE_HOLD_NS, HOLD_NS
from tests.settlement.noise import (
    camera_is_late,
    camera_sees_ghosts,
    everything_at_once,
    plates_break,
    renumbered,
    shoe_misses_unnoticed,
)
from tests.settlement.sessions import Session, session

Heard = Sequence[tuple[int, AnyObservation]]
TICK_NS = 40_000_000
DEAL = 12
"""Cards of the deal to five spots and the dealer; his last lies face down."""


def told(
    played: Session, heard: Heard, *, ticking: bool
) -> list[tuple[int, AnyFact | ReviewRaised]]:
    """What is said, and when: a ticking table is told of time, another of observations alone."""
    table, said, now_ns = Reconciler(played.rules, played.layout), [], heard[0][0]
    for at_ns, one in heard:
        if ticking:
            for tick_ns in range(now_ns, at_ns, TICK_NS):
                said += [(tick_ns, fact) for fact in table.advance(tick_ns)]
        said += [(at_ns, fact) for fact in table.feed(one, at_ns)]
        now_ns = max(now_ns, at_ns)
    return [*said, *((now_ns, fact) for fact in table.finish())]


def test_cards_of_the_deal_are_facts_a_second_after_they_left_the_shoe() -> None:
    played = session("kansas-shoe", 4, rounds=1)
    cards = [
        (at_ns - (fact.at or 0))
        for at_ns, fact in told(played, played.heard, ticking=True)
        if isinstance(fact, CardDealt)
    ]
    first, *others = cards[: DEAL - 1]
    assert HOLD_NS <= first <= HOLD_NS + TICK_NS, "what was staked is to be known by then"
    assert all(late <= DUE_HOLD_NS + TICK_NS for late in others[2:])
    assert all(late >= DUE_HOLD_NS for late in others)


@pytest.mark.parametrize(
    "disturb",
    [camera_is_late, camera_sees_ghosts, shoe_misses_unnoticed, plates_break, everything_at_once],
)
def test_what_is_said_of_it_is_the_same_however_soon(
    disturb: Callable[[Heard, Random], list[tuple[int, AnyObservation]]],
) -> None:
    for seed in range(4):
        played = session("kansas-shoe", seed)
        heard = renumbered(disturb(played.heard, Random(seed)))
        soon = [fact for _, fact in told(played, heard, ticking=True)]
        late = [fact for _, fact in told(played, heard, ticking=False)]
        assert sum(isinstance(fact, RoundOpened) for fact in soon) >= 2
        assert [fact for fact in soon if not isinstance(fact, ReviewRaised)] == [
            fact for fact in late if not isinstance(fact, ReviewRaised)
        ]
