"""How soon a shoe game's facts are told, once nothing that remains holds otherwise."""

from collections.abc import Sequence

from msgspec.structs import replace

from models.events import (
    AnyFact,
    AnyObservation,
    CardDealt,
    CardExposed,
    CardGone,
    CardSighted,
    RoundClosed,
)
from models.judgements import ReviewRaised
from settlement.reckoning import Reckoning
from tests.settlement.sessions import Session, session

MS = 1_000_000
TICK_NS = 100 * MS


def told(
    played: Session, heard: Sequence[tuple[int, AnyObservation]]
) -> list[tuple[int, AnyFact | ReviewRaised]]:
    """Return what is told and when, by a table that looks at the clock ten times a second."""
    table = Reckoning(played.rules, played.layout, "shoe")
    said: list[tuple[int, AnyFact | ReviewRaised]] = []
    now_ns = heard[0][0]
    for at, observation in heard:
        for tick_ns in range(now_ns, at, TICK_NS):
            said += [(tick_ns, one) for one in table.advance(tick_ns)]
        said += [(at, one) for one in table.feed(observation, at)]
        now_ns = at
    for tick_ns in range(now_ns, now_ns + 5_000 * MS, TICK_NS):
        said += [(tick_ns, one) for one in table.advance(tick_ns)]
    return said


def test_a_hole_card_is_a_fact_soon_though_its_back_was_faint() -> None:
    """That the shoe's card lies elsewhere, seen by nobody, is less likely by the second."""
    played = session("kansas-shoe", 1, rounds=1)
    heard = [
        (
            at,
            replace(one, confidence=0.38)
            if isinstance(one, CardSighted) and one.face == "down"
            else one,
        )
        for at, one in played.heard
    ]
    back = next(at for at, one in heard if isinstance(one, CardSighted) and one.face == "down")
    known = next(
        at for at, one in told(played, heard) if isinstance(one, CardDealt) and one.face == "down"
    )
    assert known - back < 2_500 * MS


def test_the_dealers_next_card_does_not_wait_behind_the_one_that_he_turned() -> None:
    played = session("kansas-shoe", 3, rounds=1)
    said = told(played, played.heard)
    turned = next(at for at, one in said if isinstance(one, CardExposed))
    shown = next(
        at for at, one in played.heard if isinstance(one, CardSighted) and one.change == "turned"
    )
    assert turned - shown < 700 * MS


def test_a_round_that_is_paid_and_off_the_felt_is_over_at_once() -> None:
    played = session("kansas-shoe", 1, rounds=1)
    gone = [at for at, one in played.heard if isinstance(one, CardGone)][-1]
    over = next(at for at, one in told(played, played.heard) if isinstance(one, RoundClosed))
    assert over - gone < 500 * MS
