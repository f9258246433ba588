"""Cards of a round, as facts, whose faces nobody read."""

from collections.abc import Sequence

from models.events import AnyFact, CardDealt, CardExposed


def never_known(own: Sequence[AnyFact], at: int, fact: AnyFact) -> bool:
    """Return whether ``fact``, at ``at`` of a round, is a card whose face nothing ever showed."""
    return (
        isinstance(fact, CardDealt)
        and fact.card is None
        and not any(one.card is not None for one in exposures(own, at))
    )


def exposures(own: Sequence[AnyFact], at: int) -> list[CardExposed]:
    """Return the turning up of the card dealt at ``at``: of its face, or next of an unknown."""
    dealt = own[at]
    assert isinstance(dealt, CardDealt)
    place = (dealt.to, dealt.hand)
    later = [
        fact
        for fact in own[at + 1 :]
        if isinstance(fact, CardExposed) and (fact.to, fact.hand) == place
    ]
    if dealt.card is not None:
        return [fact for fact in later if fact.card is dealt.card]
    named = [
        fact.card
        for fact in own
        if isinstance(fact, CardDealt)
        and (fact.to, fact.hand, fact.face) == (*place, "down")
        and fact.card is not None
    ]
    unnamed: list[CardExposed] = []
    for fact in later:
        if fact.card in named:
            named.remove(fact.card)
        else:
            unnamed.append(fact)
    earlier = sum(
        isinstance(fact, CardDealt) and (fact.to, fact.hand, fact.card) == (*place, None)
        for fact in own[:at]
    )
    return unnamed[earlier : earlier + 1]
