"""Clauses 7 to 12 at the tray: what was paid against what was due, in order, and the tray."""

import pytest

from tests.settlement.table import codes, found, nets, one_round, rounds

DEALT = "bet 1 1000; bet 2 1000; bet 3 1000; 1 TS; 2 9S; 3 TH; D TC; 1 TD; 2 9D; 3 7H; D 8S down; "
SHOWN = DEALT + "show D 8S; "
"""20, 18 and 17 against 18: won, tied, lost; eleven facts before the hole card."""


def test_every_wager_paid_or_taken_for_what_it_is_due() -> None:
    assert nets(SHOWN + "close") == [1000, 0, -1000]
    assert found(SHOWN + "pay 3 -1000; pay 2 0; pay 1 1000; close") == []
    assert found(SHOWN + "pay 3 -1000; pay 1 1000; close") == []


@pytest.mark.parametrize(
    ("payments", "expected"),
    [
        pytest.param("pay 3 -1000; pay 1 1500", ("wrong_payout", 14), id="overpaid"),
        pytest.param("pay 3 -1000; pay 1 500", ("wrong_payout", 14), id="underpaid"),
        pytest.param("pay 3 -1000; pay 1 -1000", ("wrong_payout", 14), id="winner-taken"),
        pytest.param("pay 3 0; pay 1 1000", ("wrong_payout", 13), id="loser-left"),
        pytest.param("pay 3 -1000; pay 2 -1000; pay 1 1000", ("wrong_payout", 14), id="push-taken"),
        pytest.param("pay 3 -1000; pay 2 1000; pay 1 1000", ("wrong_payout", 14), id="push-paid"),
        pytest.param("pay 1 1000", ("payment_missing", 14), id="loser-not-taken"),
        pytest.param("pay 3 -1000", ("payment_missing", 14), id="winner-not-paid"),
        pytest.param("pay 4 500; pay 3 -1000; pay 1 1000", ("wrong_payout", 13), id="paid-nobody"),
    ],
)
def test_a_wager_not_settled_for_what_it_is_due(payments: str, expected: tuple[str, int]) -> None:
    assert found(SHOWN + payments + "; close") == [expected]


def test_a_wrong_payout_says_due_paid_and_difference() -> None:
    (violation,) = one_round(SHOWN + "pay 3 -1000; pay 1 1500; close").violations
    assert violation.detail == "due 10.00, paid 15.00, difference 5.00"
    assert (violation.spot, violation.hand, violation.clause) == (1, 0, "payment.due")


NO_WAGER = "{}1 TS; D 6C; 1 TD; D TC down; {}show D TC; D 5S; {}; close"


@pytest.mark.parametrize(
    ("laid", "insured", "paid"),
    [
        pytest.param("", "", "pay 1 500000", id="nothing"),
        pytest.param("", "", "pay 1 -500000", id="nothing-and-taken"),
        pytest.param("side 1 500; ", "", "pay 1 500000", id="side-alone"),
        pytest.param("", "ins 1 500; ", "pay 1 500000", id="insurance-alone"),
        pytest.param("", "", "payins 1 500000", id="insurance-not-laid"),
        pytest.param("", "", "pay 1.3 500000", id="no-such-hand"),
        pytest.param("", "", "pay 4 500000", id="no-such-spot"),
        pytest.param("bet 1 1000; back 1 1000; ", "", "pay 1 500000", id="wager-taken-back"),
    ],
)
def test_what_is_paid_without_a_wager_is_due_nothing(laid: str, insured: str, paid: str) -> None:
    text = NO_WAGER.format(laid, insured, paid)
    wrong = [one for one in one_round(text).violations if one.code == "wrong_payout"]
    amount = "-5,000.00" if "-" in paid else "5,000.00"
    (found_,) = wrong
    assert found_.detail.removeprefix("insurance: ") == (
        f"due 0.00, paid {amount}, difference {amount}"
    )


def test_nothing_paid_without_a_wager_is_no_mistake() -> None:
    assert codes(NO_WAGER.format("", "", "pay 1 0")) == []
    assert codes(NO_WAGER.format("", "", "close")) == []


def test_a_late_payment_without_a_wager_is_found_too() -> None:
    late = NO_WAGER.format("", "", "close; pay 1 700").removesuffix("; close")
    assert codes(late) == ["wrong_payout"]


def test_a_payment_in_parts_is_their_sum() -> None:
    assert found(SHOWN + "pay 3 -1000; pay 1 400; pay 1 600; close") == []


def test_without_payments_observed_none_is_missing() -> None:
    assert found(SHOWN + "close") == []


def test_an_insurance_is_an_account_of_its_own() -> None:
    text = "bet 1 1000; 1 TS; D AC; 1 9D; D KC down; ins 1 500; peek yes; show D KC; pay 1 -1000; "
    assert codes(text + "payins 1 1000; close") == []
    assert codes(text + "payins 1 500; close") == ["wrong_payout"]
    assert codes(text + "close") == ["payment_missing"]


def test_each_split_hand_is_paid_for_itself() -> None:
    text = (
        "bet 1 1000; 1 8S; D 6C; 1 8D; D TC down; say-split 1; split 1.1 1000; 1 TS; 1.1 TD; "
        "show D TC; D 9S; pay 1.1 1000; pay 1 {}; close"
    )
    assert codes(text.format(1000)) == []
    (violation,) = one_round(text.format(2000)).violations
    assert (violation.code, violation.hand) == ("wrong_payout", 0)


# --- order --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("payments", "expected"),
    [
        pytest.param("pay 3 -1000; pay 2 0; pay 1 1000", [], id="right-to-left"),
        pytest.param("pay 1 1000; pay 2 0; pay 3 -1000", [("settle_order", 14)], id="reversed"),
        pytest.param("pay 3 -1000; pay 1 1000; pay 2 0", [("settle_order", 15)], id="one-late"),
        pytest.param("pay 3 -1000; pay 1 500; pay 1 500", [], id="paid-on"),
    ],
)
def test_settling_runs_from_the_dealers_right(
    payments: str, expected: list[tuple[str, int]]
) -> None:
    assert found(SHOWN + payments + "; close") == expected
    assert codes(SHOWN + payments + "; close", "kansas-shoe", "settle_order=any") == []


def test_breaks_are_taken_in_turn_as_a_pass_of_their_own() -> None:
    text = (
        "bet 1 1000; bet 2 1000; 1 TS; 2 9S; D TC; 1 6D; 2 7D; D 8S down; "
        "1 KS; pay 1 -1000; 2 KD; pay 2 -1000; show D 8S; close"
    )
    assert found(text) == []


def test_blackjacks_paid_early_are_a_pass_of_their_own() -> None:
    text = (
        "bet 1 1000; bet 2 1000; 1 AS; 2 9S; D 9C; 1 KD; 2 9D; D 8S down; "
        "pay 1 1500; show D 8S; pay 2 1000; close"
    )
    assert found(text) == []


# --- blackjacks ---------------------------------------------------------------------------

NATURAL = "bet 1 1000; 1 AS; D {}; 1 KD; D 8S down; {}; close"


@pytest.mark.parametrize(
    ("up", "settling", "expected"),
    [
        pytest.param("9C", "pay 1 1500; show D 8S", [], id="at-once-against-a-nine"),
        pytest.param("TC", "pay 1 1500; show D 8S", ["blackjack_paid_early"], id="ten"),
        pytest.param("AC", "pay 1 1500; show D 8S", ["blackjack_paid_early"], id="ace"),
        pytest.param("TC", "peek no; pay 1 1500; show D 8S", [], id="ten-after-looking"),
        pytest.param("TC", "show D 8S; pay 1 1500", [], id="ten-when-shown"),
        pytest.param("TC", "show D 8S; pay 1 1000", ["wrong_payout"], id="paid-one-to-one"),
    ],
)
def test_a_blackjack_is_paid_when_the_hole_card_is_known(
    up: str, settling: str, expected: list[str]
) -> None:
    assert codes(NATURAL.format(up, settling)) == expected


@pytest.mark.parametrize(
    ("name", "net"),
    [("kansas-shoe", 1500), ("casino-single-deck", 1200), ("casino-double-deck", 1500)],
)
def test_a_blackjack_pays_the_posted_odds(name: str, net: int) -> None:
    down = " down" if name != "kansas-shoe" else ""
    text = f"bet 1 1000; 1 AS{down}; D 9C; 1 KD{down}; D 8S down; show D 8S; close"
    assert nets(text, name) == [net]


@pytest.mark.parametrize(
    ("settings", "net", "rounded"),
    [
        pytest.param(("payout_unit=1",), 1537, True, id="half-a-cent-down"),
        pytest.param(("payout_unit=1", "payout_rounding=up"), 1538, True, id="half-a-cent-up"),
        pytest.param(("payout_unit=50",), 1500, True, id="half-dollars-down"),
        pytest.param(("payout_unit=50", "payout_rounding=up"), 1550, True, id="half-dollars-up"),
        pytest.param(("blackjack_payout=2:1",), 2050, False, id="nothing-odd"),
    ],
)
def test_odd_cents_follow_the_rulebook(settings: tuple[str, ...], net: int, rounded: bool) -> None:
    text = NATURAL.format("9C", "show D 8S").replace("1000", "1025")
    (spot,) = one_round(text, "kansas-shoe", *settings).spots
    assert spot.net == net
    assert ("payout.rounding" in spot.hands[0].clauses) is rounded


# --- the tray -----------------------------------------------------------------------------

PAID = SHOWN + "pay 3 -1000; pay 1 1500; close; "


def test_the_tray_changes_by_what_is_paid_and_taken() -> None:
    assert codes("tray 100000; " + PAID + "tray 99500") == ["wrong_payout"]
    assert codes("tray 100000; " + PAID + "tray 100000") == ["wrong_payout", "tray_mismatch"]


def test_a_tray_mismatch_says_counted_due_and_difference() -> None:
    (*_, violation) = one_round("tray 100000; " + PAID + "tray 100250").violations
    assert (
        violation.detail == "tray counted at 1,002.50, due 995.00: difference 7.50 "
        "between the counts of entries 1 and 17"
    )
    assert (violation.spot, violation.clause) == (None, "tray.balance")


def test_the_tray_balances_over_several_rounds() -> None:
    text = "tray 100000; " + PAID + PAID
    assert codes(text + "tray 99000").count("tray_mismatch") == 0
    assert codes(text + "tray 99100").count("tray_mismatch") == 1


def test_a_tray_is_not_judged_over_a_round_whose_payments_were_not_seen() -> None:
    assert codes("tray 100000; " + SHOWN + "close; tray 1") == []


def test_a_closing_count_belongs_to_the_round_before_it() -> None:
    first, second = rounds("tray 100000; " + PAID + "tray 100000; " + PAID)
    assert "tray_mismatch" in [found.code for found in first.violations]
    assert [found.code for found in second.violations] == ["wrong_payout"]
