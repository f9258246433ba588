"""The end of a session: from then on, face-down cards of its last shoe are no secret."""

from dataclasses import dataclass
from typing import Final

from stream.clock import Clock

MINUTE_NS: Final = 60_000_000_000
RESTART_NS: Final = 10 * MINUTE_NS
"""Nanoseconds after a stop within which a table may continue its shoe. Not measured."""


@dataclass(frozen=True, slots=True)
class Ending:
    """Decides whether a session's last shoe may still be dealt from.

    Attributes:
        clock: the service's.
        after_hours: hours without a card or chip after which a session has ended.
    """

    clock: Clock
    after_hours: float = 24.0

    def is_closed(self, last_fact_ns: int, *, is_sealed: bool) -> bool:
        """Return whether a session was closed in order, and not started again since."""
        return is_sealed and self.clock.now_ns() - last_fact_ns >= RESTART_NS

    def is_abandoned(self, last_fact_ns: int) -> bool:
        """Return whether a session has been idle for so long that it has ended."""
        wait_ns = round(self.after_hours * 60) * MINUTE_NS
        return self.clock.now_ns() - last_fact_ns >= wait_ns
