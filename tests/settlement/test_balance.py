"""What a round was due and was paid adds up, wager by wager and in all; so does what is open."""

from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import pytest
from msgspec.structs import replace

from models.events import AnyFact, PaymentMade
from models.judgements import RoundResult, Violation
from models.rulebook import Rulebook
from settlement.balance import ALL_PAID, Balance, balance, bottom_line, payments_in, totals
from settlement.engine import Engine, settle
from settlement.ledger import post
from settlement.sentences import words_and_amounts
from tests.settlement.plain.game import Game, Played
from tests.settlement.plain.houses import any_house, with_hole_card
from tests.settlement.plain.slips import WAYS
from tests.settlement.table import IDS, facts, rules
from tests.settlement.table import rounds as settled_rounds

TABLES = 8
ROUNDS = 25
HOUSES = (*map(rules, IDS), *(with_hole_card(any_house(number)) for number in range(3)))
PAYMENT = ("wrong_payout", "payment_missing")

PLAYED = "bet 1 1000; bet 2 1000; 1 TS; 2 9S; D TC; 1 9C; 2 7C; D 8C down; show D 8C; "
"""Spot 1 wins 10.00 and spot 2 loses 10.00."""
INSURED = "bet 1 1000; 1 TS; D AC; 1 9C; D KC down; ins 1 500; show D KC; "
"""Spot 1 loses 10.00 and its insurance wins 10.00."""


def one(text: str, name: str = "kansas-shoe", *settings: str) -> tuple[RoundResult, Balance]:
    (result,) = settled_rounds(text, name, *settings)
    return result, balance(result, payments_in(facts(text)))


def said(text: str, name: str = "kansas-shoe", *settings: str) -> list[tuple[str, ...]]:
    """Return the bottom line of each mistake of a round."""
    result, found = one(text, name, *settings)
    return [bottom_line(found, mistake) for mistake in result.violations]


# --- examples -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("payments", "lines"),
    [
        pytest.param(
            "pay 2 -1000; pay 1 500",
            [("spot 1 is still owed 5.00", "the house kept 5.00 where 0.00 were due")],
            id="underpaid",
        ),
        pytest.param(
            "pay 2 -1000; pay 1 1500",
            [("spot 1 has 5.00 too much", "the house paid 5.00 where 0.00 were due")],
            id="overpaid",
        ),
        pytest.param(
            "pay 2 -500; pay 1 1000",
            [("spot 2 has 5.00 too much", "the house paid 5.00 where 0.00 were due")],
            id="taken-too-little",
        ),
        pytest.param(
            "pay 2 -1000; close",
            [("spot 1 is still owed 10.00", "the house kept 10.00 where 0.00 were due")],
            id="not-paid",
        ),
        pytest.param(
            "pay 2 -500; pay 1 500",
            [
                ("spot 2 has 5.00 too much", "in all the house kept what it was due"),
                ("spot 1 is still owed 5.00", "in all the house kept what it was due"),
            ],
            id="one-has-what-another-lacks",
        ),
        pytest.param(
            "pay 3 500; pay 2 -1000; pay 1 1000",
            [("spot 3 has 5.00 too much", "the house paid 5.00 where 0.00 were due")],
            id="no-wager-there",
        ),
        pytest.param("pay 2 -1000; pay 1 500; close; pay 1 500", [], id="recovered"),
        pytest.param(
            "pay 2 -1000; pay 1 500; close; pay 1 200",
            [("spot 1 is still owed 3.00", "the house kept 3.00 where 0.00 were due")],
            id="recovered-in-part",
        ),
    ],
)
def test_a_wrong_payment_says_who_is_owed_what(payments: str, lines: list[tuple[str, ...]]) -> None:
    assert said(PLAYED + payments) == lines


def test_the_house_is_told_what_it_kept() -> None:
    text = "bet 1 1500; bet 2 8000; 1 TS; 2 9S; D TC; 1 9C; 2 7C; D 8C down; show D 8C; "
    (lines,) = said(text + "pay 2 -8000; pay 1 1000; close")
    assert lines == ("spot 1 is still owed 5.00", "the house kept 70.00 where 65.00 were due")
    _, found = one(text.replace("bet 2 8000", "bet 2 500") + "pay 2 -500; pay 1 0; close")
    assert found.says[0] == "the house kept 5.00 where it had to pay 10.00"
    _, found = one(text.replace("bet 2 8000", "bet 2 2000") + "pay 2 -2000; pay 1 3000; close")
    assert found.says[0] == "the house paid 10.00 where it was due 5.00"


def test_an_insurance_is_told_from_its_hand() -> None:
    wrong = said(INSURED + "payins 1 500; pay 1 -1000; close")
    assert [line for line, _ in wrong] == ["the insurance of spot 1 is still owed 5.00"]
    both = said(INSURED + "payins 1 500; pay 1 -900; close")
    assert sorted(line for line, _ in both) == [
        "spot 1 has 1.00 too much",
        "the insurance of spot 1 is still owed 5.00",
    ]
    missing = said(INSURED + "pay 1 -1000; close")
    assert [line for line, _ in missing] == ["the insurance of spot 1 is still owed 10.00"]


def test_a_payment_after_the_close_recovers_a_difference() -> None:
    for payments, says in (
        ("pay 1 500; close; pay 1 500", "spot 1 was owed 5.00 at the close and got it later"),
        (
            "pay 1 1500; close; pay 1 -500",
            "spot 1 had 5.00 too much at the close and gave it back later",
        ),
    ):
        _, found = one(PLAYED + "pay 2 -1000; " + payments)
        assert [line.says for line in found.lines if line.says] == [says]
        assert (found.underpaid, found.overpaid, found.recovered) == (0, 0, 500)
        assert found.says == (ALL_PAID, says)
    _, found = one(PLAYED + "close; pay 2 -1000; pay 1 1000")
    assert found.recovered == 0, "nobody saw any payment at the close"


def test_a_round_without_a_payment_has_no_difference() -> None:
    result, found = one(PLAYED + "close")
    assert [line.paid for line in found.lines] == [None, None]
    assert (found.paid, found.difference) == (None, None)
    assert found.says == ("payments were not observed",)
    assert totals([(result.status, found)]).unobserved == 1


def test_a_push_left_alone_is_paid_as_due() -> None:
    _, found = one(PLAYED.replace("1 9C", "1 8H") + "pay 2 -1000; close")
    assert [(line.due, line.paid, line.difference) for line in found.lines] == [
        (0, 0, 0),
        (-1000, -1000, 0),
    ]


def test_chips_of_an_option_that_does_not_stand_are_not_owed() -> None:
    doubled = "bet 1 1000; 1 TS; D 6C; 1 6H; D TC down; double 1 1000; 1 3S; show D TC; D 5H; "
    settings = ("double_on=10-11", "policy.illegal_option=void")
    result, found = one(doubled + "pay 1 -1000; close", "kansas-shoe", *settings)
    mistakes = {mistake.code: bottom_line(found, mistake) for mistake in result.violations}
    assert mistakes == {"double_total_not_allowed": ("what was due there was paid",)}
    result, found = one(doubled + "pay 1 -2000; close", "kansas-shoe", *settings)
    for mistake in result.violations:
        assert bottom_line(found, mistake)[0] == "spot 1 is still owed 10.00"
    assert {mistake.code for mistake in result.violations} == {
        "double_total_not_allowed",
        "wrong_payout",
    }


def test_a_mistake_that_is_not_about_money_has_no_bottom_line() -> None:
    assert said("bet 1 1000; 1 TS; D TC; 1 9C; D 7C down; show D 7C; D 2H; pay 1 1000; close") == [
        ()
    ]


def test_a_round_under_review_is_in_no_total() -> None:
    text = PLAYED + "pay 2 -1000; pay 1 500; close"
    result, certain = one(text)
    suspected = replace(result, status="review")
    found = balance(suspected, payments_in(facts(text)))
    assert (found.underpaid, found.overpaid) == (0, 0)
    assert not any(line.says for line in found.lines)
    assert all(bottom_line(found, mistake) == () for mistake in suspected.violations)
    both = totals([("review", found), ("final", certain)])
    assert (both.underpaid, both.to_decide, both.rounds) == (500, 1, 1)


def test_a_hand_that_is_not_settled_is_in_no_total() -> None:
    text = "bet 1 1000; bet 2 1000; 1 ??; 2 TC; D AS; 1 9C; 2 6C; D 7S down; show D 7S; "
    result, found = one(text + "pay 2 -500; pay 1 -1000; close")
    assert result.status == "pending"
    assert [line.difference for line in found.lines] == [None, 500]
    assert (found.due, found.difference, found.overpaid) == (None, None, 500)
    assert found.says == ("not every hand is settled",)


# --- any round ----------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Round:
    result: RoundResult
    facts: tuple[AnyFact, ...]

    def balance(self) -> Balance:
        return balance(self.result, payments_in(self.facts))


def played(game: Game, rounds: Iterator[Played]) -> Iterator[Round]:
    """Yield each round of a table as settled, once no payment can join it."""
    engine, waiting = Engine(game.rules, patient=True), deque[Played]()
    for one_played in rounds:
        waiting.append(one_played)
        for seq, fact in enumerate(one_played.facts, one_played.first):
            for result in engine.feed(fact, seq):
                yield Round(result, waiting.popleft().facts)
    for result in engine.finish():
        yield Round(result, waiting.popleft().facts)


def legal() -> Iterator[Round]:
    for house in HOUSES:
        for number in range(TABLES):
            game = Game(house, f"{house.id}:balance:{number}")
            yield from played(game, game.rounds(ROUNDS))


def mistaken() -> Iterator[Round]:
    for code, way in WAYS.items():
        for house in HOUSES:
            if way.possible(house, code):
                game = way(house, house.id, code)
                yield from played(game, game.rounds_until_made())


@pytest.mark.parametrize("every", [legal, mistaken])
def test_due_and_difference_make_what_was_paid(every: Callable[[], Iterator[Round]]) -> None:
    known = 0
    for round_ in every():
        found = round_.balance()
        sums = [(line.due, line.paid, line.difference) for line in found.lines]
        for due, paid, difference in (*sums, (found.due, found.paid, found.difference)):
            if difference is not None:
                assert due is not None
                assert due + difference == paid
                known += 1
        if None not in [line.difference for line in found.lines]:
            assert found.difference == sum(line.difference or 0 for line in found.lines)
            assert found.difference == found.overpaid - found.underpaid
            assert found.stake == sum(line.stake for line in found.lines)
    assert known > 1000


def test_legal_rounds_leave_nothing_open() -> None:
    seen = 0
    for round_ in legal():
        found = round_.balance()
        assert (found.underpaid, found.overpaid) == (0, 0)
        assert not any(line.difference for line in found.lines)
        seen += found.says[0] == ALL_PAID
    assert seen > 300


def test_a_difference_is_open_where_the_engine_finds_a_payment_wrong_and_only_there() -> None:
    wrong = 0
    for round_ in mistaken():
        found = round_.balance()
        judged = [one for one in round_.result.violations if one.code in PAYMENT]
        places = {(line.spot, line.hand) for line in found.lines if line.difference}
        assert places == {(one.spot, one.hand) for one in judged}
        off = [stated(one) for one in judged]
        assert found.overpaid == sum(one for one in off if one > 0)
        assert found.underpaid == -sum(one for one in off if one < 0)
        for one in judged:
            assert bottom_line(found, one)[0] in {line.says for line in found.lines}
        wrong += len(judged)
    assert wrong > 10


def stated(mistake: Violation) -> int:
    """Return the difference that the engine states in its own words."""
    *_, amount = (part for part in words_and_amounts(mistake.detail) if isinstance(part, int))
    if mistake.code == "wrong_payout":
        return amount
    return amount if "taken" in mistake.detail else -amount


def test_what_is_due_is_what_the_ledger_posts() -> None:
    for round_ in (*legal(), *mistaken()):
        found = round_.balance()
        if found.due is not None:
            tray = [line.amount for line in post(round_.result) if line.account == "tray"]
            assert sum(tray) == -found.due == round_.result.net


def test_a_payment_of_each_difference_after_the_close_leaves_nothing_open() -> None:
    recovered = 0
    for house, round_ in wrongly_paid():
        wrong = round_.balance()
        late = [
            PaymentMade(spot=line.spot, hand=line.hand, kind=line.kind, amount=-line.difference)  # type: ignore[arg-type]
            for line in wrong.lines
            if line.difference
        ]
        settled = next(iter(settle(enumerate((*round_.facts, *late), 1), house)))
        found = balance(settled, payments_in((*round_.facts, *late)))
        assert [one for one in settled.violations if one.code in PAYMENT] == []
        assert (found.underpaid, found.overpaid, found.says[0]) == (0, 0, ALL_PAID)
        assert found.recovered == wrong.underpaid + wrong.overpaid
        recovered += 1
    assert recovered >= 5


def wrongly_paid() -> Iterator[tuple[Rulebook, Round]]:
    """Yield rounds of all kinds of houses that closed with a difference."""
    for code in PAYMENT:
        for house in HOUSES:
            for seed in range(3):
                game = WAYS[code](house, f"{house.id}:late:{seed}", code)
                for round_ in played(game, game.rounds_until_made()):
                    if any(line.difference for line in round_.balance().lines):
                        yield house, round_
