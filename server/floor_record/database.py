"""The floor record's database: connect, and the calls that the migrations define."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Any, Final, LiteralString, Self

import psycopg
from psycopg.rows import namedtuple_row

from models.errors import InstallerError, OperatorError, TechnicianError
from server.archive.days import Begun
from server.floor_record.proving import SIGNATURES, proven_in
from stream.clock import elapsed_ns
from stream.identity import Identity
from stream.journal import Place, link
from stream.reading import Entry

FORWARDER: Final = "pitwatch_forwarder"
SERVICE: Final = "pitwatch_service"
_CONNECT_S: Final = 10
_ANSWER_MS: Final = 30_000
"""Milliseconds after which a database that does not answer counts as down."""
_OLDER_NS: Final = 60_000_000_000
"""Nanoseconds after which it is tried again whether a floor is of this version by now."""
_LOCK_MS: Final = 10_000
_NO_MORE_TAKEN: Final = "PW002"
"""The migrations' code for a decision on a journal of which the floor takes no more."""
_READ_AT_ONCE: Final = 2_000


class FloorDown(TechnicianError):
    """The floor's database cannot be reached, or refuses for now; nothing was lost."""


@dataclass(frozen=True, slots=True)
class Chain:
    """A journal on the floor: the table's epoch that it is, and how far the floor has it."""

    table: str
    epoch: int
    place: Place
    """The last entry that the floor has, and its hash."""
    state: str
    """``sound``, or why the floor takes no more of it: ``forked``, ``behind``, ``retired``."""
    proven: int = 0
    """The last entry that the table's signature proves, for a reader; 0 where there is none."""


@dataclass(frozen=True, slots=True)
class Parcel:
    """What a table hands over in a transaction."""

    chain: Chain
    entries: Sequence[Entry]
    """Consecutive ones, of one version."""
    last_there: int
    """The last entry that the table had."""


@dataclass(frozen=True, slots=True)
class Lag:
    """How far the floor is behind a chain's table."""

    table: str
    epoch: int
    journal: str
    state: str
    seq: int
    """The last entry that the floor has."""
    behind: int
    """Entries that the table has besides, as it last said …"""
    silent: timedelta
    """… that long ago."""
    proven: int
    """The last entry that the table's signature proves; 0 where there is none."""


@dataclass(frozen=True, slots=True)
class PutAside:
    """Something in quarantine."""

    number: int
    table: str
    epoch: int
    seq: int
    reason: str
    """``fork``, ``gap``, ``broken_link``, ``no_event``, ``behind``."""
    detail: str


class FloorDatabase:
    """A connection to the floor record. Use :meth:`connected`.

    Every call is a transaction of its own; what it returns is durable.
    """

    def __init__(self, connection: psycopg.Connection[Any], where: str) -> None:
        self._connection, self._where = connection, where
        self._older_ns: int | None = None
        """When the floor was last found to be of an older version."""

    @classmethod
    @contextmanager
    def connected(cls, url: str) -> Iterator[Self]:
        """Yield a connection.

        Raises:
            InstallerError: the address is invalid.
            FloorDown: the database cannot be reached.
        """
        where = shown(url)
        with named(where):
            connection = connected_to(url)
        try:
            yield cls(connection, where)
        finally:
            connection.close()

    # --- what a forwarder may do ----------------------------------------------------------

    def open_chain(
        self, table: str, identity: Identity, begun: Begun | None, last_there: int
    ) -> Chain | None:
        """Return the chain of a journal: its latest epoch, or a new one where it is unknown.

        A new one notes ``last_there``, the last entry that the table has; a floor of an older
        version does not. A journal that has not begun gets no new one: it returns ``None``. One
        that the floor has entries of, and that is empty now, was restored or lost what it held.
        """
        query: LiteralString = "SELECT * FROM pitwatch.open_chain(%s, %s, %s, %s::date, %s)"
        older: LiteralString = "SELECT * FROM pitwatch.open_chain(%s, %s, %s, %s::date)"
        asked = (table, identity.journal, identity.name, begun and begun.day)
        try:
            rows = self._ask(query, (*asked, last_there))
        except TechnicianError as fault:
            if not is_older(fault):
                raise
            rows = self._ask(older, asked)
        for row in rows:
            return Chain(table, row.epoch, Place(row.seq, row.head), row.state)
        return None

    def take(self, parcels: Sequence[Parcel], *, is_late: bool = False) -> list[str]:
        """Hand over entries of several tables in one transaction; return what became of each.

        That is ``taken``, or why not. Where they are late, it may be ``busy``: others catch up, and
        the live tables come first. On a floor of an older version each table has a transaction of
        its own.
        """
        if self._older_ns is not None and elapsed_ns() - self._older_ns < _OLDER_NS:
            return [self._take_alone(parcel) for parcel in parcels]
        try:
            return self._take_together(parcels, is_late=is_late)
        except TechnicianError as fault:
            if not is_older(fault):
                raise
            self._older_ns = elapsed_ns()
            return [self._take_alone(parcel) for parcel in parcels]

    def _take_alone(self, parcel: Parcel) -> str:
        chain, entries = parcel.chain, parcel.entries
        place = (chain.table, chain.epoch, entries[0].seq)
        hashes, bodies = [one.hash for one in entries], [one.body for one in entries]
        query: LiteralString = "SELECT * FROM pitwatch.take(%s, %s, %s, %b, %b, %s, %s)"
        values = (*place, hashes, bodies, entries[0].version, parcel.last_there)
        outcome: str = self._ask(query, values)[0].outcome
        return outcome

    def _take_together(self, parcels: Sequence[Parcel], *, is_late: bool) -> list[str]:
        given = [(nth, entry) for nth, parcel in enumerate(parcels, 1) for entry in parcel.entries]
        query: LiteralString = (
            "SELECT outcome FROM pitwatch.take_all(%s::text[], %s::integer[], %s::bigint[],"
            " %s::integer[], %s::bigint[], %s::integer[], %b, %b, %s) ORDER BY nth"
        )
        values = (
            [parcel.chain.table for parcel in parcels],
            [parcel.chain.epoch for parcel in parcels],
            [parcel.entries[0].seq for parcel in parcels],
            [parcel.entries[0].version for parcel in parcels],
            [parcel.last_there for parcel in parcels],
            [nth for nth, _ in given],
            [entry.hash for _, entry in given],
            [entry.body for _, entry in given],
            is_late,
        )
        return [row.outcome for row in self._ask(query, values)]

    def seen(self, chain: Chain, last_there: int) -> str:
        """Say which entry was the table's last when it was read, after the chain's place was known.

        Returns the chain's state.
        """
        query: LiteralString = "SELECT pitwatch.seen(%s, %s, %s, %s) AS state"
        (row,) = self._ask(query, (chain.table, chain.epoch, last_there, chain.place.seq))
        state: str = row.state
        return state

    # --- what a reader may do -------------------------------------------------------------

    def lag(self) -> list[Lag]:
        """Return how far the floor is behind each table, the farthest first."""
        columns: LiteralString = "table_id, epoch, journal, state, seq, behind, silent"
        query = f"SELECT {columns} FROM pitwatch.lag ORDER BY behind DESC, table_id, epoch"
        proven = self._proven()
        rows = self._ask(query)
        return [Lag(*(*row, proven.get((row.table_id, row.epoch), 0))) for row in rows]

    def _proven(self) -> dict[tuple[str, int], int]:
        """Return the last proven entry of each chain that has one, by its table and epoch."""
        chains = self._ask("SELECT session, table_id, epoch FROM pitwatch.chains")
        proven = proven_in(self._ask(SIGNATURES, ([row.session for row in chains],)))
        return {
            (row.table_id, row.epoch): proven[row.session]
            for row in chains
            if row.session in proven
        }

    def quarantine(self) -> list[PutAside]:
        """Return everything that was put aside, the latest first."""
        columns: LiteralString = "number, table_id, epoch, seq, reason, detail"
        query = f"SELECT {columns} FROM pitwatch.quarantine ORDER BY number DESC"
        return [PutAside(*row) for row in self._ask(query)]

    def entries(self, table: str, epoch: int) -> list[Entry]:
        """Return a chain's entries in order."""
        query: LiteralString = (
            "SELECT seq, hash, convert_to(body, 'UTF8') AS body, version FROM pitwatch.entries"
            " WHERE table_id = %s AND epoch = %s ORDER BY seq"
        )
        return [Entry(*row) for row in self._ask(query, (table, epoch))]

    def verify(self) -> Iterator[tuple[Chain, str | None]]:
        """Compute every hash of every chain again; yield each chain, and what is wrong with it."""
        columns: LiteralString = "table_id, epoch, seq, head, state"
        query = f"SELECT {columns} FROM pitwatch.chains ORDER BY table_id, epoch"
        proven = self._proven()
        for row in self._ask(query):
            signed = proven.get((row.table_id, row.epoch), 0)
            chain = Chain(row.table_id, row.epoch, Place(row.seq, row.head), row.state, signed)
            if chain.state != "retired":
                yield chain, self._fault_of(chain)

    def _fault_of(self, chain: Chain) -> str | None:
        query: LiteralString = (
            "SELECT seq, hash, convert_to(body, 'UTF8') AS body FROM pitwatch.entries"
            " WHERE table_id = %s AND epoch = %s AND seq > %s ORDER BY seq LIMIT %s"
        )
        return self._fault(query, (chain.table, chain.epoch), chain.place)

    def _fault(self, query: LiteralString, which: tuple[object, ...], last: Place) -> str | None:
        """Return what is wrong with a chain that ends at ``last``; ``None`` where it is whole."""
        place = Place()
        while rows := self._ask(query, (*which, place.seq, _READ_AT_ONCE)):
            for row in rows:
                head = link(place.head, place.seq + 1, row.body)
                if (row.seq, row.hash) != (place.seq + 1, head):
                    return f"entry {place.seq + 1} is missing or does not match its hash"
                place = Place(row.seq, head)
        return None if place == last else f"it ends with entry {place.seq}"

    def verify_own(self) -> dict[str, int]:
        """Compute every hash of the services' own chains again; return their last entries.

        Raises:
            TechnicianError: an entry is missing or does not match its hash.
        """
        found = {}
        for own in self._ask("SELECT name, seq, head FROM pitwatch.own_journals ORDER BY name"):
            query: LiteralString = (
                "SELECT seq, hash, convert_to(body, 'UTF8') AS body FROM pitwatch.own_entries"
                " WHERE name = %s AND seq > %s ORDER BY seq LIMIT %s"
            )
            fault = self._fault(query, (own.name,), Place(own.seq, own.head))
            if fault is not None:
                raise TechnicianError(
                    f"{own.name}: {fault}", where=self._where, way_out="Restore the newest backup"
                )
            found[own.name] = own.seq
        return found

    # --- what the owner may do ------------------------------------------------------------

    def begin_epoch(self, table: str, journal: str, reason: str) -> int:
        """Begin a new epoch of a table with a journal that the floor has: it starts anew.

        Raises:
            TechnicianError: the floor has no such journal of that table.
        """
        query: LiteralString = (
            "SELECT pitwatch.begin_epoch(table_id, journal, name, day, %s) AS epoch"
            " FROM pitwatch.chains WHERE table_id = %s AND journal = %s"
            " ORDER BY chains.epoch DESC LIMIT 1"
        )
        rows = self._ask(query, (reason, table, journal))
        if not rows:
            raise TechnicianError(
                f"the floor has no journal {journal} of table {table}",
                where=self._where,
                way_out="`pitwatch floor status` lists the journals",
            )
        epoch: int = rows[0].epoch
        return epoch

    def name_key(self, table: str, fingerprint: str) -> None:
        """Name a key of a table: entries that it signed count as proven from now on."""
        self._ask(
            "INSERT INTO pitwatch.table_keys (table_id, fingerprint) VALUES (%s, %s)"
            " ON CONFLICT (table_id, fingerprint) DO UPDATE SET named_by = session_user"
            " RETURNING table_id",
            (table, fingerprint),
        )

    def heads_of(self, day: date) -> dict[str, tuple[int, str]]:
        """Return last entry and hash, in hex, of each journal of a day, by its id.

        A journal that began a new epoch counts with its last one.
        """
        query: LiteralString = (
            "SELECT journal, seq, encode(head, 'hex') AS head FROM pitwatch.chains"
            " WHERE day = %s AND state <> 'retired' ORDER BY table_id, epoch"
        )
        return {row.journal: (row.seq, row.head) for row in self._ask(query, (day,))}

    def bodies(self, day: date, journal: str) -> Iterator[tuple[int, bytes]]:
        """Yield number and JSON of each entry of a journal of a day, of its last epoch."""
        query: LiteralString = (
            "SELECT seq, convert_to(body, 'UTF8') AS body FROM pitwatch.entries e"
            " JOIN (SELECT table_id, epoch FROM pitwatch.chains WHERE day = %s AND journal = %s"
            " AND state <> 'retired' ORDER BY epoch DESC LIMIT 1) c USING (table_id, epoch)"
            " WHERE seq > %s ORDER BY seq LIMIT %s"
        )
        last = 0
        while rows := self._ask(query, (day, journal, last, _READ_AT_ONCE)):
            yield from ((row.seq, row.body) for row in rows)
            last = rows[-1].seq

    def retire(self, day: date, manifest: str) -> None:
        """Drop the entries of a day whose Parquet was verified.

        Raises:
            TechnicianError: it is under legal hold, or not on the floor.
        """
        self._ask("SELECT pitwatch.retire_day(%s, %s)", (day, manifest))
        self._ask(
            "DELETE FROM pitwatch.signatures s USING pitwatch.chains c"
            " WHERE c.day = %s AND c.journal = s.journal RETURNING s.seq",
            (day,),
        )

    def hold(self, first: date, last: date, table: str | None, reason: str) -> int:
        """Place a legal hold on days; return its number."""
        query: LiteralString = (
            "INSERT INTO pitwatch.holds (first_day, last_day, table_id, reason)"
            " VALUES (%s, %s, %s, %s) RETURNING number"
        )
        number: int = self._ask(query, (first, last, table, reason))[0].number
        return number

    def lift(self, number: int) -> bool:
        """Lift a legal hold; return whether it stood."""
        query: LiteralString = (
            "UPDATE pitwatch.holds SET lifted_at = now(), lifted_by = session_user"
            " WHERE number = %s AND lifted_at IS NULL RETURNING number"
        )
        return bool(self._ask(query, (number,)))

    def _ask(self, query: LiteralString, values: Sequence[object] = ()) -> list[Any]:
        with named(self._where):
            return self._connection.execute(query, values).fetchall()


def connected_to(url: str) -> psycopg.Connection[Any]:
    """Connect to the database; a statement that does not answer is given up."""
    return psycopg.connect(
        url,
        autocommit=True,
        row_factory=namedtuple_row,
        connect_timeout=_CONNECT_S,
        tcp_user_timeout=_ANSWER_MS,
        options=f"-c statement_timeout={_ANSWER_MS} -c lock_timeout={_LOCK_MS}",
    )


def shown(url: str) -> str:
    """Return a database's address without its password."""
    return psycopg.conninfo.make_conninfo(**_without_secret(url))


def _without_secret(url: str) -> dict[str, Any]:
    with named("--floor"):
        parts = psycopg.conninfo.conninfo_to_dict(url)
    return {key: value for key, value in parts.items() if key != "password"}


@contextmanager
def named(where: str) -> Iterator[None]:
    """Turn the database's errors into errors that name it."""
    try:
        yield
    except psycopg.errors.InsufficientPrivilege as fault:
        raise InstallerError(
            _first_line(fault),
            where=where,
            way_out="Use the role that docs/floor.md names for this",
        ) from fault
    except (psycopg.OperationalError, psycopg.InterfaceError) as fault:
        raise FloorDown(
            f"the floor's database does not answer ({_first_line(fault)})",
            where=where,
            way_out="Check that it runs and can be reached; entries wait at their tables",
        ) from fault
    except (psycopg.errors.UndefinedTable, psycopg.errors.InvalidSchemaName) as fault:
        raise InstallerError(
            "there is no floor record in this database",
            where=where,
            way_out="Create it: pitwatch floor migrate --floor postgresql://…",
        ) from fault
    except psycopg.Error as fault:
        if fault.sqlstate == _NO_MORE_TAKEN:
            raise OperatorError(
                _first_line(fault), where=where, way_out="Ask the service of its machine"
            ) from fault
        raise TechnicianError(
            _first_line(fault), where=where, way_out="docs/floor.md describes the floor record"
        ) from fault


def _first_line(fault: psycopg.Error) -> str:
    return next(iter(str(fault).strip().splitlines()), type(fault).__name__)


def is_older(fault: TechnicianError) -> bool:
    """Tell whether the floor is of a version that lacks the function that was called."""
    return isinstance(fault.__cause__, psycopg.errors.UndefinedFunction)
