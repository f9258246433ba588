"""Figures over time, and rulebooks, as they are answered."""

from typing import Literal

import msgspec


class Point(msgspec.Struct, frozen=True, kw_only=True):
    """One piece of time."""

    at: int
    """When it begins, nanoseconds since the Unix epoch, UTC."""
    value: int
    of: int | None
    """What the value is a share of; ``None`` where it is none."""


class Line(msgspec.Struct, frozen=True):
    """One line of a chart; a piece in which there was nothing is left out."""

    label: str
    points: tuple[Point, ...]


class Series(msgspec.Struct, frozen=True, kw_only=True):
    """A chart."""

    name: str
    unit: str
    """What a value counts."""
    of_unit: str | None
    piece_ns: int
    """Length of an interval."""
    lines: tuple[Line, ...]
    complete: bool
    """Whether that is all; otherwise ask again, or for a shorter time."""


class Knob(msgspec.Struct, frozen=True, kw_only=True):
    """One rule of a sheet, and where it comes from."""

    knob: str
    value: str
    """As ``--set`` takes it."""
    source: Literal["stated", "inferred", "default", "changed"]
    """``changed``: the table is set up otherwise than its sheet says."""
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
    """A sheet that ships."""

    id: str
    title: str


class Difference(msgspec.Struct, frozen=True):
    """A rule in which two sheets differ."""

    knob: str
    was: str
    now: str


class RulesRow(msgspec.Struct, frozen=True, kw_only=True):
    """Rules that came into force at a table, and what changed by it."""

    session: str
    table: str
    at: int
    seq: int
    """The entry of the session's journal that says so."""
    rulebook: str
    overrides: dict[str, str]
    """Every rule that the table plays otherwise than the sheet says, as ``--set`` takes it."""
    rules_hash: str | None
    """Hash of every rule in force; ``None`` where not all of them are known."""
    is_stated: bool
    """Whether every rule stands in the journal; otherwise only the sheet's id is known."""
    changes: tuple[Difference, ...] | None
    """Against the rules before; ``None`` where one of the two is not known."""


class RulesInForce(msgspec.Struct, frozen=True, kw_only=True):
    """The rules of a session, as its journal states them."""

    in_force: RulesRow
    sheet: Sheet | None
    """``None`` where the journal names a sheet that does not ship, and states no rules."""
