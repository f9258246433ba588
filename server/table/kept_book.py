"""What a kept rest holds of the settlement book."""

from dataclasses import dataclass

from models.events import ReviewResolved
from models.judgements import (
    LedgerPosted,
    ReviewRaised,
    RoundResult,
)
from server.table.round_starts import RoundStart, RoundStarts
from settlement.reconcile import (
    Item,
)


@dataclass(frozen=True, slots=True)
class KeptBook:
    """What a book knows of the rounds before one, without what the journal shows by itself."""

    start: RoundStart
    """The start of that round."""
    starts: RoundStarts
    """Those of the rounds before it."""
    raised: tuple[ReviewRaised, ...]
    decisions: tuple[ReviewResolved, ...]
    decided: dict[int, tuple[tuple[Item, ...], tuple[int, ...]]]
    """By round, the items that people's decisions settled, and the rounds that they called off."""
    changed: tuple[RoundResult, ...]
    """The rounds whose last settlement is far from their facts in the journal."""
    posted: dict[int, tuple[LedgerPosted, ...]]
    """Their postings."""
