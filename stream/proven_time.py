"""How much time has passed for certain, and which evidence is old enough to be removed. Pure.

The wall clock may be set to anything; a machine's uptime only counts time that has passed. So the
age of evidence is the time that uptimes and the table's own clock prove since the journal first
named it: never more than the true age. Time while the machine was off does not count.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Annotated, Final, NamedTuple

from msgspec import Meta, Struct
from msgspec.structs import replace

from models.events import (
    ClockAnchored,
    ClockChecked,
    ClockCompared,
    ClockSynchronisation,
    Event,
    SyncState,
)
from stream.drift import WORST_DRIFT

_HOUR_NS: Final = 3_600_000_000_000
_DAY_NS: Final = 24 * _HOUR_NS
_AGREED_NS: Final = _DAY_NS
"""Nanoseconds that two clocks must agree before anything is removed by its age."""
_STEP_NS: Final = 1_000_000_000
"""Nanoseconds of a step, a leap second at the most, that is no jump. A choice."""
_APART_NS: Final = 60_000_000_000
"""Nanoseconds beyond drift by which two clocks may differ between two starts. A choice."""
_LONGEST_OFF_NS: Final = _DAY_NS
"""Nanoseconds between two starts that no running clock measured, above which the wall clock is
doubted. A choice."""
_LONGEST_UNREAD_NS: Final = 8 * _DAY_NS
"""Nanoseconds between two starts above which the clocks are observed for a day again, whatever they
show: more than a week, so that weekly backups go on. A choice."""


class EvidenceRemoved(Event, frozen=True, kw_only=True, tag="evidence_removed"):
    """A recording or a backup was removed; the entry comes before the removal."""

    name: str
    """Its folder's name."""
    rule: str
    """The rule with its limit: ``keep_days = 14``, ``most_gb = 500``."""
    age_ns: Annotated[int, Meta(ge=0)]
    """Its proven age."""
    size_bytes: Annotated[int, Meta(ge=0)]


class ProvenTime(Struct, frozen=True, kw_only=True):
    """What a journal's entries prove of the time, and whether the wall clock agrees."""

    passed_ns: int = 0
    """Proven to have passed from the journal's beginning to the last start."""
    start_ns: int | None = None
    """The journal's time at the last start."""
    latest_ns: int = 0
    """The journal's latest time since."""
    wall_ns: int = 0
    """The wall clock's time at the last start, by the wall clock as it was compared last."""
    up_ns: int | None = None
    """The machine's uptime at the last start."""
    stated: SyncState | None = None
    """Whether the wall clock is synchronised; ``None`` until the run states it."""
    before: SyncState | None = None
    """What the run before stated."""
    agreed_ns: int = 0
    """Proven time since which the clocks agree."""
    since: str = "the clock was first read"
    """What ended their agreement before."""
    checked: bool = False
    """Whether a person has found the clock right since."""

    def at(self, now_ns: int) -> int:
        """Return the proven time at an instant of the journal's time in the last run."""
        return self.passed_ns + max(
            0, now_ns - (now_ns if self.start_ns is None else self.start_ns)
        )

    def doubt(self, now_ns: int) -> str | None:
        """Return why nothing may be removed by its age; ``None`` where it may."""
        if self.checked:
            return None
        if self.stated == "unsynchronised":
            return "the clock is not synchronised"
        if self.stated != "synchronised":
            return "nothing states that the clock is synchronised"
        agreed_ns = self.at(now_ns) - self.agreed_ns
        if agreed_ns < _AGREED_NS:
            hours = f"{agreed_ns // _HOUR_NS} of {_AGREED_NS // _HOUR_NS} hours"
            return f"{self.since}; two clocks have agreed for {hours} since"
        return None


def followed(time: ProvenTime, event: Event) -> ProvenTime:
    """Apply the next entry of the journal."""
    at_ns = event.at if event.at is not None else time.latest_ns
    match event:
        case ClockAnchored(source="clock"):
            return _started(time, event, at_ns)
        case ClockCompared(source="clock"):
            ran_ns = time.at(at_ns) - time.passed_ns
            time = replace(time, wall_ns=event.wall_ns - ran_ns)
            if abs(event.step_ns) > _STEP_NS:
                time = _doubted(time, at_ns, f"the clock jumped by {_words(event.step_ns)}")
        case ClockSynchronisation():
            known = time.stated or time.before
            changed = known is not None and known != event.state
            if changed and event.state == "synchronised":
                time = _doubted(time, at_ns, "the clock was not synchronised")
            time = replace(time, stated=event.state, checked=time.checked and not changed)
        case ClockChecked():
            time = replace(time, checked=True)
    return replace(time, latest_ns=max(time.latest_ns, at_ns))


def _started(before: ProvenTime, anchored: ClockAnchored, at_ns: int) -> ProvenTime:
    time = replace(
        before,
        start_ns=at_ns,
        latest_ns=at_ns,
        wall_ns=anchored.wall_ns,
        up_ns=anchored.up_ns,
        stated=None,
        before=before.stated or before.before,
    )
    if before.start_ns is None:
        return time
    ran_ns = before.at(before.latest_ns) - before.passed_ns
    passed_ns, was_off = _since(before, ran_ns, anchored.up_ns)
    time = replace(time, passed_ns=before.passed_ns + passed_ns)
    why = _disagreement(before, anchored, passed_ns, was_off=was_off)
    if why is None and passed_ns - ran_ns > _LONGEST_UNREAD_NS:
        why = f"nothing compared the clocks for {(passed_ns - ran_ns) // _DAY_NS} days"
    return time if why is None else _doubted(time, at_ns, why)


def _since(before: ProvenTime, ran_ns: int, up_ns: int | None) -> tuple[int, bool]:
    """Return the least time since the last start, and whether the machine was off."""
    if before.up_ns is None or up_ns is None:
        return ran_ns, False
    if up_ns < before.up_ns + ran_ns:
        return ran_ns + up_ns, True
    return up_ns - before.up_ns, False


def _disagreement(
    before: ProvenTime, anchored: ClockAnchored, passed_ns: int, *, was_off: bool
) -> str | None:
    """Return how the wall clock contradicts the time that has passed since the last start."""
    if before.up_ns is None or anchored.up_ns is None:
        return "a start did not record the machine's uptime"
    ahead_ns = anchored.wall_ns - before.wall_ns - passed_ns
    allowed_ns = _APART_NS + passed_ns // WORST_DRIFT
    if not -allowed_ns <= ahead_ns <= allowed_ns + was_off * _LONGEST_OFF_NS:
        return f"the clock jumped by {_words(ahead_ns)} before a start"
    return None


def _doubted(time: ProvenTime, at_ns: int, since: str) -> ProvenTime:
    return replace(time, agreed_ns=time.at(at_ns), since=since, checked=False)


def _words(step_ns: int) -> str:
    size_ns = abs(step_ns)
    for unit_ns, unit in ((_DAY_NS, "days"), (_HOUR_NS, "hours")):
        if size_ns >= 2 * unit_ns:
            return f"{step_ns / unit_ns:+.1f} {unit}"
    return f"{step_ns / _STEP_NS:+.1f} s"


class Evidence(NamedTuple):
    """A recording or a backup that a rule may remove."""

    name: str
    made_ns: int
    """The proven time when the journal first named it."""
    size_bytes: int


@dataclass(frozen=True, slots=True)
class Verdict:
    """What goes by its age, and what does not although it is old enough."""

    going: tuple[EvidenceRemoved, ...] = ()
    staying: int = 0
    why: str = ""
    """Why those stay."""

    def in_words(self) -> str | None:
        """Tell a person what stays and why; ``None`` where nothing does."""
        return f"{self.staying} past keep_days: {self.why}" if self.staying else None


def expired(made: Iterable[Evidence], keep_days: int, time: ProvenTime, now_ns: int) -> Verdict:
    """Decide which evidence goes by its age.

    Args:
        made: without the newest, which never goes by its age.
        keep_days: days that it is kept.
        time: what the journal proves.
        now_ns: the journal's time.
    """
    rule = f"keep_days = {keep_days}"
    old = tuple(
        _removed(one, rule, time, now_ns)
        for one in made
        if time.at(now_ns) - one.made_ns > keep_days * _DAY_NS
    )
    why = time.doubt(now_ns) if old else None
    return Verdict(going=old) if why is None else Verdict(staying=len(old), why=why)


def beyond_room(
    made: Iterable[Evidence], rule: str, excess_bytes: float, time: ProvenTime, now_ns: int
) -> tuple[EvidenceRemoved, ...]:
    """Decide which evidence goes, in the order of making, until so many bytes are free.

    This rule asks no clock.
    """
    going = []
    for one in made:
        if excess_bytes <= 0:
            break
        excess_bytes -= one.size_bytes
        going.append(_removed(one, rule, time, now_ns))
    return tuple(going)


def _removed(one: Evidence, rule: str, time: ProvenTime, now_ns: int) -> EvidenceRemoved:
    """Return the entry of a removal."""
    age_ns = max(0, time.at(now_ns) - one.made_ns)
    return EvidenceRemoved(
        at=now_ns, name=one.name, rule=rule, age_ns=age_ns, size_bytes=one.size_bytes
    )
