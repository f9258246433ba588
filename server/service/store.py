"""Where a service keeps its tables: in files of this machine, or in a database of many.

The service knows both only by :class:`Store`; what speaks to a database is handed in.
"""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Protocol, TypeAlias

from server.readmodel.ending import Ending
from server.readmodel.file_index import FileIndex
from server.readmodel.floor import Floor
from server.readmodel.folder_floor import FolderFloor

INDEX_FILE: Final = "index.sqlite"
OnRead: TypeAlias = Callable[[str, int], None]
"""Receives a session's name and the number of its entries that were read."""


class Store(Protocol):
    """The parts of a service that others may share."""

    def floor(self, on_read: OnRead, ending: Ending, now_ns: Callable[[], int]) -> Floor:
        """Return every table; it is opened by its :meth:`Floor.run`."""


@dataclass(frozen=True, slots=True)
class Files:
    """The journals of a folder, with what the service keeps of them in its state folder."""

    journals: Path
    state: Path

    def floor(self, on_read: OnRead, ending: Ending, now_ns: Callable[[], int]) -> Floor:
        """Return the tables of the folder."""
        index = FileIndex(self.state / INDEX_FILE)
        return FolderFloor(self.journals, on_read, index, ending, now_ns)
