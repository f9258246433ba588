"""Two real PostgreSQL processes: what a table was told is there survives the primary."""

import threading
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from time import sleep

import psycopg
import pytest

from models.house import House
from server.floor_record.database import FloorDatabase
from server.floor_record.engine import floor_engine
from server.floor_record.forwarder import Forwarder
from server.floor_record.meters import FloorMeters
from tests.server.floor_record.cluster import (
    NO_ROOT,
    Cluster,
    FloorSite,
    cluster,
    new_floor,
    programs,
    standby,
)
from tests.server.floor_record.test_intake import forward, in_journal, on_floor, put_aside
from tests.server.floor_record.test_kills import a_table_at_work
from tests.server.service.house import until

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(programs() is None, reason="PostgreSQL is not installed"),
]


@dataclass(frozen=True)
class Pair:
    site: FloorSite
    second: Cluster

    @property
    def both(self) -> str:
        """The address of whichever of the two is the primary, as docs/floor.md has it."""
        return (
            f"host={self.site.cluster.folder},{self.second.folder} dbname={self.site.name}"
            " user=bj07 target_session_attrs=read-write"
        )

    @property
    def promoted(self) -> FloorSite:
        return FloorSite(self.second, self.site.name)


@pytest.fixture
def pair() -> Iterator[Pair]:
    with cluster(fsync=True) as primary:
        site = new_floor(primary)
        with standby(primary) as second:
            until(lambda: in_step(primary))
            yield Pair(site, second)


def in_step(primary: Cluster) -> bool:
    with psycopg.connect(primary.url("postgres", NO_ROOT)) as admin:
        found = admin.execute("SELECT sync_state FROM pg_stat_replication").fetchall()
    return found == [("sync",)]


def last(site: FloorSite) -> int:
    with FloorDatabase.connected(site.reader) as floor:
        return max((one.seq for one in floor.lag()), default=0)


def test_what_was_acknowledged_is_on_the_replica_when_the_primary_dies(
    pair: Pair, tmp_path: Path
) -> None:
    is_over = threading.Event()
    with a_table_at_work(tmp_path / "a.journal"):
        forwarder = threading.Thread(
            target=Forwarder((tmp_path,), House()).run, args=(pair.both, is_over.is_set)
        )
        forwarder.start()
        try:
            until(lambda: last(pair.site) > 50)
            acknowledged = last(pair.site)
            pair.site.cluster.kill()
            pair.second.promote()
            assert last(pair.promoted) >= acknowledged
            until(lambda: last(pair.promoted) > acknowledged + 50)
        finally:
            is_over.set()
            forwarder.join()
    forward(pair.promoted, tmp_path)
    assert on_floor(pair.promoted) == in_journal(tmp_path / "a.journal")
    assert put_aside(pair.promoted) == []
    with FloorDatabase.connected(pair.promoted.reader) as floor:
        assert [fault for _, fault in floor.verify()] == [None]


def test_without_its_replica_the_floor_acknowledges_nothing_and_the_table_goes_on(
    pair: Pair, tmp_path: Path
) -> None:
    is_over = threading.Event()
    with a_table_at_work(tmp_path / "a.journal") as took:
        forwarder = threading.Thread(
            target=Forwarder((tmp_path,), House()).run, args=(pair.both, is_over.is_set)
        )
        forwarder.start()
        try:
            until(lambda: last(pair.site) > 50)
            pair.second.stop()
            sleep(0.5)
            held, appended = last(pair.site), len(took)
            sleep(1)
            assert last(pair.site) == held, "a commit that waits is not seen"
            assert len(took) > appended
            pair.second.start()
            until(lambda: last(pair.site) > held)
        finally:
            is_over.set()
            forwarder.join()


def test_the_metrics_tell_of_the_replica(pair: Pair) -> None:
    def replicas(kind: str) -> float:
        found = FloorMeters(pair.site.cluster.url(pair.site.name, NO_ROOT)).collect()
        return next(
            sample.value
            for family in found
            for sample in family.samples
            if sample.name == "pitwatch_floor_replicas" and sample.labels == {"kind": kind}
        )

    assert (replicas("synchronous"), replicas("asynchronous")) == (1, 0)
    pair.second.stop()
    until(lambda: replicas("synchronous") == 0)


def test_a_service_cannot_tell_the_metrics_of_a_floor_that_is_down() -> None:
    (up,) = FloorMeters("host=/nowhere").collect()
    assert [sample.value for sample in up.samples] == [0]
    with pytest.raises(Exception, match="does not answer"):
        floor_engine("host=/nowhere").connect()
