"""A service's pooled connections to the floor's database, each made again after it was lost."""

import select
from collections.abc import Mapping
from typing import Any, Final

import psycopg
import sqlalchemy as sa
from psycopg.pq import TransactionStatus

from server.floor_record.database import FloorDown, named, shown
from server.readmodel.index import Index
from stream.clock import elapsed_ns

_KEPT: Final = 5
"""Connections that stay open while nobody uses them."""
_CONNECT_S: Final = 3
_AGAIN_NS: Final = 1_000_000_000
"""Nanoseconds after a failed connection within which none is tried: callers must not wait."""
_DERIVED: Final = {"search_path": "pitwatch_read", "synchronous_commit": "off"}
"""No commit of derived rows waits for the disk: after a crash they are folded again."""


def floor_engine(
    url: str, *, answer_ms: int = 30_000, settings: Mapping[str, str] = {}
) -> sa.Engine:
    """Return an engine. Each statement is its own transaction, and errors are the project's.

    Args:
        url: the database's address.
        answer_ms: milliseconds after which a statement that does not answer is given up.
        settings: PostgreSQL settings of its connections.
    """
    where = shown(url)
    limits = {"statement_timeout": str(answer_ms), "lock_timeout": str(answer_ms)}
    options = " ".join(f"-c {name}={value}" for name, value in {**settings, **limits}.items())
    failed_ns: int | None = None

    def connect() -> psycopg.Connection[Any]:
        nonlocal failed_ns
        if failed_ns is not None and elapsed_ns() - failed_ns < _AGAIN_NS:
            raise FloorDown(
                "the floor's database does not answer",
                where=where,
                way_out="Check that it runs and can be reached",
            )
        try:
            with named(where):
                return psycopg.connect(url, connect_timeout=_CONNECT_S, options=options)
        except FloorDown:
            failed_ns = elapsed_ns()
            raise

    engine = sa.create_engine(
        "postgresql+psycopg://",
        creator=connect,
        isolation_level="AUTOCOMMIT",
        pool_size=_KEPT,
        max_overflow=-1,
        use_native_hstore=False,
    )

    pool = engine.pool

    @sa.event.listens_for(engine, "checkout")
    def look(connection: psycopg.Connection[Any], *_: object) -> None:
        if _was_ended(connection):
            raise sa.exc.DisconnectionError

    @sa.event.listens_for(engine, "checkin")
    def leave(_: object, record: sa.pool.ConnectionPoolEntry) -> None:
        if engine.pool is not pool:  # it was closed while a thread was still asking
            record.invalidate()

    @sa.event.listens_for(engine, "handle_error")
    def name(context: sa.engine.ExceptionContext) -> None:
        with named(where):
            raise context.original_exception

    return engine


def record_index(url: str, *, answer_ms: int = 30_000) -> Index:
    """Return the index in the floor record's database, shared by every service."""
    engine = floor_engine(url, answer_ms=answer_ms, settings=_DERIVED)
    return Index(engine.execution_options(isolation_level="READ COMMITTED"))


def _was_ended(connection: psycopg.Connection[Any]) -> bool:
    """Return whether the server has ended an idle connection: it says nothing else by itself.

    So a restart of the database fails no statement that is sent after it.
    """
    low = connection.pgconn
    if low.transaction_status != TransactionStatus.IDLE:
        return connection.closed
    look = select.poll()
    look.register(low.socket, select.POLLIN | select.POLLHUP)
    return bool(look.poll(0))
