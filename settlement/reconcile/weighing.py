"""What a round comes to by an account, and the doubts about its cards' faces."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

from models.cards import Card
from models.events import (
    AnyFact,
    CardBoxed,
    CardBurned,
    CardDealt,
    CardExposed,
    PaymentMade,
    PlayerLeft,
    PlayerSeated,
    ShoeStarted,
    TrayCounted,
)
from models.judgements import Review, RoundResult
from models.rulebook import Rulebook
from settlement.engine import Engine

_MOST_KNOWN: Final = 512
"""So many settled stories are kept: those of a round or two."""

_PLAYED_OUT: Final = ("win", "lose", "push")

_Mistake: TypeAlias = tuple[str, int | None, int | None]
"""A code, and the spot and hand it is about."""

_TOO_MANY: Final[_Mistake] = ("impossible_card", None, None)


@dataclass(frozen=True, slots=True)
class Rival:
    """Another story: its odds against the stated one, and what it has in which facts' place."""

    odds: float
    instead: Mapping[int, tuple[AnyFact, ...]]
    doubted: float
    """The odds by which a person is asked: the most that the sensors are known for."""


@dataclass(frozen=True, slots=True)
class Question:
    """A doubtful thing: what a person would be asked, and the stories besides the stated one."""

    review: Review
    rivals: tuple[Rival, ...]
    contradicted: bool = False
    """Looks contradict one another, or the shoe."""

    @property
    def odds(self) -> float:
        """The odds of all its stories together."""
        return sum([one.doubted for one in self.rivals])


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a story settles to: the money, and the mistakes."""

    money: tuple[tuple[object, ...], ...]
    mistakes: Counter[_Mistake]
    hands: Mapping[tuple[int, int], tuple[int, str, int | None]]
    """Stake, outcome and net of each hand, by spot and hand."""


@dataclass(frozen=True, slots=True)
class _Settled:
    """What the engine makes of a story, whatever the shoe can hold."""

    money: tuple[tuple[object, ...], ...]
    mistakes: Counter[_Mistake]
    hands: Mapping[tuple[int, int], tuple[int, str, int | None]]
    out_of_time: Counter[_Mistake]
    cards: Mapping[Card, int]
    """How many of each face left the shoe."""


class Weighing:
    """Settles the accounts of a round.

    Args:
        rules: the rulebook by which they are settled.
        room: how many more of a face the shoe can hold by all that was stated; below nought where
            more were stated than it held.
    """

    def __init__(self, rules: Rulebook, room: Callable[[Card], int]) -> None:
        self._engine, self._room = Engine(rules), room
        self._fresh = ShoeStarted(decks=rules.decks)
        self._known: dict[tuple[object, ...], _Settled] = {}
        self.turned_unseen = False
        """Whether nobody saw when the dealer's card was turned up in the round that is weighed:
        what was paid before that cannot be told."""

    def settled(self, record: Sequence[AnyFact]) -> bool:
        """Tell whether a round settles the same whatever the cards are that nobody read."""
        return all(status == "final" for status, *_ in self._outcome(record, {}).money)

    def mistakes(self, record: Sequence[AnyFact]) -> list[tuple[str, int | None]]:
        """Return the mistakes that a round as stated holds: a code, and the spot it is about."""
        stated = self._outcome(record, _out_of_shoe(record))
        return sorted({(code, spot) for code, spot, _ in stated.mistakes}, key=str)

    def outcome(self, story: Sequence[AnyFact], record: Sequence[AnyFact]) -> Outcome:
        """Settle a story of the round that ``record`` states."""
        return self._outcome(story, _out_of_shoe(record))

    def _outcome(self, story: Sequence[AnyFact], counted: Mapping[Card, int]) -> Outcome:
        """Settle a story; ``counted`` is what of this round the room in the shoe is less by."""
        settled = self._settled(story)
        mistakes = settled.mistakes
        if settled.out_of_time and not self.turned_unseen:
            mistakes = mistakes + settled.out_of_time
        # The shoe held fewer of a face than the story has, and rounds before it had.
        room = self._room
        too_many = sum(
            [copies > room(card) + counted.get(card, 0) for card, copies in settled.cards.items()]
        )
        if too_many:
            mistakes = mistakes + Counter({_TOO_MANY: too_many})
        return Outcome(settled.money, mistakes, settled.hands)

    def _settled(self, story: Sequence[AnyFact]) -> "_Settled":
        """Settle a story by the engine, once for all that state the same."""
        # Who sits where, and what the tray holds, is entered between rounds, too: of one round
        # alone it says nothing.
        story = [
            fact for fact in story if not isinstance(fact, PlayerSeated | PlayerLeft | TrayCounted)
        ]
        key = tuple([_stated(fact) for fact in story])
        known = self._known.get(key)
        if known is not None:
            return known
        self._engine.feed(self._fresh, 1)
        found: list[RoundResult] = []
        for at, fact in enumerate(story, 2):
            found += self._engine.feed(fact, at)
        found += self._engine.finish()
        mistakes = Counter((v.code, v.spot, v.hand) for one in found for v in one.violations)
        money = tuple(_money(result) for result in found)
        out_of_time = Counter(_out_of_time(story, found))
        settled = _Settled(money, mistakes, _hands(found), out_of_time, _out_of_shoe(story))
        if len(self._known) >= _MOST_KNOWN:
            self._known.clear()
        self._known[key] = settled
        return settled


def _stated(fact: AnyFact) -> object:
    """Return what a fact states, without what it rests on."""
    match fact:
        case CardDealt():
            return (fact.at, fact.to, fact.hand, fact.card, fact.face, fact.probability)
        case CardExposed():
            return (fact.at, fact.to, fact.hand, fact.card)
        case PaymentMade():
            return (fact.at, fact.spot, fact.hand, fact.kind, fact.amount)
        case _:
            return fact


def _out_of_shoe(record: Sequence[AnyFact]) -> dict[Card, int]:
    """Count the faces that left the shoe."""
    found: dict[Card, int] = {}
    for fact in record:
        if isinstance(fact, CardDealt | CardBurned | CardBoxed) and fact.card is not None:
            found[fact.card] = found.get(fact.card, 0) + 1
    return found


def _out_of_time(record: Sequence[AnyFact], found: Sequence[RoundResult]) -> Iterator[_Mistake]:
    """Yield hands that stood and lost before the dealer's turn, or broke and lay on until it.

    No rulebook calls either a mistake; no dealer does it, all the same. To take the wager of a
    hand that stands counts as two mistakes: he would have misread it, and given no second look.
    """
    if not any(isinstance(fact, CardExposed) and fact.to == "dealer" for fact in record):
        return
    taken = {(paid.spot, paid.hand) for paid in _before_the_dealer(record) if paid.amount < 0}
    later = {(paid.spot, paid.hand) for paid in record if isinstance(paid, PaymentMade)} - taken
    for result in found:
        for spot in result.spots:
            for hand in spot.hands:
                whose = (spot.spot, hand.hand)
                given_up = "surrender.dealer_blackjack" in hand.clauses
                if whose in taken and hand.outcome in _PLAYED_OUT and not given_up:
                    yield ("taken_early", *whose)
                    yield ("stood", *whose)
                elif whose in later and hand.outcome == "bust":
                    yield ("left_broken", *whose)


def _before_the_dealer(record: Sequence[AnyFact]) -> Iterator[PaymentMade]:
    """Yield what was paid and taken before the dealer's face-down card was turned up."""
    turned = [
        at
        for at, fact in enumerate(record)
        if isinstance(fact, CardExposed) and fact.to == "dealer"
    ]
    for fact in record[: turned[0] if turned else 0]:
        if isinstance(fact, PaymentMade) and fact.kind == "main":
            yield fact


def _hands(found: Sequence[RoundResult]) -> dict[tuple[int, int], tuple[int, str, int | None]]:
    return {
        (spot.spot, hand.hand): (hand.stake, hand.outcome, hand.net)
        for result in found
        for spot in result.spots
        for hand in spot.hands
    }


def _money(result: RoundResult) -> tuple[object, ...]:
    spots = tuple(
        (spot.spot, spot.insurance, tuple((h.hand, h.stake, h.outcome, h.net) for h in spot.hands))
        for spot in result.spots
    )
    return result.status, result.net, result.dealer.outcome, spots
