"""What services share of people: the chains of their actions and of their casework."""

import logging
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Any, Final, TypeVar

from models.errors import TechnicianError
from models.events import Event
from models.judgements import AnyEvent
from server.floor_record.database import FloorDown, shown
from server.floor_record.engine import floor_engine
from stream.chaining import chained
from stream.checkpoints import Checkpoint
from stream.identity import Identity, new_identity
from stream.journal import Checkpoints, Place
from stream.reading import UnknownEvent, event_of

_READ_AT_ONCE: Final = 500
log: Final = logging.getLogger("pitwatch.service")
_TRIES: Final = 20
E = TypeVar("E", bound=Event)


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
        self._engine, self._where = floor_engine(url), shown(url)
        self._name, self._due = name, due
        drawn = new_identity(name, None).journal
        query = "SELECT * FROM pitwatch.open_own(%s, %s)"
        ((journal, seq, head),) = self._ask(query, name, drawn)
        self._identity = Identity(journal=journal, name=name)
        self._place = Place(seq, head)
        self._signed_seq = seq
        try:
            self._check(known)
        except BaseException:
            self._engine.dispose()
            raise

    @property
    def last_seq(self) -> int:
        """The number of the last entry of any service."""
        return self._last().seq

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
            query = "SELECT * FROM pitwatch.append_own(%s, %s, %b, %b)"
            ((seq, head),) = self._ask(query, self._name, self._place.seq, hashes, bodies)
            self._place = Place(seq, head)
            if rows and (seq, head) == rows[-1][:2]:
                return numbered
        raise TechnicianError(
            f"other services append to {self._name} all the time",
            where=self._where,
            way_out="Try again",
        )

    def read(self, after_seq: int = 0) -> Iterator[AnyEvent | UnknownEvent]:
        """Yield the events after ``after_seq`` in order."""
        query = (
            "SELECT seq, convert_to(body, 'UTF8') FROM pitwatch.own_entries"
            " WHERE name = %s AND seq > %s ORDER BY seq LIMIT %s"
        )
        while True:
            rows = self._ask(query, self._name, after_seq, _READ_AT_ONCE)
            for seq, body in rows:
                yield event_of(body, self._name, seq)
                after_seq = seq
            if len(rows) < _READ_AT_ONCE:
                return

    def checkpoint(self) -> None:
        """Sign the last entry, if it is new to this service, and send the checkpoint away."""
        last = self._last()
        signer, at_ns = self._due.signer, self._due.clock.now_ns()
        if last.seq == self._signed_seq or signer is None:
            return
        signature = signer.sign(last.seq, at_ns, last.head, self._identity).hex()
        self._due.send(
            Checkpoint(
                identity=self._identity,
                seq=last.seq,
                head=last.head.hex(),
                at=at_ns,
                key=signer.public.hex(),
                signature=signature,
            )
        )
        self._signed_seq = last.seq

    def close(self) -> None:
        """Sign what is unsigned, and close the connection.

        A database that is down keeps the entries; the next start signs them.
        """
        try:
            self.checkpoint()
        except FloorDown as fault:
            log.warning("no checkpoint of %s: %s", self._name, fault)
        finally:
            self._engine.dispose()

    def _last(self) -> Place:
        query = "SELECT seq, head FROM pitwatch.own_journals WHERE name = %s"
        return Place(*self._ask(query, self._name)[0])

    def _ask(self, query: str, *values: object) -> Sequence[Any]:
        with self._engine.connect() as on:
            return on.exec_driver_sql(query, values).all()

    def _check(self, known: Collection[Checkpoint]) -> None:
        own = [one for one in known if one.identity == self._identity and one.seq]
        query = "SELECT hash FROM pitwatch.own_entries WHERE name = %s AND seq = %s"
        for one in own:
            if [head.hex() for (head,) in self._ask(query, self._name, one.seq)] != [one.head]:
                raise TechnicianError(
                    f"{self._name} lacks entry {one.seq}, which a checkpoint covers",
                    where=self._where,
                    way_out="The database was restored from an older backup: restore the newest",
                )
