"""Links lost and made again: how long is waited, how often is tried, and what is told."""

import asyncio
from collections.abc import Callable
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from devices.supervisor import SECOND_NS, Backoff, Budget, Say, Supervisor
from devices.transport import LinkLost
from models.errors import TechnicianError
from models.events import DeviceReturned, Observation, ReaderFault
from stream.clock import SimulatedClock

START_NS = 1_700_000_000 * SECOND_NS


class Flapping:
    """A device whose runs go as scripted: it fails to open, or is heard for so long and lost."""

    source = "shoe"

    def __init__(self, clock: SimulatedClock, script: list[int | None]) -> None:
        self._clock, self._script = clock, script
        self.opened_ns: list[int] = []

    async def run(self, heard: Callable[[], None], say: Say) -> None:
        self.opened_ns.append(self._clock.now_ns())
        if not self._script:
            heard()
            return
        held_s = self._script.pop(0)
        if held_s is None:
            raise TechnicianError("the port cannot be opened", where="/dev/shoe", way_out="Look")
        heard()
        self._clock.advance(held_s * SECOND_NS)
        raise LinkLost("/dev/shoe", "unplugged")

    def fault(self, kind: str, detail: str, at_ns: int) -> Observation:
        return ReaderFault(source=self.source, at=at_ns, kind=kind, detail=detail)


def kept(
    script: list[int | None], *, budget: Budget | None = None, backoff: Backoff | None = None
) -> tuple[list[Observation], list[int]]:
    """Let the supervisor play a script; return what it said, and when it tried, from the start."""
    clock, said = SimulatedClock(START_NS), list[Observation]()
    device = Flapping(clock, script)
    supervisor = Supervisor(clock, said.append, lambda: 1.0, backoff, budget)
    asyncio.run(supervisor.keep(device))
    return said, [at_ns - START_NS for at_ns in device.opened_ns]


def told(said: list[Observation]) -> list[str]:
    return [each.kind if isinstance(each, ReaderFault) else type(each).__name__ for each in said]


def test_a_loss_is_told_once_however_long_it_lasts_and_so_is_the_return() -> None:
    said, _ = kept([60, None, None, None, 60])
    assert told(said) == ["link_lost", "DeviceReturned"] * 2
    back = said[1]
    assert isinstance(back, DeviceReturned)
    assert back.tries == 4
    assert back.at == (said[0].at or 0) + back.away_ns
    assert back.away_ns == (250 + 500 + 1000 + 2000) * SECOND_NS // 1000


def test_a_device_that_was_never_there_is_told_and_then_returns() -> None:
    said, _ = kept([None, None])
    assert told(said) == ["link_lost", "DeviceReturned"]
    assert isinstance(said[0], ReaderFault)
    assert said[0].detail == "/dev/shoe: the port cannot be opened"


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


def test_spent_restarts_are_told_once_and_tried_again_when_the_window_has_room() -> None:
    budget = Budget(per_device=3, per_table=100, window_ns=100 * SECOND_NS)
    said, opened_ns = kept([None] * 8, budget=budget)
    assert told(said) == ["link_lost", "restarts_spent", "DeviceReturned"]
    assert isinstance(said[1], ReaderFault)
    assert "lost 4 times in a row" in said[1].detail
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
    keeping = Supervisor(clock, full, lambda: 0.5).keep(Flapping(clock, [None]))
    with pytest.raises(TechnicianError, match="the disk is full"):
        asyncio.run(keeping)
