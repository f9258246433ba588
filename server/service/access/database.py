"""Where accounts are kept: a file of this machine, or a database that several services share."""

import sqlite3
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any, Protocol


class Result(Protocol):
    """The rows of a statement."""

    @property
    def rowcount(self) -> int:
        """The number of rows that it changed."""

    def fetchone(self) -> Any:
        """Return the next row; ``None`` after the last."""

    def fetchall(self) -> list[Any]:
        """Return all rows."""


class Database(Protocol):
    """Takes statements that SQLite and PostgreSQL have in common; ``?`` stands for a value."""

    def execute(self, query: str, values: Sequence[Any] = (), /) -> Result:
        """Run a statement, durable on return."""

    def create(self, schema: str) -> None:
        """Create the tables of a schema that are missing."""

    def alone(self) -> AbstractContextManager[None]:
        """Return a context within which no other service changes anything."""

    def close(self) -> None:
        """Close it."""


class AccountsFile:
    """A SQLite file, readable by this user only, that one thread uses.

    Args:
        path: the file; ``None`` keeps it in memory.
    """

    def __init__(self, path: Path | None = None) -> None:
        if path is not None:
            path.touch(mode=0o600)
        self._connection = sqlite3.connect(path or ":memory:", isolation_level=None)

    def execute(self, query: str, values: Sequence[Any] = (), /) -> Result:
        """Run a statement."""
        return self._connection.execute(query, values)

    def create(self, schema: str) -> None:
        """Create the tables that are missing."""
        self._connection.executescript(schema)

    def alone(self) -> AbstractContextManager[None]:
        """Return a context of no effect: the file's thread is alone with it."""
        return nullcontext()

    def close(self) -> None:
        """Close the file."""
        self._connection.close()
