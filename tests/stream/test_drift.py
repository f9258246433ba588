"""Clocks beside the table's: what of them is recorded, and what time a picture gets."""

import asyncio
import contextlib
import random
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from models.events import ClockAnchored, ClockCompared, ClockSynchronisation, SyncState
from stream.clock import HostClock, SimulatedClock
from stream.drift import StreamClock, WallWatch, watch_sync, watch_wall

MS = 1_000_000
SECOND = 1000 * MS
START = 1_700_000_000 * SECOND
FRAME = SECOND // 30


def test_the_host_clock_gives_how_far_the_wall_is_ahead() -> None:
    assert abs(HostClock().apart_ns()) < SECOND


def test_a_wall_clock_set_back_during_a_session_is_reported_and_moves_no_time(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def session() -> tuple[list[ClockCompared], int, int]:
        clock, events = HostClock(), list[ClockCompared]()
        watching = asyncio.create_task(watch_wall(clock, events.append, every_ns=5 * MS))
        await asyncio.sleep(0.02)
        before_ns = clock.now_ns()
        monkeypatch.setattr(time, "time_ns", lambda: before_ns - 3600 * SECOND)
        while not events:
            await asyncio.sleep(0.005)
        watching.cancel()
        return events, before_ns, clock.now_ns()

    (event,), before_ns, after_ns = asyncio.run(session())
    assert abs(event.step_ns + 3600 * SECOND) < SECOND
    assert abs(event.apart_ns - event.step_ns) < 10 * MS
    assert before_ns <= after_ns < before_ns + 60 * SECOND


@given(drift_ppm=st.integers(-400, 400), minutes=st.integers(1, 600))
def test_drift_is_reported_at_intervals_and_is_never_a_step(drift_ppm: int, minutes: int) -> None:
    watch = WallWatch()
    events = [
        event
        for minute in range(minutes)
        if (event := watch.compare(START + minute * 60 * SECOND, minute * 60_000 * drift_ppm))
    ]
    assert all(event.step_ns == 0 for event in events)
    drifted_ns = (minutes - 1) * 60_000 * drift_ppm
    reported_ns = events[-1].apart_ns if events else 0
    assert abs(drifted_ns - reported_ns) < 10 * MS
    assert len(events) <= abs(drifted_ns) // (10 * MS)


@given(
    step_ms=st.integers(60, 10**7) | st.integers(-(10**7), -60),
    drift_ppm=st.integers(-100, 100),
    moment=st.integers(1, 20),
)
def test_a_step_of_the_wall_clock_is_reported_once_with_its_size(
    step_ms: int, drift_ppm: int, moment: int
) -> None:
    watch = WallWatch()
    steps = []
    for minute in range(30):
        apart_ns = minute * 60_000 * drift_ppm + (step_ms * MS if minute >= moment else 0)
        event = watch.compare(START + minute * 60 * SECOND, apart_ns)
        if event is not None and event.step_ns:
            steps.append((minute, event))
    ((minute, event),) = steps
    assert minute == moment
    assert abs(event.step_ns - step_ms * MS) <= 60_000 * abs(drift_ppm)
    assert event.wall_ns == (event.at or 0) + event.apart_ns


def pictures(
    seed: int, *, drift_ppm: int, jitter_ms: int, count: int
) -> list[tuple[int, int, int]]:
    """Of each picture: when it was truly taken, its stamp, and when it arrived."""
    chance = random.Random(seed)
    taken = [START + number * FRAME for number in range(count)]
    arrived_ns, rows = 0, []
    for at_ns in taken:
        stamp_ns = (at_ns - START) * (1_000_000 + drift_ppm) // 1_000_000
        arrived_ns = max(arrived_ns + 1, at_ns + chance.randint(0, jitter_ms) * MS)
        rows.append((at_ns, stamp_ns, arrived_ns))
    return rows


@given(
    seed=st.integers(0, 999),
    drift_ppm=st.integers(-300, 300),
    jitter_ms=st.integers(0, 80),
)
def test_a_drifting_stream_keeps_to_the_tables_time(
    seed: int, drift_ppm: int, jitter_ms: int
) -> None:
    clock = StreamClock("camera", window_ns=2 * SECOND)
    rows = pictures(seed, drift_ppm=drift_ppm, jitter_ms=jitter_ms, count=900)
    found_ns = [clock.at_ns(stamp_ns, arrived_ns) for _, stamp_ns, arrived_ns in rows]
    assert found_ns == sorted(found_ns)
    assert all(
        at_ns <= arrived_ns for at_ns, (_, _, arrived_ns) in zip(found_ns, rows, strict=True)
    )
    drift_ns = 2 * 2 * SECOND * abs(drift_ppm) // 1_000_000
    bound_ns = jitter_ms * MS + drift_ns + MS
    settled = list(zip(found_ns, rows, strict=True))[90:]
    assert all(abs(at_ns - taken_ns) <= bound_ns for at_ns, (taken_ns, _, _) in settled)


@given(
    seed=st.integers(0, 99),
    jump_ms=st.integers(3_000, 10**8) | st.integers(-(10**8), -3_000),
    moment=st.integers(50, 250),
)
def test_a_stream_whose_stamps_jump_is_anchored_anew_and_that_is_reported(
    seed: int, jump_ms: int, moment: int
) -> None:
    clock = StreamClock("camera", window_ns=2 * SECOND)
    rows = pictures(seed, drift_ppm=0, jitter_ms=5, count=400)
    found_ns, events = list[int](), list[ClockAnchored]()
    for number, (_, stamp_ns, arrived_ns) in enumerate(rows):
        jumped_ns = stamp_ns + (jump_ms * MS if number >= moment else 0)
        found_ns.append(clock.at_ns(jumped_ns, arrived_ns))
        events += clock.events()
    assert found_ns == sorted(found_ns)
    assert abs(found_ns[-1] - rows[-1][0]) <= 10 * MS
    steps = [event.step_ns for event in events if abs(event.step_ns) > SECOND]
    assert len(steps) == 1
    assert abs(steps[0] + jump_ms * MS) <= 20 * MS


def test_a_burst_after_a_stall_keeps_its_true_times() -> None:
    clock = StreamClock("camera")
    found_ns = []
    for number in range(300):
        taken_ns = START + number * FRAME
        held_until_ns = START + 150 * FRAME if 100 <= number < 150 else 0
        arrived_ns = max(taken_ns + 2 * MS, held_until_ns + number)
        found_ns.append(clock.at_ns(taken_ns - START + 7 * SECOND, arrived_ns))
    assert all(abs(at - (START + number * FRAME)) <= 3 * MS for number, at in enumerate(found_ns))


def test_a_first_picture_that_came_late_misleads_for_a_moment_only() -> None:
    clock = StreamClock("camera")
    late = clock.at_ns(0, START + 400 * MS)
    following = [clock.at_ns(n * FRAME, START + n * FRAME + 2 * MS) for n in range(1, 60)]
    assert late == START + 400 * MS
    assert following[-1] == START + 59 * FRAME + 2 * MS


def test_a_stream_that_stood_still_is_caught_up_with() -> None:
    clock, events, at = StreamClock("camera", window_ns=2 * SECOND), list[ClockAnchored](), 0
    for number in range(300):
        stood_ns = SECOND if number >= 100 else 0
        arrived_ns = START + number * FRAME + stood_ns
        at = clock.at_ns(number * FRAME, arrived_ns)
        events += clock.events()
    assert at == START + 299 * FRAME + SECOND
    assert sum(event.step_ns for event in events) == SECOND


def test_whether_the_wall_clock_is_synchronised_is_reported_at_each_change() -> None:
    lost: list[SyncState] = ["unsynchronised"]
    kept: list[SyncState] = ["synchronised"]
    answers = lost * 3 + kept * 3 + lost

    async def session() -> list[ClockSynchronisation]:
        events, left = list[ClockSynchronisation](), iter(answers)
        clock = SimulatedClock(START)
        with contextlib.suppress(RuntimeError):  # no answer is left
            await watch_sync(clock, events.append, lambda: next(left), every_ns=60 * SECOND)
        return events

    states = [
        (event.state, ((event.at or 0) - START) // SECOND) for event in asyncio.run(session())
    ]
    assert states == [("unsynchronised", 0), ("synchronised", 180), ("unsynchronised", 360)]
