"""The index: rows from the journals, so that nothing is read twice.

It is derived: every row comes from an entry that the chain proved. For each journal it stores the
last entry read and its hash. :class:`server.readmodel.file_index.FileIndex` keeps it in a file, the
floor record in its database.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any, Final, Generic, Protocol, TypeAlias, TypeVar

import msgspec

from server.readmodel.views import (
    HandRow,
    LedgerRow,
    PaymentRow,
    ReviewRow,
    RoundRow,
    Row,
    ViolationRow,
)
from stream.journal import Place

R = TypeVar("R", bound=Row)
Key: TypeAlias = tuple[int, str, int, int]
"""``at``, session, ``seq``, and a number that distinguishes rows of one event."""

ENDLESS: Final = 2**63 - 1
KEY: Final = "at, session, seq, n"


@dataclass(frozen=True, slots=True)
class RowKind(Generic[R]):
    """How the rows of a kind are stored."""

    table: str
    decoder: msgspec.json.Decoder[R]
    asked_by: tuple[str, ...] = ()
    """Fields that lists are filtered by, in addition to those of every row."""


def _kind(table: str, model: type[R], *asked_by: str) -> RowKind[R]:
    return RowKind(table, msgspec.json.Decoder(model), asked_by)


KINDS: Final[Mapping[type[Row], RowKind[Any]]] = {
    RoundRow: _kind("rounds", RoundRow, "status"),
    HandRow: _kind("hands", HandRow, "spot"),
    ViolationRow: _kind("violations", ViolationRow, "spot", "code"),
    ReviewRow: _kind("reviews", ReviewRow),
    PaymentRow: _kind("payments", PaymentRow, "spot"),
    LedgerRow: _kind("ledger", LedgerRow, "account"),
}


class Result(Protocol):
    """The rows of a statement."""

    def fetchone(self) -> Any:
        """Return the next row; ``None`` after the last."""

    def fetchall(self) -> list[Any]:
        """Return all rows."""


class Asked(Protocol):
    """A connection to where the rows are; ``?`` stands for a value."""

    def execute(self, query: str, values: Sequence[Any] = (), /) -> Result:
        """Run a statement."""


@dataclass(frozen=True, slots=True)
class Placed(Generic[R]):
    """A row at its key."""

    key: Key
    row: R


@dataclass(frozen=True, slots=True)
class Sought(Generic[R]):
    """A selection of rows of a kind, the newest first."""

    kind: type[R]
    before: Key = (ENDLESS, "", 0, 0)
    table: str | None = None
    tables: frozenset[str] | None = None
    """The tables that the requester may see; ``None`` for all."""
    session: str | None = None
    from_ns: int | None = None
    noticed: bool = False
    """Whether to select only rounds that need attention."""
    fields: tuple[tuple[str, object], ...] = ()
    """Further fields with their required values."""
    oldest_first: bool = False
    """Whether they come in the order of time; they then begin at ``from_ns``."""


class Index(ABC):
    """The rows, by session. One thread writes; others read lists meanwhile.

    The SQL is what SQLite and PostgreSQL have in common.
    """

    def __init__(self) -> None:
        self._tables: dict[str, int] = {}
        """The ids of tables, by their names."""

    @abstractmethod
    def close(self) -> None:
        """Close it in order."""

    @abstractmethod
    def writing(self) -> AbstractContextManager[None]:
        """Return a context that keeps everything written within, or nothing of it."""

    @abstractmethod
    async def look_up(self, sought: Sought[R], at_most: int) -> tuple[Placed[R], ...]:
        """Return rows, the newest first, without blocking other requests.

        Raises:
            TechnicianError: they cannot be read.
        """

    @property
    @abstractmethod
    def _own(self) -> Asked:
        """The connection of the thread that writes."""

    # --- writing --------------------------------------------------------------------------

    def session(self, name: str) -> tuple[int, bytes | None]:
        """Return the id of a session, and its last stored state."""
        query = "SELECT id, kept FROM sessions WHERE name = ?"
        row: tuple[int, bytes | None] | None = self._own.execute(query, (name,)).fetchone()
        if row is not None:
            return row
        return self._added("sessions", name), None

    def keep(self, session: int, kept: bytes, place: Place) -> None:  # noqa: ARG002
        """Store a session's state, as it is at a place of its journal."""
        self._own.execute("UPDATE sessions SET kept = ? WHERE id = ?", (kept, session))

    def forget(self, session: int) -> None:
        """Drop everything of a session, to read its journal anew."""
        with self.writing():
            for table in (*(kind.table for kind in KINDS.values()), "notes"):
                self._own.execute(f"DELETE FROM {table} WHERE session = ?", (session,))
            self._own.execute("UPDATE sessions SET kept = NULL WHERE id = ?", (session,))

    def note(self, session: int, kind: str, number: int, body: bytes | None) -> None:
        """Store a note of a session under a kind and number, or drop it with ``None``."""
        if body is None:
            query = "DELETE FROM notes WHERE session = ? AND kind = ? AND number = ?"
            self._own.execute(query, (session, kind, number))
        else:
            query = (
                "INSERT INTO notes VALUES (?, ?, ?, ?)"
                " ON CONFLICT (session, kind, number) DO UPDATE SET body = excluded.body"
            )
            self._own.execute(query, (session, kind, number, body))

    def noted(self, session: int, kind: str, number: int) -> bytes | None:
        """Return a note."""
        query = "SELECT body FROM notes WHERE session = ? AND kind = ? AND number = ?"
        row: tuple[bytes] | None = self._own.execute(query, (session, kind, number)).fetchone()
        return None if row is None else row[0]

    def add(self, session: int, key: Key, row: Row) -> None:
        """Add a row at its key."""
        kind = KINDS[type(row)]
        values = [key[0], session, key[2], key[3], self._table(row.table), False]
        values += [row.round, *(getattr(row, name) for name in kind.asked_by)]
        places = ", ".join("?" * (len(values) + 1))
        self._own.execute(
            f"INSERT INTO {kind.table} VALUES ({places})", (*values, msgspec.json.encode(row))
        )

    def change(self, session: int, key: Key, row: Row, *, noticed: bool) -> None:
        """Replace the row at ``key``."""
        kind = KINDS[type(row)]
        columns = "".join(f", {name} = ?" for name in kind.asked_by)
        self._own.execute(
            f"UPDATE {kind.table} SET body = ?, noticed = ?{columns}"
            " WHERE at = ? AND session = ? AND seq = ? AND n = ?",
            (
                msgspec.json.encode(row),
                noticed,
                *(getattr(row, name) for name in kind.asked_by),
                *(key[0], session, key[2], key[3]),
            ),
        )

    def drop_round(self, session: int, kind: type[Row], number: int) -> int:
        """Drop the rows of a round; return how many there were."""
        query = f"DELETE FROM {KINDS[kind].table} WHERE session = ? AND round = ? RETURNING n"
        return len(self._own.execute(query, (session, number)).fetchall())

    def _table(self, name: str) -> int:
        if name not in self._tables:
            query = "SELECT id FROM tables WHERE name = ?"
            row: tuple[int] | None = self._own.execute(query, (name,)).fetchone()
            self._tables[name] = self._added("tables", name) if row is None else row[0]
        return self._tables[name]

    def _added(self, to: str, name: str) -> int:
        query = f"INSERT INTO {to} (name) VALUES (?) RETURNING id"
        made: int = self._own.execute(query, (name,)).fetchone()[0]
        return made

    # --- reading --------------------------------------------------------------------------

    def of_round(self, session: int, kind: type[R], number: int) -> tuple[Placed[R], ...]:
        """Return the rows of a round, in the order in which they were added."""
        found: RowKind[R] = KINDS[kind]
        rows = self._own.execute(
            f"SELECT at, seq, n, body FROM {found.table} WHERE session = ? AND round = ?"
            " ORDER BY n",
            (session, number),
        ).fetchall()
        placed = [((at, "", seq, n), found.decoder.decode(body)) for at, seq, n, body in rows]
        return tuple(Placed((key[0], row.session, key[2], key[3]), row) for key, row in placed)

    def newest(self, sought: Sought[R], at_most: int) -> tuple[Placed[R], ...]:
        """Return rows, the newest first; for the thread that writes."""
        return found_rows(self._own, sought, at_most)


def found_rows(connection: Asked, sought: Sought[R], at_most: int) -> tuple[Placed[R], ...]:
    """Return rows, the newest first."""
    kind: RowKind[R] = KINDS[sought.kind]
    named = _named_by_id(connection, sought)
    if named is None:
        return ()
    conditions, values = named
    at, session, seq, n = sought.before
    conditions.append(f"({KEY}) < (?, (SELECT id FROM sessions WHERE name = ?), ?, ?)")
    values += [at, session, seq, n]
    if not session:
        conditions[-1], values[-4:] = "at < ?", [at]
    if sought.from_ns is not None:
        conditions.append("at >= ?")
        values.append(sought.from_ns)
    if sought.noticed:
        conditions.append("noticed")
    for name, value in sought.fields:
        conditions.append(f"{name} = ?")
        values.append(value)
    way = "ASC" if sought.oldest_first else "DESC"
    order = ", ".join(f"{name} {way}" for name in KEY.split(", "))
    rows = connection.execute(
        f"SELECT at, seq, n, body FROM {kind.table} WHERE {' AND '.join(conditions)}"
        f" ORDER BY {order} LIMIT ?",
        (*values, at_most),
    ).fetchall()
    return tuple(_placed(kind, row) for row in rows)


def _placed(kind: RowKind[R], found: tuple[int, int, int, bytes]) -> Placed[R]:
    at, seq, n, body = found
    row = kind.decoder.decode(body)
    return Placed((at, row.session, seq, n), row)


def _named_by_id(connection: Asked, sought: Sought[R]) -> tuple[list[str], list[object]] | None:
    """Return the SQL conditions for table and session; ``None`` where there is no such name."""
    conditions: list[str] = []
    values: list[object] = []
    for table, column, name in (
        ("tables", "tab", sought.table),
        ("sessions", "session", sought.session),
    ):
        if name is None:
            continue
        row = connection.execute(f"SELECT id FROM {table} WHERE name = ?", (name,)).fetchone()
        if row is None:
            return None
        conditions.append(f"{column} = ?")
        values.append(row[0])
    if sought.tables is not None:
        marks = ", ".join("?" * len(sought.tables))
        conditions.append(f"tab IN (SELECT id FROM tables WHERE name IN ({marks}))")
        values += sorted(sought.tables)
    return conditions, values
