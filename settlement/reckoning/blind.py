"""Mistakes that may only seem so because no camera saw the felt for a while.

What happened in such a time, and in which order, nobody knows. So one principle holds for all
codes: a mistake is certain only where it was shown before that time, or where nothing of the round
rests on it. Any other is a question.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from msgspec.structs import replace

from models.events import (
    AnyFact,
    CardDealt,
    CardExposed,
    PaymentMade,
    PlayerActed,
    RoundClosed,
    Spot,
)
from models.judgements import Review
from settlement.clauses import SHOWN_BY
from settlement.reckoning.asked import Asked, Mistaken, Otherwise
from settlement.reckoning.in_play import InPlay
from settlement.reckoning.story import Closed
from settlement.reconcile.blindness import Span
from settlement.reconcile.timing import SECOND

_BY_CAMERA: Final = (CardDealt, CardExposed, PaymentMade, PlayerActed, RoundClosed)
"""Facts whose time, or whose meaning, a camera tells."""


class Blind:
    """What of a round rests on times in which no camera saw the felt.

    Attributes:
        places: the facts whose time or side it hides.
        facts: the accounts by which players' cards of a time came before the dealer's.
    """

    def __init__(self, otherwise: Otherwise, over: Closed, blind: Sequence[Span]) -> None:
        record = otherwise.record
        cards = {card.dealt - over.opened: card for card in over.cards if card.dealt >= over.opened}
        self._record = record
        self._open: list[tuple[Span, list[int], list[Mistaken]]] = []
        self.facts: list[list[AnyFact]] = []
        for span in blind:
            places = [at for at, fact in enumerate(record) if _rests_on(span, fact, cards.get(at))]
            if over.turned_unseen:
                places += _turned_by_dealer(record)
            if not places:
                continue
            shown = _shown_before(otherwise, over, span, cards)
            open_ = [one for one in otherwise.mistakes if not _is_certain(one, shown)]
            if open_:
                self._open.append((span, places, open_))
                self.facts += _players_first(otherwise, sorted(set(places)), cards)
        self.places = frozenset(at for _, places, _ in self._open for at in places)

    def asks(self) -> Iterator[Asked]:
        """Ask about the mistakes that may rest on such a time."""
        for span, places, open_ in self._open:
            seqs = {seq for at in places for seq in self._record[at].evidence}
            lasted_s = (span.until_ns - span.from_ns) / SECOND
            what = (
                f"Did it only seem so, because no camera saw the felt for about {lasted_s:.0f} s?"
            )
            yield Asked(Review(what, (), tuple(sorted(seqs))), about=open_)


def played_unseen(otherwise: Otherwise, blind: Sequence[Span]) -> Iterator[Asked]:
    """Ask of spots without a hand whether they played one that no camera saw."""
    played = {getattr(fact, "spot", None) for fact in otherwise.record}
    for span in blind:
        by_spot: dict[Spot, list[int]] = {}
        for read in span.went:
            if read.spot not in played and read.seq is not None:
                by_spot.setdefault(read.spot, []).append(read.seq)
        for spot, seqs in sorted(by_spot.items()):
            what = f"Did spot {spot} play a hand? Its wager went while no camera saw the felt."
            yield Asked(Review(what, (), tuple(seqs)))


def _players_first(
    otherwise: Otherwise, places: Sequence[int], cards: Mapping[int, InPlay]
) -> list[list[AnyFact]]:
    """Return the round with the players' cards of a time before the dealer's.

    A card that nobody saw on the felt goes to whose turn it was as it left the shoe.
    """
    told = otherwise.record
    dealers = [at for at, fact in enumerate(told) if _is_to_dealer(fact, CardDealt)]
    drawn = [
        at
        for at in places
        if len(dealers) > 1 and at > dealers[1] and isinstance(told[at], CardDealt)
    ]
    if not drawn:
        return []
    turned = [at for at in places if _is_to_dealer(told[at], CardExposed)]
    players = [at for at in drawn if at not in dealers]
    moved: dict[int, AnyFact] = {}
    for at, turn in zip(drawn, [*players, *(at for at in drawn if at in dealers)], strict=True):
        both = (cards.get(at), cards.get(turn))
        unseen = all(card is not None and card.where == "unseen" for card in both)
        moved[at] = _dealt_at(told[turn], told[at], of_turn=not unseen)
    until = [*drawn, drawn[-1] + 1][len(players)]
    facts = [
        fact
        for at in range(len(told))
        for fact in (
            *((replace(told[one], at=told[at].at) for one in turned) if at == until else ()),
            *(() if at in turned else (moved.get(at, told[at]),)),
        )
    ]
    return [facts]


def _is_to_dealer(fact: AnyFact, kind: type[CardDealt] | type[CardExposed]) -> bool:
    return isinstance(fact, kind) and fact.to == "dealer"


def _dealt_at(turn: AnyFact, here: AnyFact, *, of_turn: bool) -> AnyFact:
    """Return the deal of ``turn`` at the place of ``here``, with the card of one of them."""
    assert isinstance(turn, CardDealt)
    assert isinstance(here, CardDealt)
    own = turn if of_turn else here
    return replace(
        turn, at=here.at, card=own.card, probability=own.probability, evidence=own.evidence
    )


def _is_certain(mistake: Mistaken, shown: Sequence[Mistaken]) -> bool:
    """Return whether a mistake holds whatever no camera saw."""
    by = SHOWN_BY.get(mistake[0])
    return by == "entry" or (by != "absence" and mistake in shown)


def _rests_on(span: Span, fact: AnyFact, card: InPlay | None) -> bool:
    """Return whether a fact may have happened while no camera saw, or have been seen late."""
    times = [fact.at or 0]
    if isinstance(fact, CardDealt):
        if card is None or not card.seen_at:
            return True
        times.append(card.seen_at)
    return isinstance(fact, _BY_CAMERA) and not (
        max(times) < span.from_ns or min(times) > span.over_ns
    )


def _turned_by_dealer(record: Sequence[AnyFact]) -> list[int]:
    """Return where the dealer's hole card was turned up: nobody saw when."""
    return [
        at
        for at, fact in enumerate(record)
        if isinstance(fact, CardExposed) and fact.to == "dealer"
    ]


def _shown_before(
    otherwise: Otherwise, over: Closed, span: Span, cards: dict[int, InPlay]
) -> list[Mistaken]:
    """Return the mistakes that all holds which was seen before a time alone."""
    record = otherwise.record
    seen = [
        fact
        for at, fact in enumerate(record[:-1])
        if (fact.at or 0) < span.from_ns and _was_seen(fact, over, span, cards.get(at))
    ]
    return otherwise.mistakes_of([*seen, RoundClosed(at=span.from_ns)]) if seen else []


def _was_seen(fact: AnyFact, over: Closed, span: Span, card: InPlay | None) -> bool:
    if isinstance(fact, CardDealt):
        return card is not None and 0 < card.seen_at < span.from_ns
    unseen = isinstance(fact, CardExposed) and fact.to == "dealer" and over.turned_unseen
    return not unseen
