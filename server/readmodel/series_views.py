"""The service's answers: figures over time, and rulebooks."""

from typing import Literal

import msgspec

from settlement.balance import Totals


class Point(msgspec.Struct, frozen=True, kw_only=True):
    """One interval of time."""

    at: int
    """Its start, nanoseconds since the Unix epoch, UTC."""
    value: int
    of: int | None
    """The whole that the value is a share of; ``None`` where it is no share."""


class Line(msgspec.Struct, frozen=True):
    """One line of a chart; empty intervals are left out."""

    label: str
    points: tuple[Point, ...]


class Series(msgspec.Struct, frozen=True, kw_only=True):
    """A chart."""

    name: str
    unit: str
    """The unit of a value."""
    of_unit: str | None
    piece_ns: int
    """Length of an interval."""
    lines: tuple[Line, ...]
    complete: bool
    """Whether the chart is complete; otherwise ask again, or for a shorter time."""


class DayBalance(msgspec.Struct, frozen=True, kw_only=True):
    """What is still to be paid of a day's rounds, in one currency."""

    at: int
    """The day's start by the house's clocks, nanoseconds since the Unix epoch, UTC."""
    currency: str
    totals: Totals
    says: str
    """The totals in words, in the house's format."""


class DayBalances(msgspec.Struct, frozen=True, kw_only=True):
    """The balances of days, the newest first."""

    days: tuple[DayBalance, ...]
    complete: bool
    """Whether all rounds are counted; otherwise ask for a shorter time."""


class Knob(msgspec.Struct, frozen=True, kw_only=True):
    """One rule of a sheet, with its source."""

    knob: str
    value: str
    """In the notation of ``--set``."""
    source: Literal["stated", "inferred", "default", "changed"]
    """``changed``: the table's set-up differs from its sheet."""
    document: str | None = None
    """Its title."""
    section: str | None = None
    quote: str | None = None
    reason: str | None = None


class Sheet(msgspec.Struct, frozen=True, kw_only=True):
    """A house-rules sheet, every rule with its citation."""

    id: str
    title: str
    document: str
    knobs: tuple[Knob, ...]


class SheetName(msgspec.Struct, frozen=True):
    """A shipped sheet."""

    id: str
    title: str


class Difference(msgspec.Struct, frozen=True):
    """A rule in which two sheets differ."""

    knob: str
    was: str
    now: str


class RulesRow(msgspec.Struct, frozen=True, kw_only=True):
    """Rules that came into force at a table, with the changes."""

    session: str
    table: str
    at: int
    seq: int
    """The entry of the session's journal that states them."""
    rulebook: str
    overrides: dict[str, str]
    """Every rule of the table that differs from the sheet, in the notation of ``--set``."""
    rules_hash: str | None
    """Hash of every rule in force; ``None`` where some are unknown."""
    is_stated: bool
    """Whether the journal states every rule; otherwise only the sheet's id is known."""
    changes: tuple[Difference, ...] | None
    """Compared with the rules before; ``None`` where one of the two is unknown."""


class RulesInForce(msgspec.Struct, frozen=True, kw_only=True):
    """The rules of a session, as its journal states them."""

    in_force: RulesRow
    sheet: Sheet | None
    """``None`` where the journal names a sheet that is not shipped, and states no rules."""
