"""A few periods of the retention year; ``python -m lab.faults.retention`` goes through 200."""

from pathlib import Path

from tests.faults.retention import retained


def test_periods_with_a_kill_in_each_lose_nothing(tmp_path: Path) -> None:
    outcome = retained(tmp_path, times=6)
    assert outcome.archived >= 6 * 40
    assert sum(outcome.killed_in.values()) == 6
