"""Noise through every framer and decoder; ``python -m lab.faults.fuzz`` does millions."""

import tracemalloc

import pytest

from devices.registry import DRIVERS
from tests.faults.fuzz import fuzz, fuzz_events


@pytest.mark.parametrize("driver", DRIVERS)
def test_noise_raises_nothing_and_fills_no_memory(driver: str) -> None:
    fuzz(driver, 20_000)
    tracemalloc.start()
    counts = fuzz(driver, 100_000)
    _, peak_bytes = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert counts.total() > 100
    assert peak_bytes < 1_500_000


def test_damaged_events_are_refused_and_nothing_else() -> None:
    counts = fuzz_events(400_000)
    assert counts["refused"] > 200
    assert counts["event"] > 0, "a letter changed in a name leaves an event"
