"""Faults that come faster than anyone reads them."""

import re

from hypothesis import given
from hypothesis import strategies as st

from devices.flood import FaultLimiter
from devices.reading import Reading
from models.cards import Card
from models.events import ReaderFault, ShoeCardRead

SECOND = 1_000_000_000


def let(moments_ms: list[int]) -> list[Reading]:
    """What a limiter passes of one fault at each of these milliseconds, and at the end."""
    limiter = FaultLimiter()
    passed = [
        fault
        for at_ms in moments_ms
        for fault in limiter.let(
            ReaderFault(source="shoe", at=at_ms * 1_000_000, kind="framing", detail="noise")
        )
    ]
    return [*passed, *limiter.end(moments_ms[-1] * 1_000_000 if moments_ms else 0)]


def counted(faults: list[Reading]) -> int:
    """How many faults were reported, singly or as a number."""
    total = 0
    for fault in faults:
        assert isinstance(fault, ReaderFault)
        more = re.match(r"(\d+) more, the last", fault.detail)
        total += int(more[1]) if more else 1
    return total


@given(gaps_ms=st.lists(st.integers(0, 4000) | st.integers(0, 20), max_size=300))
def test_every_fault_is_reported_singly_or_in_a_number(gaps_ms: list[int]) -> None:
    moments, at_ms = [], 0
    for gap_ms in gaps_ms:
        at_ms += gap_ms
        moments.append(at_ms)
    assert counted(let(moments)) == len(moments)


def test_ten_in_ten_seconds_are_reported_singly() -> None:
    passed = let(list(range(10)))
    assert [each.detail for each in passed if isinstance(each, ReaderFault)] == ["noise"] * 10


def test_a_minute_of_noise_is_a_few_entries() -> None:
    passed = let(list(range(0, 60_000, 2)))
    assert len(passed) <= 6 * 12
    assert counted(passed) == 30_000


def test_a_reading_always_passes_and_other_kinds_have_their_own_count() -> None:
    limiter = FaultLimiter()
    for _ in range(50):
        list(limiter.let(ReaderFault(source="shoe", at=5, kind="framing", detail="noise")))
    card = ShoeCardRead(source="shoe", at=6, card=Card("8S"), draw=1, raw="")
    assert list(limiter.let(card)) == [card]
    other = ReaderFault(source="shoe", at=7, kind="checksum", detail="one")
    assert list(limiter.let(other)) == [other]


def test_a_fault_that_names_missed_draws_is_never_held_back() -> None:
    limiter = FaultLimiter()
    gaps = [
        ReaderFault(source="shoe", at=5, kind="gap", detail="", missing_from=n, missing_to=n)
        for n in range(1, 60)
    ]
    assert [passed for gap in gaps for passed in limiter.let(gap)] == gaps
