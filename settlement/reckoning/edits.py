"""How an account of a round may have gone otherwise: an edit for each error of a sense, priced.

The price of an edit is how likely the sense errs so, beside how likely it does not. What can only
spare a mistake is tried of accounts that hold one.
"""

from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from math import log
from typing import Final

from msgspec.structs import replace

from models.cards import RANKS, Card
from models.events import (
    AnyFact,
    CardDealt,
    CardExposed,
    CutCardReached,
    Dealt,
    Face,
    PaymentMade,
    PlayerActed,
    Spot,
    WagerPlaced,
    WagerRemoved,
)
from models.judgements import Change, Review
from settlement.clauses import SHOWN_BY
from settlement.hands import natural
from settlement.reckoning.decide import Edit
from settlement.reckoning.differing import card_at
from settlement.reckoning.in_play import Hand
from settlement.reckoning.odds import (
    HIDDEN_LONG_NS,
    HIDDEN_TO_ANOTHER,
    HIT,
    MISSED,
    MISSED_FACE,
    MISTAKE,
    NO_BACK,
    SHOE_MISSED,
    TO_ANOTHER,
    UNUSUAL,
    doubles,
    hidden_for,
    hits,
)
from settlement.reckoning.story import Closed
from settlement.reconcile.questions import read_apart
from settlement.reconcile.sightings import same
from settlement.reconcile.timing import SECOND
from settlement.reconcile.weighing import Outcome, Question

_UNHURRIED: Final = 1.2
"""Two acts at the table that lie no further apart than so many steps of a deal have no card between
them. Chosen: a simulated dealer who draws takes 2.0 to 2.4 steps, one who stands 0.8."""

_UNHURRIED_PAID: Final = 1.7
"""The same to a payment. Chosen: of a simulated dealer who stands it comes after 1.3 to 1.5."""

_DOUBTED: Final = 1e-2
"""The odds of other faces of a card, from which on they are tried of a round without a mistake: by
another one somebody would be paid wrongly."""

PLATES_SILENT: Final = (
    "Did the bet plates fall silent?",
    "the bet plates fell silent, and what was due was paid and taken",
)
"""A question, and what happened by the account that it asks about."""

_FAR: Final = 8
"""A fact is moved past so many others at most."""

_OF_SIDES: Final = frozenset({"deal_face", "hole_card_exposed"})
_OF_A_HAND: Final = (
    CardDealt,
    CardExposed,
    PaymentMade,
    PlayerActed,
    WagerPlaced,
    WagerRemoved,
)
_MOVABLE: Final = (CardDealt, CardExposed, PaymentMade)


class Seen:
    """What the senses reported of a round, as far as its edits are priced by it.

    Args:
        over: the round, as a story closed it.
        record: its facts.
        stated: what they settle to.
        cameras: how many saw the table; each of them missed what was missed.
        pace_ns: from one card of a deal to the next, 0 where it is not known.
        blind: places of facts whose time and side no camera saw.
        gap: how much likelier the dealer's row holds a card more, as a logarithm.
    """

    def __init__(
        self,
        over: Closed,
        record: Sequence[AnyFact],
        stated: Outcome,
        *,
        cameras: int,
        pace_ns: int,
        blind: frozenset[int],
        gap: float,
    ) -> None:
        self.over, self.record, self.stated = over, record, stated
        self.pace_ns, self.blind, self.gap = pace_ns, blind, gap
        self.by_shoe = any(card.announced for card in over.cards)
        self.cameras = max(1, cameras)
        self.unseen = log(MISSED_FACE) * self.cameras
        self.unseen += log(SHOE_MISSED) if self.by_shoe else 0.0
        self.codes = {code for code, _, _ in stated.mistakes}
        self.cards = {
            card.dealt - over.opened: card for card in over.cards if card.dealt >= over.opened
        }


def edits(seen: Seen, faces: Sequence[Question]) -> list[Edit]:
    """Return how a round may have gone otherwise."""
    found = [*_of_chips(seen), *_broken(seen), *_once(seen), *_of_entries(seen)]
    found += _of_exchanged(seen)
    found += of_faces([one for one in faces if seen.codes or one.odds > _DOUBTED])
    if not seen.codes:
        return found
    found += _cards_more(seen)
    found += _passed_over(seen)
    found += _of_silent_plates(seen)
    if any(SHOWN_BY.get(code) == "order" for code in seen.codes):
        found += _moves(seen)
    if seen.codes & _OF_SIDES:
        found += _sides(seen)
    found += _owners(seen)
    return found


# --- faces ----------------------------------------------------------------------------------


def of_faces(faces: Iterable[Question], *, wary: bool = True) -> Iterator[Edit]:
    """Yield that a card is another one; ``wary``, by the most that the sensors are known for."""
    for question in faces:
        for rival in question.rivals:
            changes = [Change(at, 1, facts) for at, facts in rival.instead.items()]
            odds = rival.doubted if wary else rival.odds
            if odds > 0.0:
                yield Edit(log(odds), "camera", changes, face=question)


def _of_exchanged(seen: Seen) -> Iterator[Edit]:
    """Yield that a card which turned up as another one than the shoe read was misread by it.

    As stated it was exchanged: a mistake, though the engine leaves open which face it has.
    """
    for at, card in seen.cards.items():
        dealt = seen.record[at]
        shown = seen.record[card.shown - seen.over.opened] if card.shown >= 0 else None
        if not isinstance(dealt, CardDealt) or not isinstance(shown, CardExposed):
            continue
        if dealt.card is None or shown.card is None or same(dealt.card, shown.card):
            continue
        faces = (str(dealt.card), str(shown.card))
        review = Review(read_apart(card_at(seen.record, at), *faces), faces, card.seqs)
        face = Question(review, (), contradicted=True)
        changes = [Change(at, 1, (replace(dealt, card=shown.card),))]
        yield Edit(-log(MISTAKE), "shoe", changes, face=face)


# --- cards that came or did not ---------------------------------------------------------------


def _cards_more(seen: Seen) -> Iterator[Edit]:
    """Yield by each rank that the dealer, or a hand with a mistake, got a card nobody saw."""
    record = seen.record
    holds = {fact.to for fact in record if isinstance(fact, CardDealt)}
    whose: list[tuple[Dealt, int]] = [("dealer", 0)]
    whose += sorted({(spot, hand or 0) for _, spot, hand in seen.stated.mistakes if spot in holds})
    for to, hand in whose:
        last = _last(record, to, hand) if to == "dealer" else _turn_ends(record, to)
        if last is None:
            continue
        settled = _settled(record, to, hand)
        weight = seen.unseen - log(len(RANKS))
        if settled is not None and settled <= last:
            last = settled - 1
        elif not _has_time(record, last, seen.pace_ns):
            continue
        if to == "dealer":
            weight += seen.gap
        elif ("missing_card", to, hand) not in seen.stated.mistakes:
            drew = hits(_faces(record, to, hand))
            weight += log(drew / (1.0 - drew))
        for rank in RANKS:
            at = (record[last].at or 0) + 1
            card = CardDealt(at=at, to=to, hand=hand, card=Card(rank + "?"), face="up")
            yield Edit(weight, "camera", [Change(last + 1, 0, (card,))], came=card)


def _passed_over(seen: Seen) -> Iterator[Edit]:
    """Yield by each rank that a spot got the card of the deal for which it seems passed over."""
    dealt = [(at, f) for at, f in enumerate(seen.record) if isinstance(f, CardDealt)]
    times = [fact.at or 0 for _, fact in dealt]
    dealers = [n for n, (_, fact) in enumerate(dealt) if fact.to == "dealer"]
    for code, spot, _ in seen.stated.mistakes:
        if code != "spot_skipped" or spot is None:
            continue
        before: Dealt = "dealer"
        for at, fact in dealt[: dealers[1] + 1 if len(dealers) > 1 else None]:
            is_later = fact.to == "dealer" or spot < fact.to
            has_time = not seen.by_shoe or _has_gap(times, fact.at or 0, seen.pace_ns)
            if is_later and has_time and (before == "dealer" or before < spot):
                when = (fact.at or 0) - 1
                weight = seen.unseen - log(len(RANKS))
                for rank in RANKS:
                    card = CardDealt(at=when, to=spot, card=Card(rank + "?"), face=dealt[0][1].face)
                    yield Edit(weight, "camera", [Change(at, 0, (card,))], came=card)
            before = fact.to


def _has_gap(times: Sequence[int], at: int, pace_ns: int) -> bool:
    """Return whether a card that the shoe did not time fits before or after the one at a time."""
    place = times.index(at)
    near = times[max(0, place - 1) : place + 2]
    return any(later - one > _UNHURRIED * pace_ns for one, later in pairwise(near))


def _once(seen: Seen) -> Iterator[Edit]:
    """Yield that a card which the shoe alone read is one that a camera alone saw: once, not twice.

    Two sensors erred where both came.
    """
    for read_at, read in seen.cards.items():
        if not read.announced or read.where != "unseen" or read.card is None:
            continue
        for at, card in seen.cards.items():
            if not card.announced and card.where != "unseen" and card.card is read.card:
                for one in (read_at, at):
                    yield Edit(-log(MISSED * SHOE_MISSED), "camera", [Change(one, 1, ())])


def _broken(seen: Seen) -> Iterator[Edit]:
    """Yield that a hand whose wager went as the dealer turned his card was broken before.

    A wager that goes before the dealer's card is seen turned up is stated as lost to his hand: an
    arm hid that card. An arm seldom does so for long.
    """
    record, lasted_ns = seen.record, seen.over.seen_turned_ns
    shown = (at for at, f in enumerate(record) if isinstance(f, CardExposed) and f.to == "dealer")
    turned = next(shown, None)
    if turned is None or not lasted_ns:
        return
    seen_at = (record[turned].at or 0) + lasted_ns
    early = [at for at, fact in enumerate(record) if at > turned and _takes(fact, before=seen_at)]
    if len(early) != 1:
        return
    paid = record[early[0]]
    assert isinstance(paid, PaymentMade)
    weight = seen.unseen + log(HIT / len(RANKS)) - hidden_for(lasted_ns)
    late = replace(record[turned], at=seen_at)
    for rank in RANKS:
        came = CardDealt(
            at=record[turned].at, to=paid.spot, hand=paid.hand, card=Card(rank + "?"), face="up"
        )
        changes = [Change(turned, 1, (came, paid, late)), Change(early[0], 1, ())]
        yield Edit(weight, "camera", changes, came=came)


# --- times, sides and owners ------------------------------------------------------------------


def _moves(seen: Seen) -> Iterator[Edit]:
    """Yield that a fact was at another time, as far as its sense does not tell of it."""
    record = seen.record
    for at, fact in enumerate(record):
        if not isinstance(fact, _MOVABLE):
            continue
        for to in range(max(0, at - _FAR), min(len(record), at + _FAR + 1)):
            other = record[to]
            if to == at or not _tells_time(fact, other):
                continue
            weight = _when(seen, at, to)
            if weight is None:
                continue
            moved = Change(to if to < at else to + 1, 0, (replace(fact, at=other.at),))
            yield Edit(weight, "camera", [Change(at, 1, ()), moved])
        if isinstance(fact, PaymentMade) and at in seen.blind:
            yield Edit(0.0, "chips", [Change(at, 1, ())])


def _tells_time(fact: CardDealt | CardExposed | PaymentMade, other: AnyFact) -> bool:
    """Return whether a fact may have come at the time of another one.

    Whoever entered what a player did saw his cards as they lay then.
    """
    if isinstance(other, PlayerActed):
        whose = fact.spot if isinstance(fact, PaymentMade) else fact.to
        return other.spot != whose
    return isinstance(other, CardDealt | WagerPlaced | type(fact))


def _when(seen: Seen, at: int, to: int) -> float | None:
    """Return how likely a fact was at the time of another one; ``None`` where it cannot be."""
    fact, card = seen.record[at], seen.cards.get(at)
    if at in seen.blind:
        return 0.0
    if not isinstance(fact, CardDealt):
        return None
    if card is None or not card.seen_at:
        return 0.0
    if card.clocked and not card.disputed:
        return None
    when, own = seen.record[to].at or 0, fact.at or 0
    if to > at:
        return 0.0 if own < when <= card.seen_at and card.seen_at - own > SECOND else None
    late = card.seen_at - own
    own_price = _hidden(seen, late) if late > SECOND else 0.0
    return min(0.0, _hidden(seen, card.seen_at - when) - own_price)


def _hidden(seen: Seen, for_ns: int) -> float:
    """Return how likely arms hid a card so long from every camera, as a logarithm."""
    another = HIDDEN_TO_ANOTHER if for_ns <= HIDDEN_LONG_NS else TO_ANOTHER
    return hidden_for(for_ns) + (seen.cameras - 1) * log(another)


def _sides(seen: Seen) -> Iterator[Edit]:
    """Yield that a card was dealt on its other side, unless it was seen turned up."""
    for at, card in seen.cards.items():
        fact = seen.record[at]
        if not isinstance(fact, CardDealt):
            continue
        side: Face = "down" if fact.face == "up" else "up"
        weight = 0.0
        if at not in seen.blind and card.timed and card.seen_at:
            if fact.face == "up" or card.turned_in_place:
                continue
            # The back was a sighting of nothing, beside a card that lay face up.
            weight = log(NO_BACK)
        yield Edit(weight, "camera", [Change(at, 1, (replace(fact, face=side),))])


def _owners(seen: Seen) -> Iterator[Edit]:
    """Yield that a card which nobody saw on the felt went to somebody else."""
    whose = {(fact.to, fact.hand) for fact in seen.record if isinstance(fact, CardDealt)}
    for at, card in seen.cards.items():
        fact = seen.record[at]
        if card.where != "unseen" or not isinstance(fact, CardDealt):
            continue
        for to, hand in sorted(whose - {(fact.to, fact.hand)}, key=str):
            moved = replace(fact, to=to, hand=hand)
            yield Edit(log(1.0 / len(whose)), "camera", [Change(at, 1, (moved,))])


# --- chips and entries ------------------------------------------------------------------------


def _of_chips(seen: Seen) -> Iterator[Edit]:
    """Yield what chips may have meant otherwise, and payments that nobody saw."""
    record, end = seen.record, len(seen.record) - 1
    for hand in seen.over.hands:
        own = (hand.spot, hand.number)
        if not hand.taken_at and hand.paid < 0 and hand.cards and not seen.over.entered:
            _, _, due = seen.stated.hands.get(own, (0, "", None))
            for amount in dict.fromkeys([0, *([] if due is None else [due])]):
                paid = PaymentMade(at=record[end].at, spot=own[0], hand=own[1], amount=amount)
                yield Edit(0.0, "chips", [Change(end, 0, (paid,))])
        across = any(card.across for card in hand.cards)
        if hand.owed or (across and not hand.doubled):
            # Chips were added and no card followed; or a card lies as a double's does.
            prior = log(doubles(_faces(record, *own)[:2]))
            kind, weight = ("main", -prior) if hand.owed else ("double", prior - log(UNUSUAL))
            for at in _added(hand, record):
                fact = record[at]
                assert isinstance(fact, WagerPlaced)
                if fact.kind != kind:
                    yield Edit(weight, "chips", [Change(at, 1, (replace(fact, kind=kind),))])
    for at, fact in enumerate(record):
        if isinstance(fact, WagerRemoved) and fact.kind == "main" and fact.by != "floor":
            taken = PaymentMade(
                at=fact.at,
                spot=fact.spot,
                hand=fact.hand,
                amount=-(fact.amount or 0),
                evidence=fact.evidence,
            )
            yield Edit(0.0, "chips", [Change(at, 1, (taken,))])


def _of_silent_plates(seen: Seen) -> Iterator[Edit]:
    """Yield that the bet plates fell silent: the last wagers to be settled all stayed there.

    A plate that is cut off reports the chips on it no more.
    """
    record = seen.record
    paid = [
        (at, fact)
        for at, fact in enumerate(record)
        if isinstance(fact, PaymentMade) and fact.kind == "main"
    ]
    moved = max((at for at, fact in paid if fact.amount), default=-1)
    due = {key: due for key, (_, _, due) in seen.stated.hands.items() if due}
    still = {at: fact for at, fact in paid if at > moved and (fact.spot, fact.hand) in due}
    if len(still) > 1:
        changes = [
            Change(at, 1, (replace(fact, amount=due[fact.spot, fact.hand]),))
            for at, fact in still.items()
        ]
        yield Edit(log(MISTAKE), "chips", changes, tells=PLATES_SILENT)


def _of_entries(seen: Seen) -> Iterator[Edit]:
    """Yield that a player did not do what a person entered, or his cards seemed to show."""
    doubted = [one.evidence for one in seen.over.asks]
    for at, fact in enumerate(seen.record):
        if isinstance(fact, PlayerActed) and fact.evidence and fact.evidence in doubted:
            after = seen.record[at + 1 :]
            rest = _unsplit(seen.record, at, fact)[at:]
            if fact.action == "split":
                changes = [Change(at, len(after) + 1, tuple(rest))]
            else:
                changes = [Change(at, 1, ())]
            yield Edit(0.0, "console", changes)


def _unsplit(record: Sequence[AnyFact], at: int, act: PlayerActed) -> list[AnyFact]:
    """Return a round without an act; after a split, with the cards in the one hand again."""
    left = [*record[:at], *record[at + 1 :]]
    if act.action != "split":
        return left
    later = [fact for fact in record[:at] if _is_split(fact, act.spot)]
    new = len(later) + 1
    return [*left[:at], *(_of_one_hand(fact, act, new) for fact in left[at:])]


def _is_split(fact: AnyFact, spot: Spot) -> bool:
    return isinstance(fact, PlayerActed) and fact.action == "split" and fact.spot == spot


def _of_one_hand(fact: AnyFact, act: PlayerActed, new: int) -> AnyFact:
    """Return a fact as it is where the ``new`` hand of a split is part of the hand it came from."""
    spot = fact.to if isinstance(fact, CardDealt | CardExposed) else getattr(fact, "spot", None)
    if spot != act.spot or not isinstance(fact, _OF_A_HAND) or (fact.hand or 0) < new:
        return fact
    return replace(fact, hand=act.hand if fact.hand == new else (fact.hand or 0) - 1)


def _added(hand: Hand, record: Sequence[AnyFact]) -> list[int]:
    """Return where chips were added to a hand's wager after its first card."""
    return [
        at
        for at, fact in enumerate(record if hand.cards else ())
        if isinstance(fact, WagerPlaced)
        and fact.kind in ("main", "double")
        and (fact.spot, fact.hand or 0) == (hand.spot, hand.number)
        and (fact.at or 0) > hand.cards[0].at
    ]


def _takes(fact: AnyFact, *, before: int) -> bool:
    """Return whether a wager was lost by a payment, before a time."""
    is_loss = isinstance(fact, PaymentMade) and fact.kind == "main" and fact.amount < 0
    return is_loss and (fact.at or 0) < before


def _faces(record: Sequence[AnyFact], to: Dealt, hand: int) -> tuple[Card | None, ...]:
    """Return the cards of a hand as they were dealt, or were turned up since."""
    own = [f for f in record if isinstance(f, CardDealt | CardExposed)]
    own = [f for f in own if (f.to, f.hand) == (to, hand)]
    shown = [f.card for f in own if isinstance(f, CardExposed)]
    dealt = [f.card for f in own if isinstance(f, CardDealt)]
    known = [card for card in dealt if card is not None]
    unread = dealt.count(None)
    return (*known, *shown[:unread], *(None,) * (unread - len(shown)))


def _last(record: Sequence[AnyFact], to: Dealt, hand: int) -> int | None:
    """Return the place of the last card dealt to somebody, or turned up of his."""
    own = [
        at
        for at, fact in enumerate(record)
        if isinstance(fact, CardDealt | CardExposed) and (fact.to, fact.hand) == (to, hand)
    ]
    return own[-1] if own else None


def _turn_ends(record: Sequence[AnyFact], spot: Spot) -> int | None:
    """Return the place of the last fact before the play of the spots after one, or the dealer's.

    The initial deal ends with the dealer's second card. A natural is turned up at once.
    """
    dealt = [at for at, f in enumerate(record) if isinstance(f, CardDealt) and f.to == "dealer"]
    if len(dealt) < 2:
        return None
    for at, fact in enumerate(record[dealt[1] + 1 :], dealt[1] + 1):
        if isinstance(fact, CardExposed) and natural(_shown(record, fact.to)):
            continue
        if isinstance(fact, CardDealt | CardExposed) and (fact.to == "dealer" or fact.to > spot):
            return at - 1
        # Even money is taken before every turn.
        if isinstance(fact, PlayerActed) and fact.spot > spot and fact.action != "even_money":
            return at - 1
    return None


def _shown(record: Sequence[AnyFact], to: Dealt) -> tuple[Card | None, ...]:
    """Return the first two cards that somebody turned up."""
    return tuple([f.card for f in record if isinstance(f, CardExposed) and f.to == to][:2])


def _has_time(record: Sequence[AnyFact], at: int, pace_ns: int) -> bool:
    """Return whether a card could come before the next thing that the dealer or a player did."""
    now = record[at].at or 0
    for fact in record[at + 1 :]:
        if isinstance(fact, CutCardReached) or fact.at is None or fact.at <= now:
            continue
        steps = _UNHURRIED_PAID if isinstance(fact, PaymentMade) else _UNHURRIED
        return not pace_ns or fact.at - now > steps * pace_ns
    return True


def _settled(record: Sequence[AnyFact], to: Dealt, hand: int) -> int | None:
    """Return where a hand's wager was paid, taken or taken back."""
    for at, fact in enumerate(record):
        if (
            isinstance(fact, PaymentMade | WagerRemoved)
            and fact.kind == "main"
            and (fact.spot, fact.hand or 0) == (to, hand)
        ):
            return at
    return None
