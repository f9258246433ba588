"""What every clock keeps to."""

import asyncio
from collections.abc import Callable

import pytest

from stream.clock import Clock, HostClock, ReplayClock, SimulatedClock

START_NS = 1_700_000_000_000_000_000
CLOCKS: dict[str, Callable[[], Clock]] = {
    "host": HostClock,
    "replay-at-once": lambda: ReplayClock(START_NS),
    "replay-hundredfold": lambda: ReplayClock(START_NS, speed=100),
    "simulated": lambda: SimulatedClock(START_NS),
}


@pytest.fixture(params=CLOCKS)
def clock(request: pytest.FixtureRequest) -> Clock:
    return CLOCKS[request.param]()


def test_time_is_whole_nanoseconds_since_the_epoch(clock: Clock) -> None:
    now_ns = clock.now_ns()
    assert type(now_ns) is int
    assert now_ns >= START_NS


def test_waiting_for_an_instant_comes_to_it(clock: Clock) -> None:
    due_ns = clock.now_ns() + 5_000_000
    clock.wait_until(due_ns)
    assert clock.now_ns() >= due_ns


def test_awaiting_an_instant_comes_to_it(clock: Clock) -> None:
    due_ns = clock.now_ns() + 5_000_000
    asyncio.run(clock.reached(due_ns))
    assert clock.now_ns() >= due_ns


def test_time_never_steps_back(clock: Clock) -> None:
    instants = [clock.now_ns()]
    for ahead_ns in (3_000_000, 1_000_000, -50_000_000, 0):
        clock.wait_until(instants[0] + ahead_ns)
        instants.append(clock.now_ns())
    assert instants == sorted(instants)


def test_waiting_for_the_past_takes_no_time(clock: Clock) -> None:
    measured = HostClock()
    before_ns = measured.now_ns()
    clock.wait_until(clock.now_ns() - 10_000_000_000)
    assert measured.now_ns() - before_ns < 1_000_000_000
