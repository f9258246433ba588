"""A folder of journals as a floor record has it: forwarded the whole time."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from models.house import House as Described
from server.floor_record.database import FloorDatabase
from server.floor_record.forwarder import Forwarder
from server.floor_record.store import RecordStore
from tests.server.floor_record.cluster import FloorSite


@contextmanager
def forwarded(journals: Path, site: FloorSite) -> Iterator[RecordStore]:
    """Forward a folder, first all that is there now; yield the store of a service."""
    with FloorDatabase.connected(site.forwarder) as floor:
        Forwarder((journals,), Described()).forward_all(floor)
    is_over = threading.Event()
    forwarder = Forwarder((journals,), Described())
    running = threading.Thread(target=forwarder.run, args=(site.forwarder, is_over.is_set))
    running.start()
    try:
        yield RecordStore(site.reader)
    finally:
        is_over.set()
        running.join()
