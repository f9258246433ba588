"""Hands with a card that nobody knows: what they may come to, and what would decide it."""

from collections.abc import Callable, Iterable, Iterator
from typing import Final, TypeAlias

from models.cards import Card
from models.judgements import Possible
from settlement.dealer import Played
from settlement.hands import known, total
from settlement.settling import Due
from settlement.state import Cards

_VALUES: Final = tuple(Card(f"{rank}?") for rank in "A23456789T")

Variant: TypeAlias = tuple[Cards, str]
"""A way in which the unknown cards may turn out, and the words for it."""


def variants(cards: Cards, whose: str) -> tuple[Variant, ...]:
    """Return every way the cards may count: one for each that makes a difference."""
    unknown = cards.count(None)
    if unknown == 0:
        return ((cards, ""),)
    if unknown == 1:
        return tuple(
            (_filled(cards, (value,)), f"{whose} unknown card is {_name(value)}")
            for value in _VALUES
        )
    return tuple(_many(cards, whose, unknown))


def _many(cards: Cards, whose: str, unknown: int) -> Iterator[Variant]:
    """Give one filling for each total that several unknown cards can make."""
    fillings: dict[tuple[int, bool], tuple[Card, ...]] = {(0, False): ()}
    for _ in range(unknown):
        fillings = {
            (min(points + value.points, 22), ace or value.points == 1): (*filled, value)
            for (points, ace), filled in fillings.items()
            for value in _VALUES
        }
    for filled in fillings.values():
        full = _filled(cards, filled)
        yield full, f"{whose} unknown cards make {_score(full)}"


def _score(cards: Cards) -> str:
    points, soft = total(cards)
    if points > 21:
        return "more than 21"
    return f"{'soft' if soft else 'hard'} {points}"


def _name(value: Card) -> str:
    return "an ace" if value.points == 1 else "a ten" if value.points == 10 else value.rank


def _filled(cards: Cards, values: tuple[Card, ...]) -> Cards:
    left = iter(values)
    return tuple(next(left) if card is None else card for card in cards)


def dealers(
    cards: Cards, play: Callable[[Cards], Played], checked: bool | None
) -> tuple[tuple[Played, str], ...]:
    """Return every hand the dealer may have, without those that his look ruled out."""
    each = [(play(filled), said) for filled, said in variants(cards, "the dealer's")]
    if checked is None or known(cards[:2]):
        return tuple(each)
    return tuple(one for one in each if one[0].blackjack == checked) or tuple(each)


def gathered(outcomes: Iterable[tuple[Due, str]]) -> Due | tuple[Possible, ...]:
    """Return the one result that every way leads to, or the several with their conditions."""
    ways: dict[tuple[str, int | None], list[str]] = {}
    first: dict[tuple[str, int | None], Due] = {}
    for due, said in outcomes:
        key = (due.outcome, due.net)
        first.setdefault(key, due)
        ways.setdefault(key, []).append(said)
    if len(first) == 1:
        return next(iter(first.values()))
    return tuple(
        Possible(due.outcome, due.net, _condition(ways[key]))
        for key, due in first.items()
        if due.net is not None
    )


def _condition(said: list[str]) -> str:
    """Join ``… card is 7`` and ``… card is 8`` into ``… card is 7 or 8``."""
    ends: dict[str, list[str]] = {}
    for one in dict.fromkeys(said):
        verb = " make " if " make " in one else " is "
        start, _, end = one.rpartition(verb)
        ends.setdefault(start + verb, []).append(end)
    return "; ".join(start + _listed(end) for start, end in ends.items())


def _listed(words: list[str]) -> str:
    *most, last = words
    return f"{', '.join(most)} or {last}" if most else last
