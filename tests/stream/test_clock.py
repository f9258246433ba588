"""Clocks of their own kind: anchoring, speed, and time that a test sets."""

import ctypes
import time
from typing import Any

import pytest

from stream.clock import HostClock, ReplayClock, SimulatedClock, kernel_sync

START_NS = 1_700_000_000_000_000_000


def test_the_host_clock_agrees_with_the_wall() -> None:
    assert abs(HostClock().now_ns() - time.time_ns()) < 1_000_000_000


def test_a_wall_clock_set_back_shows_only_when_anchored(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = HostClock()
    before_ns = clock.now_ns()
    set_back_ns = before_ns - 3_600_000_000_000
    monkeypatch.setattr(time, "time_ns", lambda: set_back_ns)
    assert before_ns <= clock.now_ns() < before_ns + 1_000_000_000
    anchored = clock.anchor()
    assert anchored.wall_ns == set_back_ns
    assert -3_601_000_000_000 < anchored.step_ns < -3_599_000_000_000
    assert anchored.at is not None
    assert anchored.at >= before_ns


def test_a_wall_clock_set_forward_moves_the_time_when_anchored(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    clock = HostClock()
    ahead_ns = clock.now_ns() + 60_000_000_000
    monkeypatch.setattr(time, "time_ns", lambda: ahead_ns)
    assert clock.anchor().at == clock.now_ns() or clock.now_ns() > ahead_ns
    assert clock.now_ns() >= ahead_ns


@pytest.mark.parametrize(
    ("speed", "least_s", "most_s"),
    [
        pytest.param(None, 0, 5, id="at-once"),
        pytest.param(100, 0.09, 5, id="hundredfold"),
        pytest.param(50, 0.19, 5, id="fiftyfold"),
    ],
)
def test_ten_recorded_seconds_at_each_speed(
    speed: float | None, least_s: float, most_s: float
) -> None:
    clock = ReplayClock(START_NS, speed)
    begun = time.monotonic()
    for second in range(11):
        clock.wait_until(START_NS + second * 1_000_000_000)
    assert least_s <= time.monotonic() - begun < most_s


@pytest.mark.parametrize("speed", [None, 1e6])
def test_a_replay_gives_the_recorded_time_at_any_speed(speed: float | None) -> None:
    clock = ReplayClock(START_NS, speed)
    times_ns = []
    for offset_ns in (0, 5, 5, 1_000):
        clock.wait_until(START_NS + offset_ns)
        times_ns.append(clock.now_ns() - START_NS)
    assert times_ns == [0, 5, 5, 1_000]


@pytest.mark.parametrize("speed", [0, -1, float("nan")])
def test_a_replay_runs_forwards(speed: float) -> None:
    with pytest.raises(ValueError, match="speed must be above 0"):
        ReplayClock(START_NS, speed)


def test_a_simulated_clock_moves_only_when_advanced() -> None:
    clock = SimulatedClock(START_NS)
    assert clock.now_ns() == clock.now_ns() == START_NS
    clock.advance(7)
    assert clock.now_ns() == START_NS + 7
    with pytest.raises(ValueError, match="does not step back"):
        clock.advance(-1)


class Kernel:
    """A kernel that answers ``adjtimex`` with a status, or refuses it."""

    def __init__(self, status: int, *, refuses: bool = False) -> None:
        self._status, self._refuses, self.modes = status, refuses, -1

    def adjtimex(self, given: Any) -> int:
        asked = given._obj
        self.modes = asked.modes
        asked.status = self._status
        return -1 if self._refuses else 0


@pytest.mark.parametrize(
    ("kernel", "state"),
    [
        (Kernel(0x40), "unsynchronised"),
        (Kernel(0x2041), "unsynchronised"),
        (Kernel(0x2001), "synchronised"),
        (Kernel(0, refuses=True), "unknown"),
    ],
)
def test_the_kernels_clock_is_read_and_not_set(
    monkeypatch: pytest.MonkeyPatch, kernel: Kernel, state: str
) -> None:
    monkeypatch.setattr(ctypes, "CDLL", lambda _: kernel)
    assert kernel_sync() == state
    assert kernel.modes == 0, "modes ask the kernel to change its clock"
