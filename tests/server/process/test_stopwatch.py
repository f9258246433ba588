from collections.abc import Iterator

from server.process.stopwatch import Stopwatch


def counter(*readings: int) -> Iterator[int]:
    yield from readings


def test_a_stage_within_a_stage_is_not_counted_twice() -> None:
    clock = counter(0, 10, 40, 100)
    watch = Stopwatch(lambda: next(clock))
    with watch.stage("detecting"), watch.stage("reading"):
        pass
    assert watch.spent_ns == {"detecting": 10 + 60, "reading": 30}
    assert watch.shares() == {"detecting": 0.7, "reading": 0.3}


def test_producing_items_is_timed_and_using_them_is_not() -> None:
    clock = counter(0, 5, 100, 107, 200, 200)
    watch = Stopwatch(lambda: next(clock))
    assert list(watch.timed(["a", "b"], "decoding")) == ["a", "b"]
    assert watch.spent_ns == {"decoding": 5 + 7}
