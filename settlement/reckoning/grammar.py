"""Who gets the next card, and how likely each card would be."""

from collections.abc import Sequence
from itertools import combinations, islice
from math import exp, log
from typing import Final

from models.cards import Card
from models.events import Dealt, Face, Spot
from models.rulebook import Rulebook
from settlement.hands import natural
from settlement.reckoning.in_play import Hand, InPlay
from settlement.reckoning.odds import (
    HIDDEN,
    HIDDEN_TO_ANOTHER,
    MISSED,
    MISTAKE,
    OUT_OF_STEP,
    RHYTHM_SPREAD,
    SHOE_MISSED,
    hits,
)
from settlement.reckoning.story import Story
from settlement.reconcile.timing import BETWEEN_CARDS_NS, CARRY_NS, SECOND

TURNED_NS: Final = 3 * SECOND // 2
"""A card that was dealt face down is turned up no sooner than this after it was dealt."""

DEALT: Final = 2
"""Cards of the initial deal that come to each."""

_MOST_WAYS: Final = 6
"""So many ways are weighed in which some of the cards due went unread, others are on their way."""


def due_in_deal(story: Story, rules: Rulebook) -> list[Dealt]:
    """Return who still gets a card of the initial deal, in turn, those passed over left out."""
    if story.called_off:
        return []
    least = 1 if rules.dealer_second_card == "after_players" else DEALT
    lacking: list[Dealt] = [spot for spot in story.staked if _lacks(story, spot)]
    if len(story.dealer) < least:
        lacking.append("dealer")
    due: list[Dealt] = []
    for turn in range(1, DEALT + 1):
        for to in lacking:
            most = least if to == "dealer" else DEALT
            if len(story.own(to)) < turn <= most and to not in story.passed:
                due.append(to)
    return due


def _lacks(story: Story, spot: Spot) -> bool:
    """Return whether a spot lacks cards of the initial deal; one with several hands had them."""
    own = story.hands.get(spot)
    if own is None:
        return True
    return len(own) < DEALT and len(own[0].cards) < DEALT and not own[0].off


def face_in_deal(story: Story, to: Dealt, rules: Rulebook, ahead: int = 0) -> Face:
    """Return which side a card of the deal shows; ``ahead`` others come to the dealer before it."""
    if to != "dealer":
        return rules.player_cards
    due: list[Face] = ["up", "down"] if rules.dealer_first_card == "up" else ["down", "up"]
    for card in story.dealer:
        if card.face in due:
            due.remove(card.face)
    return due[min(ahead, len(due) - 1)] if due else "up"


def unread(story: Story) -> bool:
    """Return whether no shoe reads the cards: they come from a hand, or nobody hears the reader."""
    return not story.shoe or story.supply.disconnected


def unread_left_at(story: Story, seen_at: int) -> int:
    """Return when a card that no shoe read left it, or the dealer's hand, by when it was seen."""
    return seen_at - CARRY_NS if story.shoe else seen_at


def hidden(story: Story, further: int = 0) -> float:
    """Return how likely a card is not seen when the next one is, nor read by a shoe.

    ``further`` cameras beside one look thereabouts.
    """
    if unread(story):
        return log(HIDDEN) + further * log(HIDDEN_TO_ANOTHER)
    return log(HIDDEN * SHOE_MISSED)


def unseen_ways(skipped: int, before: int) -> list[tuple[int, ...]]:
    """Return which of the cards due before one nobody saw or read, by their places in turn.

    The others, ``skipped`` of them, left the shoe and are on their way, in the same order.
    """
    return list(islice(combinations(range(skipped + before), before), _MOST_WAYS))


class Draw:
    """A card that may come to a hand, and how likely.

    Args:
        evidence: the logarithm of how likely it comes there.
        mistakes: the same of the mistakes that it holds.
        number: the hand of the spot.
        unseen: which of the cards due before it nobody saw or read, by their places in turn.
        served: hands to which a card was owed before, and came unseen: spot and number.
        turned: whether the dealer turned up his hole card before, and nobody saw it yet.
        since: whether it was dealt face down and turned up before it was first seen.
    """

    def __init__(
        self,
        evidence: float,
        mistakes: float = 0.0,
        number: int = 0,
        unseen: tuple[int, ...] = (),
        *,
        served: tuple[tuple[Spot, int], ...] = (),
        turned: bool = False,
        since: bool = False,
    ) -> None:
        self.evidence, self.mistakes = evidence, mistakes
        self.number, self.unseen, self.served = number, unseen, served
        self.turned, self.since = turned, since
        self.passed: tuple[Dealt, ...] = ()
        """Who is passed over in the initial deal by it."""

    def copy(self, evidence: float, mistakes: float) -> "Draw":
        """Return it with more evidence and more mistakes."""
        other = Draw(
            self.evidence + evidence,
            self.mistakes + mistakes,
            self.number,
            self.unseen,
            served=self.served,
            turned=self.turned,
            since=self.since,
        )
        other.passed = self.passed
        return other


class Coming:
    """A card that comes to somebody.

    Args:
        face: which side it shows.
        at: when it left the shoe; ``None`` for just now.
        skipped: cards that left the shoe before it and are on their way.
        lain_ns: how long ago it left the shoe, as it is first seen; of a card from the dealer's
            hand, how long after the last card it is first seen.
        step_ns: how long after the card before it left the shoe, or of a card from the dealer's
            hand was first seen; ``None`` where it is not known.
        card: what it is, where the shoe or a look tells.
        further: how many cameras beside one look where it lies.
    """

    def __init__(
        self,
        face: Face,
        at: int | None = None,
        skipped: int = 0,
        lain_ns: int = 0,
        *,
        step_ns: int | None = None,
        card: Card | None = None,
        further: int = 0,
    ) -> None:
        self.face, self.at, self.skipped, self.lain_ns = face, at, skipped, lain_ns
        self.step_ns = step_ns
        self.card, self.further = card, further


def draws(
    story: Story, to: Dealt, coming: Coming, order: Sequence[Dealt], rules: Rulebook
) -> list[Draw]:
    """Return the ways in which a card may come to a spot or to the dealer.

    ``order`` is who still gets a card of the initial deal, as :func:`due_in_deal` returns it.
    """
    due = order[coming.skipped :]
    found: list[Draw] = []
    if to in due:
        found = _in_deal(story, to, coming, order, rules)
        if due.index(to) < len(due) - 1 or to == "dealer":
            return found
    elif to in story.passed and len(story.own(to)) < DEALT:
        found.append(Draw(0.0))
    elif to != "dealer" and not story.hands.get(to):
        return [Draw(0.0, log(MISTAKE))]
    later = _after_deal(story, to, coming)
    if not due:
        return found + later
    for unseen in unseen_ways(coming.skipped, len(due)):
        for draw in later:
            later_one = draw.copy(len(due) * hidden(story, coming.further), 0.0)
            later_one.unseen = unseen
            found.append(later_one)
    return found


def _in_deal(
    story: Story, to: Dealt, coming: Coming, order: Sequence[Dealt], rules: Rulebook
) -> list[Draw]:
    """Return the ways in which a card of the initial deal comes to somebody it is due to."""
    before = order.index(to, coming.skipped) - coming.skipped
    ahead = order[: coming.skipped + before].count(to)
    face = face_in_deal(story, to, rules, ahead)
    wrong = log(MISTAKE) if face != coming.face else 0.0
    unseen_before = before * hidden(story, coming.further)
    at_once = _in_rhythm(story, coming, 0)
    # A shoe tells of every card that it reads when it came: only those beside it are to be weighed.
    usual = 0.0 if unread(story) else at_once
    evidence = unseen_before + _in_rhythm(story, coming, before) - usual
    found = [Draw(evidence, wrong, 0, unseen) for unseen in unseen_ways(coming.skipped, before)]
    if wrong and coming.face == "up" and coming.lain_ns > TURNED_NS:
        # It lay face down, nobody saw it, and it was turned up in its turn.
        turn = 0.0
        if to == "dealer" and not natural((*_faces(story.dealer, None), coming.card)):
            turn = _dealers_turn(story, coming)
        evidence = unseen_before + log(HIDDEN) + turn
        found += [
            Draw(evidence, 0.0, 0, unseen, since=True)
            for unseen in unseen_ways(coming.skipped, before)
        ]
    if before:
        passing = Draw(at_once - usual, wrong + log(MISTAKE))
        passing.passed = tuple(order[coming.skipped : coming.skipped + before])
        found.append(passing)
    return found


def _in_rhythm(story: Story, coming: Coming, before: int) -> float:
    """Return how likely a card of the deal comes so long after the last one, with others between.

    Cards that nobody saw or read take their time too. A card from the dealer's hand seems to come
    early only after one that was seen late, by every camera.
    """
    if not story.pace_ns or coming.step_ns is None:
        return 0.0
    steps = max(coming.step_ns, 1) / ((before + 1) * story.pace_ns)
    least = OUT_OF_STEP
    if unread(story) and steps < 1.0:
        least *= HIDDEN_TO_ANOTHER**coming.further
    return log(max(least, exp(-0.5 * (log(steps) / RHYTHM_SPREAD) ** 2)))


def _after_deal(story: Story, to: Dealt, coming: Coming) -> list[Draw]:
    late = _seen_late(story, coming)
    if to == "dealer":
        return [
            own
            for draw in _to_dealer(story, coming)
            for own in _serving(story, draw.copy(late, 0.0), owed_before(story, None, coming))
        ]
    hands = story.hands.get(to, [])
    if not hands:
        return [Draw(late, log(MISTAKE))]
    return [own.copy(late, 0.0) for hand in hands for own in _comes(story, hand, coming)]


def soonest_ns(story: Story) -> int:
    """Return how soon after one card another can come: three deviations of the dealer's rhythm."""
    return max(BETWEEN_CARDS_NS, int(story.pace_ns * exp(-3 * RHYTHM_SPREAD)))


def _seen_late(story: Story, coming: Coming) -> float:
    """Return how likely a card is first seen so soon after the last one.

    No hand lays two cards so fast: it lay there before, and was hidden.
    """
    if not unread(story) or coming.lain_ns >= soonest_ns(story):
        return 0.0
    return hidden(story, coming.further)


def _comes(story: Story, hand: Hand, coming: Coming) -> list[Draw]:
    """Return how a card may come to a hand while others may be owed one."""
    return _serving(story, to_hand(story, hand, coming), owed_before(story, hand, coming))


def owed_before(story: Story, hand: Hand | None, coming: Coming) -> tuple[Hand, ...]:
    """Return the hands that must get a card before one comes to ``hand``, or the dealer acts.

    A hand that doubled gets its card at once, half of a pair that was split its second one before
    the other half and the next spot play. The first of them are those that cards on their way may
    be for.
    """
    before = [
        other
        for other in story.all_hands()
        if other is not hand
        and (
            _owed(story, other, coming.at)
            or (_waits(other, coming.at) and (hand is None or _plays_before(other, hand)))
        )
    ]
    return tuple(before[coming.skipped :])


def _plays_before(one: Hand, other: Hand) -> bool:
    """Return whether a hand is played before another: so is what it was split from.

    Split aces that get one card each may get them in any order.
    """
    if one.spot != other.spot:
        return one.spot < other.spot
    ace = one.cards[0].card is not None and one.cards[0].card.rank == "A"
    return one.number < other.number and one.number == other.split_from and not ace


def _waits(hand: Hand, at: int | None) -> bool:
    """Return whether half of a pair had no second card at a time."""
    return hand.of_split and len(_faces(hand.cards, at)) == 1


def _serving(story: Story, draw: Draw, owed: tuple[Hand, ...]) -> list[Draw]:
    """Return a card that comes before others which were owed: a mistake, or those came unseen."""
    if not owed:
        return [draw]
    served = tuple((hand.spot, hand.number) for hand in owed)
    came = draw.copy(len(owed) * hidden(story), 0.0)
    came.served = served
    return [draw.copy(0.0, len(owed) * log(MISTAKE)), came]


def turn_ended(story: Story, hand: Hand) -> int | None:
    """Return when a hand stood or was settled, or others were played; ``None`` if not yet."""
    ends = [story.revealed_at] if story.revealed else []
    ends += [at for at in (hand.stood_at, story.settled_at(hand)) if at]
    for later in story.all_hands():
        if (later.spot, later.number) > (hand.spot, hand.number):
            ends += [card.at for card in later.cards[1 if later.of_split else 2 :]]
            ends += [story.laid_at(later)] if later.doubled else []
            ends += [later.split_at] if later.of_split and later.spot != hand.spot else []
    return min(ends, default=None)


def takers(story: Story, at: int) -> list[tuple[Dealt, Draw]]:
    """Return who may have taken a card at some time after the initial deal that nobody saw."""
    coming = Coming("up", at)
    to_dealer: list[tuple[Dealt, Draw]] = [("dealer", draw) for draw in _to_dealer(story, coming)]
    early = story.revealed_by(at)
    to_hands: list[tuple[Dealt, Draw]] = [
        (
            hand.spot,
            _serving(story, to_hand(story, hand, coming), owed_before(story, hand, coming))[0],
        )
        for hand in story.all_hands()
        if not (early and story.done(hand))
    ]
    return to_hands if story.revealed and not early else to_dealer + to_hands


def _to_dealer(story: Story, coming: Coming) -> list[Draw]:
    mistakes = 0.0 if coming.face == "up" else log(MISTAKE)
    hidden_hole = not story.revealed and any(card.face == "down" for card in story.dealer)
    if story.moves.dealer_draws(_faces(story.dealer, coming.at)) is False:
        mistakes += log(MISTAKE)
    evidence = _dealers_turn(story, coming)
    if not hidden_hole:
        return [Draw(evidence, mistakes)]
    early = Draw(evidence, mistakes + log(MISTAKE))
    if not story.shoe:
        return [early]
    return [early, Draw(evidence + log(HIDDEN), mistakes, turned=True)]


def to_hand(story: Story, hand: Hand, coming: Coming) -> Draw:
    """Return how a card may come to a hand after the initial deal, none being owed to another."""
    faces = _faces(hand.cards, coming.at)
    owed = hand.owed and story.came_after_chips(hand, coming.at)
    due = owed or (hand.of_split and len(faces) == 1)
    evidence, mistakes = 0.0 if due else log(hits(faces)), 0.0
    if _done(story, hand, coming.at) or story.revealed_by(coming.at):
        mistakes += log(MISTAKE)
    if coming.face == "down" and not owed:
        mistakes += log(MISTAKE)
    if hand.doubled and not owed and len(_faces(hand.cards, story.laid_at(hand))) == DEALT:
        # It lay there before the chips came: they doubled more than two cards.
        mistakes += 0.0 if story.came_after_chips(hand, coming.at) else log(MISTAKE)
    before = story.all_hands()
    evidence += _all_stood(story, before[: before.index(hand)], coming)
    return Draw(evidence, mistakes, hand.number)


def _owed(story: Story, hand: Hand, at: int | None) -> bool:
    """Return whether a card was owed to a hand that doubled, at a time."""
    return hand.owed and not hand.passed_over and (at is None or story.laid_at(hand) <= at)


def _faces(cards: Sequence[InPlay], at: int | None) -> tuple[Card | None, ...]:
    """Return the cards as they were at a time."""
    return tuple(card.card for card in cards if at is None or card.at <= at)


def _done(story: Story, hand: Hand, at: int | None) -> bool:
    """Return whether no card was to come to a hand at a time."""
    later = at is not None and any(card.at > at for card in hand.cards)
    ended_at = max(story.settled_at(hand), hand.over_at, hand.stood_at)
    if at is None or not (later or ended_at > at):
        return story.done(hand)
    return not story.moves.of(_faces(hand.cards, at), split=hand.of_split).draws


def _dealers_turn(story: Story, coming: Coming) -> float:
    """Return how likely it is the dealer's turn: of his blackjack nobody plays."""
    return 0.0 if story.hole_blackjack else _all_stood(story, story.all_hands(), coming)


def _all_stood(story: Story, hands: Sequence[Hand], coming: Coming) -> float:
    """Return how likely hands are to take no more cards than those that are on their way."""
    return sum(sorted([_stood(story, hand) for hand in hands])[coming.skipped :], 0.0)


def _stood(story: Story, hand: Hand) -> float:
    """Return how likely a hand is to take no more cards; one that is owed to it is no choice."""
    if hand.owed or story.done(hand):
        return 0.0
    if any(card.face == "down" for card in hand.cards):
        return log(MISSED)
    return log(1.0 - hits(hand.faces))
