"""How long a viewer is waited for."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Patience:
    """How long a viewer is waited for, in nanoseconds."""

    stalled_ns: int = 10_000_000_000
    """A viewer that takes nothing for so long is dropped."""
    parting_ns: int = 20_000_000_000
    """So long it is given to take the close code."""
    idle_ns: int = 15_000_000_000
    """After so long without news a sign of life is sent, and the right checked again."""
