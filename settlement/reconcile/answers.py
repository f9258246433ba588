"""The answers that a review item may have, and what the round comes to by each. Pure."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final, NamedTuple, TypeAlias

from msgspec import UNSET
from msgspec.structs import replace

from models.cards import Card
from models.errors import OperatorError
from models.events import (
    AnyFact,
    CardDealt,
    CardPlace,
    Dealt,
    Decision,
    PaymentMade,
    ReviewResolved,
    RoundCalledOff,
)
from models.judgements import (
    Account,
    Answer,
    Likelihood,
    ReviewRaised,
    RoundResult,
    SpotAnswer,
)
from models.money import Cents, dollars
from models.places import whose, zone_name
from models.rulebook import Rulebook
from settlement.engine import Engine
from settlement.engine_state import EngineState
from settlement.reconcile.decisions import (
    ASKS_REASON,
    card_in_question,
    check_decision,
    decided,
    voided,
)

LIKELY: Final[tuple[tuple[float, Likelihood], ...]] = (
    (0.99, "almost certain"),
    (0.6, "likely"),
    (0.4, "about even"),
    (0.01, "unlikely"),
    (0.0, "very unlikely"),
)
"""From which probability on an answer is called so. Chosen."""

_MOST_DECKS: Final = 8
_SOME_REASON: Final = "to be given"


def in_words(probability: float) -> Likelihood:
    """Return how likely an answer is, in words."""
    return next(words for least, words in LIKELY if probability >= least)


class Given(NamedTuple):
    """What a decision says of its item."""

    decision: Decision
    choice: Card | None = None
    card: CardPlace | None = None
    account: int | None = None


def in_answer(raised: ReviewRaised, given: Given) -> str:
    """Return what happened by a decision, in words; of an unknown account nothing."""
    match given.decision:
        case "account":
            accounts = raised.accounts or ()
            known = given.account is not None and given.account < len(accounts)
            return accounts[given.account or 0].tells if known else ""
        case "chosen":
            place = "" if given.card is None else f"{_card_of(given.card)} is "
            return f"{place or 'it is '}{given.choice}"
        case "dealt":
            return (
                "" if given.card is None else f"it went to {whose(given.card.to, given.card.hand)}"
            )
        case other:
            return _SAID[other]


_SAID: Final[Mapping[str, str]] = {
    "burned": "it was burned",
    "stands": "it is as recorded",
    "unreadable": "nobody can tell which card it is",
    "void": "the floor calls the round off",
}


class Answering:
    """Answers the items of a round.

    Args:
        rules: the rulebook in force; ``None`` where it is not known: then no answer comes to
            anything.
        start: the engine's state before the round; ``None`` for the first of a session.
        facts: the round's, as journalled, with the payments after its close.
        raised: its items, in order.
        decisions: those on it so far.
    """

    def __init__(
        self,
        rules: Rulebook | None,
        start: EngineState | None,
        facts: Sequence[AnyFact],
        raised: Sequence[ReviewRaised],
        decisions: Iterable[ReviewResolved],
    ) -> None:
        self._rules, self._start = rules, start
        self._facts, self._raised = facts, raised
        self._decisions = tuple(decisions)
        self._decks = _MOST_DECKS if rules is None else rules.decks

    def answers(self, item: int) -> tuple[Answer, ...]:
        """Return the answers that a person may give to an item; none that cannot be so."""
        raised = self._raised[item]
        others = [one for one in self._decisions if one.item != item]
        whole = _probabilities(raised.accounts or ())
        found: list[tuple[Answer, tuple[AnyFact, ...]]] = []
        for asked in self._possible(raised):
            decision = _decision(raised.round, item, asked)
            try:
                check_decision(self._facts, self._raised, others, decision, self._decks)
            except OperatorError:
                continue
            known = decided(self._facts, self._raised, (*others, decision))
            answer = self._settled(asked, known.facts, void=bool(known.void))
            p = None if asked.account is None else whole.get(asked.account)
            same = _same_facts(found, known.facts) if asked.decision != "void" else None
            if same is None:
                found.append((_likely(answer, p), known.facts))
            elif p is not None and found[same][0].odds is None:
                found[same] = (_likely(found[same][0], p), known.facts)
        return tuple(answer for answer, _ in found)

    def alike(self, item: int) -> bool:
        """Return whether a round comes to the same by every answer to an item but ``void``.

        An item that only lets the record stand doubts the record itself. That stays in doubt, but
        for a round called off in which no mistake was found: it comes to nothing.
        """
        found = [one for one in self.answers(item) if one.decision != "void"]
        comes_to = [(one.status, [s.due for s in one.spots], one.mistakes) for one in found]
        if all(one.decision == "stands" for one in found):
            off = any(isinstance(fact, RoundCalledOff) for fact in self._facts)
            return off and len(found) > 0 and not any(one.mistakes for one in found)
        return all(one == comes_to[0] for one in comes_to)

    def _possible(self, raised: ReviewRaised) -> Iterator[Answer]:
        """Yield the answers to a kind of question, whether or not each can be so."""
        review = raised.review
        cards = [Card(name) for name in review.candidates if name in Card._value2member_map_]
        at = card_in_question(self._facts, review)
        places = [to for to in self._places() if zone_name(to.to) in review.candidates]
        accounts = [
            Given("account", account=at)
            for at, account in enumerate(raised.accounts or ())
            if account.changes is not UNSET
        ]
        given: list[Given] = []
        if at is not None and (cards or self._card_at(at).card is None):
            given += [Given("chosen", choice=card) for card in cards]
            given += [*accounts, Given("unreadable")]
        elif cards:
            given += [Given("stands"), *accounts]
            given += [Given("dealt", card=place) for place in self._places()]
            given += [Given("burned")]
        elif places:
            given += [Given("dealt", card=place) for place in places]
        else:
            given += accounts or [Given("stands")]
        for one in (*given, Given("void")):
            yield Answer(
                says=in_answer(raised, one),
                decision=one.decision,
                choice=one.choice,
                card=one.card,
                account=one.account,
                asks_reason=one.decision in ASKS_REASON,
                comes_to="",
                status="pending",
                spots=(),
                mistakes=(),
            )

    def _card_at(self, at: int) -> CardDealt:
        fact = self._facts[at]
        assert isinstance(fact, CardDealt)
        return fact

    def _places(self) -> list[CardPlace]:
        """Return every hand of the round."""
        found: dict[tuple[Dealt, int], CardPlace] = {}
        for fact in self._facts:
            if isinstance(fact, CardDealt):
                found.setdefault((fact.to, fact.hand), CardPlace(to=fact.to, hand=fact.hand))
        return [found[key] for key in sorted(found, key=str)]

    def _settled(self, asked: Answer, facts: Sequence[AnyFact], *, void: bool) -> Answer:
        """Return an answer with what the round comes to by it."""
        if self._rules is None:
            return asked
        engine = Engine(self._rules, self._start, patient=True)
        results = [result for fact in facts for result in engine.feed(fact)]
        results += engine.finish()
        if not results:
            return asked
        result = voided(results[-1]) if void else results[-1]
        spots = tuple(_spots(result, facts))
        mistakes = tuple(dict.fromkeys(_named(one.code, one.spot) for one in result.violations))
        return replace(
            asked,
            status=result.status,
            spots=spots,
            mistakes=mistakes,
            comes_to=("Every wager goes back. " if void else "") + _in_a_line(spots, mistakes),
        )


def _decision(number: int, item: int, asked: Answer) -> ReviewResolved:
    return ReviewResolved(
        source="console",
        round=number,
        item=item,
        decision=asked.decision,
        choice=asked.choice,
        card=asked.card,
        account=asked.account,
        reason=_SOME_REASON if asked.asks_reason else "",
    )


def _probabilities(accounts: Sequence[Account]) -> dict[int, float]:
    """Return how likely each account is; nothing where they were not weighed."""
    odds = [account.odds for account in accounts]
    if all(one == 1.0 for one in odds):
        return {}
    return {at: one / sum(odds) for at, one in enumerate(odds)}


def _likely(answer: Answer, p: float | None) -> Answer:
    if p is None:
        return answer
    digits = f"{p:.4f}" if p > 0.99 else f"{p:.2g}"
    return replace(answer, odds=float(digits), likelihood=in_words(p))


def _same_facts(
    found: Sequence[tuple[Answer, tuple[AnyFact, ...]]], facts: Sequence[AnyFact]
) -> int | None:
    """Return the answer that gives the same facts, whatever they rest on."""
    bare = [_bare(fact) for fact in facts]
    for at, (answer, others) in enumerate(found):
        if answer.decision != "void" and [_bare(fact) for fact in others] == bare:
            return at
    return None


def _bare(fact: AnyFact) -> AnyFact:
    return replace(fact, seq=None, table=None, evidence=())


def _spots(result: RoundResult, facts: Iterable[AnyFact]) -> Iterator[SpotAnswer]:
    paid: dict[int, Cents] = {}
    for fact in facts:
        if isinstance(fact, PaymentMade):
            paid[fact.spot] = paid.get(fact.spot, 0) + fact.amount
    for spot in result.spots:
        yield SpotAnswer(spot.spot, spot.net, paid.get(spot.spot, 0) if paid else None)


def _in_a_line(spots: Sequence[SpotAnswer], mistakes: Sequence[str]) -> str:
    """Return what an answer means: the mistakes, and who is owed what."""
    known = [one.replace("_", " ") for one in mistakes]
    what = "No mistake" if not known else "Mistake" if len(known) == 1 else "Mistakes"
    said = f"{what}: {', '.join(known)}" if known else what
    return f"{said}. {_owed(spots)}."


_Said: TypeAlias = tuple[str, str]
"""What is said of one spot, and of several alike."""


def _owed(spots: Sequence[SpotAnswer]) -> str:
    """Say who is owed what, or what each spot gains where no payment was seen."""
    if any(one.paid is None for one in spots):
        return _grouped([(one.spot, _gains(one.due)) for one in spots]) or "No wager lay there"
    differ = [(one.spot, _is_owed(one)) for one in spots if one.due != one.paid or one.due is None]
    return _grouped(differ) or "Everybody was paid what is due"


def _grouped(said: Sequence[tuple[int, _Said]]) -> str:
    """Name the spots of which the same is said together."""
    by_what: dict[_Said, list[str]] = {}
    for spot, what in said:
        by_what.setdefault(what, []).append(str(spot))
    parts = [
        f"spot {own[0]} {one}" if len(own) == 1 else f"spots {_listed(own)} {several}"
        for (one, several), own in by_what.items()
    ]
    text = ", ".join(parts)
    return text[:1].upper() + text[1:]


def _listed(names: Sequence[str]) -> str:
    return f"{', '.join(names[:-1])} and {names[-1]}"


_OPEN: Final = ("stays open", "stay open")


def _gains(due: Cents | None) -> _Said:
    if due is None:
        return _OPEN
    if not due:
        return "is even", "are even"
    verbs = ("wins", "win") if due > 0 else ("loses", "lose")
    return f"{verbs[0]} {dollars(abs(due))}", f"{verbs[1]} {dollars(abs(due))} each"


def _is_owed(one: SpotAnswer) -> _Said:
    if one.due is None or one.paid is None:
        return _OPEN
    owed = one.due - one.paid
    if owed > 0:
        return f"is owed {dollars(owed)}", f"are owed {dollars(owed)} each"
    return f"got {dollars(-owed)} too much", f"got {dollars(-owed)} too much each"


def _named(code: str, spot: int | None) -> str:
    return code if spot is None else f"{code} at spot {spot}"


def _card_of(place: CardPlace) -> str:
    return f"card {place.nth + 1} of {whose(place.to, place.hand)}"
