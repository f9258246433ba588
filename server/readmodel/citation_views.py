"""The service's answers: violations with the clauses and passages behind them."""

import msgspec

from models.events import Spot
from server.house.citations import Passage


class CitedClause(msgspec.Struct, frozen=True, kw_only=True):
    """A clause, with the passages of the house's document."""

    clause: str
    says: str
    """The clause in our words."""
    passages: tuple[Passage, ...]
    """In the house's words; empty where its sheet is not shipped."""


class ViolationSources(msgspec.Struct, frozen=True, kw_only=True):
    """What a violation rests on."""

    seq: int
    code: str
    spot: Spot | None
    hand: int | None
    question: str
    """Whether it happened, as the violation's row asks it."""
    breaks: CitedClause
    due: tuple[CitedClause, ...]
    """For a wrong payment, the clauses behind the amount due."""
    came_to: tuple[str, ...]
    """For a mistake about money, who is still owed what: sentences as in `/api/sentences`."""
    settled_by: Passage | None
    """The source of the settlement after the mistake."""
