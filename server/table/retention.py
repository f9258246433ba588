"""Decide which recorded sessions are kept, by age, by room and by hold. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from server.table.config import Recorder
from stream.proven_time import Evidence, ProvenTime, Verdict, beyond_room, expired

_GB: Final = 1_000_000_000


@dataclass(frozen=True, slots=True)
class Kept:
    """A session folder on the disk."""

    evidence: Evidence
    stays: bool
    """Whether a legal hold protects it, or the table still writes it: then it is never removed."""


def to_go(
    sessions: Sequence[Kept], all_bytes: int, recorder: Recorder, time: ProvenTime, now_ns: int
) -> Verdict:
    """Return the sessions to remove.

    Those that are too old go first; then the oldest, until all together, including those that
    stay, fit the limit. The newest never goes.

    Args:
        sessions: in the order in which the table recorded them.
        all_bytes: size of every session in the folder, other tables' too.
        recorder: the limits.
        time: what the table's journal proves.
        now_ns: the journal's time.
    """
    may_go = [kept.evidence for kept in sessions[:-1] if not kept.stays]
    old = expired(may_go, recorder.keep_days, time, now_ns)
    gone = {one.name for one in old.going}
    left_bytes = all_bytes - sum(one.size_bytes for one in old.going)
    more = beyond_room(
        (one for one in may_go if one.name not in gone),
        f"most_gb = {recorder.most_gb:g}",
        left_bytes - recorder.most_gb * _GB,
        time,
        now_ns,
    )
    return replace(old, going=(*old.going, *more))


def alarm(free: int, recorder: Recorder) -> str | None:
    """Return the alarm of a nearly full disk, ``None`` while there is enough room.

    Args:
        free: bytes.
        recorder: the required room.
    """
    if free >= recorder.least_free_gb * _GB:
        return None
    return f"{free / _GB:.1f} GB free, {recorder.least_free_gb:g} GB wanted"
