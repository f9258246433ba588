"""Review items, and the rounds they hold open."""

from collections.abc import Sequence

from msgspec.structs import replace

from models.judgements import Review, ReviewRaised, RoundResult


def with_reviews(result: RoundResult, reviews: Sequence[ReviewRaised]) -> RoundResult:
    """Return a round as ``replay`` prints it: with its review items, held open by any.

    Args:
        result: the round as the engine settled it.
        reviews: every item raised; those of other rounds are passed over.
    """
    own: tuple[Review, ...] = tuple(
        raised.review for raised in reviews if raised.round == result.round
    )
    return replace(result, status="review" if own else result.status, reviews=own)
