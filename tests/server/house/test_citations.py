"""A verdict quotes the words it rests on, and no others."""

import pytest

from models.judgements import DealerResult, HandResult, RoundResult, SpotResult
from server.house.citations import Book, deciding, passages, settled_by
from server.house.rulebooks import cited
from settlement.clauses import BREAKS
from settlement.rulebooks import overridden


def book(name: str, *settings: str) -> Book:
    sheet = cited(name)
    return Book(sheet, overridden(sheet.rules, settings))


@pytest.mark.parametrize(
    ("sheet", "code", "words"),
    [
        ("kansas-shoe", "dealer_hit_hard_17", "will stand on any total of 17 through 21"),
        ("kansas-shoe", "dealer_hit_18_plus", "will stand on any total of 17 through 21"),
        ("kansas-shoe", "dealer_stood_below_17", "any point total of 16 or less"),
        ("kansas-shoe", "dealer_stood_soft_17", "This is called a “soft 17”"),
        ("casino-shoe", "dealer_hit_hard_17", "17 or more, he MUST stand"),
        ("casino-shoe", "dealer_stood_soft_17", "must hit “soft” 17"),
        ("pitch-double-deck", "dealer_hit_hard_17", "hit soft 17 or less"),
        ("home", "dealer_hit_soft_17", "less than 17 or otherwise stand"),
        ("home", "surrender_vs_dealer_blackjack", "cannot surrender if the dealer has Blackjack"),
        ("home", "card_after_stand", "You stand if you don't want any more cards"),
        ("kansas-shoe", "split_wager_mismatch", "placing an equal amount of chips"),
        ("kansas-shoe", "extra_card_after_double", "only one additional card"),
    ],
)
def test_a_mistake_quotes_the_part_of_the_clause_that_it_breaks(
    sheet: str, code: str, words: str
) -> None:
    (found,) = passages(book(sheet), BREAKS[code], code)
    assert words in found.says


def test_a_hit_on_hard_17_speaks_of_no_soft_17_and_of_no_card_due() -> None:
    found = passages(book("kansas-shoe"), "dealer.draw", "dealer_hit_hard_17")
    quoted = " ".join(one.says for one in found)
    assert "called a “soft 17”" not in quoted
    assert "due card" not in quoted
    after = settled_by(book("kansas-shoe"), "dealer_hit_hard_17")
    assert after is not None
    assert "must be burned" in after.says


def test_a_signal_quotes_the_decision_that_was_shown() -> None:
    detail = "stand shown by verbal; accepted: hand"
    (found,) = passages(book("casino-shoe"), "play.signal", "signal_not_accepted", detail)
    assert "standing is a right-to-left wave" in found.says


def test_what_a_table_sets_otherwise_does_not_rest_on_the_sheets_words() -> None:
    found = passages(book("kansas-shoe", "blackjack_payout=6:5"), "blackjack.pays")
    assert [(one.says, one.origin) for one in found] == [
        ("blackjack_payout = 6:5", "Set for this table; differs from the rulebook")
    ]


def test_a_wrong_payment_rests_on_the_clauses_that_decided_what_was_due() -> None:
    hand = HandResult(
        hand=1, cards=(), burned=(), stake=500, outcome="win", net=500, clauses=("win.pays",)
    )
    result = RoundResult(
        round=1,
        rulebook="kansas-shoe",
        status="final",
        dealer=DealerResult(cards=(), burned=(), total=None, soft=False, outcome="bust"),
        spots=(SpotResult(spot=3, net=500, hands=(hand,), insurance=None),),
        violations=(),
        net=-500,
    )
    assert deciding(result, "payment.due", 3, 1) == ["win.pays"]
    assert deciding(result, "payment.due", 3, 0) == []
    assert deciding(result, "dealer.draw", 3, 1) == []
    assert deciding(result, "payment.due", 3, 1, "side bet pairs: due …") == ["side_bet.pays"]


@pytest.mark.parametrize("code", sorted(BREAKS))
def test_no_citation_of_any_mistake_names_a_file(code: str) -> None:
    for sheet in ("kansas-shoe", "casino-double-deck", "home"):
        found = passages(book(sheet), BREAKS[code], code)
        assert not any(".txt" in f"{one.says}{one.origin}" for one in found)
