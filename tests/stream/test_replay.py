"""Sources merged into one order of time."""

import time
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from models.errors import TechnicianError
from stream.clock import ReplayClock, SimulatedClock
from stream.recording import Chunk
from stream.replay import Timed, merged, paced, timed_chunks


def source(name: str, *instants: int) -> list[Timed[int]]:
    return [Timed(at_ns, name, number) for number, at_ns in enumerate(instants)]


def test_items_come_by_time_and_at_one_instant_by_the_order_of_the_sources() -> None:
    shoe, camera = source("shoe", 5, 10, 10), source("camera", 5, 10, 11)
    order = [(item.at_ns, item.source, item.value) for item in merged([shoe, camera])]
    assert order == [
        (5, "shoe", 0),
        (5, "camera", 0),
        (10, "shoe", 1),
        (10, "shoe", 2),
        (10, "camera", 1),
        (11, "camera", 2),
    ]


@given(st.lists(st.lists(st.integers(0, 20)).map(sorted), max_size=4))
def test_merging_is_sorting_everything_and_losing_nothing(instants: list[list[int]]) -> None:
    sources = [source(str(n), *each) for n, each in enumerate(instants)]
    everything = [item for each in sources for item in each]
    assert list(merged(sources)) == sorted(everything, key=lambda item: item.at_ns)


def test_values_are_never_compared() -> None:
    one, other = Timed(1, "a", object()), Timed(1, "b", object())
    assert list(merged([[one], [other]])) == [one, other]


def test_a_source_whose_time_steps_back_is_named() -> None:
    with pytest.raises(TechnicianError, match=r"^camera: time steps back from 9 to 8 ns"):
        list(merged([source("shoe", 1), source("camera", 9, 8)]))


def test_chunks_are_placed_from_the_start_of_the_session() -> None:
    chunks = [Chunk(0, b"a"), Chunk(7, b"b")]
    assert list(timed_chunks(chunks, "shoe", 1000)) == [
        Timed(1000, "shoe", b"a"),
        Timed(1007, "shoe", b"b"),
    ]


def test_items_come_when_the_clock_has_reached_them() -> None:
    clock = SimulatedClock()
    assert [clock.now_ns() for _ in paced(source("shoe", 3, 3, 8), clock)] == [3, 3, 8]


def test_a_hundredfold_replay_takes_a_hundredth_of_the_time() -> None:
    begun = time.monotonic()
    items = source("shoe", 0, 2_000_000_000, 10_000_000_000)
    assert list(paced(items, ReplayClock(0, speed=100))) == items
    assert 0.09 < time.monotonic() - begun < 5


def test_sources_are_read_one_item_ahead_at_most() -> None:
    taken: list[Timed[int]] = []

    def slow() -> Iterator[Timed[int]]:
        for item in source("camera", *range(100)):
            taken.append(item)
            yield item

    order = merged([slow()])
    next(order)
    next(order)
    assert len(taken) <= 3
