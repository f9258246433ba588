"""Where accounts are kept: a file of this machine, or a database that several services share."""

from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, Final

import sqlalchemy as sa

from server.readmodel.databases import is_shared, locked

_ALONE: Final = 0x7069_7470_6F70_6C21
"""The number of the lock for changes of accounts."""


@dataclass(frozen=True, slots=True)
class Result:
    """The rows of a statement, or the number of those that it changed."""

    rows: Sequence[Any]
    rowcount: int

    def fetchone(self) -> Any:
        """Return the first row; ``None`` where there is none."""
        return next(iter(self.rows), None)

    def fetchall(self) -> Sequence[Any]:
        """Return all rows."""
        return self.rows


class Database:
    """Takes statements that SQLite and PostgreSQL have in common; ``?`` stands for a value.

    Args:
        engine: the database; each statement is its own transaction.
    """

    def __init__(self, engine: sa.Engine) -> None:
        self._engine = engine

    def execute(self, query: str, values: Sequence[Any] = (), /) -> Result:
        """Run a statement, durable on return."""
        named = {f"v{at}": _plain(one) for at, one in enumerate(values)}
        with self._engine.connect() as on:
            done = on.execute(_text(query), named)
            return Result(done.all() if done.returns_rows else (), done.rowcount)

    def create(self, schema: str) -> None:
        """Create the tables of a schema that are missing; a migration has created shared ones."""
        if not is_shared(self._engine):
            for statement in filter(str.strip, schema.split(";")):
                self.execute(statement)

    def alone(self) -> AbstractContextManager[None]:
        """Return a context within which no other service changes anything."""
        return locked(self._engine, _ALONE)

    def close(self) -> None:
        """Close its connections."""
        self._engine.dispose()


def accounts_file(path: Path | None = None) -> sa.Engine:
    """Return a SQLite file, readable by this user only, that one thread uses.

    Args:
        path: the file; ``None`` keeps it in memory.
    """
    if path is None:
        return sa.create_engine("sqlite://", poolclass=sa.StaticPool, isolation_level="AUTOCOMMIT")
    path.touch(mode=0o600)
    url = sa.URL.create("sqlite", database=str(path))
    return sa.create_engine(url, isolation_level="AUTOCOMMIT")


@lru_cache(512)
def _text(query: str) -> sa.TextClause:
    first, *others = query.split("?")
    return sa.text(first + "".join(f":v{at}{rest}" for at, rest in enumerate(others)))


def _plain(value: Any) -> Any:
    """Return a value as both databases store it: text has no NUL, and an enum is its text."""
    return str(value).replace("\0", "\ufffd") if isinstance(value, str) else value
