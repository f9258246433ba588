"""Read people's entries live: one JSON line each, from a pipe, a growing file or stdin."""

import os
import stat
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from threading import Event, Thread
from typing import IO, Final

from msgspec.structs import replace

from models.decode import LONGEST_LINE, decode_event
from models.errors import InputRefused
from models.events import ConsoleEntry
from server.table.persons import check_person

_POLL_S: Final = 0.05


class Entries:
    """Reads entries in a separate thread.

    Args:
        place: the pipe or file; ``-`` for stdin.
        taken: receives each entry, with its time.
        refused: receives invalid lines.
        now_ns: gives the time of entries without one.
    """

    def __init__(
        self,
        place: str,
        taken: Callable[[ConsoleEntry], None],
        refused: Callable[[InputRefused], None],
        now_ns: Callable[[], int],
    ) -> None:
        self._place, self._taken, self._refused = place, taken, refused
        self._now_ns = now_ns
        self._stopped = Event()
        # A read of stdin cannot be interrupted: such a thread must not block the exit.
        self._thread = Thread(target=self._read, name="entries", daemon=True)

    def start(self) -> None:
        """Start reading."""
        self._thread.start()

    def stop(self) -> None:
        """Stop reading."""
        self._stopped.set()

    def _read(self) -> None:
        with _opened(self._place) as source:
            for number, line in enumerate(self._lines(source), start=1):
                if line.strip():
                    self._take(line, number)

    def _lines(self, source: IO[bytes]) -> Iterator[bytes]:
        held = b""
        while not self._stopped.is_set():
            chunk = source.readline(LONGEST_LINE)
            held = (held + chunk)[: LONGEST_LINE + 1]  # refused, and an endless one fills no memory
            if chunk.endswith(b"\n"):
                yield held
                held = b""
            elif not chunk and self._stopped.wait(_POLL_S):
                return

    def _take(self, line: bytes, number: int) -> None:
        try:
            entry = self._checked(line, number)
        except InputRefused as refused:
            self._refused(refused)
            return
        now_ns = self._now_ns()
        at_ns = now_ns if entry.at is None else min(entry.at, now_ns)
        self._taken(replace(entry, seq=None, at=at_ns))

    def _checked(self, line: bytes, number: int) -> ConsoleEntry:
        entry = decode_event(line, self._place, number)
        if not isinstance(entry, ConsoleEntry):
            kind = str(type(entry).__struct_config__.tag)
            raise _refusal(self._place, number, "type", "a console_entry", kind)
        check_person(entry, self._place, number)
        return entry


def _refusal(source: str, line: int, field: str, expected: str, found: str) -> InputRefused:
    return InputRefused(source=source, line=line, field=field, expected=expected, found=found)


def _opened(place: str) -> IO[bytes]:
    if place == "-":
        return sys.stdin.buffer
    if stat.S_ISFIFO(Path(place).stat().st_mode):
        # Also open for writing: a pipe then has no end when a writer leaves.
        return os.fdopen(os.open(place, os.O_RDWR), "rb")
    return Path(place).open("rb")
