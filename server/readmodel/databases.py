"""What differs between SQLite, one machine's database, and PostgreSQL, that of many services."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib import import_module
from typing import Any

import sqlalchemy as sa


def is_shared(engine: sa.Engine) -> bool:
    """Return whether other processes write to the database, whose tables a migration creates."""
    return engine.dialect.name == "postgresql"


def putting(engine: sa.Engine, table: sa.Table, names: Sequence[str]) -> Any:
    """Return an insertion of rows with these columns, to run by :func:`put`.

    It may say what becomes of a row that is there. PostgreSQL takes an array a column, so that the
    statement is the same for any number of rows, and is prepared once.
    """
    insert = import_module(f"sqlalchemy.dialects.{engine.dialect.name}").insert(table)
    if not is_shared(engine):
        return insert
    arrays = (sa.bindparam(f"all_{name}", type_=sa.ARRAY(table.c[name].type)) for name in names)
    given = sa.func.unnest(*arrays).table_valued(*names).render_derived()
    return insert.from_select(names, sa.select(given))


def put(on: sa.Connection, statement: Any, rows: Sequence[Mapping[str, Any]]) -> None:
    """Run an insertion of :func:`putting`."""
    if is_shared(on.engine):
        on.execute(statement, {f"all_{name}": [row[name] for row in rows] for name in rows[0]})
    else:
        on.execute(statement, rows)


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
