"""A round as a supervisor reads it: what is settled, what is open and why, what went wrong."""

from pathlib import Path

import pytest
from msgspec.structs import replace
from rich.console import Console

from models.judgements import RoundResult
from server.commands.app import run
from server.commands.tables import round_view, totals_line
from server.house.formatting import Formats
from tests.server.evenings import as_file
from tests.server.samples import DEALER_OVERDREW
from tests.settlement.table import facts

SPLIT = "bet 1 1500; 1 8S; D 6D; 1 8D; D TH down; say-split 1 hand; split 1.1 1500; "


def page(text: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], *knobs: str) -> list[str]:
    """Settle a round given in short and return the lines printed, blanks run together."""
    file = as_file(tmp_path / "facts.jsonl", facts(text))
    settings = [part for knob in knobs for part in ("--set", knob)]
    run(["settle", str(file), "--rulebook", "kansas-shoe", *settings])
    return [" ".join(line.split()) for line in capsys.readouterr().out.splitlines()]


def test_hands_of_a_split_are_distinguished(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = SPLIT + "1.0 TS; stand 1.0 hand; 1.1 2S; stand 1.1 verbal; show D TH; D 9C; close"
    lines = page(text, tmp_path, capsys)
    assert "1 1 8♠ 10♠ 15.00 win +15.00 dealer.breaks, win.pays" in lines
    assert "1 2 8♦ 2♠ 15.00 win +15.00 dealer.breaks, win.pays" in lines
    assert any(line.startswith("✗ signal_not_accepted (spot 1, hand 2) ") for line in lines)


def test_an_unknown_card_shows_what_it_decides(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = "bet 1 2500; bet 2 1000; 1 ??; 2 TC; D AS; 1 9C; 2 6C; D 7S down; show D 7S; close"
    lines = page(text, tmp_path, capsys)
    assert "1 1 ?? 9♣ 25.00 unknown open unknown card, see below" in lines
    assert "? spot 1: win +25.00 if the hand's unknown card is an ace or a ten" in lines
    assert "2 1 10♣ 6♣ 10.00 lose -10.00 lose.takes" in lines
    assert any(line.startswith("open 1 round not final") for line in lines)
    (money,) = (line for line in lines if line.startswith("money "))
    assert money.endswith("settled hands only")


def test_a_card_that_was_due_is_named_where_the_hand_waits_for_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = "bet 1 1000; 1 TS; D 6C; 1 9C; D 5S down; show D 5S; close"
    lines = page(text, tmp_path, capsys)
    assert "1 1 10♠ 9♣ 10.00 pending open a card is due: dealer.draw" in lines
    assert "1 dealer_stood_below_17 Draw to 16" in " ".join(lines[-1].split()[:5])


def test_insurance_has_a_line_of_its_own(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = "bet 1 1000; 1 TS; D AC; 1 9D; D KC down; ins 1 500; show D KC; close"
    lines = page(text, tmp_path, capsys)
    assert "1 1 10♠ 9♦ 10.00 lose -10.00 dealer.blackjack" in lines
    assert "1 insurance 5.00 +10.00" in lines
    assert lines[-3] == "money wagered 15.00 paid 10.00 taken 10.00 house 0.00 hold 0.00%"
    assert lines[-1] == "went wrong 0 mistakes"


UNDERPAID = "bet 1 1500; 1 TS; D TC; 1 9C; D 8C down; show D 8C; {}pay 1 1000; close"


def test_a_wrong_payment_is_followed_by_what_it_came_to(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    lines = page(UNDERPAID.format(""), tmp_path, capsys)
    at = next(n for n, line in enumerate(lines) if line.startswith("✗ wrong_payout"))
    assert lines[at + 1] == "Spot 1 is still owed 5.00; the house paid 10.00 where 15.00 were due"
    assert "balance the house still owes 5.00" in lines
    recovered = page(UNDERPAID.format("") + "; pay 1 500", tmp_path, capsys)
    assert "balance everything due was paid" in recovered
    assert not any("still owe" in line for line in recovered)


def test_the_balance_says_what_it_does_not_count(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    unseen = "bet 1 1500; 1 TS; D TC; 1 9C; D 8C down; show D 8C; close; "
    assert "balance payments were not observed" in page(unseen, tmp_path, capsys)
    lines = page(unseen + UNDERPAID.format(""), tmp_path, capsys)
    left_out = "(not counted: 1 round without an observed payment)"
    assert f"balance the house still owes 5.00 {left_out}" in lines


def test_burned_cards_stand_apart_from_the_total_that_does_not_count_them(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    dealt = "bet 1 1500; 1 TS; D TC; 1 9C; D 7C down; "
    text = dealt + "stand 1 hand; 1 3D; show D 7C; D 2H; pay 1 1500; close"
    lines = page(text, tmp_path, capsys)
    assert "dealer 10♣ 7♣; 2♥ burned, not counted 17 stand" in lines
    assert "1 1 10♠ 9♣; 3♦ burned, not counted 15.00 win +15.00 win.pays" in lines


def test_odd_cents_are_shown_beside_what_is_paid(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = "bet 1 1025; 1 AS; D 9C; 1 KD; D 8C down; show D 8C; close"
    lines = page(text, tmp_path, capsys, "payout_unit=100")
    assert "¢ spot 1: the odds give 15.37 1/2, 15.00 is paid in whole chips" in lines
    assert "odd cents 1 payout in whole chips, 0.37 1/2 kept back in all" in lines
    up = page(text, tmp_path, capsys, "payout_unit=100", "payout_rounding=up")
    assert "odd cents 1 payout in whole chips, 0.62 1/2 added in all" in up


def in_review(result: RoundResult) -> RoundResult:
    return replace(result, round=result.round + 1, status="review", reviews=())


def totals(*rounds: RoundResult) -> str:
    return " ".join(totals_line(rounds, Formats()).plain.split())


def test_the_totals_count_suspected_mistakes_apart_from_certain_ones() -> None:
    assert "1 mistake 0 not final" in totals(DEALER_OVERDREW)
    under_review = totals(in_review(DEALER_OVERDREW))
    assert "0 mistakes 1 suspected mistake to decide 1 not final" in under_review
    both = totals(DEALER_OVERDREW, in_review(DEALER_OVERDREW))
    assert "1 mistake 1 suspected mistake to decide 1 not final" in both


def test_the_totals_show_over_how_many_settled_rounds_the_house_gained() -> None:
    gain = Formats().signed(DEALER_OVERDREW.net)
    both = totals(DEALER_OVERDREW, in_review(DEALER_OVERDREW))
    assert f"2 rounds house {gain} over 1 settled round 1 mistake" in both
    assert "house 0.00 over 0 settled rounds" in totals(in_review(DEALER_OVERDREW))
    assert "settled round" not in totals(DEALER_OVERDREW)


def test_a_mistake_in_a_round_under_review_is_printed_as_a_question() -> None:
    console = Console(width=200)
    with console.capture() as captured:
        console.print(round_view(in_review(DEALER_OVERDREW), Formats()))
        console.print(round_view(DEALER_OVERDREW, Formats()))
    lines = [line.strip() for line in captured.get().splitlines()]
    asked = "? suspected mistake: Did the dealer draw on hard 17? dealer_hit_hard_17 (dealer) "
    assert sum(line.startswith(asked) for line in lines) == 1
    assert sum(line.startswith("✗ dealer_hit_hard_17 (dealer) ") for line in lines) == 1


def test_the_gain_of_a_round_under_review_is_not_stated_as_final() -> None:
    def heading(result: RoundResult) -> str:
        console = Console(width=200)
        with console.capture() as captured:
            console.print(round_view(result, Formats()))
        return captured.get().splitlines()[0]

    gain = Formats().signed(DEALER_OVERDREW.net)
    assert heading(DEALER_OVERDREW).rstrip().endswith(f"house {gain}")
    under_review = in_review(DEALER_OVERDREW)
    assert heading(under_review).rstrip().endswith(f"house {gain} if the review confirms it")
    assert "house 0.00" in totals(under_review)
