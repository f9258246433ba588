"""The index in the floor record's database, shared by every service."""

import asyncio
import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Final, TypeVar

from server.floor_record.batch import Batch
from server.floor_record.link import Link
from server.readmodel.index import KINDS, Asked, Index, Key, Placed, Sought, found_rows
from server.readmodel.views import RoundRow, Row
from stream.journal import Place

R = TypeVar("R", bound=Row)
_READERS: Final = 3
_ANSWER_MS: Final = 5_000
"""Milliseconds that a request waits at most: its thread answers others too."""
_SCHEMA: Final = {"search_path": "pitwatch_read"}
_ROUNDS: Final = """
    SELECT r.session, r.body FROM unnest(?::bigint[], ?::bigint[]) AS v (session, round)
    JOIN pitwatch_read.rounds r USING (session, round) ORDER BY r.session, r.round, r.n
"""
_DERIVED: Final = _SCHEMA | {"synchronous_commit": "off"}
"""No commit of derived rows waits for the disk: after a crash they are folded again."""


class RecordIndex(Index):
    """The rows of every table.

    Args:
        url: the database's address.
        folds: whether it is for the process that folds entries into rows.
    """

    def __init__(self, url: str, *, folds: bool = False) -> None:
        super().__init__()
        self._url, self._folds = url, folds
        self.link = Link(url, answer_ms=30_000 if folds else _ANSWER_MS, settings=_DERIVED)
        self._states: dict[int, tuple[bytes, int]] = {}
        """What the transaction under way stores of each session …"""
        self._batch: Batch | None = None
        """… and the rows and notes that it has still to write."""
        self._readers = ThreadPoolExecutor(_READERS, "index")
        self._local = threading.local()
        self._opened: list[Link] = []

    def close(self) -> None:
        """Close every connection."""
        self._readers.shutdown()
        for link in (self.link, *self._opened):
            link.close()

    @contextmanager
    def writing(self) -> Iterator[None]:
        """Keep everything written within, or nothing of it."""
        with self._together():
            yield

    @contextmanager
    def _together(self) -> Iterator[Batch]:
        """Yield what the transaction under way has still to write; begin one where none is."""
        if self._batch is not None:
            yield self._batch
            return
        self._batch = batch = Batch()
        try:
            with self.link.whole(pipelined=self._folds):
                yield batch
                batch.send(self.link)
                self._keep_states()
        except BaseException:
            self._tables.clear()
            raise
        finally:
            self._states.clear()
            self._batch = None

    def keep(self, session: int, kept: bytes, place: Place) -> None:
        """Store a session's state, and tell the other services that it moved.

        The states of all sessions of a transaction are stored at its end, by one statement.
        """
        self._states[session] = (kept, place.seq)

    def _keep_states(self) -> None:
        if self._states:
            kept, seqs = zip(*self._states.values(), strict=True)
            self._own.execute(
                "UPDATE sessions s SET kept = v.kept, seq = v.seq, fault = NULL,"
                " moved = nextval('moves')"
                " FROM unnest(?::bigint[], ?::bytea[], ?::bigint[]) AS v (id, kept, seq)"
                " WHERE s.id = v.id",
                (list(self._states), list(kept), list(seqs)),
            )

    def forget(self, session: int) -> None:
        """Drop everything of a session, to fold it anew."""
        super().forget(session)
        query = "UPDATE sessions SET seq = 0, moved = nextval('moves') WHERE id = ?"
        self._own.execute(query, (session,))

    def add(self, session: int, key: Key, row: Row) -> None:
        """Add a row at its key."""
        tab = self._table(row.table)
        with self._together() as batch:
            batch.add((key[0], session, *key[2:]), row, tab)

    def change(self, session: int, key: Key, row: Row, *, noticed: bool) -> None:
        """Replace the row at ``key``.

        A round that needed attention once stays listed: another service may know of people's work
        on it that this one does not know of yet.
        """
        with self._together() as batch:
            batch.change((key[0], session, *key[2:]), row, noticed=noticed)

    def note(self, session: int, kind: str, number: int, body: bytes | None) -> None:
        """Store a note of a session under a kind and number, or drop it with ``None``."""
        with self._together() as batch:
            batch.note((session, kind, number), body)

    async def look_up(self, sought: Sought[R], at_most: int) -> tuple[Placed[R], ...]:
        """Return rows, the newest first, without blocking other requests.

        Raises:
            FloorDown: the database does not answer.
        """
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._readers, self._read, sought, at_most)

    def _read(self, sought: Sought[R], at_most: int) -> tuple[Placed[R], ...]:
        if not hasattr(self._local, "link"):
            self._local.link = Link(self._url, settings=_SCHEMA)
            self._opened.append(self._local.link)
        return found_rows(self._local.link, sought, at_most)

    @property
    def _own(self) -> Asked:
        """The connection, once it has what was written so far."""
        if self._batch is not None:
            self._batch.send(self.link)
        return self.link


def rounds_of(on: Asked, wanted: Sequence[tuple[int, int]]) -> Iterator[tuple[int, RoundRow]]:
    """Yield rounds of several sessions: of each the session's number and its row."""
    if not wanted:
        return
    decoder = KINDS[RoundRow].decoder
    sessions, numbers = zip(*wanted, strict=True)
    for session, body in on.execute(_ROUNDS, (list(sessions), list(numbers))).fetchall():
        yield session, decoder.decode(body)
