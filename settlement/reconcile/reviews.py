"""Review items, and the rounds they hold open."""

from collections.abc import Container, Sequence

from msgspec.structs import replace

from models.events import CameraFault, ForeignCardSighted
from models.judgements import ReviewRaised, RoundResult
from settlement.reconcile.faces import card_name

Item = tuple[int, int]
"""A round, and which of its items, from 0, in the order in which they were raised."""


def with_reviews(
    result: RoundResult, reviews: Sequence[ReviewRaised], decided: Container[Item] = ()
) -> RoundResult:
    """Return a round as ``replay`` prints it: with its items, open where one may change it.

    Args:
        result: the round as the engine settled it.
        reviews: every item raised; those of other rounds are passed over.
        decided: the items that a person has decided: they hold nothing open.
    """
    raised = [one for one in reviews if one.round == result.round]
    own = [one for item, one in enumerate(raised) if (result.round, item) not in decided]
    held_open = any(not one.settles_alike for one in own)
    status = "review" if held_open else result.status
    return replace(result, status=status, reviews=tuple(one.review for one in own))


def seen_amiss(seen: ForeignCardSighted | CameraFault) -> str:
    """Say what a camera reports that no round can explain."""
    if isinstance(seen, CameraFault) and seen.kind == "unwatched":
        return f"Did the round go as recorded? The table was not watched: {seen.detail}."
    if isinstance(seen, CameraFault):
        return (
            f"Did the round go as recorded? The camera was moved: {seen.detail}. "
            "It must be calibrated again."
        )
    what = "a back" if seen.face == "down" else f"a card read as {card_name(seen.card)}"
    return f"Does this card belong to the decks in use? It is {what} that fits none of them."
