"""A live table killed at random moments comes to what it would have come to unharmed."""

import random
from pathlib import Path

import pytest

from stream.journal import verify_journal
from tests.faults.live_kills import Table, differences
from tests.thoroughness import one_in

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("seed", one_in(2, [1, 2]))
def test_a_killed_table_loses_nothing_acknowledged_and_settles_as_if_left_alone(
    tmp_path: Path, seed: int
) -> None:
    alone = Table(tmp_path / "alone", seed).play(None)
    table = Table(tmp_path / "killed", seed)
    killed = table.play(random.Random(seed))
    assert table.kills >= 5
    assert differences(alone, killed) == []
    found = verify_journal(table.journal, [table.key])
    assert (found.sealed, found.signed) == (True, found.entries)
