"""What a round would come to had a doubtful thing been otherwise, and how likely that is.

Sensors leave some things open: a card that they read differently, or that only one of them
reported. Every other story of such a thing has odds against the one that was stated; the round
is settled by each, by the same engine. What settles alike need not be known. A story by which
the dealer or a player erred, where the stated one has everybody play and pay by the rules, is
less likely by as much as mistakes are rare; and the other way round.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, product
from typing import Final, Literal, TypeAlias

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

MISTAKE_P: Final = 2e-5
"""How likely a round holds just that mistake by which another story would look right: one
mistake in a hundred rounds, and of some sixty kinds at some eight hands just that one."""

WRONG_P: Final = 3e-5
"""A person is asked where the stated story settles wrongly with more than this probability. One
card in a thousand is doubtful, and of those one in so many would be settled wrongly at most."""

MISJUDGED_P: Final = 1e-3
"""As ``WRONG_P``, where a mistake more or less is all that differs, and no money."""

DISPUTED_P: Final = 0.01
"""As ``WRONG_P``, where the stories settle alike and only the card itself is another."""

_STRONG: Final = 1e-3
"""Stories from these odds on are weighed together with those of other questions, too."""

_MOST_PAIRS: Final = 64
"""So many pairs of strong stories are weighed in a round; where there are more, all stay open."""

_MOST_MISTAKES: Final = 2
"""Mistakes beyond these make a story no less likely: one leads to another. A round of more, and
a card in doubt besides, may have gone quite otherwise than by any story that is weighed."""

_MOST_KNOWN: Final = 512
"""So many settled stories are kept: those of a round or two."""

_PASSED_OVER: Final = frozenset({"spot_skipped", "missing_card"})

_PLAYED_OUT: Final = ("win", "lose", "push")

_Mistake: TypeAlias = tuple[str, int | None, int | None]
"""A code, and the spot and hand it is about."""

_TOO_MANY: Final[_Mistake] = ("impossible_card", None, None)

Answer: TypeAlias = Literal["settled", "alike", "open"]
"""Of a question: the round's course tells; it tells not, but all settles alike; neither."""


@dataclass(frozen=True, slots=True)
class Rival:
    """Another story: its odds against the stated one, and what it has in which facts' place."""

    odds: float
    instead: Mapping[int, tuple[AnyFact, ...]]
    doubted: float = 0.0
    """The odds by which a person is asked all the same, where they are greater: what the sensors
    are known for leaves them open."""


@dataclass(frozen=True, slots=True)
class Question:
    """A doubtful thing: what a person would be asked, and the stories besides the stated one."""

    review: Review
    rivals: tuple[Rival, ...]
    contradicted: bool = False
    """Looks contradict one another, or the shoe."""

    def warily(self) -> "Question":
        """Return it with each story as likely as what the sensors are known for allows."""
        wary = (replace(one, odds=max(one.odds, one.doubted)) for one in self.rivals)
        return replace(self, rivals=tuple(wary))

    @property
    def odds(self) -> float:
        """The odds of all its stories together."""
        return sum([max(one.odds, one.doubted) for one in self.rivals])

    @property
    def likely(self) -> bool:
        """Whether it is worth telling before the round has shown more."""
        return self.contradicted or any(rival.odds >= _STRONG for rival in self.rivals)


@dataclass(slots=True)
class _Weight:
    """How likely the stories of one question are that settle otherwise, or alike."""

    wrong: float = 0.0
    misjudged: float = 0.0
    alike: float = 0.0
    uncounted: bool = False

    @property
    def open(self) -> bool:
        """Whether no further story can settle the question."""
        return self.uncounted or self.wrong > WRONG_P or self.misjudged > MISJUDGED_P

    def answer(self, *, odd: bool) -> Answer:
        """Return the answer; in an ``odd`` round nothing doubtful is alike."""
        if self.open:
            return "open"
        if self.alike > DISPUTED_P:
            return "open" if odd else "alike"
        return "settled"


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
    """Settles the stories of a round, and tells which questions its course leaves open.

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

    def instead(
        self, record: Sequence[AnyFact], questions: Sequence[Question]
    ) -> Mapping[int, AnyFact]:
        """Return what to state in place of facts, where the round's course tells of them.

        Of a record in which one question alone stays open, a story other than the stated one
        may be as good as certain; empty where none is.
        """
        likely = [[one for one in asked.rivals if _may_be_stated(one)] for asked in questions]
        if not any(likely):
            return {}
        counted = _out_of_shoe(record)
        answers = self._answers(record, questions, counted, most_open=1)
        if answers.count("open") != 1:
            return {}
        at = answers.index("open")
        for rival in likely[at]:
            changed = {place: facts[0] for place, facts in rival.instead.items()}
            other = [changed.get(place, fact) for place, fact in enumerate(record)]
            seen = [*questions[:at], _against(rival, questions[at], record), *questions[at + 1 :]]
            if "open" not in self._answers(other, seen, counted, most_open=0):
                return changed
        return {}

    def answers(self, record: Sequence[AnyFact], questions: Sequence[Question]) -> list[Answer]:
        """Return the answer that the round's course gives to each question.

        Args:
            record: the round as stated, from ``round_opened`` to ``round_closed``.
            questions: what is doubtful of it.
        """
        return self._answers(record, questions, _out_of_shoe(record))

    def _answers(
        self,
        record: Sequence[AnyFact],
        questions: Sequence[Question],
        counted: Mapping[Card, int],
        most_open: int | None = None,
    ) -> list[Answer]:
        """Answer the questions; once more than ``most_open`` stay open the rest is not weighed."""
        if not questions:
            return []
        stated = self._outcome(record, counted)
        clean = not stated.mistakes and any(isinstance(fact, PaymentMade) for fact in record)
        weights = [_Weight() for _ in questions]
        for about, rival in _stories(questions, weights, clean=clean):
            if all(weights[at].open for at in about):
                continue
            other = self._outcome([*with_instead(record, rival.instead)], counted)
            likely = rival.odds * _by_mistakes(stated, other)
            for at in about:
                if other.money != stated.money:
                    weights[at].wrong += likely
                elif other.mistakes != stated.mistakes:
                    weights[at].misjudged += likely
                else:
                    weights[at].alike += likely
            if most_open is not None and sum(weight.open for weight in weights) > most_open:
                break
        odd = len({code for code, _, _ in stated.mistakes}) > _MOST_MISTAKES
        return [weight.answer(odd=odd) for weight in weights]

    def instances(
        self, record: Sequence[AnyFact], question: Question
    ) -> list[tuple[float, float, list[AnyFact], Outcome]]:
        """Settle each story of a question.

        Returns:
            Of each: its odds by the sensors, its odds with the mistakes that it holds or spares,
            the round by it, and what it settles to.
        """
        stated = self.outcome(record, record)
        found = []
        for rival in question.rivals:
            facts = list(with_instead(record, rival.instead))
            outcome = self.outcome(facts, record)
            likely = rival.odds * _by_mistakes(stated, outcome)
            found.append((rival.odds, likely, facts, outcome))
        return found

    def settled(self, record: Sequence[AnyFact]) -> bool:
        """Tell whether a round settles the same whatever the cards are that nobody read."""
        return all(status == "final" for status, *_ in self._outcome(record, {}).money)

    def mistakes(self, record: Sequence[AnyFact]) -> list[tuple[str, int | None]]:
        """Return the mistakes that a round as stated holds: a code, and the spot it is about."""
        stated = self._outcome(record, _out_of_shoe(record))
        return sorted({(code, spot) for code, spot, _ in stated.mistakes}, key=str)

    def short_of_a_card(self, record: Sequence[AnyFact]) -> list[int]:
        """Return the spots that seem to have got a card which no sensor reported.

        A spot that was passed over, and then settled as if it had not been: two mistakes of
        the dealer's, or none and a card that both sensors missed. So is a hand whose wager
        was taken as a broken one's is, and that stands by the cards that were reported, even where
        nobody saw when the dealer turned up his card.
        """
        codes: dict[int, set[str]] = {}
        stated = self._outcome(record, _out_of_shoe(record)).mistakes
        for code, spot, _ in (*stated, *self._settled(record).out_of_time):
            if spot is not None:
                codes.setdefault(spot, set()).add(code)
        return sorted(
            spot
            for spot, own in codes.items()
            if "taken_early" in own or (own & _PASSED_OVER and len(own) > 1)
        )

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


def _may_be_stated(rival: Rival) -> bool:
    """Return whether a story is likely enough to be stated, and has a fact for each fact."""
    return rival.odds >= _STRONG and all(len(facts) == 1 for facts in rival.instead.values())


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


def _stories(
    questions: Sequence[Question], weights: Sequence[_Weight], *, clean: bool
) -> Iterator[tuple[tuple[int, ...], Rival]]:
    """Yield every story to weigh, and which questions it is about.

    Where everybody played and paid by the rules, a story that settles otherwise holds a
    mistake: those that are too unlikely even so are passed over.
    """
    for at, question in enumerate(questions):
        odds = sum((rival.odds for rival in question.rivals), 0.0)
        if clean and odds <= _STRONG * 10 and odds * MISTAKE_P <= WRONG_P:
            continue
        yield from (((at,), rival) for rival in question.rivals)
    strong = [
        (at, [rival for rival in question.rivals if rival.odds >= _STRONG])
        for at, question in enumerate(questions)
    ]
    doubted = [(at, rivals) for at, rivals in strong if rivals]
    pairs = [
        ((one, other), _both(mine, its))
        for (one, own), (other, others) in combinations(doubted, 2)
        for mine, its in product(own, others)
    ]
    if len(pairs) <= _MOST_PAIRS:
        yield from pairs
        return
    for at, _ in doubted:
        weights[at].uncounted = True


def _against(story: Rival, question: Question, record: Sequence[AnyFact]) -> Question:
    """Return a question as it is asked of the record in which ``story`` is the stated one."""
    stated = Rival(1.0 / story.odds, {at: (record[at],) for at in story.instead})
    others = (
        Rival(rival.odds / story.odds, rival.instead)
        for rival in question.rivals
        if rival is not story
    )
    return Question(question.review, (stated, *others), question.contradicted)


def _both(one: Rival, other: Rival) -> Rival:
    return Rival(one.odds * other.odds, {**one.instead, **other.instead})


def _by_mistakes(stated: Outcome, other: Outcome) -> float:
    """Return how much less likely a story is for its mistakes, or more for those it spares."""
    more = {code for code, _, _ in other.mistakes - stated.mistakes}
    less = {code for code, _, _ in stated.mistakes - other.mistakes}
    exponent = min(len(more), _MOST_MISTAKES) - min(len(less), _MOST_MISTAKES)
    return float(MISTAKE_P**exponent)


def with_instead(
    record: Sequence[AnyFact], instead: Mapping[int, tuple[AnyFact, ...]]
) -> Iterator[AnyFact]:
    """Yield the facts of a record, with those of another story in their places."""
    for at, stated in enumerate(record):
        yield from instead.get(at, (stated,))


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
