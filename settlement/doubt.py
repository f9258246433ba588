"""Hands with an unknown card: their possible results, and the cards that would decide.

Each possibility for the unread cards is played like known cards: a player's hand by judging the
round again with them, the dealer's by playing it out.
"""

from collections.abc import Sequence
from typing import Final

from models.cards import Card
from models.judgements import Possible
from settlement.dealer import Alive, Played, play
from settlement.hands import FACES, UNKNOWN, Counted, face_of, points_of
from settlement.judge import judge_record
from settlement.reading import read_through, take
from settlement.settling import Due
from settlement.side_cards import HandLine
from settlement.state import Hand, Noted, Round, Spot, State

_VALUES: Final = tuple(face_of(Card(f"{rank}?")) for rank in "A23456789T")
"""One card of each value, by its index."""

_MOST_FACTS: Final = 200_000
"""Facts judged again in one round at most. Beyond that the hand stays fully open. It bounds time;
not measured."""

_MOST_CARDS: Final = 24
"""Cards. A longer hand is past 21 whatever its cards are."""

OUT_OF_REACH: Final = Possible("unknown", None, "more cards are unread than can be gone through")


class Stock:
    """The cards of each value that the shoe may still hold, apart from those seen.

    Where more cards are unread than are left, the sightings must contain an error, so no card is
    excluded.
    """

    def __init__(self, state: State) -> None:
        shoe, rules = state.table.shoe, state.rules
        self._left = [0] * 11
        """Indexed by points, an ace is 1."""
        for rank, seen in enumerate(shoe.out_ranks):
            self._left[points_of(5 * rank)] += max(0, shoe.held[rank] - seen)
        self._own = [card.card for card in state.round.dealer].count(UNKNOWN)
        several = rules.voids_illegal_option
        self._theirs = 0
        """The most unread cards that one player's hand depends on."""
        for spot in state.round.spots:
            unread = [len(hand.unread) for hand in spot.hands]
            self._theirs = max(self._theirs, sum(unread) if several else max(unread))
        self._many = self._own + self._theirs
        if sum(self._left) < self._many:
            self._left = [self._many] * 11

    def holds(self, values: list[int]) -> bool:
        """Return whether the shoe may hold all these cards together."""
        return all(_alike(values, value) <= self._left[points_of(value)] for value in values)

    def after(self, values: list[int]) -> tuple[int, ...]:
        """Return all effects of these cards on the possible values of the other unread ones."""
        rest, left = self._many - len(values), self._left
        return tuple(
            [
                min(left[points_of(value)] - _alike(values, value), rest)
                for value in _VALUES
                if left[points_of(value)] < self._many
            ]
        )


def _alike(values: list[int], value: int) -> int:
    """Return how many of the cards count as much as one of them."""
    return len([other for other in values if points_of(other) == points_of(value)])


class Filled:
    """A possible hand, with assumed values for the unread cards."""

    def __init__(self, hand: Hand, values: list[int], *, comes_about: bool = True) -> None:
        self.hand = hand
        self.values = values
        self.comes_about = comes_about
        """Whether the hand can exist under these values: a split may require a pair that they rule
        out."""

    def condition(self) -> str:
        """Return the words for its condition."""
        return _describe("the hand's", self.values, self.hand)


class Doubts:
    """The possible values of one round's unread cards."""

    def __init__(self, state: State) -> None:
        self._state = state
        self._left = _MOST_FACTS
        self._stock: Stock | None = None

    def stock(self) -> Stock:
        """Return the cards that the shoe may still hold."""
        if self._stock is None:
            self._stock = Stock(self._state)
        return self._stock

    def hang_over(self, spot: Spot, hand: Hand) -> bool:
        """Return whether a hand's result may depend on a player's unread card."""
        if not hand.known():
            return True
        return self._state.rules.voids_illegal_option and any(
            not other.known() for other in spot.hands
        )

    def hands(self, spot: Spot, hand: Hand) -> list[Filled]:
        """Return every possible hand; none where there are too many to try."""
        each = [Filled(hand, [])]
        if self.hang_over(spot, hand):
            for _ in self._unread(spot, hand):
                each = self._one_more(spot, hand, each)
        return each

    def _unread(self, spot: Spot, hand: Hand) -> list[int]:
        """Return the positions of the unread cards that the hand depends on.

        Where an option granted in error is void, these may include other hands' cards.
        """
        if not self._state.rules.voids_illegal_option:
            return hand.unread
        return sorted([place for other in spot.hands for place in other.unread])

    def _one_more(self, spot: Spot, hand: Hand, each: list[Filled]) -> list[Filled]:
        """Assume one more card; of the possibilities with an equal hand, keep one.

        A single card appears in each condition, so each of its values is kept.
        """
        unread = [self._state.round.record[place] for place in self._unread(spot, hand)]
        alone = len(unread) == 1
        more: dict[tuple[int, ...], Filled] = {}
        for one in each:
            for value in self._faces(unread[len(one.values)]):
                if self._left < 0:
                    return []
                values = [*one.values, value]
                if not (self.stock().holds(values) and each_once(unread, values)):
                    continue
                filled = self._judged_with(spot, hand, values)
                key = (value,) if alone else self._stands(filled.hand) + self.stock().after(values)
                more.setdefault(key + _chosen(unread, values), filled)
        return list(more.values())

    def _faces(self, card: Noted) -> tuple[int, ...]:
        """Return the faces that an unread card may have; a pay table tells ranks of ten apart."""
        rules = self._state.rules
        if card.between or not rules.lines:
            return _faces(card)
        return tuple([5 * rank + 4 for rank, many in enumerate(rules.pack) if many])

    def _stands(self, hand: Hand) -> tuple[int, ...]:
        """Return everything about a hand that the rest of the round depends on."""
        if not self._state.rules.lines:
            return _stands(hand)
        return (*_stands(hand), *sorted([face_of(card) for card in hand.cards]))

    def _judged_with(self, spot: Spot, hand: Hand, values: list[int]) -> Filled:
        """Judge the round again with these cards in the first unread positions."""
        places = self._unread(spot, hand)
        record = self._state.round.record
        self._left -= len(record)
        again = State(self._state.rules)
        for noted in record:
            copy = Noted()
            copy.repeat(noted, noted.seq)
            take(again.round, copy)
        read_through(again.round)
        for place, value in zip(places, values, strict=False):
            again.round.record[place].card = value
        judge_record(again)
        hands = again.round.spot(spot.number).hands
        if hand.number >= len(hands):
            return Filled(hand, values, comes_about=False)
        return Filled(hands[hand.number], values)


def _faces(card: Noted) -> tuple[int, ...]:
    """Return the faces that an unread card, or one in dispute, may have."""
    return card.between or _VALUES


def each_once(cards: Sequence[Noted], values: list[int]) -> bool:
    """Return whether no face that was stated of one card is taken for two of a hand's."""
    taken = [
        (card.spot, card.hand, value)
        for card, value in zip(cards, values, strict=False)
        if card.between and value != card.between[0]
    ]
    return len(taken) == len(set(taken))


def _chosen(cards: Sequence[Noted], values: list[int]) -> tuple[int, ...]:
    """Return the faces assumed for the cards in dispute."""
    pairs = zip(cards, values, strict=False)
    return tuple([value for card, value in pairs if card.between])


class Way:
    """A possible dealer's hand, the values of its unread cards, and the words for it."""

    def __init__(self, played: Played, values: list[int], condition: str) -> None:
        self.played = played
        self.values = values
        self.condition = condition


class Outcome:
    """A hand's result under one possibility, and the words for it."""

    def __init__(self, due: Due, condition: str) -> None:
        self.due = due
        self.condition = condition


def _stands(hand: Hand) -> tuple[int, ...]:
    """Return everything about a hand that its total depends on."""
    return (
        min(hand.low, 22),
        int(hand.ace),
        len(hand.cards),
        len(hand.burned),
        int(hand.split),
        int(hand.aces),
        int(hand.void_split),
        int(hand.void_double),
        int(hand.double_card),
        hand.doubled_seq,
        hand.surrendered_seq,
        hand.due_seq,
        int(hand.even_money),
    )


def dealers(state: State, dealt: list[int], alive: Alive, stock: Stock) -> list[Way]:
    """Return every possible dealer's hand, without those that the hole card check excluded."""
    round_, rules = state.round, state.rules
    unread = [card for card in round_.dealer if card.card == UNKNOWN]
    each: dict[tuple[int, ...], list[int]] = {(): []}
    for place, face in enumerate(dealt[:_MOST_CARDS]):
        if face == UNKNOWN:
            more: dict[tuple[int, ...], list[int]] = {}
            for values in each.values():
                for value in _faces(unread[len(values)]):
                    longer = [*values, value]
                    if not (stock.holds(longer) and each_once(unread, longer)):
                        continue
                    played = play(_put(dealt[: place + 1], longer), alive, rules, round_)
                    key = (value,) if len(unread) == 1 else _lies(played) + stock.after(longer)
                    if rules.has_bonus:
                        key += tuple(longer[:2])  # a bonus tells the up card from the hole card
                    more.setdefault(key + _chosen(unread, longer), longer)
            each = more
    ways = [_way(dealt, values, alive, state) for values in each.values()]
    if not round_.looked or round_.looks_differ or not _look_tells(round_):
        return ways
    seen = [way for way in ways if way.played.blackjack() == round_.saw_blackjack]
    return seen or ways


def _look_tells(round_: Round) -> bool:
    """Return whether the check of the hole card is all that is known of the first two cards."""
    first = round_.dealer[:2]
    return any(card.card == UNKNOWN and not card.between for card in first)


def _way(dealt: list[int], values: list[int], alive: Alive, state: State) -> Way:
    played = play(_put(dealt, values), alive, state.rules, state.round)
    over = 22 if state.rules.pushes_22 else 21
    told = _describe("the dealer's", values, played.counted, over=over)
    return Way(played, values, told)


def _lies(played: Played) -> tuple[int, ...]:
    """Return everything about the dealer's hand that further draws depend on."""
    counted = played.counted
    return min(counted.low, 23), int(counted.ace), len(counted.cards), len(played.burned)


def _put(dealt: list[int], values: list[int]) -> list[int]:
    """Return the cards with these in the unread positions, as far as they reach."""
    left = iter(values)
    return [next(left, face) if face == UNKNOWN else face for face in dealt]


def makes(line: HandLine | None) -> str:
    """Return the words for what the suits of a hand make of the pay table."""
    return f"the hand's suits make {line.award if line else 'nothing that pays more'}"


def _describe(whose: str, values: list[int], made: Counted, *, over: int = 21) -> str:
    """Name the one unread card, or the total that several of them make, at most ``over``."""
    if not values:
        return ""
    if len(values) == 1:
        face = FACES[values[0]]
        if face is not None and face.suited:
            return f"{whose} card is {face}"
        return f"{whose} unknown card is {_name(values[0])}"
    if made.natural():
        return f"{whose} cards make a blackjack"
    return f"{whose} cards make {made.words() if made.total() <= over else f'more than {over}'}"


def _name(value: int) -> str:
    points = points_of(value)
    return "an ace" if points == 1 else "a ten" if points == 10 else str(points)


def gathered(outcomes: list[Outcome]) -> Due | tuple[Possible, ...]:
    """Return the one result of all possibilities, or the several results with their conditions."""
    ways: dict[tuple[str, int | None], list[str]] = {}
    first: dict[tuple[str, int | None], Due] = {}
    for outcome in outcomes:
        key = (str(outcome.due.outcome), outcome.due.net)
        first.setdefault(key, outcome.due)
        ways.setdefault(key, []).append(outcome.condition)
    if len(first) == 1:
        return outcomes[0].due
    open_last = sorted(first, key=_waits)
    return tuple(
        [Possible(first[key].outcome, first[key].net, joined(ways[key])) for key in open_last]
    )


def _waits(way: tuple[str, int | None]) -> bool:
    return way[1] is None


def joined(conditions: list[str]) -> str:
    """Join ``… card is 7`` and ``… card is 8`` into ``… card is 7 or 8``."""
    ends: dict[str, list[str]] = {}
    for one in dict.fromkeys(conditions):
        verb = max((" make ", " is "), key=one.rfind)
        start, _, end = one.rpartition(verb)
        ends.setdefault(start + verb, []).append(end)
    return "; ".join([start + either(end) for start, end in ends.items()])


def either(words: Sequence[str]) -> str:
    """Write ``7, 8 or 9``."""
    *most, last = words
    return f"{', '.join(most)} or {last}" if most else last
