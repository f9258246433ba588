"""The index: rows from the journals, so that nothing is read twice.

It is derived: every row comes from an entry that the chain proved. For each journal it stores the
last entry read and its hash. The same tables and statements serve SQLite, where one machine keeps
the rows (:mod:`server.readmodel.file_index`), and PostgreSQL, where the floor record keeps them.
"""

import asyncio
from collections import defaultdict
from collections.abc import Hashable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Final, Generic, TypeAlias, TypeVar

import msgspec
import sqlalchemy as sa

from server.readmodel.databases import is_shared, put, putting
from server.readmodel.selection import Key, Placed, Sought
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
_KEY: Final = ("at", "session", "seq", "n")
_READERS: Final = 3
METADATA: Final = sa.MetaData()
"""The tables of the index. A migration of the floor record creates the same in PostgreSQL."""


class _Word(sa.TypeDecorator[str]):
    """Text. PostgreSQL stores no NUL in it, so neither database does."""

    impl = sa.Text
    cache_ok = True

    def process_bind_param(self, value: str | None, dialect: sa.Dialect) -> str | None:  # noqa: ARG002
        return None if value is None else str(value).replace("\0", "\ufffd")


def _whole(name: str) -> "sa.Column[int]":
    return sa.Column(name, sa.BigInteger, nullable=False)


def _named(name: str, *more: "sa.Column[Any]") -> sa.Table:
    number = sa.BigInteger().with_variant(sa.Integer, "sqlite")  # its own numbers are INTEGER
    return sa.Table(
        name,
        METADATA,
        sa.Column("id", number, primary_key=True),
        sa.Column("name", _Word, nullable=False, unique=True),
        *more,
    )


MADE: Final = sa.Table("made", METADATA, sa.Column("by", sa.Text, nullable=False))
SESSIONS: Final = _named(
    "sessions",
    sa.Column("kept", sa.LargeBinary),
    sa.Column("seq", sa.BigInteger, nullable=False, server_default="0"),
    sa.Column("moved", sa.BigInteger, nullable=False, server_default="0"),
    sa.Column("fault", sa.Text),
)
"""``seq``, ``moved`` (which rises with each change) and ``fault`` are for other processes."""
_TABLES: Final = _named("tables")
_NOTES: Final = sa.Table(
    "notes",
    METADATA,
    sa.Column("session", sa.BigInteger, primary_key=True),
    sa.Column("kind", sa.Text, primary_key=True),
    sa.Column("number", sa.BigInteger, primary_key=True),
    sa.Column("body", sa.LargeBinary, nullable=False),
    sqlite_with_rowid=False,
)
_MOVES: Final = sa.Sequence("moves")


@dataclass(frozen=True, slots=True)
class RowKind(Generic[R]):
    """How the rows of a kind are stored."""

    table: sa.Table
    decoder: msgspec.json.Decoder[R]
    asked_by: tuple[str, ...]
    """Fields that lists are filtered by, in addition to those of every row."""


def _kind(name: str, model: type[R], *asked_by: "sa.Column[Any]") -> RowKind[R]:
    table = sa.Table(
        name,
        METADATA,
        *map(_whole, (*_KEY, "tab")),
        sa.Column("noticed", sa.Boolean, nullable=False),
        _whole("round"),
        *asked_by,
        sa.Column("body", sa.LargeBinary, nullable=False),
        sa.Index(f"{name}_by_time", *_KEY, unique=True),
        sa.Index(f"{name}_by_table", "tab", *_KEY),
        sa.Index(f"{name}_by_round", "session", "round"),
    )
    return RowKind(table, msgspec.json.Decoder(model), tuple(one.name for one in asked_by))


def _spot() -> "sa.Column[int]":
    return sa.Column("spot", sa.BigInteger)


KINDS: Final[Mapping[type[Row], RowKind[Any]]] = {
    RoundRow: _kind("rounds", RoundRow, sa.Column("status", _Word)),
    HandRow: _kind("hands", HandRow, _spot()),
    ViolationRow: _kind("violations", ViolationRow, _spot(), sa.Column("code", _Word)),
    ReviewRow: _kind("reviews", ReviewRow),
    PaymentRow: _kind("payments", PaymentRow, _spot()),
    LedgerRow: _kind("ledger", LedgerRow, sa.Column("account", _Word)),
}
_ROUNDS: Final = KINDS[RoundRow].table.c
_CODES: Final = KINDS[ViolationRow].table.c
_NOTICED: Final = _ROUNDS.noticed == sa.true()
sa.Index("rounds_noticed", *(_ROUNDS[one] for one in _KEY), sqlite_where=_NOTICED)
_OPEN: Final = _ROUNDS.status != "final"
sa.Index("rounds_by_status", _ROUNDS.status, *(_ROUNDS[one] for one in _KEY), sqlite_where=_OPEN)
sa.Index("violations_by_code", _CODES.code, *(_CODES[one] for one in _KEY))
_ROW_TABLES: Final = (*(kind.table for kind in KINDS.values()), _NOTES)
_SESSION: Final = sa.select(SESSIONS.c.id, SESSIONS.c.kept).where(
    SESSIONS.c.name == sa.bindparam("name")
)
_TABLE: Final = sa.select(_TABLES.c.id).where(_TABLES.c.name == sa.bindparam("name"))
_IS_NOTE: Final = sa.and_(*(one == sa.bindparam(f"of_{one.name}") for one in _NOTES.primary_key))
_NOTED: Final = sa.select(_NOTES.c.body).where(_IS_NOTE)
_DROP_NOTE: Final = sa.delete(_NOTES).where(_IS_NOTE)
_OF_ROUND: Final = {
    kind: sa.select(*own.table.c["at", "seq", "n", "body"])
    .where(own.table.c.session == sa.bindparam("of"), own.table.c.round == sa.bindparam("number"))
    .order_by(own.table.c.n)
    for kind, own in KINDS.items()
}
_DROP_ROUND: Final = {
    kind: sa.delete(own.table).where(
        own.table.c.session == sa.bindparam("of"), own.table.c.round == sa.bindparam("number")
    )
    for kind, own in KINDS.items()
}


class Index:
    """The rows, by session. One thread writes; others read lists meanwhile.

    Args:
        engine: the database, with transactions.
    """

    def __init__(self, engine: sa.Engine) -> None:
        self.engine = engine
        self._reading = engine.execution_options(isolation_level="AUTOCOMMIT")
        self._threads = ThreadPoolExecutor(_READERS, "index")
        self._tables: dict[str, int] = {}
        """The ids of tables, by their names."""
        self._moved = {"moved": _MOVES.next_value()} if is_shared(engine) else {}
        """The change of a session that other processes look for; SQLite has one process."""
        self._anew = {"kept": None, "seq": 0, **self._moved}
        self._puts = _puts(engine, self._moved)
        self._held: sa.Connection | None = None
        self._batch: _Batch | None = None
        """What the transaction under way has still to write."""

    def close(self) -> None:
        """Close every connection in order."""
        self._threads.shutdown()
        self.engine.dispose()

    @contextmanager
    def held(self) -> Iterator[sa.Connection]:
        """Write over one connection within, which ends there with its locks."""
        with self.engine.connect() as on:
            self._held = on
            try:
                yield on
            finally:
                self._held = None
                on.invalidate()

    @contextmanager
    def writing(self) -> Iterator[None]:
        """Keep everything written within, or nothing of it."""
        with self._transaction():
            yield

    @contextmanager
    def _transaction(self) -> Iterator["_Batch"]:
        """Yield the transaction under way; begin one where none is."""
        if self._batch is not None:
            yield self._batch
            return
        try:
            with self._begun() as on:
                self._batch = _Batch(on, self._puts)
                yield self._batch
                self._batch.send_all()
        except BaseException:  # Ctrl-C too keeps nothing of it
            self._tables.clear()
            raise
        finally:
            self._batch = None

    @contextmanager
    def _begun(self) -> Iterator[sa.Connection]:
        if self._held is None:
            with self.engine.begin() as on:
                yield on
        else:
            with self._held.begin():
                yield self._held

    # --- writing --------------------------------------------------------------------------

    def session(self, name: str) -> tuple[int, bytes | None]:
        """Return the id of a session, and its last stored state."""
        found = self._asked(SESSIONS, _SESSION, {"name": name})
        return tuple(found[0]) if found else (self._added(SESSIONS, name), None)

    def keep(self, name: str, kept: bytes, place: Place) -> None:
        """Store a session's state at a place of its journal; other processes see that it moved."""
        with self._transaction() as batch:
            batch.put(SESSIONS, name, {"name": name, "kept": kept, "seq": place.seq})

    def forget(self, session: int) -> None:
        """Drop everything of a session, to read its journal anew."""
        with self._transaction() as batch:
            batch.send_all()
            for table in _ROW_TABLES:
                batch.on.execute(sa.delete(table).where(table.c.session == session))
            query = sa.update(SESSIONS).where(SESSIONS.c.id == session)
            batch.on.execute(query.values(self._anew))

    def begin_anew(self, made_by: str) -> None:
        """Drop all rows; ``made_by`` identifies the sources behind those to come."""
        with self._transaction() as batch:
            for table in (*_ROW_TABLES, MADE):
                batch.on.execute(sa.delete(table))
            batch.on.execute(sa.update(SESSIONS).values(self._anew))
            batch.on.execute(sa.insert(MADE), {"by": made_by})

    def refuse(self, name: str, fault: str) -> None:
        """Store why a session's journal cannot be read on."""
        with self._transaction() as batch:
            values = {"fault": fault, **self._moved}
            batch.on.execute(sa.update(SESSIONS).where(SESSIONS.c.name == name).values(values))

    def note(self, session: int, kind: str, number: int, body: bytes | None) -> None:
        """Store a note of a session under a kind and number, or drop it with ``None``."""
        with self._transaction() as batch:
            batch.note((session, kind, number), body)

    def noted(self, session: int, kind: str, number: int) -> bytes | None:
        """Return a note."""
        found = self._asked(_NOTES, _NOTED, _note_of((session, kind, number)))
        return found[0].body if found else None

    def put(self, session: int, key: Key, row: Row, *, noticed: bool = False) -> None:
        """Add a row at its key, or replace the one that is there.

        A round that needed attention once stays listed: another process may know of people's work
        on it that this one does not know of yet.
        """
        if self._batch is None:
            with self._transaction():
                self.put(session, key, row, noticed=noticed)
            return
        kind, (at, _, seq, n) = KINDS[type(row)], key
        values = {
            "at": at,
            "session": session,
            "seq": seq,
            "n": n,
            "tab": self._table(row.table),
            "noticed": noticed,
            "round": row.round,
            "body": msgspec.json.encode(row),
        }
        for name in kind.asked_by:
            values[name] = getattr(row, name)
        self._batch.put(kind.table, (at, session, seq, n), values)

    def drop_round(self, session: int, kind: type[Row], number: int) -> int:
        """Drop the rows of a round; return how many there were."""
        with self._transaction() as batch:
            batch.send(KINDS[kind].table)
            values = {"of": session, "number": number}
            return batch.on.execute(_DROP_ROUND[kind], values).rowcount

    def _table(self, name: str) -> int:
        if name not in self._tables:
            found = self._asked(_TABLES, _TABLE, {"name": name})
            self._tables[name] = found[0].id if found else self._added(_TABLES, name)
        return self._tables[name]

    def _added(self, to: sa.Table, name: str) -> int:
        with self._transaction() as batch:
            made: int = batch.on.execute(
                sa.insert(to).returning(to.c.id), {"name": name}
            ).scalar_one()
            return made

    # --- reading --------------------------------------------------------------------------

    def of_round(self, session: int, kind: type[R], number: int) -> tuple[Placed[R], ...]:
        """Return the rows of a round, in the order in which they were added."""
        own, values = KINDS[kind], {"of": session, "number": number}
        return _placed(own, self._asked(own.table, _OF_ROUND[kind], values))

    def newest(self, sought: Sought[R], at_most: int) -> tuple[Placed[R], ...]:
        """Return rows, the newest first; for the thread that writes."""
        own = KINDS[sought.kind]
        return _placed(own, self._asked(own.table, _selected(sought, at_most)))

    async def look_up(self, sought: Sought[R], at_most: int) -> tuple[Placed[R], ...]:
        """Return rows, the newest first, without blocking other requests.

        Raises:
            TechnicianError: they cannot be read.
        """
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._threads, self._read, sought, at_most)

    def _read(self, sought: Sought[R], at_most: int) -> tuple[Placed[R], ...]:
        with self._reading.connect() as on:
            return _placed(KINDS[sought.kind], on.execute(_selected(sought, at_most)).all())

    def _asked(
        self, table: sa.Table, query: sa.Select[Any], values: Mapping[str, Any] = {}
    ) -> Sequence[Any]:
        """Return rows of a table, with those that the transaction under way has still to write."""
        if self._batch is None:
            with self._reading.connect() as on:
                return on.execute(query, values).all()
        self._batch.send(table)
        return self._batch.on.execute(query, values).all()


class _Batch:
    """What a transaction has still to write: one statement for all rows of a table.

    A statement costs a database and this process some 40 µs each, however little it writes. A later
    write to a place replaces an earlier one.
    """

    def __init__(self, on: sa.Connection, puts: Mapping[sa.Table, Any]) -> None:
        self.on, self._puts = on, puts
        self._rows: dict[sa.Table, dict[Hashable, dict[str, Any]]] = defaultdict(dict)
        self._dropped: dict[_Note, None] = {}
        """Notes."""

    def put(self, table: sa.Table, key: Hashable, values: dict[str, Any]) -> None:
        """Write a row to the place that its key names."""
        earlier = self._rows[table].get(key)
        if earlier is not None and earlier.get("noticed"):
            values["noticed"] = True
        self._rows[table][key] = values

    def note(self, note: "_Note", body: bytes | None) -> None:
        """Store a note, or drop it with ``None``."""
        self._dropped.pop(note, None)
        self._rows[_NOTES].pop(note, None)
        if body is None:
            self._dropped[note] = None
        else:
            session, kind, number = note
            values = {"session": session, "kind": kind, "number": number, "body": body}
            self.put(_NOTES, note, values)

    def send(self, table: sa.Table) -> None:
        """Write what there is for a table."""
        if rows := self._rows.pop(table, None):
            put(self.on, self._puts[table], list(rows.values()))
        if table is _NOTES and self._dropped:
            dropped, self._dropped = self._dropped, {}
            self.on.execute(_DROP_NOTE, [_note_of(note) for note in dropped])

    def send_all(self) -> None:
        """Write everything."""
        for table in self._puts:
            self.send(table)


_Note: TypeAlias = tuple[int, str, int]
"""Session, kind and number."""


def _note_of(note: _Note) -> dict[str, Any]:
    return dict(zip(("of_session", "of_kind", "of_number"), note, strict=True))


def _puts(engine: sa.Engine, moved: Mapping[str, Any]) -> dict[sa.Table, Any]:
    """Return, for each table, the statement that adds a row or replaces the one at its place."""
    puts = {
        SESSIONS: _put(engine, SESSIONS, ("name",), ("kept", "seq"), {"fault": None, **moved}),
        _NOTES: _put(engine, _NOTES, ("session", "kind", "number"), ("body",), {}),
    }
    for kind in KINDS.values():
        more = {"noticed": sa.or_(kind.table.c.noticed, sa.literal_column("excluded.noticed"))}
        replaced = ("tab", "round", *kind.asked_by, "body")
        puts[kind.table] = _put(engine, kind.table, _KEY, replaced, more)
    return puts


def _put(
    engine: sa.Engine,
    table: sa.Table,
    key: Sequence[str],
    replaced: Sequence[str],
    more: Mapping[str, Any],
) -> Any:
    names = (*key, *replaced, *(name for name in more if name == "noticed"))
    found = putting(engine, table, names)
    values = {name: found.excluded[name] for name in replaced}
    return found.on_conflict_do_update(index_elements=key, set_={**values, **more})


def _selected(sought: Sought[Any], at_most: int) -> sa.Select[Any]:
    """Return the query of a selection."""
    column = KINDS[sought.kind].table.c
    key = [column[name] for name in _KEY]
    at, session, seq, n = sought.before
    conditions = [column.at < at]
    if session:
        before = (_big(at), _id_of(SESSIONS, session), _big(seq), _big(n))
        conditions = [sa.tuple_(*key) < sa.tuple_(*before)]
    if sought.table is not None:
        conditions.append(column.tab == _id_of(_TABLES, sought.table))
    if sought.session is not None:
        conditions.append(column.session == _id_of(SESSIONS, sought.session))
    if sought.tables is not None:
        seen = sa.select(_TABLES.c.id).where(_TABLES.c.name.in_(sorted(sought.tables)))
        conditions.append(column.tab.in_(seen))
    if sought.from_ns is not None:
        conditions.append(column.at >= sought.from_ns)
    if sought.noticed:
        conditions.append(column.noticed == sa.true())
    conditions += [column[name] == value for name, value in sought.fields]
    order = [one.asc() if sought.oldest_first else one.desc() for one in key]
    chosen = sa.select(*column["at", "seq", "n", "body"]).where(*conditions)
    return chosen.order_by(*order).limit(at_most)


def _big(value: int) -> "sa.BindParameter[int]":
    return sa.literal(value, sa.BigInteger)


def _id_of(table: sa.Table, name: str) -> "sa.ScalarSelect[int]":
    return sa.select(table.c.id).where(table.c.name == name).scalar_subquery()


def _placed(kind: RowKind[R], rows: Sequence[Any]) -> tuple[Placed[R], ...]:
    found = ((at, seq, n, kind.decoder.decode(body)) for at, seq, n, body in rows)
    return tuple(Placed((at, row.session, seq, n), row) for at, seq, n, row in found)
