"""Review items, and the rounds they hold open."""

from collections.abc import Container, Sequence

from msgspec.structs import replace

from models.judgements import Review, ReviewRaised, RoundResult

Item = tuple[int, int]
"""A round, and which of its items, from 0, in the order in which they were raised."""


def with_reviews(
    result: RoundResult, reviews: Sequence[ReviewRaised], decided: Container[Item] = ()
) -> RoundResult:
    """Return a round as ``replay`` prints it: with its review items, held open by any.

    Args:
        result: the round as the engine settled it.
        reviews: every item raised; those of other rounds are passed over.
        decided: the items that a person has decided: they hold nothing open.
    """
    raised = [one.review for one in reviews if one.round == result.round]
    own: tuple[Review, ...] = tuple(
        review for item, review in enumerate(raised) if (result.round, item) not in decided
    )
    return replace(result, status="review" if own else result.status, reviews=own)
