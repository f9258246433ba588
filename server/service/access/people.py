"""Rights and roles. Every right is named here, and a role has exactly the rights listed."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Final


class Right(StrEnum):
    """A permission. A token's scopes are rights too."""

    SEE_TABLES = "see_tables"
    """Tables, sessions, devices."""
    SEE_ROUNDS = "see_rounds"
    """Rounds, hands, violations, reviews, facts and the stream."""
    SEE_MONEY = "see_money"
    """Payments and the ledger."""
    SEE_UNDEALT = "see_undealt"
    """Cards that were not shown at the table, once their shoe has ended."""
    SEE_METRICS = "see_metrics"
    LEAVE_CHECKPOINTS = "leave_checkpoints"
    """Leave checkpoints of a table's journal here: for the token of a table."""
    SEE_ACTIVITY = "see_activity"
    """People's actions at this service."""
    RESOLVE_REVIEWS = "resolve_reviews"
    """Decide review items; the round then settles again."""
    WORK_INCIDENTS = "work_incidents"
    """Open, assign, comment on, close and reopen incidents."""
    TAKE_OUT = "take_out"
    """Reports and exports: files that leave the service."""
    KEEP_SELF = "keep_self"
    """One's own session, password and second factor."""
    KEEP_TOKENS = "keep_tokens"
    """One's own tokens."""
    KEEP_ACCOUNTS = "keep_accounts"


class Role(StrEnum):
    """A person's role."""

    SURVEILLANCE = "surveillance"
    PIT = "pit"
    AUDIT = "audit"
    ENGINEER = "engineer"
    ADMIN = "admin"


class TwoPeople(StrEnum):
    """Decisions that can require two people."""

    VOID = "void"
    """A round is voided."""
    OVERRIDE = "override"
    """An earlier decision is replaced."""


_AT_THE_TABLES: Final = {
    Right.SEE_TABLES,
    Right.SEE_ROUNDS,
    Right.SEE_MONEY,
    Right.TAKE_OUT,
    Right.KEEP_SELF,
    Right.KEEP_TOKENS,
}
_AT_THE_INCIDENTS: Final = {Right.RESOLVE_REVIEWS, Right.WORK_INCIDENTS}
RIGHTS: Final[Mapping[Role, frozenset[Right]]] = {
    Role.SURVEILLANCE: frozenset(_AT_THE_TABLES | _AT_THE_INCIDENTS | {Right.SEE_UNDEALT}),
    Role.PIT: frozenset(_AT_THE_TABLES | _AT_THE_INCIDENTS),
    Role.AUDIT: frozenset(_AT_THE_TABLES | {Right.SEE_ACTIVITY}),
    Role.ENGINEER: frozenset(
        {
            Right.SEE_TABLES,
            Right.SEE_METRICS,
            Right.LEAVE_CHECKPOINTS,
            Right.KEEP_SELF,
            Right.KEEP_TOKENS,
        }
    ),
    Role.ADMIN: frozenset(
        {
            Right.SEE_TABLES,
            Right.SEE_METRICS,
            Right.LEAVE_CHECKPOINTS,
            Right.SEE_ACTIVITY,
            Right.KEEP_SELF,
            Right.KEEP_TOKENS,
            Right.KEEP_ACCOUNTS,
        }
    ),
}


@dataclass(frozen=True, slots=True)
class Person:
    """The person behind a request, with the rights of this request."""

    name: str
    role: Role
    rights: frozenset[Right]
    by: str
    """``session`` or ``token:ID``."""
    tables: frozenset[str] | None = None
    """The tables that this person may see; ``None`` for all."""

    def sees(self, table: str | None) -> bool:
        """Return whether this person may see ``table``; data of no table needs all tables."""
        return self.tables is None or table in self.tables

    def may(self, right: Right) -> bool:
        """Return whether this request carries ``right``."""
        return right in self.rights
