"""Where each phase of a round begins, read from the session's journal."""

import asyncio
from typing import Final

import msgspec

from server.readmodel.session import Session
from server.readmodel.views import RoundRow
from settlement.phases import Phase, RoundPhases
from stream.reading import UnknownEvent

_AT_ONCE: Final = 500
"""Entries read at a time: a round's last entry may be a decision made days later."""


class PhaseBegun(msgspec.Struct, frozen=True, kw_only=True):
    """A phase of a round, and the event that began it."""

    phase: Phase
    seq: int
    at: int


async def phases_of(session: Session, row: RoundRow) -> tuple[PhaseBegun, ...]:
    """Return the phases that a round has come to, in order.

    Raises:
        TechnicianError: the journal cannot be read.
    """
    phases, found = RoundPhases(session.dealer_dealt), list[PhaseBegun]()
    for after in range(row.seq - 1, row.last_seq, _AT_ONCE):
        to = min(after + _AT_ONCE, row.last_seq)
        for event in await asyncio.to_thread(session.journal.read_between, after, to):
            if isinstance(event, UnknownEvent):
                continue
            phases.follow_event(event)
            if not found or found[-1].phase != phases.phase:
                begun = PhaseBegun(phase=phases.phase, seq=event.seq or 0, at=event.at or 0)
                found.append(begun)
            if phases.phase == "taken_up":
                return tuple(found)
    return tuple(found)
