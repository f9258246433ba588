"""A camera whose clock is off is noticed by its cards, and nothing certain is said meanwhile."""

import re
from collections.abc import Callable
from random import Random

import pytest
from msgspec.structs import replace

from models.events import CardSighted, Observation
from models.judgements import ReviewRaised
from settlement.engine import Engine
from settlement.reconcile.clocks import Clocks
from tests.settlement import noise
from tests.settlement.noise import Timed
from tests.settlement.sessions import Session, reconciled, session

SECOND = 1_000_000_000
NOISES = [
    noise.camera_cannot_read,
    noise.camera_half_reads,
    noise.camera_is_late,
    noise.camera_misreads,
    noise.camera_misses,
    noise.camera_sees_double,
    noise.camera_sees_ghosts,
    noise.everything_at_once,
    noise.shoe_misreads,
    noise.shoe_misses_unnoticed,
    noise.shoe_repeats,
]


def ahead(seconds: float) -> Callable[[int], int]:
    return lambda since_ns: since_ns + round(seconds * SECOND)


def running(rate: float) -> Callable[[int], int]:
    return lambda since_ns: round(since_ns * rate)


def with_camera_clock(played: Session, told: Callable[[int], int]) -> list[Timed]:
    """The session with the camera's times as its clock tells them, in the order of time."""
    start_ns = played.heard[0][0]

    def off(at_ns: int) -> int:
        return start_ns + told(at_ns - start_ns)

    heard = [
        (off(at), replace(said, at=off(said.at or 0)))
        if said.source.startswith("camera")
        else (at, said)
        for at, said in played.heard
    ]
    return sorted(heard, key=lambda timed: timed[0])


def found_in(heard: list[Timed]) -> list[str]:
    """Every state of the camera's clock that differs from the one before, in words."""
    clocks, found = Clocks(), [""]
    for _, said in heard:
        assert isinstance(said, Observation)
        clocks.take(said)
        told = "; ".join(clocks.parted.values())
        if told != found[-1]:
            found.append(told)
    return found[1:]


@pytest.mark.parametrize("rate", [1.2, 0.8])
@pytest.mark.parametrize("seed", [103, 104])
def test_a_clock_whose_rate_is_off_is_named_once(seed: int, rate: float) -> None:
    played = session("kansas-shoe", seed, rounds=3, spots=(1, 2, 4))
    (found,) = found_in(with_camera_clock(played, running(rate)))
    told = re.fullmatch(r"the clock of camera:overhead is .* and runs about (\d+)% (\w+)", found)
    assert told is not None
    assert abs(int(told.group(1)) - 20) <= 8
    assert told.group(2) == ("fast" if rate > 1 else "slow")


@pytest.mark.parametrize("seconds", [3600, -3600, 60, -60, 2, -2, 1, -1])
@pytest.mark.parametrize("seed", [103, 104])
def test_a_clock_that_is_off_is_named_once(seed: int, seconds: int) -> None:
    played = session("kansas-shoe", seed, rounds=3, spots=(1, 2, 4))
    (found,) = found_in(with_camera_clock(played, ahead(seconds)))
    told = re.fullmatch(r"the clock of camera:overhead is about ([\d.]+) s (.*) the shoe's", found)
    assert told is not None
    assert abs(float(told.group(1)) - abs(seconds)) <= 0.4
    assert told.group(2) == ("ahead of" if seconds > 0 else "behind")


@pytest.mark.parametrize(
    "told",
    [
        pytest.param(running(1.2), id="fast"),
        pytest.param(running(0.8), id="slow"),
        pytest.param(ahead(2), id="ahead"),
        pytest.param(ahead(-2), id="behind"),
    ],
)
def test_each_round_is_one_question_and_no_mistake_is_certain(
    told: Callable[[int], int],
) -> None:
    played = session("kansas-shoe", 103, rounds=3, spots=(1, 2, 4))
    said = reconciled(played, with_camera_clock(played, told))
    asked = [one for one in said if isinstance(one, ReviewRaised)]
    assert all("clocks part" in one.review.what for one in asked)
    assert len({one.round for one in asked}) == len(asked)
    assert mistaken(played, said) == set()


@pytest.mark.slow
@pytest.mark.parametrize("hours", [1, -1])
def test_an_hour_off_no_mistake_is_certain(hours: int) -> None:
    played = session("kansas-shoe", 103, rounds=3, spots=(1, 2, 4))
    said = reconciled(played, with_camera_clock(played, ahead(3600 * hours)))
    assert mistaken(played, said) == set()


def mistaken(played: Session, said: tuple[object, ...]) -> set[tuple[int, str]]:
    """The mistakes of rounds that no question holds open."""
    held = {one.round for one in said if isinstance(one, ReviewRaised) and not one.settles_alike}
    engine = Engine(played.rules)
    facts = [one for one in said if not isinstance(one, ReviewRaised)]
    results = [result for seq, fact in enumerate(facts, 1) for result in engine.feed(fact, seq)]  # type: ignore[arg-type]
    last = {result.round: result for result in (*results, *engine.finish())}
    return {
        (number, one.code)
        for number, result in last.items()
        if number not in held
        for one in result.violations
    }


@pytest.mark.parametrize("disturb", NOISES)
def test_no_noise_is_a_clock(disturb: noise.Noise) -> None:
    for seed in (103, 105):
        played = session("kansas-shoe", seed, rounds=3, spots=(1, 2, 4))
        assert found_in(disturb(played.heard, Random(seed))) == []


def test_a_clock_that_was_set_right_is_told() -> None:
    played = session("kansas-shoe", 103, rounds=3, spots=(1, 2, 4))
    heard = with_camera_clock(played, ahead(5))
    sighted = [at for at, (_, said) in enumerate(heard) if isinstance(said, CardSighted)]
    half = sighted[len(sighted) // 3]
    right = [one for one in played.heard if one[0] > heard[half][0]]
    found = found_in([*heard[:half], *right])
    assert " s ahead of" in found[0]
    assert found[-1] == ""
