"""Decide which recorded sessions are kept, by age, by size and by hold. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from server.table.config import Recorder

_DAY_NS: Final = 86_400_000_000_000
_GB: Final = 1_000_000_000


@dataclass(frozen=True, slots=True)
class Kept:
    """A session folder on the disk."""

    name: str
    begun_ns: int
    size: int
    """Size in bytes."""
    held: bool
    """Whether a legal hold protects it: then it is never removed."""


def to_go(sessions: Sequence[Kept], recorder: Recorder, now_ns: int) -> tuple[str, ...]:
    """Return the sessions to remove, the oldest first.

    Expired ones go first; then the oldest, until all together, including the held ones, fit the
    limit. The newest, which is still being written, never goes.
    """
    by_age = sorted(sessions, key=lambda kept: (kept.begun_ns, kept.name))
    total = sum(kept.size for kept in by_age)
    going: list[str] = []
    for kept in by_age[:-1]:
        too_old = now_ns - kept.begun_ns > recorder.keep_days * _DAY_NS
        if not kept.held and (too_old or total > recorder.most_gb * _GB):
            going.append(kept.name)
            total -= kept.size
    return tuple(going)


def alarm(free: int, recorder: Recorder) -> str | None:
    """Return the alarm of a nearly full disk, ``None`` while there is enough room.

    Args:
        free: bytes.
        recorder: the required room.
    """
    if free >= recorder.least_free_gb * _GB:
        return None
    return f"{free / _GB:.1f} GB free, {recorder.least_free_gb:g} GB wanted"
