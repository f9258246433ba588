"""A service's parts in the floor record: what :class:`server.service.store.Store` asks for."""

from collections.abc import Callable

from server.floor_record.floor import RecordFloor
from server.readmodel.ending import Ending
from server.readmodel.floor import Floor


class RecordStore:
    """The floor record at an address.

    Args:
        url: the database's address; its role is a member of ``pitwatch_service``.
    """

    def __init__(self, url: str) -> None:
        self._url = url

    def floor(
        self, on_read: Callable[[str, int], None], ending: Ending, now_ns: Callable[[], int]
    ) -> Floor:
        """Return the tables of the floor record."""
        return RecordFloor(self._url, on_read, ending, now_ns)
