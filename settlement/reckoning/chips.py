"""What a change of the chips on a circle may mean in a story, and how likely it is there."""

from collections.abc import Iterator
from math import log
from typing import Final, Literal

from msgspec.structs import replace

from models.cards import Card, pack
from models.events import PaymentMade, PlateRead, Spot, WagerKind
from models.judgements import Review
from models.money import Cents
from models.places import whose
from models.rulebook import Rulebook
from settlement.hands import natural
from settlement.reckoning.grammar import DEALT, Coming, due_in_deal, owed_before, to_hand
from settlement.reckoning.holds import PAID_HOLD_NS
from settlement.reckoning.in_play import Hand, InPlay
from settlement.reckoning.odds import (
    DOUBLES,
    GOES_UNSEEN,
    HIDDEN,
    MISTAKE,
    PAID_EARLY,
    TAKEN_BACK,
    UNUSUAL,
    doubles,
)
from settlement.reckoning.shoe import MOST_ON_WAY
from settlement.reckoning.story import Story
from settlement.reconcile.draws import Draw
from settlement.reconcile.timing import PLATE_DWELL_NS, SECOND, TAKING_NS

_AT_ONCE_NS: Final = 2 * SECOND
"""A hand that was taken up unpaid is paid within this time, or its player bets anew."""


_AT_ONE_TIME: Final = (
    "What had been paid or taken before the ruling, and others, went or came at one time."
)


class Change:
    """A plate's report, read once for every story."""

    def __init__(self, read: PlateRead) -> None:
        self.spot: Spot = read.spot
        self.circle = read.circle
        self.total: Cents = read.amount
        self.at = max(0, (read.at or 0) - PLATE_DWELL_NS)
        self.seqs: tuple[int, ...] = () if read.seq is None else (read.seq,)

    @property
    def key(self) -> tuple[Spot, str]:
        """The circle it is about."""
        return self.spot, self.circle


class Meaning:
    """One meaning of a change."""

    def __init__(
        self,
        evidence: float,
        means: str,
        kind: WagerKind = "main",
        mistakes: float = 0.0,
    ) -> None:
        self.evidence, self.means, self.kind, self.mistakes = evidence, means, kind, mistakes
        self.unseen = False
        """Whether a card came to the hand unseen."""
        self.unread = False
        """Whether it is a double whose likelihood is to be told by faces that are not known yet."""
        self.draw: Draw | None = None
        """That card, where the shoe read it."""
        self.faces: tuple[tuple[int, Card], ...] = ()
        """Disputed cards of the hand that are what the less believed sensor reads."""


def meanings(story: Story, change: Change, rules: Rulebook) -> list[Meaning]:
    """Return what a change may mean."""
    delta = change.total - story.plates.get(change.key, 0)
    number = int(change.circle) if change.circle.isdigit() else 0
    hand = story.hand(change.spot, number) if change.circle.isdigit() else None
    if not story.in_play or not delta:
        return [Meaning(0.0, "idle")]
    if _is_ruled(story, hand, change, delta):
        return [Meaning(0.0, "ruled")]
    if change.circle in ("S", "I"):
        return _beside(story, change, delta, rules)
    if number and change.total == delta and not story.revealed:
        return [Meaning(0.0, "wager", "split")]
    if hand is None:
        return [Meaning(0.0, "idle" if story.revealed else "wager")]
    return _main(story, hand, change, rules)


def _is_ruled(story: Story, hand: Hand | None, change: Change, delta: Cents) -> bool:
    """Return whether chips move by what the floor ruled."""
    taken_off = 0 < -delta <= story.ruled_off.get(change.key, 0)
    return taken_off or story.is_off(change.spot) or (hand is not None and hand.off)


def _beside(story: Story, change: Change, delta: Cents, rules: Rulebook) -> list[Meaning]:
    """Return what chips on a side bet's circle, or insurance, may mean."""
    lay_there = change.total != delta
    kind: Literal["side", "insurance"] = "side" if change.circle == "S" else "insurance"
    if story.is_paid(change.spot, kind):
        return [Meaning(0.0, "idle")]
    if kind == "insurance":
        known = story.revealed or (story.peeked and (delta < 0 or story.hole_blackjack))
        if lay_there and known:
            return [Meaning(0.0, "payment", kind)]
        wrong = 0.0 if story.revealed or story.moves.insures(story.up_points()) else log(MISTAKE)
        return [Meaning(0.0, "wager", kind, wrong)]
    if not lay_there or due_in_deal(story, rules):
        return [Meaning(0.0, "idle" if story.revealed else "wager", kind)]
    own = story.hands.get(change.spot, ())
    if change.total or not all(hand.paid >= 0 or hand.taken_at for hand in own):
        return [Meaning(0.0, "payment", kind)]
    # The dealer takes what was lost, or the player what went back to him.
    return [Meaning(log(0.5), "payment", kind), Meaning(log(0.5), "idle")]


def _main(story: Story, hand: Hand, change: Change, rules: Rulebook) -> list[Meaning]:
    before = story.plates.get(change.key, 0)
    delta = change.total - before
    if hand.taken_at:
        return _of_taken(story, hand, change, delta)
    if hand.paid >= 0 or (hand.left_alone and delta > 0):
        return _of_settled(story, hand, change, delta)
    if story.over_at and delta < 0:
        # The dealer's own cards are gone, and nobody saw this hand's cards go yet.
        return [Meaning(log(0.5), "payment"), Meaning(log(0.5), "left alone")]
    if story.revealed:
        found = [Meaning(0.0, "payment", mistakes=_dealer_stood(story))]
        if delta > 0 and natural(tuple(card.card for card in story.dealer)):
            # Nothing is paid beside the dealer's blackjack: a player may have doubled all the same.
            found += [own for own in _raises(story, hand, change, rules) if own.kind == "double"]
        return found
    found = _in_turn(story, hand, change, rules)
    found += _by_other_face(story, hand, change, rules)
    for hidden in _hidden(story, hand, change, rules):
        for meaning in _in_turn(story, hidden.hand, change, rules):
            meaning.evidence += hidden.evidence
            meaning.unseen, meaning.draw = True, hidden.draw
            found.append(meaning)
    return found


def _of_taken(story: Story, hand: Hand, change: Change, delta: Cents) -> list[Meaning]:
    """Return what a change may mean on a hand whose cards were taken up."""
    paid = story.fact(hand.paid) if hand.paid >= story.base else None
    left = hand.paid < 0 or (isinstance(paid, PaymentMade) and paid.amount == 0)
    at_once = change.at - hand.taken_at < _AT_ONCE_NS
    if left and at_once and delta < 0:
        # The dealer takes what was lost, or the player his own of a push.
        return [Meaning(log(0.5), "payment"), Meaning(log(0.5), "idle")]
    bets_anew = change.total == delta
    return [Meaning(0.0, "payment" if left and at_once and not bets_anew else "idle")]


def _of_settled(story: Story, hand: Hand, change: Change, delta: Cents) -> list[Meaning]:
    """Return what a change may mean on a hand that was paid, or whose player took his wager."""
    if hand.paid < 0:
        return [Meaning(0.0, "idle"), Meaning(log(UNUSUAL), "payment")]
    if delta > 0 and change.at - story.settled_at(hand) < TAKING_NS and hand.lies:
        # Its player bets anew only where all these cards were taken up unseen.
        lying = sum(card.where == "felt" for card in (*hand.cards, *story.dealer))
        return [Meaning(log(UNUSUAL), "payment"), Meaning(lying * log(GOES_UNSEEN), "idle")]
    return [Meaning(log(UNUSUAL) if delta > 0 else 0.0, "idle")]


def _by_other_face(story: Story, hand: Hand, change: Change, rules: Rulebook) -> list[Meaning]:
    """Return the payments to a hand that a disputed card breaks, or makes a natural."""
    found: list[Meaning] = []
    for at, card in enumerate(hand.cards):
        other = card.otherwise()
        if other is None:
            continue
        its = hand.copy()
        its.cards[at].by_course = other[0]
        if story.settles_early(its) and not story.settles_early(hand):
            for meaning in _payments(story, its, change, rules):
                meaning.evidence += log(other[1])
                meaning.faces = ((card.ident, other[0]),)
                found.append(meaning)
    return found


class _Hidden:
    """A hand with a card that lies there and that an arm hides, and how likely that is."""

    def __init__(self, evidence: float, hand: Hand, draw: Draw | None) -> None:
        self.evidence, self.hand, self.draw = evidence, hand, draw


def _hidden(story: Story, hand: Hand, change: Change, rules: Rulebook) -> Iterator[_Hidden]:
    """Yield the hand with each card that it may have got under an arm.

    Where a shoe reads the cards it is one of those on their way, the ones before it went to
    others; without one only a hand that was split is known to get a card.
    """
    on_way = [draw for draw in story.supply.drawn if draw.certain and draw.at < change.at]
    if on_way:
        due = due_in_deal(story, rules)
        for skipped, draw in enumerate(on_way[:MOST_ON_WAY]):
            if skipped >= len(due):
                yield from _with_card(story, hand, draw, Coming("up", draw.at, skipped))
            elif due[skipped] == hand.spot:
                yield _Hidden(log(HIDDEN), _with(hand, draw, draw.at), draw)
    elif hand.of_split and len(hand.cards) == 1:
        yield from _with_card(story, hand, None, Coming("up", change.at - 1))


def _with_card(story: Story, hand: Hand, draw: Draw | None, coming: Coming) -> Iterator[_Hidden]:
    """Yield the hand with one more card, where that is no mistake."""
    comes = to_hand(story, hand, coming)
    if comes.mistakes or owed_before(story, hand, coming):
        return
    yield _Hidden(log(HIDDEN) + comes.evidence, _with(hand, draw, coming.at or 0), draw)


def _with(hand: Hand, draw: Draw | None, at: int) -> Hand:
    """Return the hand with one more card."""
    its = hand.copy()
    card = InPlay(0, hand.spot, hand.number, "up", at)
    card.shoe_card = None if draw is None else draw.card
    its.cards.append(card)
    return its


def _in_turn(story: Story, hand: Hand, change: Change, rules: Rulebook) -> list[Meaning]:
    """Return what a change may mean before the dealer's turn, for a hand as it lies."""
    delta = change.total - story.plates.get(change.key, 0)
    amiss = log(UNUSUAL) if hand.entered_double else 0.0
    found = _payments(story, hand, change, rules)
    for meaning in found:
        meaning.evidence += amiss
    return found + (_raises(story, hand, change, rules) if delta > 0 else [_taken_back(change)])


def _payments(story: Story, hand: Hand, change: Change, rules: Rulebook) -> list[Meaning]:
    """Chips may settle a hand before the dealer has shown his."""
    before = story.plates.get(change.key, 0)
    delta = change.total - before
    found: list[Meaning] = []
    own = (hand.spot, hand.number)
    others = (other for other in story.all_hands() if (other.spot, other.number) != own)
    if story.settles_early(hand):
        # A natural is paid its odds, and never taken before the dealer's hand is known; other chips
        # on it are as likely a wager as a wrong payment.
        is_natural = story.allowed(hand).is_blackjack
        odd = is_natural and not (delta > 0 and _pays(before, delta, rules))
        wrong = log(MISTAKE) if odd and not hand.over else 0.0
        found.append(Meaning(log(0.9), "payment", mistakes=wrong))
    elif not (story.done(hand) and all(story.done(other) for other in others)):
        unearned = log(MISTAKE) if change.total else 0.0
        found.append(
            Meaning(log(PAID_EARLY) * (2 if unearned else 1), "payment", mistakes=unearned)
        )
        hidden = _may_be_natural(hand, rules) if delta > 0 and _pays(before, delta, rules) else 0.0
        if hidden:
            found.append(Meaning(log(hidden), "payment"))
    else:
        # Everybody has played: the dealer's card was turned, and an arm hides it still.
        found.append(Meaning(log(HIDDEN), "payment"))
    return found


def _may_be_natural(hand: Hand, rules: Rulebook) -> float:
    """Return how likely the first two cards are a natural, where one of them is not read yet."""
    if hand.of_split or len(hand.faces) != DEALT or None not in hand.faces:
        return 0.0
    known = next((face for face in hand.faces if face is not None), None)
    cards = pack(rules.pack_without)
    ace, ten = (sum(card.points == points for card in cards) / len(cards) for points in (1, 10))
    if known is None:
        return 2 * ace * ten
    return {"A": ten, **dict.fromkeys("TJQK", ace)}.get(known.rank, 0.0)


def _taken_back(change: Change) -> Meaning:
    whole = 0.0 if change.total else log(TAKEN_BACK)
    return Meaning(whole, "wager", "main", log(MISTAKE))


def _raises(story: Story, hand: Hand, change: Change, rules: Rulebook) -> list[Meaning]:
    """Chips may double a hand, or raise its wager against the rules.

    Where the double is a mistake, too, how the next card lies tells it from a raise.
    """
    found: list[Meaning] = []
    may_double = hand.owed or not hand.doubled
    forbidden = _is_forbidden(story, change, rules) or not story.allowed(hand).doubles
    if may_double and not (hand.ended or (forbidden and not hand.entered_double)):
        found.append(_double(hand, rules))
    elif may_double and len(hand.cards) > 1:
        found.append(Meaning(0.0, "wager", "double", log(MISTAKE)))
    return [*found, Meaning(0.0, "wager", "main", log(MISTAKE))]


def _double(hand: Hand, rules: Rulebook) -> Meaning:
    """Return a double that the rules allow, or that was entered."""
    if hand.entered_double:
        return Meaning(0.0, "wager", "double")
    on_any = rules.double_on in ("any_two", "any_number")
    meaning = Meaning(log(doubles(hand.faces) if on_any else DOUBLES), "wager", "double")
    meaning.unread = on_any and None in hand.faces
    return meaning


def _is_forbidden(story: Story, change: Change, rules: Rulebook) -> bool:
    """Return whether the rules forbid a double by that amount."""
    before = story.plates.get(change.key, 0)
    return change.total > 2 * before or (change.total < 2 * before and not rules.double_for_less)


def _dealer_stood(story: Story) -> float:
    """Return how likely the dealer settles a hand as he stands."""
    dealer = tuple([card.card for card in story.dealer])
    if story.stood_short or not story.moves.dealer_draws(dealer):
        return 0.0
    dead = all(story.settles_early(hand) for hand in story.all_hands())
    return 0.0 if dead else log(MISTAKE)


def _pays(wager: Cents, amount: Cents, rules: Rulebook) -> bool:
    """Return whether an amount is what a natural pays, but for odd cents."""
    odds = rules.blackjack_payout
    return abs(amount * odds.per - wager * odds.pays) < 100 * odds.per


def apply(story: Story, meaning: Meaning, change: Change, published: int) -> None:
    """Have a change mean this in a story."""
    story.weigh("chips", meaning.evidence)
    story.mistakes += meaning.mistakes
    for ident, face in meaning.faces:
        card = story.card(ident)
        assert card is not None
        card.by_course = face
        story.restate(card, change.at, published)
    delta = change.total - story.plates.get(change.key, 0)
    if meaning.means == "wager":
        if meaning.unseen:
            _deal_unseen(story, change, meaning.draw)
        story.wager(change.key, delta, meaning.kind, change.at, change.seqs)
        hand = story.hand(change.spot, int(change.circle)) if change.circle.isdigit() else None
        if meaning.kind == "double" and hand is not None:
            hand.doubled = hand.owed = True
            hand.doubled_unread = meaning.unread
    elif meaning.means == "payment":
        if meaning.unseen:
            _deal_unseen(story, change, meaning.draw)
        story.stood_short |= meaning.mistakes != 0.0 and story.revealed
        _pay(story, meaning, change, delta, published)
    elif meaning.means == "ruled":
        _as_ruled(story, change, delta)
    elif meaning.means == "left alone":
        _leave_alone(story, change)
    if delta:
        story.plates[change.key] = change.total
        story.since[change.key] = (change.at, change.seqs)


def _leave_alone(story: Story, change: Change) -> None:
    """The wager of a hand whose cards were not seen to go yet lay there as they did."""
    hand = story.hand(change.spot, int(change.circle))
    assert hand is not None
    hand.left_alone = True
    went = [card.gone_at for card in hand.cards if card.where == "off"]
    if went:
        story.pay(hand, 0, max(went), change.seqs, change.at + PAID_HOLD_NS)


def _deal_unseen(story: Story, change: Change, draw: Draw | None) -> None:
    """A card came to the hand that an arm hides, ``draw`` where the shoe read it."""
    at = change.at - 1 if draw is None else draw.at
    story.deal(change.spot, int(change.circle), "up", at, draw)


def _as_ruled(story: Story, change: Change, delta: Cents) -> None:
    """Chips move by a ruling: those that were taken off are stated, those called off go back.

    What was paid or taken goes first, then the wager. Chips that come beside it are for the next
    round.
    """
    if 0 < -delta <= story.ruled_off.get(change.key, 0):
        story.ruled_off[change.key] += delta
        return
    kinds: dict[str, Literal["main", "side", "insurance"]] = {"S": "side", "I": "insurance"}
    kind = kinds.get(change.circle, "main")
    number = int(change.circle) if change.circle.isdigit() else 0
    paid = sum(
        fact.amount
        for fact in story.record[max(0, story.opened - story.base) :]
        if isinstance(fact, PaymentMade)
        and (fact.spot, fact.hand, fact.kind) == (change.spot, number, kind)
    )
    back = min(delta, -paid) if delta > 0 > paid else max(delta, -paid) if delta < 0 < paid else 0
    if back:
        story.state(
            PaymentMade(
                at=change.at,
                spot=change.spot,
                hand=number,
                kind=kind,
                amount=back,
                evidence=change.seqs,
            )
        )
    if back and delta != back:
        what = f"Whose are the chips that moved at {whose(change.spot, number)}? {_AT_ONE_TIME}"
        story.asks.append(Review(what, (), change.seqs))
    if delta < 0 and delta != back:
        story.wager(change.key, delta - back, kind, change.at, change.seqs)


def _pay(story: Story, meaning: Meaning, change: Change, delta: Cents, published: int) -> None:
    if meaning.kind in ("insurance", "side"):
        story.state(
            PaymentMade(
                at=change.at,
                spot=change.spot,
                kind="insurance" if meaning.kind == "insurance" else "side",
                amount=delta,
                evidence=change.seqs,
            )
        )
        return
    hand = story.hand(change.spot, int(change.circle))
    assert hand is not None
    if hand.paid >= max(published, story.base):
        before = story.fact(hand.paid)
        assert isinstance(before, PaymentMade)
        paid = before.amount + delta
        story.amend(
            hand.paid, replace(before, amount=paid, evidence=(*before.evidence, *change.seqs))
        )
        return
    story.pay(hand, delta, change.at, change.seqs, change.at + PAID_HOLD_NS)
