"""What other rules change in money, for an auditor: figures, and the hands behind each.

Each changed hand or insurance is one JSON line. Every figure is a sum over these lines, so that
the hands behind a figure are the lines that it sums. Amounts are integer cents of the house's gain:
positive where the house gains more under the new rules.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Final, TypeAlias

import msgspec

from models.house import House
from models.money import Cents
from server.archive.days import day_of
from server.archive.resettling import Fate, Resettled

UNKNOWN: Final = "unknown"
"""The shift and week of a round whose facts have no time."""


class ChangedHand(msgspec.Struct, frozen=True, kw_only=True):
    """A hand or an insurance whose result differs."""

    file: str
    table: str | None
    week: str
    """The week of the house's day, as ISO 8601 counts it: ``2026-W09`` …"""
    shift: str
    """… and the start of the dealer's shift: ``2026-03-01 12:00``, local time."""
    round: int
    spot: int
    hand: int
    kind: str
    clauses: str
    """The clauses that decide the difference, joined by `` + ``."""
    then_outcome: str | None
    then_net: Cents | None
    now_outcome: str | None
    now_net: Cents | None
    paid: Cents | None
    house_difference: Cents | None
    """``None`` where one of the two is not settled."""


def changed_hands(file: str, one: Resettled, house: House) -> Iterator[ChangedHand]:
    """Yield what changes in a round. A round under review then waits for a person: it has none."""
    if not one.paired or one.in_review:
        return
    week, shift = _when(one, house)
    clauses, paid = one.clauses_of_change(), one.now.paid() if one.now is not None else {}
    for account, (then, now) in one.fates_changed().items():
        spot, hand, kind = account
        yield ChangedHand(
            file=file,
            table=one.table,
            week=week,
            shift=shift,
            round=one.round,
            spot=spot,
            hand=hand,
            kind=kind,
            clauses=" + ".join(sorted(set(clauses[account]))),
            then_outcome=then and then[0],
            then_net=_net(then),
            now_outcome=now and now[0],
            now_net=_net(now),
            paid=paid.get(account),
            house_difference=_difference(then, now),
        )


def _net(fate: Fate | None) -> Cents | None:
    return None if fate is None else fate[1]


def _difference(then: Fate | None, now: Fate | None) -> Cents | None:
    """Return what the house gains; a hand that only one side has counts with 0 on the other."""
    before, after = 0 if then is None else then[1], 0 if now is None else now[1]
    return None if before is None or after is None else before - after


def _when(one: Resettled, house: House) -> tuple[str, str]:
    at = None if one.now is None else one.now.opened_at or one.now.closed_at
    if at is None and one.now is not None:
        at = next((fact.at for _, fact in one.now.facts if fact.at is not None), None)
    if at is None:
        return UNKNOWN, UNKNOWN
    year, week, _ = day_of(at, house).isocalendar()
    start, _ = house.shift_of(at)
    return f"{year}-W{week:02}", house.local(start).strftime("%Y-%m-%d %H:%M")


@dataclass(slots=True)
class Figure:
    """The changed hands that share a table, a shift, a clause or a week."""

    hands: int = 0
    rounds: int = 0
    house_difference: Cents = 0
    open: int = 0
    """Hands of them that one side has not settled: they are in no sum."""
    last: tuple[str, int] | None = None
    """The last round counted; lines of a round follow each other."""

    def add(self, one: ChangedHand) -> None:
        """Count one hand."""
        self.hands += 1
        self.rounds += self.last != (one.file, one.round)
        self.last = one.file, one.round
        if one.house_difference is None:
            self.open += 1
        else:
            self.house_difference += one.house_difference


By: TypeAlias = dict[str, Figure]


@dataclass(slots=True)
class Figures:
    """The sums over all changed hands."""

    whole: Figure = field(default_factory=Figure)
    tables: By = field(default_factory=dict)
    shifts: By = field(default_factory=dict)
    clauses: By = field(default_factory=dict)
    weeks: By = field(default_factory=dict)

    def add(self, one: ChangedHand) -> None:
        """Count one hand in each of its sums."""
        self.whole.add(one)
        keys = (one.table or "", one.shift, one.clauses, one.week)
        for by, key in zip((self.tables, self.shifts, self.clauses, self.weeks), keys, strict=True):
            by.setdefault(key, Figure()).add(one)


def figures_of(lines: Iterable[bytes]) -> Figures:
    """Sum JSON lines of changed hands."""
    found, read = Figures(), msgspec.json.Decoder(ChangedHand)
    for line in lines:
        found.add(read.decode(line))
    return found
