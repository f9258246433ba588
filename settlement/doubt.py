"""Hands with a card that nobody knows: what they may come to, and what would decide it."""

from typing import Final

from models.cards import Card
from models.judgements import Possible
from settlement.dealer import Alive, Played, play
from settlement.hands import FACES, UNKNOWN, counted, face_of
from settlement.houserules import HouseRules
from settlement.settling import Due
from settlement.state import Hand, Round

_VALUES: Final = tuple(face_of(Card(f"{rank}?")) for rank in "A23456789T")
"""One card of each value, by its index."""


class Variant:
    """A way in which the unknown cards may turn out, and the words for it."""

    def __init__(self, cards: list[int], said: str) -> None:
        self.cards = cards
        self.said = said


class Way:
    """A hand the dealer may have, and the words for it."""

    def __init__(self, played: Played, said: str) -> None:
        self.played = played
        self.said = said


class Outcome:
    """What a hand comes to in one way, and the words for it."""

    def __init__(self, due: Due, said: str) -> None:
        self.due = due
        self.said = said


def fillings(hand: Hand) -> list[Variant]:
    """Return every way in which a hand's unknown cards may count."""
    return _variants([face_of(card) for card in hand.cards], "the hand's")


def dealers(dealt: list[int], alive: Alive, rules: HouseRules, round_: Round) -> list[Way]:
    """Return every hand the dealer may have, without those that his look ruled out."""
    each = [
        Way(play(variant.cards, alive, rules, round_), variant.said)
        for variant in _variants(dealt, "the dealer's")
    ]
    if not round_.looked or UNKNOWN not in dealt[:2]:
        return each
    seen = [way for way in each if way.played.blackjack() == round_.saw_blackjack]
    return seen or each


def _variants(cards: list[int], whose: str) -> list[Variant]:
    """Return every way the cards may count: one for each that makes a difference."""
    unknown = cards.count(UNKNOWN)
    if unknown == 0:
        return [Variant(cards, "")]
    if unknown == 1:
        return [
            Variant(_filled(cards, [value]), f"{whose} unknown card is {_name(value)}")
            for value in _VALUES
        ]
    return _many(cards, whose, unknown)


def _many(cards: list[int], whose: str, unknown: int) -> list[Variant]:
    """Give one filling for each total that several unknown cards can make."""
    made: dict[tuple[int, bool], list[int]] = {(0, False): []}
    for _ in range(unknown):
        made = _one_more(made)
    full = [_filled(cards, values) for values in made.values()]
    return [Variant(each, f"{whose} unknown cards make {_score(each)}") for each in full]


def _one_more(made: dict[tuple[int, bool], list[int]]) -> dict[tuple[int, bool], list[int]]:
    more: dict[tuple[int, bool], list[int]] = {}
    for (points, ace), values in made.items():
        for value in _VALUES:
            one = _points(value)
            more[min(points + one, 22), ace or one == 1] = [*values, value]
    return more


def _points(value: int) -> int:
    return min(value // 5 + 1, 10)


def _score(cards: list[int]) -> str:
    count = counted([FACES[face] for face in cards])
    return "more than 21" if count.busted() else count.words()


def _name(value: int) -> str:
    points = _points(value)
    return "an ace" if points == 1 else "a ten" if points == 10 else str(points)


def _filled(cards: list[int], values: list[int]) -> list[int]:
    left = iter(values)
    return [next(left) if card == UNKNOWN else card for card in cards]


def gathered(outcomes: list[Outcome]) -> Due | tuple[Possible, ...]:
    """Return the one result that every way leads to, or the several with their conditions."""
    ways: dict[tuple[str, int | None], list[str]] = {}
    first: dict[tuple[str, int | None], Due] = {}
    for outcome in outcomes:
        key = (str(outcome.due.outcome), outcome.due.net)
        first.setdefault(key, outcome.due)
        ways.setdefault(key, []).append(outcome.said)
    if len(first) == 1:
        return outcomes[0].due
    return tuple(
        [
            Possible(due.outcome, due.net, _condition(ways[key]))
            for key, due in first.items()
            if due.net is not None
        ]
    )


def _condition(said: list[str]) -> str:
    """Join ``… card is 7`` and ``… card is 8`` into ``… card is 7 or 8``."""
    ends: dict[str, list[str]] = {}
    for one in dict.fromkeys(said):
        verb = " make " if " make " in one else " is "
        start, _, end = one.rpartition(verb)
        ends.setdefault(start + verb, []).append(end)
    return "; ".join([start + _listed(end) for start, end in ends.items()])


def _listed(words: list[str]) -> str:
    *most, last = words
    return f"{', '.join(most)} or {last}" if most else last
