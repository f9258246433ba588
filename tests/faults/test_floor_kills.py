"""A floor of real processes: a replica is promoted, a disk fills up."""

import os

import pytest

from tests.faults.floor_kills import fill, promote
from tests.server.floor_record.cluster import programs
from tests.thoroughness import ALL

pytestmark = pytest.mark.slow

needs_postgresql = pytest.mark.skipif(programs() is None, reason="PostgreSQL is not installed")


@needs_postgresql
def test_a_promoted_replica_has_everything_acknowledged() -> None:
    assert promote() > 0


@needs_postgresql
@pytest.mark.skipif(not ALL or os.geteuid() != 0, reason="only root mounts a disk to fill")
def test_a_full_disk_costs_nothing_but_time() -> None:
    assert fill() > 0
