"""The service's answers: verdicts with their sources."""

import msgspec

from models.events import Spot
from server.house.citations import Passage


class Grounds(msgspec.Struct, frozen=True, kw_only=True):
    """A clause, with the passages of the house's document."""

    clause: str
    says: str
    """The clause in our words."""
    passages: tuple[Passage, ...]
    """In the house's words; empty where its sheet is not shipped."""


class Verdict(msgspec.Struct, frozen=True, kw_only=True):
    """The sources of a mistake."""

    seq: int
    code: str
    spot: Spot | None
    hand: int | None
    breaks: Grounds
    due: tuple[Grounds, ...]
    """For a wrong payment, the clauses behind the amount due."""
    settled_by: Passage | None
    """The source of the settlement after the mistake."""
