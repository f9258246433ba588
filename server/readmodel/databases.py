"""What differs between SQLite, one machine's database, and PostgreSQL, that of many services."""

from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import Any

import sqlalchemy as sa


def is_shared(engine: sa.Engine) -> bool:
    """Return whether other processes write to the database, whose tables a migration creates."""
    return engine.dialect.name == "postgresql"


def putting(engine: sa.Engine, table: sa.Table) -> Any:
    """Return an insertion that may say what becomes of a row that is there."""
    return import_module(f"sqlalchemy.dialects.{engine.dialect.name}").insert(table)


@contextmanager
def locked(engine: sa.Engine, number: int) -> Iterator[None]:
    """Let one process of all at a time into the block; a lost connection lets go of the lock."""
    if not is_shared(engine):
        yield
        return
    transaction = engine.execution_options(isolation_level="READ COMMITTED")
    with transaction.connect() as on:
        on.exec_driver_sql("SELECT pg_advisory_xact_lock(%s)", (number,))
        yield
