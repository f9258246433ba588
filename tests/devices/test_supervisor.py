"""Links lost and made again: the waits, the attempts, and what is reported."""

import asyncio
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from devices.presence import Node
from devices.supervisor import SECOND_NS, Backoff, Budget, Report, Supervisor
from devices.transport import LinkLost
from models.errors import TechnicianError
from models.events import DeviceReturned, Observation, ReaderFault
from stream.clock import SimulatedClock

START_NS = 1_700_000_000 * SECOND_NS


class Flapping:
    """A device whose runs are scripted: it fails to open, or is connected for a time and lost."""

    source = "shoe"

    def __init__(
        self, clock: SimulatedClock, script: list[int | None], path: Path | None = None
    ) -> None:
        self._clock, self._script, self.path = clock, script, path
        self.opened_ns: list[int] = []

    async def run(self, connected: Callable[[], None], report: Report) -> None:
        self.opened_ns.append(self._clock.now_ns())
        if not self._script:
            connected()
            return
        held_s = self._script.pop(0)
        if held_s is None:
            raise TechnicianError("the port cannot be opened", where="/dev/shoe", way_out="Look")
        connected()
        self._clock.advance(held_s * SECOND_NS)
        raise LinkLost("/dev/shoe", "unplugged")

    def fault(self, kind: str, detail: str, at_ns: int) -> Observation:
        return ReaderFault(source=self.source, at=at_ns, kind=kind, detail=detail)


def kept(
    script: list[int | None], *, budget: Budget | None = None, backoff: Backoff | None = None
) -> tuple[list[Observation], list[int]]:
    """Let the supervisor play a script; return its reports, and the times of its attempts."""
    clock, observations = SimulatedClock(START_NS), list[Observation]()
    device = Flapping(clock, script)
    supervisor = Supervisor(clock, observations.append, lambda: 1.0, backoff, budget)
    asyncio.run(supervisor.keep(device))
    return observations, [at_ns - START_NS for at_ns in device.opened_ns]


class Socket:
    """Where a plug is in and out: a node of its own for each time."""

    def __init__(self, clock: SimulatedClock, *plugged_s: tuple[float, float]) -> None:
        self._clock, self._plugged_s = clock, plugged_s

    def look(self, path: Path) -> Node | None:
        """Return the node that is there now."""
        now_s = (self._clock.now_ns() - START_NS) / SECOND_NS
        for number, (begin_s, end_s) in enumerate(self._plugged_s):
            if begin_s <= now_s < end_s:
                return Node(0, number, 0, 0, 0, 0)
        return None


def watched(
    script: list[int | None], *plugged_s: tuple[float, float], budget: Budget | None = None
) -> tuple[list[Observation], list[float]]:
    """As :func:`kept`, a device of this machine that is plugged in at times; tries in seconds."""
    clock, observations = SimulatedClock(START_NS), list[Observation]()
    device = Flapping(clock, script, Path("/dev/shoe"))
    look = Socket(clock, *plugged_s).look
    supervisor = Supervisor(clock, observations.append, lambda: 1.0, local_budget=budget, look=look)
    asyncio.run(supervisor.keep(device))
    return observations, [(at_ns - START_NS) / SECOND_NS for at_ns in device.opened_ns]


def named(observations: list[Observation]) -> list[str]:
    return [
        each.kind if isinstance(each, ReaderFault) else type(each).__name__ for each in observations
    ]


def test_a_loss_is_reported_once_however_long_it_lasts_and_so_is_the_return() -> None:
    observations, _ = kept([60, None, None, None, 60])
    assert named(observations) == ["link_lost", "DeviceReturned"] * 2
    back = observations[1]
    assert isinstance(back, DeviceReturned)
    assert back.tries == 4
    assert back.at == (observations[0].at or 0) + back.away_ns
    assert back.away_ns == (250 + 500 + 1000 + 2000) * SECOND_NS // 1000


def test_a_device_that_was_never_there_is_reported_and_then_returns() -> None:
    observations, _ = kept([None, None])
    assert named(observations) == ["link_lost", "DeviceReturned"]
    assert isinstance(observations[0], ReaderFault)
    assert observations[0].detail == "/dev/shoe: the port cannot be opened"


def test_a_device_that_works_is_not_spoken_of() -> None:
    assert kept([]) == ([], [0])


def test_waits_double_up_to_the_longest() -> None:
    _, opened_ns = kept([None] * 10, backoff=Backoff(SECOND_NS, 8 * SECOND_NS))
    waits = [(b - a) // SECOND_NS for a, b in pairwise(opened_ns)]
    assert waits == [1, 2, 4, 8, 8, 8, 8, 8, 8, 8]


def test_a_device_that_worked_for_a_while_is_tried_soon_again() -> None:
    _, opened_ns = kept([None, None, None, 60, 1])
    assert opened_ns[4] - opened_ns[3] == 60 * SECOND_NS + SECOND_NS // 4


def test_a_device_that_comes_and_goes_is_tried_ever_less_often() -> None:
    _, opened_ns = kept([1, 1, 1, 1])
    waits_ns = [b - a - SECOND_NS for a, b in pairwise(opened_ns)]
    assert waits_ns == [SECOND_NS // 4 << n for n in range(4)]


def test_spent_restarts_are_reported_once_and_tried_again_in_the_next_window() -> None:
    budget = Budget(per_device=3, per_table=100, window_ns=100 * SECOND_NS)
    observations, opened_ns = kept([None] * 8, budget=budget)
    assert named(observations) == ["link_lost", "restarts_spent", "DeviceReturned"]
    assert isinstance(observations[1], ReaderFault)
    assert "lost 4 times in a row" in observations[1].detail
    assert opened_ns[4] - opened_ns[1] >= 100 * SECOND_NS


def test_the_table_has_a_budget_of_its_own() -> None:
    budget = Budget(per_device=100, per_table=2, window_ns=50)
    assert [budget.grant(source, 1) for source in ("shoe", "plate", "camera")] == [1, 1, 51]


@given(
    asked=st.lists(st.tuples(st.sampled_from("abc"), st.integers(0, 400)), max_size=60),
    per_device=st.integers(1, 5),
    per_table=st.integers(1, 8),
    window_ns=st.integers(1, 100),
)
def test_no_window_holds_more_restarts_than_its_budget(
    asked: list[tuple[str, int]], per_device: int, per_table: int, window_ns: int
) -> None:
    budget = Budget(per_device, per_table, window_ns)
    granted = [
        (source, at_ns, budget.grant(source, at_ns))
        for source, at_ns in sorted(asked, key=lambda each: each[1])
    ]
    assert all(due_ns >= at_ns for _, at_ns, due_ns in granted)
    for _, _, end_ns in granted:
        within = [s for s, _, due_ns in granted if end_ns - window_ns < due_ns <= end_ns]
        assert len(within) <= per_table
        assert all(within.count(source) <= per_device for source in "abc")


def test_a_local_device_is_tried_within_a_look_of_its_return_however_long_it_was_away() -> None:
    for away_s in (0.6, 8.1, 119.9, 7200.2):
        _, opened_s = watched([60], (0, 60), (60 + away_s, 1e6))
        assert len(opened_s) == 2
        assert 0 <= opened_s[1] - (60 + away_s) <= 0.25


def test_a_local_device_that_is_away_is_not_tried() -> None:
    observations, opened_s = watched([60, None], (0, 60), (5000, 1e6))
    assert named(observations) == ["link_lost", "DeviceReturned"]
    assert [opened_s[0], opened_s[1]] == [0, 5000]


def test_a_local_device_that_does_not_open_is_tried_every_second_and_spends_nothing() -> None:
    budget = Budget(per_device=1, per_table=1)
    observations, opened_s = watched([None] * 200, (0, 1e6), budget=budget)
    assert named(observations) == ["link_lost", "DeviceReturned"]
    assert max(b - a for a, b in pairwise(opened_s)) <= 1.25


def test_a_node_that_changes_is_tried_at_once() -> None:
    _, opened_s = watched([None] * 20, (0, 10), (10, 1e6))
    assert any(10 <= at_s <= 10.25 for at_s in opened_s)


def test_a_local_device_that_comes_and_goes_spends_its_restarts() -> None:
    budget = Budget(per_device=2, per_table=100, window_ns=100 * SECOND_NS)
    observations, opened_s = watched([1] * 4, (0, 1e6), budget=budget)
    assert named(observations).count("restarts_spent") == 1
    assert opened_s[3] - opened_s[1] >= 99


def test_a_device_behind_a_network_keeps_its_back_off() -> None:
    clock, observations = SimulatedClock(START_NS), list[Observation]()
    device = Flapping(clock, [None] * 10)
    looked = list[Path]()
    supervisor = Supervisor(clock, observations.append, lambda: 1.0, look=looked.append)
    asyncio.run(supervisor.keep(device))
    waits_ns = [b - a for a, b in pairwise(device.opened_ns)]
    assert waits_ns == [Backoff().wait_ns(n, 1.0) for n in range(1, 11)]
    assert looked == []


@given(failures=st.integers(1, 10_000), chance=st.floats(0, 1))
def test_a_wait_lies_between_half_of_the_doubled_wait_and_all_of_it(
    failures: int, chance: float
) -> None:
    backoff = Backoff()
    full_ns = min(backoff.first_ns << min(failures - 1, 40), backoff.most_ns)
    assert full_ns / 2 <= backoff.wait_ns(failures, chance) <= full_ns


def test_a_journal_that_cannot_be_written_stops_the_table() -> None:
    def full(_: Observation) -> None:
        raise TechnicianError("the disk is full", where="journal", way_out="Make room")

    clock = SimulatedClock(START_NS)
    supervision = Supervisor(clock, full, lambda: 0.5).keep(Flapping(clock, [None]))
    with pytest.raises(TechnicianError, match="the disk is full"):
        asyncio.run(supervision)
