"""Time limits for slow viewers."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Patience:
    """Time limits for slow viewers, in nanoseconds."""

    stalled_ns: int = 10_000_000_000
    """Without reading for this long, a viewer is dropped."""
    parting_ns: int = 20_000_000_000
    """Time that it gets to read the close code."""
    idle_ns: int = 15_000_000_000
    """Without news for this long, a keep-alive is sent, and the right checked again."""
