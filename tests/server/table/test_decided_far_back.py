"""A decision settles its rounds again: the same as if the whole session were processed again."""

from collections.abc import Callable, Sequence
from contextlib import suppress

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from models.cards import Card
from models.errors import OperatorError
from models.events import (
    AnyFact,
    CardDealt,
    CardPlace,
    Fact,
    PaymentMade,
    ReviewResolved,
    RoundOpened,
)
from models.judgements import AnyEvent, Review, ReviewRaised, RoundResult
from server.house.rulebooks import rules_for
from server.table.round_starts import RoundStarts
from server.table.settlement_book import SettlementBook
from settlement.engine import Engine
from settlement.reconcile import check_decision, decided, voided, with_reviews
from stream.journal import Journal
from stream.reading import UnknownEvent
from tests.server.evenings import evening
from tests.thoroughness import examples

RULES = rules_for("casino-single-deck")
ROUNDS = 12
FACTS = evening(ROUNDS, seed=2, rulebook="casino-single-deck")
"""Several shoes of one deck: a card named in one round is missing in the next, until a shuffle."""


class Played:
    """A session in its journal, with what was decided of it meanwhile."""

    def __init__(self, kept: int | None) -> None:
        self.journal = Journal.in_memory()
        self.reads: list[int] = []
        self.book = SettlementBook(self._append, self._read, kept)
        self.engine = Engine(RULES)

    def _append(self, events: Sequence[AnyEvent]) -> list[AnyEvent]:
        return list(self.journal.append_all(events))

    def _read(self, after_seq: int) -> Sequence[AnyEvent | UnknownEvent]:
        found = list(self.journal.read(after_seq))
        self.reads.append(after_seq)
        return found

    def process(self, facts: Sequence[AnyFact]) -> None:
        """Play on; of every third round a person is asked about its first card."""
        for fact in self.journal.append_all(facts):
            results = self.engine.feed(fact)
            self.book.processed(fact, self.engine)
            for result in results:
                self.engine = self.book.settled(result, fact.at, (), self.engine)
            if isinstance(fact, RoundOpened) and fact.round % 3 == 1:
                evidence = () if fact.seq is None else (fact.seq,)
                doubt = ReviewRaised(round=fact.round, review=Review("which", ("KS",), evidence))
                self.book.raised(self.journal.append(doubt))

    def decide(self, decision: ReviewResolved) -> None:
        """Journal a decision and follow it."""
        self.engine = self.book.resolve(self.journal.append(decision), self.engine)

    def events(self) -> list[AnyEvent]:
        return [event for event in self.journal.read() if not isinstance(event, UnknownEvent)]


def settled_anew(events: Sequence[AnyEvent]) -> tuple[RoundResult, ...]:
    """The rounds of one engine that processes every fact of the session as decided."""
    facts = [event for event in events if isinstance(event, Fact)]
    raised = [event for event in events if isinstance(event, ReviewRaised)]
    decisions = [event for event in events if isinstance(event, ReviewResolved)]
    found, engine = decided(facts, raised, decisions), Engine(RULES)
    results = [result for fact in found.facts for result in engine.feed(fact)]
    standing = [voided(one) if one.round in found.void else one for one in results]
    return tuple(with_reviews(one, raised, found.items) for one in standing)


decisions = st.builds(
    lambda number, kind, card, place: ReviewResolved(
        source="console:ann", at=1, round=number, item=0, decision=kind, choice=card, card=place
    ),
    st.sampled_from(range(1, ROUNDS + 1, 3)),
    st.sampled_from(("chosen", "dealt", "burned", "stands", "unreadable", "void")),
    st.sampled_from((Card("KS"), Card("2D"), Card("7H"), None)),
    st.builds(CardPlace, to=st.sampled_from((1, 2, 5, "dealer")), nth=st.integers(0, 1)),
).map(lambda one: replace(one, reason="seen on the film"))
moments = st.lists(st.tuples(st.integers(0, len(FACTS)), decisions), min_size=1, max_size=5)


def play(asked: Sequence[tuple[int, ReviewResolved]], kept: int | None) -> Played:
    """Play the session with decisions at their moments, those that can be so."""
    played, at = Played(kept), 0
    for moment, decision in sorted(asked, key=lambda one: one[0]):
        played.process(FACTS[at:moment])
        at = max(at, moment)
        with suppress(OperatorError):
            played.book.check(decision, played.engine)
            played.decide(decision)
    played.process(FACTS[at:])
    return played


@settings(max_examples=examples(40), deadline=None)
@given(moments)
def test_it_gives_what_processing_the_whole_session_again_gives(
    asked: list[tuple[int, ReviewResolved]],
) -> None:
    played = play(asked, None)
    assert played.book.rounds() == settled_anew(played.events())


@settings(max_examples=examples(15), deadline=None)
@given(moments)
def test_rounds_that_were_let_go_of_are_decided_alike(
    asked: list[tuple[int, ReviewResolved]],
) -> None:
    assert play(asked, 2).events() == play(asked, None).events()


@settings(max_examples=examples(25), deadline=None)
@given(decisions, decisions)
def test_a_decision_is_refused_where_the_whole_session_refuses_it(
    first: ReviewResolved, second: ReviewResolved
) -> None:
    played = play([(len(FACTS), first)], None)
    events = played.events()
    facts = [event for event in events if isinstance(event, Fact)]
    raised = [event for event in events if isinstance(event, ReviewRaised)]
    earlier = [event for event in events if isinstance(event, ReviewResolved)]

    def whole() -> None:
        check_decision(facts, raised, earlier, second, RULES.decks)

    assert refusal(lambda: played.book.check(second, played.engine)) == refusal(whole)


def refusal(check: Callable[[], None]) -> str | None:
    try:
        check()
    except OperatorError as refused:
        return str(refused)
    return None


def test_what_is_decided_of_the_last_round_reads_no_other() -> None:
    played = Played(None)
    played.process(FACTS)
    number = ROUNDS - 2
    opened = next(
        event.seq or 0
        for event in played.events()
        if isinstance(event, RoundOpened) and event.round == number
    )
    decision = ReviewResolved(source="console:ann", at=1, round=number, item=0, decision="stands")
    played.reads.clear()
    played.book.check(decision, played.engine)
    played.decide(decision)
    assert min(played.reads) == opened - 1


def test_memory_is_bounded_and_the_nearest_opening_is_known() -> None:
    starts, engine = RoundStarts(), Engine(RULES)
    for number in range(1, 3001):
        fact = RoundOpened(seq=number, round=number)
        engine.feed(fact)
        starts.note(fact, engine)
    nearest = {n: start.number for n in range(1, 3001) if (start := starts.before(n))}
    assert len(set(nearest.values())) <= 512
    assert all(nearest.get(number, 0) == number for number in range(2873, 3001))
    assert max(number - nearest.get(number, 0) for number in range(1, 3001)) <= 16


def test_rounds_numbered_backwards_are_processed_from_the_beginning() -> None:
    starts, engine = RoundStarts(), Engine(RULES)
    for seq, number in enumerate((1, 2, 2), start=1):
        fact = RoundOpened(seq=seq, round=number)
        engine.feed(fact)
        starts.note(fact, engine)
    assert starts.before(2) is None
    assert starts.shoe_of(2) == 0


@pytest.mark.parametrize("number", [1, 7])
def test_a_card_of_the_shoe_named_twice_is_found_in_the_rounds_after(number: int) -> None:
    """The second king of spades of one deck: its round reports it, until a shuffle."""
    played = Played(None)
    played.process(FACTS)
    before = {one.round: one for one in played.book.rounds()}
    dealt = [fact for fact in played.events() if isinstance(fact, CardDealt) and fact.card]
    last = dealt[-1].card
    decision = ReviewResolved(
        source="console:ann",
        at=1,
        round=number,
        item=0,
        decision="chosen",
        choice=last,
        card=CardPlace(to="dealer"),
    )
    played.decide(decision)
    after = {one.round: one for one in played.book.rounds()}
    assert after[number] != before[number]
    assert played.book.rounds() == settled_anew(played.events())


def paid_late(kept: int | None) -> list[AnyEvent]:
    """Play the session; the last round is paid late, after a doubt about the first."""
    played = Played(kept)
    played.process(FACTS)
    doubt = ReviewRaised(round=1, review=Review("which", ("KS",), ()))
    played.book.raised(played.journal.append(doubt))
    payment = played.journal.append(PaymentMade(spot=1, amount=100))
    for result in played.engine.feed(payment):
        because = (payment.seq or 0,)
        played.book.settled(result, None, because, played.engine, amends=True)
    return played.events()


def test_a_doubt_about_a_round_let_go_of_is_no_matter_to_a_late_payment() -> None:
    assert paid_late(2) == paid_late(None)
