"""Chips beside a hand's own wager: other bettors, tokes, coupons and side bets; and the tray."""

from typing import Any

import pytest

from models.judgements import RoundResult, SpotResult
from settlement.ledger import post
from tests.settlement.table import codes, found, nets, one_round, rounds

TWENTY = "bet 1 1000; {} 1 TS; D 8H; 1 TD; D TH down; stand 1; show D TH; pay 1 1000; {}close"
BLACKJACK = "bet 1 505; {} 1 AS; D 8H; 1 TD; D TH down; show D TH; {}close"
NINETEEN = "bet 1 1000; {} 1 TS; D TC; 1 9D; D {} down; stand 1; {}"


def spot(result: RoundResult) -> SpotResult:
    (only,) = result.spots
    return only


def bettors(text: str, *house: str) -> dict[str | None, int | None]:
    return {one.bettor: one.net for one in spot(one_round(text, *house)).bettors or ()}


def tray(result: RoundResult) -> int:
    return sum(line.amount for line in post(result) if line.account == "tray")


# --- other bettors ------------------------------------------------------------------------


def test_each_bettors_blackjack_is_rounded_by_itself() -> None:
    text = BLACKJACK.format("bet 1 505 @ANN;", "pay 1 757; pay 1 757 @ANN; ")
    result = one_round(text)
    assert (bettors(text), result.net, codes(text)) == ({None: 757, "ANN": 757}, -1514, [])
    assert spot(result).hands[0].net == 1514


@pytest.mark.parametrize("paid", [756, 758, -505])
def test_each_bettor_is_paid_by_himself(paid: int) -> None:
    text = BLACKJACK.format("bet 1 505 @ANN;", f"pay 1 757; pay 1 {paid} @ANN; ")
    (mistake,) = one_round(text).violations
    assert (mistake.code, mistake.detail.partition(":")[0]) == ("wrong_payout", "ANN")


def test_a_payment_that_names_no_bettor_is_for_all() -> None:
    assert codes(BLACKJACK.format("bet 1 505 @ANN;", "pay 1 1514; ")) == []
    assert codes(BLACKJACK.format("bet 1 505 @ANN;", "pay 1 757; ")) == ["wrong_payout"]


def test_a_bettor_who_is_not_paid_is_named() -> None:
    text = "bet 1 1000; bet 2 500; bet 2 500 @ANN; bet 2 500 @BOB; 1 TS; 2 TC; D 8H; 1 TD; 2 TD; "
    text += "D TH down; stand 1; stand 2; show D TH; pay 2 500; pay 2 500 @BOB; pay 1 1000; close"
    (mistake,) = one_round(text).violations
    assert (mistake.code, mistake.detail) == (
        "payment_missing",
        "ANN not settled: 5.00 should have been paid",
    )


SPLIT = "bet 1 1000; bet 1 700 @ANN; 1 8S; D 6H; 1 8D; D TD down; say-split 1; split 1.1 1000; {}"
SPLIT += "1 TC; stand 1; 1.1 TH; stand 1.1; show D TD; D 9C; close"


def test_a_bettor_may_let_a_split_go_by() -> None:
    assert (bettors(SPLIT.format("")), codes(SPLIT.format(""))) == ({None: 2000, "ANN": 700}, [])
    assert bettors(SPLIT.format("split 1.1 700 @ANN; ")) == {None: 2000, "ANN": 1400}
    assert codes(SPLIT.format("split 1.1 600 @ANN; ")) == ["split_wager_mismatch"]


DOUBLE = "bet 1 1000; bet 1 700 @ANN; 1 6S; D 6H; 1 5D; D TD down; double 1 1000; {}"
DOUBLE += "1 TC; show D TD; D 9C; close"


def test_a_bettor_may_let_a_double_go_by() -> None:
    assert (bettors(DOUBLE.format("")), codes(DOUBLE.format(""))) == ({None: 2000, "ANN": 700}, [])
    assert bettors(DOUBLE.format("double 1 700 @ANN; ")) == {None: 2000, "ANN": 1400}
    assert codes(DOUBLE.format("double 1 900 @ANN; ")) == ["double_over_original"]
    strict = ("kansas-shoe", "double_for_less=false")
    assert codes(DOUBLE.format("double 1 600 @ANN; "), *strict) == ["double_for_less_not_allowed"]


def test_a_bettor_insures_his_own_wager() -> None:
    text = "bet 1 1000; bet 1 700 @ANN; 1 TS; D AH; 1 TD; D TC down; ins 1 {} @ANN; show D TC; "
    assert bettors(text.format(350) + "close") == {None: -1000, "ANN": 0}
    assert codes(text.format(350) + "payins 1 700 @ANN; pay 1 -1000; pay 1 -700 @ANN; close") == []
    assert codes(text.format(500) + "close") == ["insurance_over_half"]
    assert bettors(text.format(500) + "close") == {None: -1000, "ANN": 0}


def test_a_bettor_loses_half_of_his_own_wager_by_a_surrender() -> None:
    text = "bet 1 1005; bet 1 701 @ANN; 1 TS; D TH; 1 6D; D 9C down; surrender 1; show D 9C; close"
    assert bettors(text, "casino-shoe") == {None: -503, "ANN": -351}


def test_a_bettor_doubles_only_with_the_spots_own_player() -> None:
    text = DOUBLE.replace("double 1 1000; {}", "double 1 700 @ANN; ").replace(
        "show D", "stand 1; show D", 1
    )
    assert (bettors(text), codes(text)) == (
        {None: 1000, "ANN": 700},
        ["stake_increased_after_deal"],
    )
    together = DOUBLE.replace("double 1 1000; {}", "double 1 700 @ANN; double 1 1000; ")
    assert (bettors(together), codes(together)) == ({None: 2000, "ANN": 1400}, [])


def test_a_bettor_insures_no_wager_that_he_does_not_have() -> None:
    text = "bet 1 1000; 1 TS; D AH; 1 TD; D TC down; ins 1 300 @ANN; show D TC; close"
    assert (codes(text), nets(text)) == (["wager_after_deal"], [-1000])


@pytest.mark.parametrize(("hole", "main"), [("TC", 0), ("9C", 1050)])
def test_a_bettor_who_insured_his_blackjack_takes_no_even_money(hole: str, main: int) -> None:
    text = f"bet 1 1000; bet 1 700 @ANN; 1 TS; D AH; 1 AD; D {hole} down; even_money 1; "
    text += f"ins 1 350 @ANN; show D {hole}; close"
    house = ("kansas-shoe", "even_money=true")
    (own, ann) = spot(one_round(text, *house)).bettors or ()
    assert (own.net, ann.net, ann.wagers[0].net) == (1000, 700, main)


@pytest.mark.parametrize(
    ("wagers", "code"),
    [
        ("bet 1 1000; bet 1 499 @ANN", "below_table_min"),
        ("bet 1 1000; bet 1 5001 @ANN", "above_table_max"),
        ("bet 1 499 @ANN", "below_table_min"),
    ],
)
def test_the_tables_limits_hold_for_each_bettors_wager(wagers: str, code: str) -> None:
    text = wagers + "; 1 TS; D 8H; 1 TD; D TH down; stand 1; show D TH; close"
    assert codes(text, "kansas-shoe", "table_max=5000") == [code]
    within = text.replace("499", "500").replace("5001", "5000")
    assert codes(within, "kansas-shoe", "table_max=5000") == []


def test_a_bettor_alone_on_a_spot_doubles_it() -> None:
    text = "bet 1 700 @ANN; 1 6S; D 6H; 1 6D; D TD down; double 1 700 @ANN; 1 4C; 1 2C; show D TD; "
    text += "D 9C; close"
    assert bettors(text) == {"ANN": 1400}
    assert codes(text) == ["extra_card_after_double"]


def test_a_bettor_alone_on_a_spot_comes_into_the_shoe_with_his_wager() -> None:
    deal = "1 TS; D 8H; 1 TD; D TH down; stand 1; show D TH; close; "
    text = "shoe 2; open 1; bet 1 1000; " + deal + "open 2; bet 2 1000 @ANN; "
    text += deal.replace("1 T", "2 T").replace("stand 1", "stand 2")
    house = ("pitch-double-deck", "player_cards=up")
    assert found(text, *house) == [("mid_shoe_entry", 12)]


def test_a_bettor_alone_on_a_spot_plays_it() -> None:
    text = "bet 1 1000 @ANN; 1 TS; D 8H; 1 TD; D TH down; stand 1; show D TH; pay 1 1000 @ANN; "
    assert (bettors(text + "close"), codes(text + "close")) == ({"ANN": 1000}, [])


def test_the_spots_own_player_by_name_is_no_other_bettor() -> None:
    text = "seat ANN 1; bet 1 1000; bet 1 500 @ANN; " + TWENTY.format("", "").split("; ", 1)[1]
    result = one_round(text.replace("pay 1 1000", "pay 1 1500 @ANN"))
    assert (spot(result).bettors or None, result.net, result.violations) == (None, -1500, ())


@pytest.mark.parametrize(
    ("late", "code"),
    [
        ("bet 1 500 @ANN; ", "wager_after_deal"),
        ("toke 1 500; ", "wager_after_deal"),
        ("coupon 1 500; ", "wager_after_deal"),
        ("bet 2 500 @ANN; ", "wager_after_deal"),
    ],
)
def test_chips_laid_after_the_deal_do_not_count(late: str, code: str) -> None:
    text = TWENTY.format("", "").replace("stand 1", late + "stand 1")
    assert (codes(text), nets(text)) == ([code], [1000])


def test_a_bettor_takes_chips_back_before_the_deal_only() -> None:
    text = TWENTY.format("bet 1 500 @ANN; back 1 500 @ANN;", "")
    assert (codes(text), nets(text)) == ([], [1000])
    late = TWENTY.format("bet 1 500 @ANN;", "pay 1 500 @ANN; ")
    late = late.replace("stand 1", "back 1 500 @ANN; stand 1")
    assert (codes(late), nets(late)) == (["stake_reduced_after_deal"], [1500])
    off = late.replace("back", "take-off").replace("pay 1 500 @ANN; ", "")
    assert (codes(off), nets(off)) == ([], [1000])


def test_a_hand_called_off_returns_every_bettors_wager() -> None:
    text = TWENTY.format("bet 1 500 @ANN; toke 1 100; coupon 1 200;", "").partition("stand 1")[0]
    for off in ("off 1; close", "off; close", "stand 1; show D TH; close; off 1", "close; off"):
        result = one_round(text + off)
        assert bettors(text + off) == {None: 0, "ANN": 0}
        assert (result.net, result.status, tray(result)) == (0, "final", 0)
        assert spot(result).toke.net == 0  # type: ignore[union-attr]


def test_an_unread_card_leaves_every_bettor_open() -> None:
    text = "bet 1 1000; bet 1 500 @ANN; 1 TS; D 8H; 1 ??; D TH down; stand 1; show D TH; close"
    assert bettors(text) == {None: None, "ANN": None}
    ways = {(way.outcome, way.net) for way in spot(one_round(text)).hands[0].possible or ()}
    assert {("win", 1500), ("lose", -1500)} <= ways


# --- tokes --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("dealer", "net"),
    [("8C", 500), ("9C", 0), ("KC", -500)],
)
def test_a_toke_goes_as_its_hand_and_counts_nowhere_else(dealer: str, net: int) -> None:
    text = NINETEEN.format("toke 1 500;", dealer, f"show D {dealer}; close")
    result = one_round(text)
    assert spot(result).toke.net == net  # type: ignore[union-attr]
    assert spot(result).net == 2 * net == -(result.net or 0)
    assert tray(result) == -3 * net


def test_a_toke_on_a_blackjack_and_beside_a_double() -> None:
    text = BLACKJACK.format("toke 1 500;", "pay 1 757; pay-toke 1 750; ")
    assert (codes(text), spot(one_round(text)).toke.net) == ([], 750)  # type: ignore[union-attr]
    double = DOUBLE.replace("bet 1 700 @ANN", "toke 1 300")
    assert spot(one_round(double.format(""))).toke.net == 300  # type: ignore[union-attr]
    more = double.format("toke 1 300; ")
    assert (codes(more), spot(one_round(more)).toke.net) == ([], 600)  # type: ignore[union-attr]


def test_a_toke_that_names_a_side_bet_is_the_hands_toke() -> None:
    text = TWENTY.format("toke 1 500 %pairs;", "pay-toke 1 500; ")
    assert (spot(one_round(text)).toke.net, codes(text)) == (500, [])  # type: ignore[union-attr]


def test_a_toke_is_paid_for_what_it_is_due() -> None:
    assert codes(TWENTY.format("toke 1 500;", "pay-toke 1 500; ")) == []
    (mistake,) = one_round(TWENTY.format("toke 1 500;", "pay-toke 1 400; ")).violations
    assert mistake.detail == "toke: due 5.00, paid 4.00, difference -1.00"
    assert codes(TWENTY.format("toke 1 500;", "")) == ["payment_missing"]
    assert codes(TWENTY.format("", "pay-toke 1 500; ")) == ["wrong_payout"]


# --- coupons ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("dealer", "net", "taken"),
    [("8C", 700, True), ("9C", 0, False), ("KC", 0, True)],
)
def test_a_coupon_pays_with_its_hand_and_costs_nothing(dealer: str, net: int, taken: bool) -> None:
    text = NINETEEN.format("coupon 1 700;", dealer, f"show D {dealer}; close")
    (coupon,) = spot(one_round(text)).coupons or ()
    assert (coupon.net, coupon.taken) == (net, taken)
    always: tuple[Any, ...] = ("kansas-shoe", "coupon_taken=always")
    (coupon,) = spot(one_round(text, *always)).coupons or ()
    assert coupon.taken


def test_what_a_coupon_pays_on_a_blackjack_is_the_houses() -> None:
    text = BLACKJACK.format("coupon 1 1000;", "pay 1 757; pay-coupon 1 {}; ")
    assert codes(text.format(1000)) == []
    assert codes(text.format(1500), "kansas-shoe", "coupon=as_wager") == []
    assert codes(text.format(1500)) == ["wrong_payout"]


def test_a_house_may_take_no_coupons() -> None:
    text = TWENTY.format("coupon 1 1000;", "")
    none = ("kansas-shoe", "coupon=none")
    assert (codes(text, *none), nets(text, *none)) == (["side_wager_prohibited"], [1000])
    paid = TWENTY.format("coupon 1 1000;", "pay-coupon 1 1000; ")
    assert codes(paid, *none) == ["side_wager_prohibited", "wrong_payout"]


# --- side bets that no rulebook declares ----------------------------------------------------


def test_an_undeclared_side_bet_is_unjudged_and_its_payment_shown() -> None:
    text = TWENTY.format("side 1 500 %lucky;", "pay-side 1 2500 %lucky; ")
    result = one_round(text)
    (side,) = spot(result).side or ()
    assert (side.bet, side.stake, side.outcome, side.net, side.paid) == (
        "lucky",
        500,
        "unjudged",
        None,
        2500,
    )
    assert (result.status, result.net, result.violations) == ("final", -1000, ())


def test_a_side_bet_paid_where_none_lies_is_wrong() -> None:
    assert codes(TWENTY.format("", "pay-side 1 500000 %lucky; ")) == ["wrong_payout"]


def test_a_house_without_side_wagers_takes_none() -> None:
    text = TWENTY.format("side 1 500 %lucky;", "")
    assert codes(text, "kansas-shoe", "side_wagers=false") == ["side_wager_prohibited"]


def test_a_side_payment_alone_says_nothing_of_the_hands() -> None:
    text = TWENTY.format("side 1 500 %lucky;", "pay-side 1 -500 %lucky; ").replace(
        "pay 1 1000;", ""
    )
    assert codes(text) == []


# --- the tray -----------------------------------------------------------------------------


def test_side_bets_tokes_and_coupons_go_through_the_tray() -> None:
    beside = "side 1 500 %lucky; toke 1 100; coupon 1 200;"
    paid = "pay-side 1 -500 %lucky; pay-toke 1 100; pay-coupon 1 200; "
    text = "tray 100000; " + TWENTY.format(beside, paid) + "; tray {}"
    assert codes(text.format(100000 - 1000 + 500 - 100 - 200)) == []
    assert codes(text.format(99000)) == ["tray_mismatch"]


def test_a_side_bet_that_nobody_saw_settled_leaves_the_tray_open() -> None:
    text = "tray 100000; " + TWENTY.format("side 1 500 %lucky;", "") + "; tray 95000; "
    assert codes(text) == []
    assert codes(text + TWENTY.format("", "") + "; tray 94000") == []
    assert codes(text + TWENTY.format("", "") + "; tray 93000") == ["tray_mismatch"]


@pytest.mark.parametrize(
    ("text", "mistakes"),
    [
        ("tray 100000; {} tray 99000; change -20000 buy_in; tray 79000", []),
        ("tray 100000; {} change -20000 buy_in; tray 79000", []),
        ("tray 100000; change 50000 fill; {} tray 149000", []),
        ("change 50000 fill; {} tray 10", []),
        ("tray 10; {} change 50000 fill", []),
        ("tray 100000; {} tray 99000; change -20000 buy_in; tray 78000", ["tray_mismatch"]),
        ("tray 100000; {} tray 99000; tray 79000", ["tray_mismatch"]),
    ],
)
def test_other_chips_into_and_out_of_the_tray(text: str, mistakes: list[str]) -> None:
    assert codes(text.format(TWENTY.format("", "") + ";")) == mistakes


def test_a_round_without_observed_payments_between_two_counts_leaves_them_open() -> None:
    unseen = TWENTY.format("", "").replace("pay 1 1000; ", "")
    assert codes(f"tray 100000; {unseen}; change 50000 fill; tray 1") == []


def test_a_mismatch_names_the_counts_between_which_it_arose() -> None:
    text = (
        "tray 100000; " + TWENTY.format("", "") + "; tray 99000; change -20000 buy_in; tray 78000"
    )
    ((code, seq),) = found(text)
    (mistake,) = [one for result in rounds(text) for one in result.violations]
    assert (code, seq) == ("tray_mismatch", 13)
    assert mistake.detail.endswith("between the counts of entries 11 and 13")


def test_changes_of_the_tray_are_posted_with_the_round_after_them_or_the_last() -> None:
    text = "change 50000 fill; " + TWENTY.format("", "") + "; change -20000 buy_in"
    (result,) = rounds(text)
    assert [one.amount for one in result.tray_changes or ()] == [50000, -20000]
    assert tray(result) == -1000 + 50000 - 20000
    assert sum(line.amount for line in post(result)) == 0
