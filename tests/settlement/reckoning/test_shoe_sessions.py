"""Whole sessions of shoe games, as the reckoning reads them."""

from collections.abc import Sequence
from random import Random

import pytest

from models.events import AnyObservation, CardDealt, CardSighted
from settlement.reckoning import Reckoning
from tests.settlement.noise import (
    Noise,
    camera_is_late,
    camera_misses,
    camera_sees_ghosts,
    renumbered,
    shoe_misses_unnoticed,
)
from tests.settlement.sessions import Session, compare, reconciled, session
from tests.settlement.test_reconcile_sessions import BORNE, SHOE_GAMES

TICK_NS = 40_000_000
SOON_NS = 1_500_000_000
"""A card of the deal is a fact so soon after it left the shoe."""
DEAL = 12
"""Cards of the deal to five spots and the dealer; his last lies face down."""

STATED = (
    "dealer_hit_hard_17",
    "dealer_stood_below_17",
    "deal_order",
    "card_after_stand",
    "stake_increased_after_deal",
    "wager_on_no_hand",
    "wrong_payout",
)


@pytest.mark.parametrize("keeps_tracks", [True, False], ids=["tracks-kept", "tracks-broken"])
@pytest.mark.parametrize("rules", SHOE_GAMES)
def test_perfect_sensors_leave_nothing_open(rules: str, keeps_tracks: bool) -> None:
    for seed in range(4):
        played = session(rules, seed, rounds=2, keeps_tracks=keeps_tracks)
        found = compare(played, reconciled(played, played.heard))
        assert (found.exact, found.asked, found.wrong) == (2, (), ())


def test_a_dealer_without_a_hole_card_is_followed() -> None:
    for seed in range(3):
        played = session("kansas-shoe", seed, knobs=("dealer_second_card=after_players",))
        found = compare(played, reconciled(played, played.heard))
        assert (found.exact, found.asked, found.wrong) == (2, (), ())


@pytest.mark.parametrize("code", STATED)
def test_a_mistake_that_both_sensors_saw_is_stated(code: str) -> None:
    played = session("kansas-shoe", 1, mistake=code)
    found = compare(played, reconciled(played, played.heard))
    assert (found.asked, found.wrong) == ((), ())


@pytest.mark.parametrize("disturb", BORNE)
def test_noise_of_one_sensor_is_made_good_by_the_other(disturb: Noise) -> None:
    for seed in range(4):
        played = session("kansas-shoe", seed, keeps_tracks=seed % 2 == 0)
        heard = renumbered(disturb(played.heard, Random(seed)))
        found = compare(played, reconciled(played, heard))
        assert (found.exact, found.wrong) == (2, ())


@pytest.mark.slow
def test_every_round_that_no_camera_saw_is_for_a_person() -> None:
    played = session("kansas-shoe", 1, spots=(1, 3))
    blind = [(at, one) for at, one in played.heard if not isinstance(one, CardSighted)]
    found = compare(played, reconciled(played, renumbered(blind)))
    assert (found.exact, found.wrong) == (0, ())
    assert found.asked


@pytest.mark.parametrize(
    "disturb", [camera_is_late, camera_misses, camera_sees_ghosts, shoe_misses_unnoticed]
)
def test_what_one_sensor_misses_is_never_settled_wrongly(disturb: Noise) -> None:
    for seed in range(6):
        played = session("kansas-shoe", seed, keeps_tracks=seed % 2 == 0)
        heard = renumbered(disturb(played.heard, Random(seed)))
        assert compare(played, reconciled(played, heard)).wrong == ()


def late_ns(played: Session, heard: Sequence[tuple[int, AnyObservation]]) -> list[int]:
    """Return how long after it left the shoe each card of a ticking table is a fact."""
    table, found, now_ns = Reckoning(played.rules, played.layout), list[int](), heard[0][0]
    for at_ns, one in heard:
        said = [
            (tick, fact) for tick in range(now_ns, at_ns, TICK_NS) for fact in table.advance(tick)
        ]
        said += [(at_ns, fact) for fact in table.feed(one, at_ns)]
        found += [at - (fact.at or 0) for at, fact in said if isinstance(fact, CardDealt)]
        now_ns = max(now_ns, at_ns)
    return found


def test_cards_of_the_deal_are_facts_soon_after_they_left_the_shoe() -> None:
    played = session("kansas-shoe", 4, rounds=1)
    late = late_ns(played, played.heard)
    assert len(late) >= DEAL
    assert all(one <= SOON_NS for one in late[: DEAL - 1])
