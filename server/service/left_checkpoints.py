"""The checkpoints that tables left at the service: an append-only file."""

import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from threading import Lock
from typing import Final

import msgspec

from models.errors import PitwatchError, TechnicianError
from stream.checkpoints import Checkpoint, read_checkpoints_on
from stream.identity import Identity

CHECKPOINTS_FILE: Final = "tables.checkpoints"
"""In the state folder; lines are only appended."""

_AT_ONCE_BYTES: Final = 4_000_000


class LeftCheckpoints:
    """Stores checkpoints, with the last one of every journal. Every method accesses the disk."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self._lock = Lock()
        self._read_bytes = 0
        self._highest: dict[tuple[Identity, str | None], Checkpoint] = {}
        self._latest: dict[tuple[Identity, str | None], Checkpoint] = {}

    def keep(self, checkpoint: Checkpoint, prefix: str) -> None:
        """Append a checkpoint with its sender; durable on return.

        Raises:
            TechnicianError: the disk refuses it; it is not stored.
        """
        line = f"{prefix} ".encode() + msgspec.json.encode(checkpoint) + b"\n"
        try:
            flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC
            with os.fdopen(os.open(self._file, flags, 0o600), "wb") as opened:
                opened.write(line)
                opened.flush()
                os.fsync(opened.fileno())
        except OSError as fault:
            raise TechnicianError(
                f"the checkpoint cannot be kept: {fault.strerror}",
                where=str(self._file),
                way_out="Make room on the disk of the service's state",
            ) from fault

    def read_ahead(self) -> None:
        """Read the file before the first request, which then reports its faults."""
        with self._lock, suppress(PitwatchError):
            self._read_on()

    def last_of(self, table: str, key: str | None) -> tuple[Checkpoint, ...]:
        """Return for each of a table's journals the latest checkpoint and that with most entries.

        With ``key``, only those that it signed; without it, all of them.

        Raises:
            OperatorError: the file cannot be read.
            TechnicianError: it is damaged.
        """
        with self._lock:
            self._read_on()
            return tuple(self._last(table, key))

    def _last(self, table: str, key: str | None) -> Iterator[Checkpoint]:
        for place, highest in self._highest.items():
            if place[0].table == table and key in (None, place[1]):
                yield highest
                if (latest := self._latest[place]) != highest:
                    yield latest

    def _read_on(self) -> None:
        """Read the new lines; read a file that became shorter from its start."""
        try:
            size = self._file.stat().st_size
        except FileNotFoundError:
            size = 0
        if size < self._read_bytes:
            self._read_bytes = 0
            self._highest.clear()
            self._latest.clear()
        before = -1
        while before < self._read_bytes < size:
            before = self._read_bytes
            found, self._read_bytes = read_checkpoints_on(self._file, before, _AT_ONCE_BYTES)
            for one in found:
                self._take(one)

    def _take(self, one: Checkpoint) -> None:
        place = (one.identity, one.key)
        if one.seq >= self._highest.setdefault(place, one).seq:
            self._highest[place] = one
        if one.at >= self._latest.setdefault(place, one).at:
            self._latest[place] = one
