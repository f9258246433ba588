"""A noisy session that was cut off starts again and comes to the same."""

import pytest

from tests.faults.cut_off import played, started_again
from tests.thoroughness import one_in

CUT_OFF = (
    pytest.param(138, 537, id="none-late-looks-far-apart"),
    pytest.param(1005, 412, id="less-than-a-second-late"),
    pytest.param(77, 301, id="many-late"),
    pytest.param(254, 255, id="dealt-by-hand"),
    pytest.param(234, 85, id="came-to-something-else"),
)


@pytest.mark.parametrize(("seed", "cut"), one_in(3, CUT_OFF))
def test_a_start_comes_to_what_the_table_came_to(seed: int, cut: int) -> None:
    """Each was refused or had another result, before late observations had the time of arrival
    and deadlines passed at fixed times."""
    assert started_again(played(seed), cut) == ""
