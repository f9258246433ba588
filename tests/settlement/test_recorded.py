"""No answer of the engine changes unseen: verdicts, sums, ledgers and every word of them."""

import pytest

from tests.settlement.recorded import rounds, sheets


def test_recorded_rounds_settle_as_they_did() -> None:
    recorded = rounds()
    assert len(recorded) > 100
    for each in recorded:
        assert each.answered() == each


@pytest.mark.slow
def test_recorded_sheets_read_and_are_refused_as_they_were() -> None:
    recorded = sheets()
    assert len(recorded) > 100
    for each in recorded:
        assert each.answered() == each
