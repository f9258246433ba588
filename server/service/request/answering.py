"""The answers to a session's review items, worked out in another thread."""

import asyncio
from typing import Final

from models.judgements import AnyEvent
from server.readmodel.session import Session
from server.table.answering import Answered, JournalAnswers
from stream.reading import UnknownEvent

_BACK: Final = 150
"""Rounds before an item's that are read for the state it starts from: more than a shoe has."""
_HEAD: Final = 64
"""Entries in which a journal states its rules."""


async def answers_of(session: Session, number: int, item: int) -> Answered:
    """Return the answers to an item of a round.

    Raises:
        TechnicianError: the journal cannot be read.
    """
    first = session.rounds.row(number - _BACK)
    after = 0 if first is None else max(0, first.seq - 1)
    return await asyncio.to_thread(_answers, session, number, item, after)


def _answers(session: Session, number: int, item: int, after: int) -> Answered:
    journal = session.journal
    events: tuple[AnyEvent | UnknownEvent, ...] = ()
    if after > _HEAD:
        events = journal.read_between(0, _HEAD)
    events += journal.read_between(after if events else 0, journal.last_seq())
    return JournalAnswers(events, where=session.name).to(number, item)
