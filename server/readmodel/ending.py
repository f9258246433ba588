"""When a session has ended, so that what lay face down in its last shoe is no secret any more."""

from dataclasses import dataclass
from typing import Final

from stream.clock import Clock

MINUTE_NS: Final = 60_000_000_000
RESTART_NS: Final = 10 * MINUTE_NS
"""A table that was stopped may be started again in the middle of its shoe, for so long."""


@dataclass(frozen=True, slots=True)
class Ending:
    """Tells whether a session's last shoe may still be dealt from.

    Attributes:
        clock: the service's.
        after_hours: how long a session without a card or chip still counts as one in play.
    """

    clock: Clock
    after_hours: float = 24.0

    def is_closed(self, last_fact_ns: int, *, is_sealed: bool) -> bool:
        """Tell whether a session was closed in order, and not started again since."""
        return is_sealed and self.clock.now_ns() - last_fact_ns >= RESTART_NS

    def is_abandoned(self, last_fact_ns: int) -> bool:
        """Tell whether a session has stood still for so long that nobody goes on with it."""
        wait_ns = round(self.after_hours * 60) * MINUTE_NS
        return self.clock.now_ns() - last_fact_ns >= wait_ns
