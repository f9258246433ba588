"""The answers to a question: each can be given, and the round then comes to what it said."""

from collections.abc import Callable

import pytest

from models.events import ReviewResolved
from models.judgements import Answer, RoundResult
from server.house.rulebooks import rules_for
from server.table.answering import JournalAnswers
from server.table.pipeline import Pipeline
from stream.journal import Journal
from tests.server.doubted import FALSE, TRUE, play_between_accounts, play_blinded
from tests.server.table.test_accounts_chosen import PLAYED, items, played
from tests.thoroughness import one_in

Play = Callable[[Journal], Pipeline]
KINDS: dict[str, Play] = {
    name: lambda journal, plan=plan, seed=seed: played(plan, seed, journal)
    for name, (plan, seed) in PLAYED.items()
} | {"a card that nobody read": play_blinded}
LATER_NS = 9_000_000_000_000_000_000


def given(number: int, item: int, answer: Answer) -> ReviewResolved:
    return ReviewResolved(
        source="console:ann",
        at=LATER_NS,
        round=number,
        item=item,
        decision=answer.decision,
        choice=answer.choice,
        card=answer.card,
        account=answer.account,
        says=answer.says,
        reason="seen on the film" if answer.asks_reason else "",
    )


def comes_to(result: RoundResult) -> tuple[object, ...]:
    mistakes = [
        one.code if one.spot is None else f"{one.code} at spot {one.spot}"
        for one in result.violations
    ]
    return [(spot.spot, spot.net) for spot in result.spots], list(dict.fromkeys(mistakes))


@pytest.mark.parametrize("name", one_in(2, tuple(KINDS)))
def test_every_answer_can_be_given_and_comes_to_what_it_said(name: str) -> None:
    with Journal.in_memory() as journal:
        pipeline = KINDS[name](journal)
        asked = [(number, item) for number, item, _ in items(journal)]
        assert asked
        for _, _, raised in items(journal):
            assert raised.review.what[0].isupper()
            assert "?" in raised.review.what
        for number, item in asked:
            answers = (
                JournalAnswers(journal.read(), pipeline._engine.rules).to(number, item).answers
            )
            assert answers[-1].decision == "void"
            assert len(answers) > 1
            assert len({one.says for one in answers}) == len(answers)
            for answer in answers:
                assert answer.comes_to
                decision = given(number, item, answer)
                pipeline.check(decision)
                pipeline.observe((decision,), LATER_NS)
                (result,) = [one for one in pipeline.rounds() if one.round == number]
                said = ([(one.spot, one.due) for one in answer.spots], list(answer.mistakes))
                assert comes_to(result) == said


def test_a_card_that_nobody_read_is_answered_by_its_faces_and_by_nobody_knowing() -> None:
    with Journal.in_memory() as journal:
        pipeline = play_blinded(journal)
        found = JournalAnswers(journal.read(), pipeline._engine.rules).to(1, 0)
    assert [(one.decision, one.choice) for one in found.answers] == [
        ("chosen", TRUE),
        ("chosen", FALSE),
        ("unreadable", None),
        ("void", None),
    ]
    assert found.answers[0].comes_to == "No mistake. Everybody was paid what is due."
    assert [one.asks_reason for one in found.answers] == [False, False, True, True]
    assert 0 < found.from_ns <= found.to_ns


def test_answers_between_accounts_say_how_likely_each_is() -> None:
    with Journal.in_memory() as journal:
        play_between_accounts(journal, "BJ-09")
        ((number, item, raised), *_) = items(journal)
        found = (
            JournalAnswers(journal.read(), rules_for("casino-single-deck")).to(number, item).answers
        )
    accounts = [one for one in found if one.decision == "account"]
    assert len(accounts) == len(raised.accounts or ())
    assert sum(one.odds or 0 for one in accounts) == pytest.approx(1.0, abs=0.02)
    assert all(one.likelihood for one in accounts)
