"""What services share of people: accounts, limits, and the chains of actions and of casework."""

import logging
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any, Final, TypeVar

import psycopg

from models.errors import TechnicianError
from models.events import Event
from models.judgements import AnyEvent
from server.floor_record.database import FloorDown
from server.floor_record.link import Link
from stream.chaining import chained
from stream.checkpoints import Checkpoint
from stream.identity import Identity, new_identity
from stream.journal import Checkpoints, Place
from stream.reading import UnknownEvent, event_of

_ALONE: Final = 0x7069_7470_6F70_6C21
"""The number of the lock for changes of accounts."""
_READ_AT_ONCE: Final = 500
log: Final = logging.getLogger("pitwatch.service")
_TRIES: Final = 20
E = TypeVar("E", bound=Event)


class SharedAccounts:
    """The accounts in the floor's database. One thread uses it; others have their own."""

    def __init__(self, url: str) -> None:
        self._link = Link(url, settings={"search_path": "pitwatch_people"})

    def execute(self, query: str, values: Sequence[Any] = (), /) -> psycopg.Cursor[Any]:
        """Run a statement; durable on return."""
        return self._link.execute(query, values)

    def create(self, schema: str) -> None:
        """Create nothing: a migration has created the tables."""

    @contextmanager
    def alone(self) -> Iterator[None]:
        """Keep other services from changing anything meanwhile."""
        self._link.execute("SELECT pg_advisory_lock(?)", (_ALONE,))
        try:
            yield
        finally:
            with suppress(FloorDown):  # a lost connection has let go of the lock
                self._link.execute("SELECT pg_advisory_unlock(?)", (_ALONE,))

    def close(self) -> None:
        """Close the connection."""
        self._link.close()


class SharedJournal:
    """A chain that every service appends to; the database verifies each link.

    Args:
        url: the database's address.
        name: ``activity.journal`` or ``cases.journal``.
        due: signs this service's checkpoints and sends them away.
        known: checkpoints of earlier runs.

    Raises:
        TechnicianError: the chain lacks an entry that one of ``known`` covers.
    """

    def __init__(
        self, url: str, name: str, due: Checkpoints, known: Collection[Checkpoint]
    ) -> None:
        self._link, self._name, self._due = Link(url), name, due
        drawn = new_identity(name, None).journal
        query = "SELECT * FROM pitwatch.open_own(?, ?)"
        journal, seq, head = self._link.execute(query, (name, drawn)).fetchall()[0]
        self._identity = Identity(journal=journal, name=name)
        self._place = Place(seq, head)
        self._signed_seq = seq
        try:
            self._check(known)
        except BaseException:
            self._link.close()
            raise

    @property
    def last_seq(self) -> int:
        """The number of the last entry of any service."""
        query = "SELECT seq FROM pitwatch.own_journals WHERE name = ?"
        ((seq,),) = self._link.execute(query, (self._name,)).fetchall()
        return int(seq)

    def append(self, event: E) -> E:
        """Append an event and return it with its ``seq``; durable on return."""
        (appended,) = self.append_all((event,))
        return appended

    def append_all(self, events: Iterable[E]) -> tuple[E, ...]:
        """Append events in one transaction, after what other services have appended.

        Raises:
            FloorDown: the database does not answer; they may have been appended all the same.
        """
        wanted = tuple(events)
        for _ in range(_TRIES):
            numbered, rows = chained(wanted, self._place)
            hashes, bodies = [head for _, head, _ in rows], [body for *_, body in rows]
            query = "SELECT * FROM pitwatch.append_own(?, ?, ?, ?)"
            values = (self._name, self._place.seq, hashes, bodies)
            seq, head = self._link.execute(query, values).fetchall()[0]
            self._place = Place(seq, head)
            if rows and (seq, head) == rows[-1][:2]:
                return numbered
        raise TechnicianError(
            f"other services append to {self._name} all the time",
            where=self._link.where,
            way_out="Try again",
        )

    def read(self, after_seq: int = 0) -> Iterator[AnyEvent | UnknownEvent]:
        """Yield the events after ``after_seq`` in order."""
        query = (
            "SELECT seq, convert_to(body, 'UTF8') FROM pitwatch.own_entries"
            " WHERE name = ? AND seq > ? ORDER BY seq LIMIT ?"
        )
        while True:
            values = (self._name, after_seq, _READ_AT_ONCE)
            rows = self._link.execute(query, values).fetchall()
            for seq, body in rows:
                yield event_of(body, self._name, seq)
                after_seq = seq
            if len(rows) < _READ_AT_ONCE:
                return

    def checkpoint(self) -> None:
        """Sign the last entry, if it is new to this service, and send the checkpoint away."""
        query = "SELECT seq, head FROM pitwatch.own_journals WHERE name = ?"
        ((seq, head),) = self._link.execute(query, (self._name,)).fetchall()
        signer, at_ns = self._due.signer, self._due.clock.now_ns()
        if seq == self._signed_seq or signer is None:
            return
        signature = signer.sign(seq, at_ns, head, self._identity).hex()
        self._due.send(
            Checkpoint(
                identity=self._identity,
                seq=seq,
                head=head.hex(),
                at=at_ns,
                key=signer.public.hex(),
                signature=signature,
            )
        )
        self._signed_seq = seq

    def close(self) -> None:
        """Sign what is unsigned, and close the connection.

        A database that is down keeps the entries; the next start signs them.
        """
        try:
            self.checkpoint()
        except FloorDown as fault:
            log.warning("no checkpoint of %s: %s", self._name, fault)
        finally:
            self._link.close()

    def _check(self, known: Collection[Checkpoint]) -> None:
        own = [one for one in known if one.identity == self._identity and one.seq]
        query = "SELECT hash FROM pitwatch.own_entries WHERE name = ? AND seq = ?"
        for one in own:
            row = self._link.execute(query, (self._name, one.seq)).fetchone()
            if row is None or row[0].hex() != one.head:
                raise TechnicianError(
                    f"{self._name} lacks entry {one.seq}, which a checkpoint covers",
                    where=self._link.where,
                    way_out="The database was restored from an older backup: restore the newest",
                )
