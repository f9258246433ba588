"""Pass what a person decides or enters to the journal's writer: the table or this process."""

import asyncio
import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Literal, TypeAlias

import msgspec
from msgspec.structs import replace

from models.errors import OperatorError
from models.events import ConsoleEntry, Event, ReviewResolved, RulesStated
from models.judgements import AnyEvent, RoundSettled
from models.rulebook import Rulebook
from server.house.rulebooks import as_stated, cited
from server.table.decision_requests import hand_in
from server.table.persons import check_person
from server.table.settlement_book import SettlementBook
from stream.files import followed
from stream.journal import Checkpoints, Journal
from stream.reading import UnknownEvent

By: TypeAlias = Literal["table", "journal"]


class Handed(msgspec.Struct, frozen=True):
    """The place of a decision or an entry."""

    seq: int
    """Its entry in the journal."""
    by: By
    """``table``: the running table wrote it; ``journal``: the closed journal was opened for it."""


async def decide(
    journal: Path,
    decision: ReviewResolved,
    rules: Rulebook | None = None,
    due: Checkpoints | None = None,
) -> Handed:
    """Journal a decision, and settle its round again, before this returns.

    The running table writes it. A journal without a writer is opened, and sealed again.

    Args:
        journal: the table's.
        decision: a person's decision.
        rules: those of the session, where its journal does not state them.
        due: signs a closed journal's new entries.

    Raises:
        OperatorError: the decision is impossible, the rules are not those of the session, or no
            table runs and this user may not write its journal.
        TechnicianError: the table does not answer, or the journal cannot be written.
    """
    seq = await hand_in(journal, decision)
    if seq is not None:
        return Handed(seq, "table")
    if not all(os.access(place, os.W_OK) for place in (journal, followed(journal).parent)):
        raise OperatorError(
            "its table is not running, and this program may only read its journal",
            where=str(journal),
            way_out="Start the table, or decide with `pitwatch review resolve` as the table's user",
        )
    return Handed(await asyncio.to_thread(decide_closed, journal, decision, rules, due), "journal")


async def enter(journal: Path, entry: ConsoleEntry) -> Handed:
    """Have the running table journal a person's entry: what happens there now.

    Raises:
        OperatorError: no table runs on that journal, or it refuses the entry.
        TechnicianError: the table does not answer.
    """
    seq = await hand_in(journal, entry)
    if seq is None:
        raise OperatorError(
            "its table is not running, and only a running table takes entries",
            where=str(journal),
            way_out="Start the table and enter it again. A question about a round that is over is "
            "decided on its page",
        )
    return Handed(seq, "table")


def decide_closed(
    path: Path,
    decision: ReviewResolved,
    rules: Rulebook | None = None,
    due: Checkpoints | None = None,
) -> int:
    """Add a decision and its results to a closed journal, all or nothing.

    Returns the decision's ``seq``; arguments and errors are those of :func:`decide`.
    """
    check_person(decision, str(path), 1)
    with Journal.open(path, due) as journal:
        events = [event for event in journal.read() if not isinstance(event, UnknownEvent)]
        table = next((event.table for event in events if event.table is not None), None)
        added = _Added(journal.last_seq, table)
        book = SettlementBook(added.append, journal.read)
        engine = book.recall(events, rules or rules_of(events, str(path)))
        book.check(decision, engine)
        seq = journal.last_seq + 1
        added.append([decision])
        book.resolve(replace(decision, seq=seq), engine)
        journal.append_all(added.events)
        return seq


class _Added:
    """Entries to be written together, with their future numbers."""

    def __init__(self, last_seq: int, table: str | None) -> None:
        self._last_seq, self._table = last_seq, table
        self.events: list[Event] = []

    def append(self, events: Sequence[Event]) -> list[Event]:
        """Number entries; they are written later."""
        start = self._last_seq + len(self.events) + 1
        numbered = [
            replace(event, seq=seq, table=self._table) for seq, event in enumerate(events, start)
        ]
        self.events += numbered
        return numbered


def rules_of(events: Iterable[AnyEvent], where: str) -> Rulebook:
    """Return the rules that a journal states.

    Raises:
        OperatorError: it states none, and names no shipped rulebook.
    """
    named = None
    for event in events:
        if isinstance(event, RulesStated):
            return as_stated(event)
        if isinstance(event, RoundSettled):
            named = event.result.rulebook
    if named is None:
        raise OperatorError(
            "the journal does not record its rules",
            where=where,
            way_out="Give them with --rulebook",
        )
    return cited(named).rules
