"""The end of a session's shoes: their face-down cards may be shown from then on."""

from typing import TypeAlias

from server.readmodel.ending import Ending
from server.readmodel.selection import ENDLESS
from server.readmodel.session_journal import SessionJournal

Moment: TypeAlias = tuple[int, int]
"""An entry's number, and its time."""


class ShoeEnd:
    """The end of the last finished shoe. ``ending`` decides about the session's last one."""

    def __init__(self, journal: SessionJournal, ending: Ending | None) -> None:
        self._journal, self._ending = journal, ending
        self.closed: Moment = (0, 0)
        """The last round that closed."""
        self.ended: Moment = (0, 0)
        """The last round of the last shoe with a successor."""
        self.fact_at: int | None = None
        """The time of the last fact."""

    def fact(self, at: int) -> None:
        """Process the time of a fact."""
        self.fact_at = max(self.fact_at or 0, at)

    def round_closed(self, seq: int, at: int) -> None:
        """Process the end of a round."""
        self.closed = (seq, at)

    def shoe_started(self) -> None:
        """Process the start of a shoe: the one before has ended."""
        self.ended = self.closed

    def last(self, *, is_round_open: bool) -> Moment:
        """Return the last event, and its time, that reveals nothing of a shoe in play."""
        if self._ending is None or self.fact_at is None:
            return self.ended
        if self._ending.is_abandoned(self.fact_at):
            return ENDLESS, ENDLESS
        if not self._ending.is_closed(self.fact_at, is_sealed=self._journal.is_sealed()):
            return self.ended
        return self.ended if is_round_open else (ENDLESS, ENDLESS)
