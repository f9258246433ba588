"""Who gets the next card, and how likely each card would be."""

from collections.abc import Sequence
from math import log

from models.cards import Card
from models.events import Dealt, Face
from models.rulebook import Rulebook
from settlement.hands import total
from settlement.reckoning.in_play import Hand, InPlay
from settlement.reckoning.odds import (
    HIDDEN,
    HIT,
    HIT_FROM_17,
    HIT_TO_11,
    HIT_TO_16,
    MISTAKE,
    SHOE_MISSED,
    STOOD,
    STOOD_UNSEEN,
)
from settlement.reckoning.story import Story


def due_in_deal(story: Story, rules: Rulebook) -> list[Dealt]:
    """Return who still gets a card of the initial deal, in turn, those passed over left out."""
    order: tuple[Dealt, ...] = (*story.staked, "dealer")
    has = {to: len(story.own(to)) for to in order}
    has.update({spot: 2 for spot, own in story.hands.items() if len(own) > 1})
    due: list[Dealt] = []
    for turn in (1, 2):
        for to in order:
            if turn == 2 and to == "dealer" and rules.dealer_second_card == "after_players":
                continue
            if has[to] < turn and to not in story.passed:
                due.append(to)
    return due


def face_in_deal(story: Story, to: Dealt, rules: Rulebook) -> Face:
    """Return which side the next card of the deal shows."""
    if to != "dealer":
        return rules.player_cards
    first = not story.dealer
    up = first == (rules.dealer_first_card == "up")
    return "up" if up else "down"


def must_draw(cards: tuple[Card | None, ...], rules: Rulebook) -> bool | None:
    """Return whether the dealer takes another card; ``None`` where a card is not known."""
    if None in cards:
        return None
    points, soft = total(cards)
    return points < 17 or (points == 17 and soft and rules.dealer_soft17 == "hit")


class Draw:
    """A card that may come to a hand: how likely, and how many others must have come unseen."""

    def __init__(
        self, evidence: float, mistakes: float, number: int, unseen: int, *, turned: bool = False
    ) -> None:
        self.evidence, self.mistakes = evidence, mistakes
        self.number, self.unseen = number, unseen
        self.turned = turned
        self.passed: tuple[Dealt, ...] = ()
        """Who is passed over in the initial deal by it."""
        """Whether the dealer turned up his hole card before, and nobody saw it yet."""


class Coming:
    """A card that comes to somebody.

    Args:
        face: which side it shows.
        at: when it left the shoe; ``None`` for just now.
        skipped: cards that left the shoe before it and are on their way.
    """

    def __init__(self, face: Face, at: int | None = None, skipped: int = 0) -> None:
        self.face, self.at, self.skipped = face, at, skipped


def draws(story: Story, to: Dealt, coming: Coming, rules: Rulebook) -> list[Draw]:
    """Return the ways in which a card may come to a spot or to the dealer."""
    due = due_in_deal(story, rules)[coming.skipped :]
    hidden_each = log(HIDDEN * SHOE_MISSED) if story.shoe else log(HIDDEN)
    found: list[Draw] = []
    if to in due:
        before = due.index(to)
        odd = face_in_deal(story, to, rules) != coming.face
        wrong = log(MISTAKE) if odd else 0.0
        found.append(Draw(before * hidden_each, wrong, 0, before))
        if before:
            passing = Draw(0.0, wrong + log(MISTAKE), 0, 0)
            passing.passed = tuple(due[:before])
            found.append(passing)
        if before < len(due) - 1 or to == "dealer":
            return found
    elif to in story.passed:
        found.append(Draw(0.0, 0.0, 0, 0))
    elif to != "dealer" and not story.hands.get(to):
        return [Draw(0.0, log(MISTAKE), 0, 0)]
    later = _after_deal(story, to, coming, rules)
    for draw in later:
        draw.evidence += len(due) * hidden_each
        draw.unseen = len(due)
    return found + later


def _after_deal(story: Story, to: Dealt, coming: Coming, rules: Rulebook) -> list[Draw]:
    if to == "dealer":
        return _to_dealer(story, coming, rules)
    own = story.hands.get(to, [])
    if not own:
        return [Draw(0.0, log(MISTAKE), 0, 0)]
    return [_to_hand(story, hand, coming) for hand in own]


def takers(story: Story, rules: Rulebook, at: int) -> list[tuple[Dealt, Draw]]:
    """Return who may have taken a card at some time after the initial deal that nobody saw."""
    coming = Coming("up", at)
    to_dealer: list[tuple[Dealt, Draw]] = [
        ("dealer", draw) for draw in _to_dealer(story, coming, rules)
    ]
    if story.revealed_by(at):
        return to_dealer
    to_hands: list[tuple[Dealt, Draw]] = [
        (hand.spot, _to_hand(story, hand, coming)) for hand in story.all_hands()
    ]
    return to_hands if story.revealed else to_dealer + to_hands


def _to_dealer(story: Story, coming: Coming, rules: Rulebook) -> list[Draw]:
    mistakes = 0.0 if coming.face == "up" else log(MISTAKE)
    hidden_hole = not story.revealed and any(card.face == "down" for card in story.dealer)
    if must_draw(_faces(story.dealer, coming.at), rules) is False:
        mistakes += log(MISTAKE)
    evidence = _all_stood(list(story.all_hands()), coming)
    if not hidden_hole:
        return [Draw(evidence, mistakes, 0, 0)]
    early = Draw(evidence, mistakes + log(MISTAKE), 0, 0)
    if not story.shoe:
        return [early]
    return [early, Draw(evidence + log(HIDDEN), mistakes, 0, 0, turned=True)]


def _to_hand(story: Story, hand: Hand, coming: Coming) -> Draw:
    faces = _faces(hand.cards, coming.at)
    due = hand.owed or (hand.of_split and len(faces) == 1)
    evidence, mistakes = 0.0 if due else log(_hits(faces)), 0.0
    if _done(story, hand, coming.at) or story.revealed_by(coming.at):
        mistakes += log(MISTAKE)
    if coming.face == "down" and not hand.owed:
        mistakes += log(MISTAKE)
    others = [other for other in story.all_hands() if other is not hand]
    owed = sum(other.owed and not other.passed_over for other in others)
    mistakes += max(0, owed - coming.skipped) * log(MISTAKE)
    before = list(story.all_hands())
    evidence += _all_stood(before[: before.index(hand)], coming)
    return Draw(evidence, mistakes, hand.number, 0)


def _faces(cards: Sequence[InPlay], at: int | None) -> tuple[Card | None, ...]:
    """Return the cards as they were at a time."""
    return tuple(card.card for card in cards if at is None or card.at <= at)


def _done(story: Story, hand: Hand, at: int | None) -> bool:
    """Return whether no card was to come to a hand at a time."""
    later = at is not None and any(card.at > at for card in hand.cards)
    if at is None or not (later or story.settled_at(hand) > at):
        return hand.done
    faces = _faces(hand.cards, at)
    return None not in faces and total(faces)[0] >= 21


def _all_stood(hands: Sequence[Hand], coming: Coming) -> float:
    """Return how likely hands are to take no more cards than those that are on their way."""
    return sum(sorted(_stood(hand) for hand in hands)[coming.skipped :], 0.0)


def _stood(hand: Hand) -> float:
    """Return how likely a hand is to take no more cards."""
    if hand.done:
        return 0.0
    if any(card.face == "down" for card in hand.cards):
        return log(STOOD_UNSEEN)
    return log(STOOD if None in hand.faces else 1.0 - _hits(hand.faces))


def _hits(faces: tuple[Card | None, ...]) -> float:
    """Return how likely a player takes another card."""
    if None in faces:
        return HIT
    points, soft = total(faces)
    if points <= 11:
        return HIT_TO_11
    return HIT_TO_16 if points <= 16 or (soft and points == 17) else HIT_FROM_17
