"""The tables of the floor record, for a service: rows from the database, and live viewers' news."""

import asyncio
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import sqlalchemy as sa

from models.events import ReviewResolved, RoundOpened
from models.judgements import AnyEvent, ReviewRaised, RoundSettled
from server.floor_record.chains import (
    ChainKey,
    ChainState,
    Events,
    RecordJournal,
    entries_of,
    events_of,
)
from server.floor_record.engine import floor_engine, record_index
from server.floor_record.folding import Folding
from server.floor_record.proving import SIGNATURES, proven_in
from server.readmodel.ending import Ending
from server.readmodel.entries import KEPT
from server.readmodel.floor import Floor
from server.readmodel.index import KINDS
from server.readmodel.selection import ENDLESS, Sought
from server.readmodel.session import Session
from server.readmodel.views import RoundRow
from stream.clock import elapsed_ns
from stream.reading import UnknownEvent

_ANSWER_MS: Final = 5_000
"""Milliseconds that a request waits at most for rows: its thread answers others too."""
_PROVEN_NS: Final = 5_000_000_000
"""Nanoseconds between two looks at what tables signed: they sign once a minute or less often."""
_STATES_NS: Final = 1_000_000_000
"""Nanoseconds between two looks at what tables say of themselves."""
_MOST_ROUNDS: Final = 100
"""The most changed rounds of a session that one update reports; lists have the others."""
_MOVED: Final = """
    SELECT s.moved, s.id, s.kept, s.seq, s.fault,
        s.name, c.table_id, c.epoch, c.day, c.state, c.written, c.sealed
    FROM pitwatch_read.sessions s JOIN pitwatch.chains c ON c.session = s.name
    WHERE s.moved > %s ORDER BY s.moved LIMIT 2000
"""
_ROUNDS: Final = """
    SELECT r.session, r.body FROM unnest(%s::bigint[], %s::bigint[]) AS v (session, round)
    JOIN pitwatch_read.rounds r USING (session, round) ORDER BY r.session, r.round, r.n
"""
_STATES: Final = "SELECT session, state, written, sealed FROM pitwatch.chains"
_FOLDED: Final = "SELECT name, seq, fault IS NOT NULL FROM pitwatch_read.sessions"
_AT_START: Final = "SELECT session, seq FROM pitwatch.chains WHERE state <> 'retired'"
_REFUSED: Final = {
    "forked": "the table's journal has other entries than the floor's copy",
    "behind": "the table's journal ends before the floor's copy",
}


@dataclass(frozen=True, slots=True)
class _Moved:
    """A session that another transaction folded further."""

    moved: int
    number: int
    key: ChainKey
    kept: bytes | None
    seq: int
    fault: str | None
    state: ChainState


@dataclass(frozen=True, slots=True)
class _News:
    """What was read for viewers at once."""

    events: Mapping[str, Events]
    """By session."""
    rounds: Mapping[int, Mapping[int, RoundRow]]
    """The rounds that these change, by the session's number and their own."""


class RecordFloor(Floor):
    """Every session of the floor record. Other threads ask the database.

    Args:
        url: the database's address.
        on_read: receives the number of entries that a session moved on.
        ending: decides when a session has ended.
        now_ns: the time.
    """

    def __init__(
        self,
        url: str,
        on_read: Callable[[str, int], None],
        ending: Ending,
        now_ns: Callable[[], int],
    ) -> None:
        super().__init__(record_index(url, answer_ms=_ANSWER_MS), on_read, ending, now_ns)
        self._engine = floor_engine(url)
        self._folding = Folding(url, self._is_worked_on_now, ending)
        self._journals: dict[str, RecordJournal] = {}
        self._last_moved = 0
        self._states_ns = elapsed_ns() - _STATES_NS
        self._proven_ns = elapsed_ns() - _PROVEN_NS
        self._awaited: dict[str, int] | None = None
        """The entries that are to be folded before the service is ready."""

    def _is_worked_on_now(self, session: str, number: int) -> bool:
        return self.is_worked_on(session, number)

    def open(self) -> None:
        """Check that the floor record is there, and begin to fold.

        Raises:
            FloorDown: the database does not answer.
            InstallerError: it has no floor record of this version.
        """
        with self._engine.connect() as on:
            on.exec_driver_sql("SELECT FROM pitwatch_read.made")
        self._folding.start()

    def close(self) -> None:
        """Let go of every connection."""
        self._folding.close()
        self._engine.dispose()
        super().close()

    async def poll(self) -> None:
        """Ask once which sessions moved, and process the news."""
        while moved := await asyncio.to_thread(self._moved_since, self._last_moved):
            news = await asyncio.to_thread(self._news_of, moved, self._wanted(moved))
            for one in moved:
                self._take(one, news)
                self._last_moved = one.moved
            await asyncio.sleep(0)
        if elapsed_ns() - self._states_ns >= _STATES_NS:
            self._states_ns = elapsed_ns()
            for name, state in await asyncio.to_thread(self._stated):
                self._stand(name, state)
        if elapsed_ns() - self._proven_ns >= _PROVEN_NS:
            self._proven_ns = elapsed_ns()
            for name, proven in (await asyncio.to_thread(self._proven_now, self._open())).items():
                if (session := self._sessions.get(name)) is not None:
                    session.proven = max(session.proven or 0, proven)
        if not self.is_ready:
            self.is_ready = await asyncio.to_thread(self._has_caught_up)
        self.looked_ns = elapsed_ns()

    def is_written(self, session: Session) -> bool:
        """Return whether its table has the journal open, as the table last said."""
        return self._journals[session.name].state.is_written

    # --- what moved -----------------------------------------------------------------------

    def _wanted(self, moved: Iterable[_Moved]) -> list[tuple[ChainKey, int, int]]:
        """Return which entries to read for viewers: of known sessions, unless they are many."""
        known = ((one, self._sessions.get(one.key.session)) for one in moved)
        return [
            (one.key, session.place.seq, one.seq)
            for one, session in known
            if session is not None and 0 < one.seq - session.place.seq <= KEPT
        ]

    def _take(self, moved: _Moved, news: _News) -> None:
        name, kept = moved.key.session, moved.kept
        if moved.state.state == "retired" and kept is None:
            self._sessions.pop(name, None)
            self._journals.pop(name, None)
            return
        session = self._sessions.get(name)
        if session is None or kept is None:
            self._sessions[name] = session = self._opened(moved)
            if kept is not None:
                self._moved_on(session, (), 0)
        elif moved.seq > session.place.seq:
            read = moved.seq - session.place.seq
            events = news.events.get(name, ())
            changed = list(news.rounds.get(moved.number, {}).values())
            if read > len(events):
                changed = self._noticed(session)
            session.follow(kept, events)
            self._moved_on(session, changed, read)
        self._journals[name].state = moved.state
        session.fault = moved.fault or _why_refused(moved.state)

    def _opened(self, moved: _Moved) -> Session:
        journal = RecordJournal(moved.key, moved.state, self._engine)
        self._journals[moved.key.session] = journal
        stored = (moved.number, moved.kept)
        session = Session(journal, self.index, self.is_worked_on, self._ending, stored)
        session.proven = 0
        self._proven_ns = elapsed_ns() - _PROVEN_NS
        return session

    def _open(self) -> list[str]:
        """Return the sessions that have entries which are not proven."""
        return [name for name, one in self._sessions.items() if (one.proven or 0) < one.place.seq]

    def _noticed(self, session: Session) -> list[RoundRow]:
        """Return the newest rounds that need attention."""
        sought = Sought(RoundRow, session=session.name, noticed=True)
        return [placed.row for placed in self.index.newest(sought, _MOST_ROUNDS)]

    def _stand(self, name: str, state: ChainState) -> None:
        """Take note of what a table says of itself."""
        session = self._sessions.get(name)
        if session is None or self._journals[name].state == state:
            return
        self._journals[name].state = state
        session.fault = session.fault or _why_refused(state)

    # --- in other threads -----------------------------------------------------------------

    def _moved_since(self, moved: int) -> list[_Moved]:
        with self._engine.connect() as on:
            rows = on.exec_driver_sql(_MOVED, (moved,)).all()
        return [
            _Moved(at, number, ChainKey(*row[:4]), kept, seq, fault, ChainState(*row[4:]))
            for at, number, kept, seq, fault, *row in rows
        ]

    def _news_of(
        self, moved: Iterable[_Moved], wanted: Sequence[tuple[ChainKey, int, int]]
    ) -> _News:
        with self._engine.connect() as on:
            found = entries_of(on, wanted, KEPT)
            events = {
                key.session: events_of(on, key, entries)
                for (key, *_), entries in zip(wanted, found, strict=True)
            }
            touched = [
                (one.number, number)
                for one in moved
                for number in _rounds_of(events.get(one.key.session, ()))
            ]
            rounds = defaultdict[int, dict[int, RoundRow]](dict)
            for session, row in _rounds(on, touched):
                rounds[session][row.round] = row
        return _News(events, rounds)

    def _proven_now(self, names: list[str]) -> dict[str, int]:
        if not names:
            return {}
        with self._engine.connect() as on:
            return proven_in(on.exec_driver_sql(SIGNATURES, (names,)))

    def _stated(self) -> list[tuple[str, ChainState]]:
        with self._engine.connect() as on:
            return [(name, ChainState(*rest)) for name, *rest in on.exec_driver_sql(_STATES)]

    def _has_caught_up(self) -> bool:
        """Return whether all is folded that the floor had when it was first asked."""
        if not self._folding.has_begun.is_set():
            return False
        with self._engine.connect() as on:
            if self._awaited is None:
                self._awaited = dict(map(tuple, on.exec_driver_sql(_AT_START)))
            if self._awaited:
                folded = {
                    name: ENDLESS if is_at_fault else seq
                    for name, seq, is_at_fault in on.exec_driver_sql(_FOLDED)
                }
                self._awaited = {
                    name: seq for name, seq in self._awaited.items() if folded.get(name, 0) < seq
                }
        return not self._awaited


def _rounds(on: sa.Connection, wanted: Sequence[tuple[int, int]]) -> Iterator[tuple[int, RoundRow]]:
    """Yield rounds of several sessions: of each the session's number and its row."""
    sessions, numbers = [one for one, _ in wanted], [number for _, number in wanted]
    for session, body in on.exec_driver_sql(_ROUNDS, (sessions, numbers)):
        yield session, KINDS[RoundRow].decoder.decode(body)


def _why_refused(state: ChainState) -> str | None:
    why = _REFUSED.get(state.state)
    return None if why is None else f"the floor takes no more of it: {why}"


def _rounds_of(events: Events) -> list[int]:
    """Return the numbers of the last rounds that events change, in order."""
    numbers = {number for event in events if (number := _round_of(event)) is not None}
    return sorted(numbers)[-_MOST_ROUNDS:]


def _round_of(event: AnyEvent | UnknownEvent) -> int | None:
    match event:
        case RoundSettled():
            return event.result.round
        case RoundOpened() | ReviewRaised() | ReviewResolved():
            return event.round
        case _:
            return None
