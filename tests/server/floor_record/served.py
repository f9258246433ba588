"""A folder of journals as a floor record has it: forwarded the whole time."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import pytest

from models.house import House as Described
from server.floor_record.database import FloorDatabase
from server.floor_record.decisions import DecisionDelivery
from server.floor_record.forwarder import Forwarder, journals_in
from server.floor_record.store import RecordStore
from tests.server.floor_record.cluster import FloorSite, cluster, new_floor, programs

STORES: Final = ("folder", pytest.param("floor", marks=pytest.mark.slow))
"""What keeps tables: the floor record needs a database."""


@contextmanager
def forwarded(journals: Path, site: FloorSite, *, decides: bool = True) -> Iterator[RecordStore]:
    """Forward a folder, first all that is there now; yield the store of a service."""
    with FloorDatabase.connected(site.forwarder) as floor:
        Forwarder((journals,), Described()).forward_all(floor)
    is_over = threading.Event()
    forwarder = Forwarder((journals,), Described())
    running = threading.Thread(target=forwarder.run, args=(site.forwarder, is_over.is_set))
    running.start()
    try:
        with DecisionDelivery(site.forwarder, lambda: journals_in((journals,)), decides=decides):
            yield RecordStore(site.reader)
    finally:
        is_over.set()
        running.join()


@contextmanager
def kept_in(store: str, journals: Path) -> Iterator[RecordStore | None]:
    """Yield the store of a service: ``folder``, or ``floor`` on a PostgreSQL of its own."""
    if store == "folder":
        yield None
        return
    if programs() is None:
        pytest.skip("PostgreSQL is not installed: apt-get install postgresql")
    with cluster() as made, forwarded(journals, new_floor(made)) as record:
        yield record
