"""The end of a session's shoes: their face-down cards may be shown from then on."""

from pathlib import Path
from typing import TypeAlias

from server.readmodel.ending import Ending
from server.readmodel.index import ENDLESS
from stream.seal import has_seal
from stream.store import waiting

Moment: TypeAlias = tuple[int, int]
"""An entry's number, and its time."""


class ShoeEnd:
    """The end of the last finished shoe. ``ending`` decides about the session's last one."""

    def __init__(self, path: Path, ending: Ending | None) -> None:
        self._path, self._ending = path, ending
        self._sealed: tuple[tuple[int, int], bool] = ((0, 0), False)
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
        if not self._ending.is_closed(self.fact_at, is_sealed=self._is_sealed()):
            return self.ended
        return self.ended if is_round_open else (ENDLESS, ENDLESS)

    def _is_sealed(self) -> bool:
        """Return whether the journal lies closed in order; looked at anew whenever it changes."""
        if waiting(self._path):
            return False
        try:
            state = self._path.stat()
            stamp = state.st_mtime_ns, state.st_size
            if self._sealed[0] != stamp:
                self._sealed = stamp, has_seal(self._path)
        except OSError:
            return False
        return self._sealed[1]
