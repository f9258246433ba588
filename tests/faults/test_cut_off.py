"""A noisy session that was cut off starts again and comes to the same."""

import pytest

from tests.faults.cut_off import played, started_again


@pytest.mark.parametrize(("seed", "cut"), [(1005, 412)])
def test_what_came_less_than_a_second_late_comes_late_again(seed: int, cut: int) -> None:
    """Before such observations said when they were heard, this start was refused."""
    assert started_again(played(seed), cut) == ""
