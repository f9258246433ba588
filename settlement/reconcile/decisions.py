"""What people decided of review items, put into the facts. Pure.

The facts as the sensors gave them stay in the journal as they are. A decision is an observation
like any other; here is what the facts are with it, and those the engine settles.
"""

from collections import Counter
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from msgspec.structs import replace

from models.cards import Card
from models.errors import OperatorError
from models.events import (
    AnyFact,
    CardBoxed,
    CardBurned,
    CardDealt,
    CardExposed,
    ReviewResolved,
    RoundOpened,
    ShoeStarted,
)
from models.judgements import Review, ReviewRaised, RoundResult
from models.places import spot_hand
from settlement.reconcile.by_account import by_account, refused, seqs_of
from settlement.reconcile.reviews import Item
from settlement.reconcile.unread import exposures, never_known
from settlement.voiding import round_void

ASKS_REASON = frozenset({"unreadable", "void"})
_OF_PAYMENT = frozenset({"wrong_payout", "payment_missing"})


@dataclass(frozen=True, slots=True)
class Decided:
    """The facts with people's decisions in them."""

    facts: tuple[AnyFact, ...]
    items: frozenset[Item]
    """The items that hold nothing open any more."""
    void: frozenset[int]
    """The rounds that the floor called off."""


NOTHING_DECIDED = Decided((), frozenset(), frozenset())


def decided(
    facts: Iterable[AnyFact],
    raised: Sequence[ReviewRaised],
    decisions: Iterable[ReviewResolved],
) -> Decided:
    """Put decisions into the facts; of several on one item the last holds.

    A decision that does not fit the facts decides nothing: its item stays open. Whoever said
    which card it was has answered as well that it was never read.

    Args:
        facts: a session's, in order, as they were journalled.
        raised: every review item of it, in order.
        decisions: every decision of it, in order.
    """
    last = {(one.round, one.item): one for one in decisions}
    rounds = _by_round(facts)
    as_stated = dict(rounds)
    unread = {number: _unread(own) for number, own in rounds.items()}
    items = set()
    for one in sorted(last.values(), key=_turn):
        own = rounds.get(one.round, [])
        try:
            rounds[one.round] = _applied(own, as_stated.get(one.round, []), raised, one)
        except OperatorError:
            continue
        items.add((one.round, one.item))
    void = frozenset(one.round for one in last.values() if one.decision == "void")
    items |= {(n, item) for n in void for item in range(len(_items(raised, n)))}
    for number, cards in unread.items():
        items |= set(_answered(raised, number, cards, rounds[number], items))
    whole = tuple(fact for own in rounds.values() for fact in own)
    return Decided(whole, frozenset(items), void)


def check_decision(
    facts: Sequence[AnyFact],
    raised: Sequence[ReviewRaised],
    earlier: Sequence[ReviewResolved],
    decision: ReviewResolved,
    decks: int,
    *,
    continuous: bool = False,
) -> None:
    """Refuse a decision that cannot be so.

    Args:
        facts: the session's so far, as journalled.
        raised: every review item of it.
        earlier: every decision of it.
        decision: what a person decides now.
        decks: how many decks the shoe held.
        continuous: whether cards returned to it once their round was over.

    Raises:
        OperatorError: there is no such item; the decision lacks what it needs; which card is
            meant cannot be told; or the shoe cannot have held that card any more.
    """
    review = _item(raised, decision).review
    before = decided(facts, raised, _put_in_before(decision, earlier))
    own = _by_round(before.facts).get(decision.round, [])
    _applied(own, _by_round(facts).get(decision.round, []), raised, decision)
    if decision.choice is not None and str(decision.choice) not in review.candidates:
        after = decided(facts, raised, (*earlier, decision))
        out = _by_round(after.facts)[decision.round] if continuous else after.facts
        _check_shoe(out, decision, decks)


def voided(result: RoundResult) -> RoundResult:
    """Return a round that the floor called off: every wager goes back.

    Its mistakes stand, but those of payment: nothing is due any more.
    """
    found = tuple(one for one in result.violations if one.code not in _OF_PAYMENT)
    return replace(round_void(result), violations=found)


# --- rounds and items ---------------------------------------------------------------------


def _by_round(facts: Iterable[AnyFact]) -> dict[int, list[AnyFact]]:
    """Part the facts at the openings of rounds; what comes before the first is round 0."""
    number, rounds = 0, dict[int, list[AnyFact]]()
    for fact in facts:
        if isinstance(fact, RoundOpened):
            number = fact.round
        rounds.setdefault(number, []).append(fact)
    return rounds


def _items(raised: Iterable[ReviewRaised], number: int) -> list[Review]:
    return [one.review for one in raised if one.round == number]


def _turn(decision: ReviewResolved) -> tuple[bool, int]:
    """Return when a decision is put into the facts: an account is one of the facts as stated."""
    return decision.decision != "account", decision.seq or 0


def _put_in_before(
    decision: ReviewResolved, earlier: Iterable[ReviewResolved]
) -> list[ReviewResolved]:
    """Return the decisions on other items that come into the facts before a new one."""
    is_account = decision.decision == "account"
    return [
        one
        for one in earlier
        if (one.round, one.item) != (decision.round, decision.item)
        and (one.decision == "account" or one.round != decision.round or not is_account)
    ]


def _item(raised: Iterable[ReviewRaised], decision: ReviewResolved) -> ReviewRaised:
    items = [one for one in raised if one.round == decision.round]
    if decision.item >= len(items):
        known = f"it has {len(items)}, numbered from 0" if items else "it has none"
        raise OperatorError(
            f"round {decision.round} has no review item {decision.item}",
            where="review",
            way_out=f"Name one of its items: {known}",
        )
    return items[decision.item]


# --- what a decision does -----------------------------------------------------------------


def _applied(
    own: Sequence[AnyFact],
    as_stated: Sequence[AnyFact],
    raised: Sequence[ReviewRaised],
    decision: ReviewResolved,
) -> list[AnyFact]:
    """Return a round's facts, and the decisions in them, with one more."""
    item = _item(raised, decision)
    review = item.review
    if decision.decision in ASKS_REASON and not decision.reason.strip():
        raise refused(decision, f"{decision.decision} requires a reason", "Give one")
    match decision.decision:
        case "chosen":
            if decision.choice is None:
                raise refused(decision, "no card is chosen", "Name the card")
            return _named(own, _meant(own, review, decision), decision.choice, decision)
        case "unreadable":
            return _named(own, _meant(own, review, decision), None, decision)
        case "dealt":
            return _moved(own, review, decision)
        case "burned":
            return _burned(own, review, decision)
        case "account":
            return by_account(own, as_stated, item, decision)
        case "stands" | "void":
            return list(own)


def _meant(own: Sequence[AnyFact], review: Review, decision: ReviewResolved) -> int:
    """Return where among a round's facts the card in question was dealt."""
    if decision.card is not None:
        return _at_place(own, decision)
    found = card_in_question(own, review)
    if found is None:
        raise refused(
            decision, "which card is meant cannot be told", "Name its place: to, hand, nth"
        )
    return found


def card_in_question(own: Sequence[AnyFact], review: Review) -> int | None:
    """Return where the one card that an item is about was dealt; ``None`` where it names none."""
    found = _evidenced(own, review)
    if not found:
        found = [at for at, fact in enumerate(own) if never_known(own, at, fact)]
    return found[0] if len(found) == 1 else None


def _at_place(own: Sequence[AnyFact], decision: ReviewResolved) -> int:
    place = decision.card
    assert place is not None
    dealt = [
        at
        for at, fact in enumerate(own)
        if isinstance(fact, CardDealt) and (fact.to, fact.hand) == (place.to, place.hand)
    ]
    if place.nth >= len(dealt):
        whose = "dealer" if place.to == "dealer" else spot_hand(place.to, place.hand)
        raise refused(
            decision,
            f"{whose} was dealt {len(dealt)} cards, not {place.nth + 1}",
            "Name a card that was dealt",
        )
    return dealt[place.nth]


def _evidenced(own: Sequence[AnyFact], review: Review) -> list[int]:
    """Return the dealt cards that rest on an item's evidence, by themselves or once turned."""
    evidence = set(review.evidence)
    found = []
    for at, fact in enumerate(own):
        if isinstance(fact, CardDealt) and (
            evidence.intersection(fact.evidence)
            or any(evidence.intersection(one.evidence) for one in exposures(own, at))
        ):
            found.append(at)
    return found


def _unread(own: Sequence[AnyFact]) -> dict[int | None, frozenset[int]]:
    """Return the evidence of each card that was never read, by the ``seq`` of its dealing."""
    return {
        fact.seq: frozenset(fact.evidence)
        for at, fact in enumerate(own)
        if never_known(own, at, fact)
    }


def _answered(
    raised: Iterable[ReviewRaised],
    number: int,
    unread: Mapping[int | None, frozenset[int]],
    own: Sequence[AnyFact],
    items: Container[Item],
) -> Iterator[Item]:
    """Yield the items that say only that cards were never read, all of which are decided."""
    known = {
        fact.seq
        for fact in own
        if fact.seq in unread and unread[fact.seq] < frozenset(fact.evidence)
    }
    for item, review in enumerate(_items(raised, number)):
        about = {seq for seq, seen in unread.items() if seen.intersection(review.evidence)}
        if about and about <= known and not review.candidates and (number, item) not in items:
            yield number, item


def _named(
    own: Sequence[AnyFact], at: int, card: Card | None, decision: ReviewResolved
) -> list[AnyFact]:
    """Say which card it was: where it was dealt, and where it was turned up."""
    dealt, turned = own[at], exposures(own, at)
    assert isinstance(dealt, CardDealt)
    known_later = dealt.card is None and bool(turned)
    known: list[AnyFact] = [*turned] if known_later else [*turned, dealt]
    return [_with(fact, card, decision) if _is_one(fact, known) else fact for fact in own]


def _is_one(fact: AnyFact, of: Iterable[AnyFact]) -> bool:
    """Tell whether it is one of these very facts: two may be equal."""
    return any(fact is one for one in of)


def _with(fact: AnyFact, card: Card | None, decision: ReviewResolved) -> AnyFact:
    assert isinstance(fact, CardDealt | CardExposed)
    return replace(fact, card=card, evidence=(*fact.evidence, *seqs_of(decision)))


def _moved(own: Sequence[AnyFact], review: Review, decision: ReviewResolved) -> list[AnyFact]:
    """Put the card in question to the hand it belongs to, dealt when it left the shoe."""
    place = decision.card
    if place is None:
        raise refused(decision, "no place is named", "Name the hand: to, hand")
    found = _evidenced(own, review)
    if len(found) == 1:
        return [_replaced(fact, own, found[0], decision) for fact in own]
    new = CardDealt(
        to=place.to, hand=place.hand, card=_card_of(review, decision), evidence=review.evidence
    )
    return _inserted(own, new, review, decision)


def _replaced(fact: AnyFact, own: Sequence[AnyFact], at: int, decision: ReviewResolved) -> AnyFact:
    place = decision.card
    assert place is not None
    if not _is_one(fact, [own[at], *exposures(own, at)]):
        return fact
    assert isinstance(fact, CardDealt | CardExposed)
    card = decision.choice or fact.card
    evidence = (*fact.evidence, *seqs_of(decision))
    return replace(fact, to=place.to, hand=place.hand, card=card, evidence=evidence)


def _burned(own: Sequence[AnyFact], review: Review, decision: ReviewResolved) -> list[AnyFact]:
    """Say that the card in question went to the discard rack."""
    found = _evidenced(own, review)
    if len(found) != 1:
        new = CardBurned(card=_card_of(review, decision), evidence=review.evidence)
        return _inserted(own, new, review, decision)
    dealt, turned = own[found[0]], exposures(own, found[0])
    assert isinstance(dealt, CardDealt)
    gone = CardBurned(
        seq=dealt.seq,
        at=dealt.at,
        table=dealt.table,
        card=decision.choice or dealt.card,
        evidence=(*dealt.evidence, *seqs_of(decision)),
    )
    left = [fact for fact in own if not _is_one(fact, turned)]
    return [gone if fact is dealt else fact for fact in left]


def _card_of(review: Review, decision: ReviewResolved) -> Card | None:
    """The card a person names, or the only one it can be."""
    named = [name for name in review.candidates if name in Card._value2member_map_]
    return decision.choice or (Card(named[0]) if len(named) == 1 else None)


def _inserted(
    own: Sequence[AnyFact],
    new: CardDealt | CardBurned,
    review: Review,
    decision: ReviewResolved,
) -> list[AnyFact]:
    """Put a card in its place among those that left the shoe: before the first that came later."""
    left_at = min(review.evidence, default=0)
    dealt = [at for at, fact in enumerate(own) if isinstance(fact, CardDealt)]
    if not dealt or not left_at:
        raise refused(
            decision,
            "when the card left the shoe cannot be told",
            "Let the record stand, or call the round off",
        )
    later = [at for at in dealt if min(own[at].evidence, default=0) > left_at]
    at = later[0] if later else dealt[-1] + 1
    fact = replace(
        new,
        seq=decision.seq,
        at=own[at - 1].at,
        table=own[at - 1].table,
        evidence=(*new.evidence, *seqs_of(decision)),
    )
    return [*own[:at], fact, *own[at:]]


# --- what the shoe can still hold ---------------------------------------------------------


def _check_shoe(facts: Iterable[AnyFact], decision: ReviewResolved, decks: int) -> None:
    card, seen, number = decision.choice, Counter[Card | None](), 0
    assert card is not None
    for fact in facts:
        match fact:
            case ShoeStarted() if number >= decision.round:
                break
            case ShoeStarted():
                seen.clear()
                decks = fact.decks
            case RoundOpened():
                number = fact.round
            case CardBurned() | CardBoxed() | CardDealt():
                seen[fact.card] += 1
            case _:
                pass
    if card.suited and seen[card] > decks:
        raise refused(
            decision,
            f"the shoe held {card} {decks} times, and that many were seen elsewhere",
            "Look again; where the camera reads it so, choose it as the candidate it is",
        )
