"""A connection for a service: made again after it was lost, with ``?`` for values."""

import select
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import lru_cache
from typing import Any, Final

import psycopg
from psycopg.pq import TransactionStatus
from psycopg.rows import tuple_row

from server.floor_record.database import FloorDown, named, shown
from stream.clock import elapsed_ns

_CONNECT_S: Final = 3
_AGAIN_NS: Final = 1_000_000_000
"""Nanoseconds after a failed connection within which none is tried: callers must not wait."""


class Link:
    """One connection of one thread. Every statement is its own transaction outside :meth:`whole`.

    Args:
        url: the database's address.
        answer_ms: milliseconds after which a statement that does not answer is given up.
        settings: PostgreSQL settings of the connection.
    """

    def __init__(
        self, url: str, *, answer_ms: int = 30_000, settings: Mapping[str, str] = {}
    ) -> None:
        self._url, self.where = url, shown(url)
        given = dict(settings) | {
            "statement_timeout": str(answer_ms),
            "lock_timeout": str(answer_ms),
        }
        self._options = " ".join(f"-c {name}={value}" for name, value in given.items())
        self._connection: psycopg.Connection[Any] | None = None
        self._failed_ns: int | None = None

    def execute(self, query: str, values: Sequence[Any] = (), /) -> psycopg.Cursor[Any]:
        """Run a statement.

        Raises:
            FloorDown: the database does not answer.
        """
        with self._lost_at_fault():
            return self.live().execute(_in_psycopg(query), tuple(map(_plain, values)))

    @contextmanager
    def whole(self, *, pipelined: bool = False) -> Iterator[None]:
        """Keep everything written within, or nothing of it.

        With ``pipelined``, statements are sent without waiting for the answers of those before.
        """
        with self._lost_at_fault():
            connection = self.live()
            if pipelined:
                with connection.pipeline(), connection.transaction():
                    yield
            else:
                with connection.transaction():
                    yield

    def live(self) -> psycopg.Connection[Any]:
        """Return the connection, made again where it was lost."""
        if self._connection is not None:
            if not self._connection.closed and not _was_ended(self._connection):
                return self._connection
            self.close()
        if self._failed_ns is not None and elapsed_ns() - self._failed_ns < _AGAIN_NS:
            raise FloorDown(
                "the floor's database does not answer",
                where=self.where,
                way_out="Check that it runs and can be reached",
            )
        self._failed_ns = elapsed_ns()
        self._connection = psycopg.connect(
            self._url,
            autocommit=True,
            row_factory=tuple_row,
            connect_timeout=_CONNECT_S,
            options=self._options,
        )
        self._failed_ns = None
        return self._connection

    def close(self) -> None:
        """Close it; the next statement makes it again."""
        if self._connection is not None:
            with suppress(psycopg.Error):
                self._connection.close()
            self._connection = None

    @contextmanager
    def _lost_at_fault(self) -> Iterator[None]:
        try:
            with named(self.where):
                yield
        except FloorDown:
            self.close()
            raise


def _was_ended(connection: psycopg.Connection[Any]) -> bool:
    """Return whether the server has ended an idle connection: it says nothing else by itself.

    So a restart of the database fails no statement that is sent after it.
    """
    low = connection.pgconn
    if low.transaction_status != TransactionStatus.IDLE or low.pipeline_status:
        return False
    look = select.poll()
    look.register(low.socket, select.POLLIN | select.POLLHUP)
    return bool(look.poll(0))


@lru_cache(512)
def _in_psycopg(query: str) -> bytes:
    """Write a statement with ``?`` for values as psycopg takes it. Bytes in lists go unescaped."""
    written = query.replace("%", "%%").replace("?::bytea[]", "%b::bytea[]")
    return written.replace("?", "%s").encode()


def _plain(value: Any) -> Any:
    """Return a value as PostgreSQL takes it: its text has no NUL, and an enum is its text."""
    if isinstance(value, list):
        return list(map(_plain, value))
    return str(value).replace("\0", "\ufffd") if isinstance(value, str) else value
