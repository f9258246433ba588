"""SettlementBook with what they rest on, as they are answered."""

import msgspec

from models.events import Spot
from server.house.citations import Passage


class Grounds(msgspec.Struct, frozen=True, kw_only=True):
    """A clause, and what the house's document says of it."""

    clause: str
    says: str
    """The clause in our words."""
    passages: tuple[Passage, ...]
    """In the house's words; empty where its sheet does not ship."""


class Verdict(msgspec.Struct, frozen=True, kw_only=True):
    """What a mistake rests on."""

    seq: int
    code: str
    spot: Spot | None
    hand: int | None
    breaks: Grounds
    due: tuple[Grounds, ...]
    """Of a wrong payment, the clauses that said what was due."""
    settled_by: Passage | None
    """Why the round is settled as it is after the mistake."""
