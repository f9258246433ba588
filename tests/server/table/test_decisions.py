"""A person decides what no sensor could; the same engine settles the round, and a replay agrees."""

from collections.abc import Iterable, Iterator
from contextlib import nullcontext, suppress
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import UNSET
from msgspec.structs import replace

from models.cards import Card
from models.errors import OperatorError
from models.events import (
    AnyFact,
    CardDealt,
    CardExposed,
    CardPlace,
    Fact,
    ReviewResolved,
    RoundOpened,
    ShoeStarted,
)
from models.judgements import (
    Account,
    Change,
    LedgerPosted,
    Review,
    ReviewRaised,
    RoundResult,
    RoundSettled,
)
from server.house.rulebooks import rules_for
from server.table.pipeline import Pipeline
from server.table.record import TableRecord
from server.table.resume import past_of, recall
from server.table.settlement_book import SettlementBook
from settlement.ledger import post
from settlement.reconcile import check_decision, decided
from stream.journal import Journal
from tests.golden.sessions import heard
from tests.server.doubted import FALSE, TRUE, blinded, play_blinded, table
from tests.server.evenings import settle_file
from tests.thoroughness import examples

LATER_NS = 1_767_297_700_000_000_000


@pytest.fixture
def journal() -> Iterator[Journal]:
    with Journal.in_memory() as kept:
        yield kept


def decision(kind: Any = "chosen", **given: Any) -> ReviewResolved:
    fields: dict[str, Any] = {
        "source": "console:ann",
        "at": LATER_NS,
        "round": 1,
        "item": 0,
    } | given
    return ReviewResolved(decision=kind, **fields)


def decide(pipeline: Pipeline, one: ReviewResolved) -> RoundResult:
    pipeline.check(one)
    pipeline.observe((one,), LATER_NS)
    return next(result for result in pipeline.rounds() if result.round == one.round)


def truth() -> dict[int, RoundResult]:
    """The session as it settles when every sensor reads every card."""
    with Journal.in_memory() as kept:
        sound = table(kept)
        for one in heard("plain"):
            sound.observe((one.observation,), one.now_ns)
        sound.finish()
        return {result.round: result for result in sound.rounds()}


def balance(journal: Journal) -> dict[str, int]:
    """What the ledger's lines of round 1 come to."""
    return posted(journal, 1)


def test_the_card_a_person_names_settles_the_round_as_if_it_had_been_read(
    journal: Journal,
) -> None:
    pipeline = play_blinded(journal)
    assert pipeline.rounds()[0].status == "review"
    result = decide(pipeline, decision(choice=TRUE))
    due = truth()[1]
    assert (result.status, result.spots, result.net) == ("final", due.spots, due.net)
    assert result.reviews == ()


def test_a_card_named_as_soon_as_it_is_asked_for_is_asked_for_no_more(journal: Journal) -> None:
    pipeline = table(journal)
    raised = False
    for one in blinded():
        pipeline.observe((one.observation,), one.now_ns)
        if not raised and any(isinstance(event, ReviewRaised) for event in journal.read()):
            raised = True
            now = decision(choice=TRUE, at=one.now_ns)
            pipeline.check(now)
            pipeline.observe((now,), one.now_ns)
    pipeline.finish()
    due = truth()
    assert [(one.status, one.spots) for one in pipeline.rounds()] == [
        ("final", due[one.round].spots) for one in pipeline.rounds()
    ]


@pytest.mark.slow
def test_what_the_sensors_come_to_at_the_very_moment_of_a_decision_is_not_lost() -> None:
    """A decision, like anything that comes, lets time pass: facts may fall due with it."""
    steps = [*pairwise(blinded())]
    for since, (now, following) in enumerate(steps):
        with Journal.in_memory() as journal:
            pipeline = table(journal)
            for one, _ in steps[: since + 1]:
                pipeline.observe((one.observation,), one.now_ns)
            if not any(isinstance(event, ReviewRaised) for event in journal.read()):
                continue
            last = journal.last_seq
            pipeline.observe((decision(choice=TRUE, at=now.now_ns),), following.now_ns)
            facts = [event for event in journal.read(last) if isinstance(event, Fact)]
            if not facts:
                continue
            for _, one in steps[since:]:
                pipeline.observe((one.observation,), one.now_ns)
            pipeline.finish()
            due = truth()
            assert [one.spots for one in pipeline.rounds()] == [due[n].spots for n in sorted(due)]
            return
    raise AssertionError("no fact falls due with a decision")


def test_the_record_names_the_person_and_what_the_result_rests_on(journal: Journal) -> None:
    pipeline = play_blinded(journal)
    decide(pipeline, decision(choice=TRUE))
    resolved = [event for event in journal.read() if isinstance(event, ReviewResolved)]
    assert [one.source for one in resolved] == ["console:ann"]
    settled = [e for e in journal.read() if isinstance(e, RoundSettled) and e.result.round == 1]
    assert resolved[0].seq in settled[-1].because
    assert resolved[0].seq not in settled[0].because


def test_money_moves_once_the_round_is_final_and_only_once(journal: Journal) -> None:
    pipeline = play_blinded(journal)
    before = balance(journal)
    decide(pipeline, decision(choice=TRUE))
    after = balance(journal)
    assert before == {}
    assert after["spot:3"] == truth()[1].spots[1].net
    assert sum(after.values()) == 0
    decide(pipeline, decision(choice=TRUE))
    assert balance(journal) == after


def test_a_decision_may_be_put_right_and_the_ledger_follows(journal: Journal) -> None:
    pipeline = play_blinded(journal)
    decide(pipeline, decision(choice=TRUE))
    assert balance(journal)["spot:3"] == -3000
    result = decide(pipeline, decision(choice=FALSE))
    assert result.spots[1].hands[0].outcome == "push"
    assert "spot:3" not in balance(journal)


def test_none_of_these_leaves_open_what_the_possible_cards_do_not_agree_on(
    journal: Journal,
) -> None:
    pipeline = play_blinded(journal)
    result = decide(pipeline, decision("unreadable", reason="a sleeve hid it"))
    assert (result.status, result.reviews) == ("pending", ())
    assert result.spots[1].hands[0].outcome == "unknown"
    assert [spot.net for spot in result.spots] == [-1000, None, 1500]


def test_a_round_the_floor_calls_off_gives_every_wager_back(journal: Journal) -> None:
    pipeline = play_blinded(journal)
    result = decide(pipeline, decision("void", reason="the shoe fell"))
    assert (result.status, result.net, result.reviews) == ("final", 0, ())
    assert {hand.outcome for spot in result.spots for hand in spot.hands} == {"void"}
    assert all(hand.net == 0 for spot in result.spots for hand in spot.hands)


def test_a_card_is_put_to_the_hand_it_belongs_to(journal: Journal) -> None:
    pipeline = play_blinded(journal)
    place = CardPlace(to=4)
    result = decide(pipeline, decision("dealt", choice=TRUE, card=place))
    cards = {spot.spot: spot.hands[0].cards for spot in result.spots}
    assert TRUE in cards[4]
    assert len(cards[3]) == 3


def test_a_card_that_went_to_the_discard_rack_counts_for_nobody(journal: Journal) -> None:
    pipeline = play_blinded(journal)
    result = decide(pipeline, decision("burned", choice=TRUE))
    cards = {spot.spot: spot.hands[0].cards for spot in result.spots}
    assert len(cards[3]) == 3
    assert "spot_skipped" in {one.code for one in result.violations}


@pytest.mark.parametrize(
    ("given", "way_out"),
    [
        pytest.param({"round": 7}, "it has none", id="no-such-round"),
        pytest.param({"item": 5}, "it has 1", id="no-such-item"),
        pytest.param({"kind": "chosen"}, "Name the card", id="no-card"),
        pytest.param({"kind": "void"}, "Give one", id="void-without-reason"),
        pytest.param({"kind": "unreadable", "reason": " "}, "Give one", id="blank-reason"),
        pytest.param({"kind": "dealt"}, "Name the hand", id="no-place"),
        pytest.param(
            {"choice": TRUE, "card": CardPlace(to=3, nth=9)}, "was dealt", id="no-such-card"
        ),
        pytest.param(
            {"choice": TRUE, "card": CardPlace(to=5)}, "was dealt", id="nobody-sits-there"
        ),
    ],
)
def test_a_decision_that_cannot_be_so_is_refused_with_the_way_out(
    journal: Journal, given: dict[str, Any], way_out: str
) -> None:
    pipeline = play_blinded(journal)
    fields = {"kind": "chosen"} | given
    last = journal.last_seq
    with pytest.raises(OperatorError, match=way_out):
        pipeline.check(decision(fields.pop("kind"), **fields))
    assert journal.last_seq == last


def test_a_card_that_the_shoe_cannot_hold_any_more_is_refused_but_as_a_candidate() -> None:
    """The camera may have read a foreign card: then the engine reports a foreign card."""
    king = Card("KS")
    facts: list[AnyFact] = [
        ShoeStarted(decks=1),
        RoundOpened(round=1),
        dealt(1, king, 1),
        dealt(3, None, 2),
    ]
    doubt = Review("neither the shoe nor the camera read a card", ("KS", "QS"), (2,))
    unread = Review("neither the shoe nor the camera read a card", (), (2,))
    for review, is_refused in ((unread, True), (doubt, False)):
        raised = [ReviewRaised(round=1, review=review)]
        with pytest.raises(OperatorError, match="held KS 1 times") if is_refused else nullcontext():
            check_decision(facts, raised, (), decision(choice=king), decks=1)


def test_a_card_of_another_round_may_come_again_from_a_continuous_shuffler() -> None:
    king = Card("KS")
    facts: list[AnyFact] = [
        ShoeStarted(decks=1),
        *(RoundOpened(round=1), dealt(1, king, 1)),
        *(RoundOpened(round=2), dealt(1, Card("QS"), 2), dealt(3, None, 3)),
        *(RoundOpened(round=3), dealt(1, king, 4)),
    ]
    raised = [ReviewRaised(round=2, review=Review("nobody read the card", (), (3,)))]
    chosen = decision(choice=king, round=2)
    check_decision(facts, raised, (), chosen, decks=1, continuous=True)
    with pytest.raises(OperatorError, match="held KS 1 times"):
        check_decision(facts, raised, (), chosen, decks=1)
    queen = decision(choice=Card("QS"), round=2)
    with pytest.raises(OperatorError, match="held QS 1 times"):
        check_decision(facts, raised, (), queen, decks=1, continuous=True)


def dealt(spot: int, card: Card | None, evidence: int) -> CardDealt:
    return CardDealt(to=spot, card=card, evidence=(evidence,), at=evidence)


def test_a_card_turned_up_is_named_where_it_was_dealt_and_where_it_was_turned() -> None:
    hole = CardDealt(to="dealer", card=Card("QS"), face="down", evidence=(1,))
    turned = CardExposed(to="dealer", card=Card("QS"), evidence=(5,))
    facts: list[AnyFact] = [RoundOpened(round=1), hole, turned]
    raised = [ReviewRaised(round=1, review=Review("which", ("QS", "KS"), (5,)))]
    found = decided(facts, raised, [decision(choice=Card("KS"))])
    assert [getattr(fact, "card", None) for fact in found.facts] == [None, Card("KS"), Card("KS")]
    assert found.items == {(1, 0)}


def test_a_card_nobody_saw_is_dealt_when_it_left_the_shoe() -> None:
    facts: list[AnyFact] = [RoundOpened(round=1), dealt(1, Card("2S"), 3), dealt(1, Card("9S"), 8)]
    lost = Review("5H left the shoe and was not seen on the felt", ("5H",), (6,))
    raised = [ReviewRaised(round=1, review=lost)]
    found = decided(facts, raised, [decision("dealt", card=CardPlace(to=1))])
    assert [getattr(fact, "card", None) for fact in found.facts[1:]] == [
        Card("2S"),
        Card("5H"),
        Card("9S"),
    ]


def test_a_decision_that_does_not_fit_the_facts_leaves_its_item_open() -> None:
    facts: list[AnyFact] = [RoundOpened(round=1), dealt(1, Card("2S"), 3)]
    raised = [ReviewRaised(round=1, review=Review("which", (), ()))]
    nowhere = decision(choice=Card("5H"), card=CardPlace(to=4))
    found = decided(facts, raised, [nowhere])
    assert (found.facts, found.items) == (tuple(facts), frozenset())


def test_a_table_that_starts_again_comes_to_the_same(journal: Journal) -> None:
    pipeline = table(journal)
    for one in blinded():
        pipeline.observe((one.observation,), one.now_ns)
    decide(pipeline, decision(choice=TRUE))
    before, last = pipeline.rounds(), journal.last_seq
    record = TableRecord(journal, lambda _: None)
    again = table(record)
    recall(past_of(journal), again, record)
    assert again.rounds() == before
    assert journal.last_seq == last


def test_a_table_that_keeps_few_rounds_in_memory_decides_old_ones_all_the_same(
    journal: Journal,
) -> None:
    forgetful = play_blinded(journal, kept=1)
    assert [result.round for result in forgetful.rounds()] != [1]
    assert len(forgetful.rounds()) == 1
    forgetful.observe((decision(choice=TRUE),), LATER_NS)
    with Journal.in_memory() as other:
        mindful = play_blinded(other)
        assert len(mindful.rounds()) > 1
        mindful.observe((decision(choice=TRUE),), LATER_NS)
        assert list(journal.read()) == list(other.read())


def test_a_closed_journal_holds_what_was_decided(journal: Journal) -> None:
    pipeline = play_blinded(journal)
    decide(pipeline, decision(choice=TRUE))
    rules = rules_for("kansas-shoe")
    recalled = SettlementBook(list, journal.read)
    recalled.recall(journal.read(), rules)
    assert recalled.rounds() == pipeline.rounds()
    other = SettlementBook(list, journal.read)
    with pytest.raises(OperatorError, match="does not give the recorded settlement"):
        other.recall(journal.read(), rules_for("kansas-shoe", ["win_payout=2:1"]))


def test_a_journal_settles_again_with_what_was_decided(tmp_path: Path) -> None:
    path = tmp_path / "t.journal"
    with Journal.create(path) as journal:
        pipeline = play_blinded(journal)
        rules = rules_for("kansas-shoe")
        decide(pipeline, decision("dealt", choice=TRUE, card=CardPlace(to=4)))
        moved = pipeline.rounds()
    assert [bare(one) for one in settle_file(str(path), rules)] == [bare(one) for one in moved]
    with Journal.open(path) as journal:
        journal.append(decision(choice=TRUE, seq=None))
    due = [result.spots for result in truth().values()]
    assert [one.spots for one in settle_file(str(path), rules)] == due


def bare(result: RoundResult) -> RoundResult:
    return replace(result, reviews=UNSET, status="final")


def test_the_facts_stay_in_the_journal_as_they_were(journal: Journal) -> None:
    pipeline = play_blinded(journal)
    before = [event for event in journal.read() if isinstance(event, Fact)]
    decide(pipeline, decision(choice=TRUE))
    assert [event for event in journal.read() if isinstance(event, Fact)] == before


KINDS = ("chosen", "dealt", "burned", "stands", "unreadable", "void")
CARDS = (TRUE, FALSE, Card("KS"), Card("AD"), None)
PLACES = (None, CardPlace(to=3), CardPlace(to=4, nth=1), CardPlace(to="dealer"), CardPlace(to=1))
decisions = st.lists(
    st.builds(
        lambda kind, item, choice, card: decision(
            kind, item=item, choice=choice, card=card, reason="seen on the film"
        ),
        st.sampled_from(KINDS),
        st.integers(0, 1),
        st.sampled_from(CARDS),
        st.sampled_from(PLACES),
    ),
    max_size=6,
)


@settings(max_examples=examples(20), deadline=None)
@given(decisions)
def test_the_ledger_is_what_is_due_after_any_decision_and_a_replay_agrees(
    asked: list[ReviewResolved],
) -> None:
    with Journal.in_memory() as journal:
        pipeline = play_blinded(journal)
        for one in asked:
            with suppress(OperatorError):
                decide(pipeline, one)
        for result in pipeline.rounds():
            due = post(result) if result.status == "final" else ()
            assert posted(journal, result.round) == totals(due)
        recalled = SettlementBook(list, journal.read)
        recalled.recall(journal.read(), rules_for("kansas-shoe"))
        assert recalled.rounds() == pipeline.rounds()


def posted(journal: Journal, number: int) -> dict[str, int]:
    lines = (event for event in journal.read() if isinstance(event, LedgerPosted))
    return totals(line for line in lines if line.round == number)


def totals(lines: Iterable[LedgerPosted]) -> dict[str, int]:
    found: dict[str, int] = {}
    for line in lines:
        found[line.account] = found.get(line.account, 0) + line.amount
    return {account: amount for account, amount in found.items() if amount}


def test_two_accounts_that_change_the_same_card_contradict_each_other() -> None:
    first = Card("5H")
    facts: list[AnyFact] = [
        RoundOpened(seq=1, at=1, round=1),
        CardDealt(seq=2, at=2, to=1, card=first, evidence=(9,)),
        CardDealt(seq=3, at=3, to=2, card=first),
    ]

    def between(card: Card) -> ReviewRaised:
        other = (CardDealt(at=2, to=1, card=card, evidence=(9,)),)
        told = {"odds": 1.0, "tells": "", "hands": (), "mistakes": ()}
        accounts = (
            Account(**told, changes=()),  # type: ignore[arg-type]
            Account(**told, changes=(Change(1, 1, other),)),  # type: ignore[arg-type]
        )
        return ReviewRaised(round=1, review=Review("Which card?", (), (9,)), accounts=accounts)

    raised = [between(Card("6H")), between(Card("7H"))]
    one, another = (decision("account", item=item, account=1, seq=10 + item) for item in (0, 1))
    found = decided(facts, raised, [one])
    assert [fact.card for fact in found.facts if isinstance(fact, CardDealt)] == [Card("6H"), first]
    assert [(fact.seq, fact.evidence) for fact in found.facts][1] == (2, (9, 10))
    with pytest.raises(OperatorError, match="the answer to another item"):
        check_decision(facts, raised, [one], replace(another, seq=None), decks=6)
    both = decided(facts, raised, [one, another])
    assert both.items == {(1, 0)}
    check_decision(facts, raised, [one], replace(another, seq=None, account=0), decks=6)
    with pytest.raises(OperatorError, match="It has accounts 0 to 1"):
        check_decision(facts, raised, [], decision("account", account=7), decks=6)
