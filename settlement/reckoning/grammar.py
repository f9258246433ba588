"""Who gets the next card, and how likely each card would be."""

from math import log

from models.cards import Card
from models.events import Dealt, Face
from models.rulebook import Rulebook
from settlement.hands import total
from settlement.reckoning.in_play import Hand
from settlement.reckoning.odds import HIDDEN, HIT, MISTAKE, STOOD, STOOD_UNSEEN
from settlement.reckoning.story import Story


def due_in_deal(story: Story, rules: Rulebook) -> list[Dealt]:
    """Return who still gets a card of the initial deal, in turn."""
    order: tuple[Dealt, ...] = (*story.staked, "dealer")
    if any(len(own) > 1 for own in story.hands.values()):
        return []
    has = {to: len(story.own(to)) for to in order}
    due: list[Dealt] = []
    for turn in (1, 2):
        for to in order:
            if turn == 2 and to == "dealer" and rules.dealer_second_card == "after_players":
                continue
            if has[to] < turn:
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

    def __init__(self, evidence: float, mistakes: float, number: int, unseen: int) -> None:
        self.evidence, self.mistakes = evidence, mistakes
        self.number, self.unseen = number, unseen


def draws(story: Story, to: Dealt, face: Face, rules: Rulebook) -> list[Draw]:
    """Return the ways in which the next card may come to a spot or to the dealer."""
    due = due_in_deal(story, rules)
    found: list[Draw] = []
    if to in due:
        before = due.index(to)
        odd = face_in_deal(story, to, rules) != face
        wrong = log(MISTAKE) if odd else 0.0
        found.append(Draw(before * log(HIDDEN), wrong, 0, before))
        if before:
            found.append(Draw(0.0, wrong + log(MISTAKE), 0, 0))
        if before < len(due) - 1 or to == "dealer":
            return found
    unseen = len(due)
    hidden = unseen * log(HIDDEN)
    if to == "dealer":
        found.append(_to_dealer(story, face, rules, hidden, unseen))
        return found
    own = story.hands.get(to, [])
    if not own:
        found.append(Draw(hidden, log(MISTAKE), 0, unseen))
    found += [_to_hand(story, hand, face, hidden, unseen) for hand in own]
    return found


def _to_dealer(story: Story, face: Face, rules: Rulebook, hidden: float, unseen: int) -> Draw:
    mistakes = 0.0 if face == "up" else log(MISTAKE)
    hidden_hole = not story.revealed and any(card.face == "down" for card in story.dealer)
    cards = tuple(card.card for card in story.dealer)
    if hidden_hole or must_draw(cards, rules) is False:
        mistakes += log(MISTAKE)
    evidence = hidden
    for hand in story.all_hands():
        evidence += _stood(hand)
    return Draw(evidence, mistakes, 0, unseen)


def _to_hand(story: Story, hand: Hand, face: Face, hidden: float, unseen: int) -> Draw:
    evidence, mistakes = hidden + log(HIT), 0.0
    if hand.of_split and len(hand.cards) == 1:
        evidence = hidden
    if hand.owed:
        evidence = hidden
    if hand.done or story.revealed:
        mistakes += log(MISTAKE)
    if face == "down" and not hand.owed:
        mistakes += log(MISTAKE)
    for other in story.all_hands():
        if other is hand:
            break
        evidence += _stood(other)
    for other in story.all_hands():
        if other is not hand and other.owed:
            mistakes += log(MISTAKE)
    return Draw(evidence, mistakes, hand.number, unseen)


def _stood(hand: Hand) -> float:
    """Return how likely a hand is to take no more cards."""
    if hand.done:
        return 0.0
    return log(STOOD_UNSEEN if any(card.face == "down" for card in hand.cards) else STOOD)
