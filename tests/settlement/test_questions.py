"""A suspected mistake is a question: one for each code, in the words of the felt."""

import re

import pytest

from models.cards import Card
from models.judgements import Violation
from settlement.clauses import BREAKS
from settlement.questions import QUESTIONS, question
from settlement.sentences import Sentence
from tests.settlement.table import one_round

LOST = "bet 1 1500; 1 TS; D 6D; 1 8D; D TH down; stand 1 hand; show D TH; D 3C; "
WON = LOST.replace("3C", "9C")
INSURED = "bet 1 1500; 1 TS; D AD; 1 8D; D TH down; ins 1 700; show D TH; "


def test_every_code_has_a_question_and_no_other() -> None:
    assert QUESTIONS.keys() == BREAKS.keys()


@pytest.mark.parametrize("code", BREAKS)
def test_a_question_is_answered_with_yes_or_no_and_names_no_card(code: str) -> None:
    for spot, hand in ((3, 1), (3, 0), (None, None)):
        asked = question(code, spot, hand)
        assert re.fullmatch(r"(Did|Was|Were) [^{}]+\?", asked)
        assert not any(str(Card(f"{rank}S")) in asked for rank in "A23456789TJQK")
        if "{place}" in QUESTIONS[code]:
            assert {3: "spot 3", None: "the dealer"}[spot] in asked
            assert ("hand 2" in asked) == bool(hand)


@pytest.mark.parametrize(
    ("played", "asked"),
    [
        (f"{WON} pay 1 1000", "Was spot 1 paid 10.00 where 15.00 were due?"),
        (f"{WON} pay 1 -1500", "Were 15.00 taken from spot 1 where 15.00 were due?"),
        (f"{LOST} pay 1 120000", "Was spot 1 paid 1,200.00 where 15.00 were to be taken?"),
        (f"{LOST} pay 1 0", "Was spot 1 settled as a push where 15.00 were to be taken?"),
        (f"{LOST} pay 2 500", "Was spot 2 paid 5.00 where nothing was due?"),
        (
            f"{INSURED} pay 1 -1500",
            "Was the insurance of spot 1 left without the 14.00 that were due?",
        ),
        (
            f"{INSURED} pay 1 -1500; payins 1 700",
            "Was the insurance of spot 1 paid 7.00 where 14.00 were due?",
        ),
    ],
)
def test_a_payment_is_asked_with_its_amounts(played: str, asked: str) -> None:
    assert asked in [asked_of(one) for one in one_round(f"{played}; close").violations]


@pytest.mark.parametrize(
    ("sentence", "asked"),
    [
        (Sentence.HAND_NOT_PAID, "Was spot 1 left without the 15.00 that were due?"),
        (Sentence.HAND_NOT_TAKEN, "Was the lost wager of 15.00 at spot 1 left lying?"),
        (Sentence.INSURANCE_NOT_TAKEN, "Was the lost insurance of 15.00 at spot 1 left lying?"),
    ],
)
def test_a_missing_payment_is_asked_with_its_amount(sentence: Sentence, asked: str) -> None:
    assert question("payment_missing", 1, None, sentence.write(1500)) == asked


def test_a_detail_that_is_withheld_gives_no_amount() -> None:
    assert question("wrong_payout", 1, 0, "withheld") == "Was spot 1 paid wrongly?"


def test_a_code_of_another_version_is_asked_in_its_own_words() -> None:
    assert question("cards_fanned", 2, 0) == "Was there a mistake at spot 2: cards fanned?"


def asked_of(one: Violation) -> str:
    return question(one.code, one.spot, one.hand, one.detail)
