"""What is still asked of a round or a hand that the floor called off: its wagers go back anyway."""

from collections.abc import Iterator, Sequence
from typing import Final

from models.events import AnyFact, HandCalledOff, PaymentMade, RoundCalledOff, WagerRemoved
from models.judgements import Review
from models.places import whose
from settlement.reckoning.asked import Asked, Otherwise

_OF_PAYMENT: Final = frozenset({"wrong_payout", "settle_order", "payment_missing"})


def is_called_off(record: Sequence[AnyFact]) -> bool:
    """Return whether the floor called a whole round off."""
    return any(isinstance(fact, RoundCalledOff) for fact in record)


def still_asked(found: Sequence[Asked], otherwise: Otherwise) -> list[Asked]:
    """Return the questions about a round called off that the ruling does not answer.

    What each hand comes to is ruled. A question stays where an answer holds other mistakes, and one
    about a mistake where no answer is offered.
    """
    own = otherwise.stated.mistakes
    return [
        one
        for one in found
        if any(rival.outcome.mistakes != own for rival in one.rivals)
        or (one.about and not one.rivals)
    ]


def went_before(otherwise: Otherwise) -> Iterator[Asked]:
    """Yield whether the dealer took chips that went before their wager was called off.

    A plate does not tell whether the dealer took them or they went back at once, and a ruling is
    often entered after it was carried out.
    """
    record = otherwise.record
    wrong = {spot for code, spot in otherwise.mistakes if code in _OF_PAYMENT}
    back, went = list(record), list[PaymentMade]()
    for at, fact in enumerate(record):
        if (
            isinstance(fact, PaymentMade)
            and fact.kind == "main"
            and fact.amount < 0
            and fact.spot in wrong
            and any(_is_about(ruling, fact) for ruling in record[at:])
        ):
            went.append(fact)
            back[at] = WagerRemoved(
                at=fact.at,
                spot=fact.spot,
                hand=fact.hand,
                kind="main",
                amount=-fact.amount,
                evidence=fact.evidence,
            )
    if not went:
        return
    rival = otherwise(back)
    rival.tells = "they went back to the players"
    names = " and ".join(whose(fact.spot, fact.hand) for fact in went)
    what = f"Did the dealer take the chips of {names}? They went before the ruling was entered."
    seqs = tuple(sorted({seq for fact in went for seq in fact.evidence}))
    spots = {fact.spot for fact in went}
    about = [one for one in otherwise.mistakes if one[0] in _OF_PAYMENT and one[1] in spots]
    yield Asked(Review(what, (), seqs), rivals=[rival], about=about)


def _is_about(ruling: AnyFact, paid: PaymentMade) -> bool:
    """Return whether a fact calls off the hand of a payment."""
    if isinstance(ruling, HandCalledOff):
        return ruling.spot == paid.spot and ruling.hand in (None, paid.hand)
    return isinstance(ruling, RoundCalledOff)
