"""One mistake is one violation, told where it happened, and money follows the sheet all the same.

Each case was met by a random table; the rule is the sheet's.
"""

from tests.settlement.table import codes, found, nets, one_round

FACES_UP = ("dealer_first_card=up", "player_cards=up")


def test_a_burn_between_rounds_of_an_unseen_shoe_is_counted_with_neither() -> None:
    """The decks may have been shuffled before it or after it."""
    text = "bet 1 1000; 1 TS; D TC; 1 TD; D 8S down; show D 8S; close; burn TS; "
    assert codes(text + text, "home", *FACES_UP) == []


def test_even_money_is_the_wager_itself() -> None:
    text = "bet 1 1000; 1 AS; D AC; 1 TD; D 7C down; even_money 1; show D 7C; close"
    assert nets(text, "kansas-shoe", "even_money=true", "win_payout=3:2") == [1000]


def test_a_dealer_who_draws_knows_his_hole_card_though_its_turning_was_not_told() -> None:
    dealt = "bet 1 1000; bet 2 1000; 1 AS; 2 TS; D AC; 1 KD; 2 9D; D 3C down; stand 2; "
    drawn = "D 7C; pay 2 -1000; pay 1 1500; show D 3C; close"
    assert "blackjack_paid_early" not in codes(dealt + drawn)
    early = "pay 1 1500; D 7C; pay 2 -1000; show D 3C; close"
    assert "blackjack_paid_early" in codes(dealt + early)


def test_early_surrender_is_decided_before_the_dealer_looks() -> None:
    text = (
        "bet 1 1000; bet 2 1000; 1 TS; 2 TD; D AC; 1 2D; 2 6D; D 7C down; surrender 2; peek no; "
        "hit 1; 1 5H; stand 1; show D 7C; close"
    )
    assert found(text, "casino-shoe", "surrender=early") == []


def test_one_surplus_card_is_impossible_once() -> None:
    text = (
        "shoe 1; bet 1 1000; 1 2S; D TC; 1 2S; D TD down; 1 2H; 1 2D; 1 2C; 1 9C; show D TD; close"
    )
    assert found(text, "kansas-shoe", "decks=1") == [("impossible_card", 5)]


UNLIKE = "bet 1 1000; 1 {}; D 6C; 1 {}; D TC down; say-split 1; split 1.1 1000; "


def test_an_ace_split_from_another_card_takes_one_card_and_the_other_draws_on() -> None:
    end = "show D TC; D 9S; close"
    ace_first = UNLIKE.format("AS", "5D") + "1 TS; 1.1 2D; 1.1 KD; "
    assert found(ace_first + end) == [("split_not_pair", 6)]


def test_an_ace_split_off_another_card_takes_one_card() -> None:
    ace_second = UNLIKE.format("5S", "AD") + "1 TS; 1 2C; 1.1 2D; 1.1 4S; show D TC; D 9S; close"
    expected = [("split_not_pair", 6), ("extra_card_on_split_ace", 11)]
    assert found(ace_second) == expected


def test_a_broken_hands_wager_taken_in_its_turn_belongs_to_no_pass() -> None:
    text = (
        "bet 1 1000; bet 2 1000; 1 TS; 2 AS; D 9C; 1 6D; 2 KD; D 8S down; "
        "1 KS; pay 1 -1000; pay 2 1500; show D 8S; close"
    )
    assert found(text) == []


def test_standing_short_is_told_after_the_dealers_turn_began() -> None:
    text = (
        "bet 1 1000; bet 2 1000; 1 TS; 2 TD; D TH; 1 6D; 2 9D; D 5C down; "
        "1 KS; pay 1 -1000; stand 2; show D 5C; pay 2 1000; close"
    )
    assert found(text) == [("dealer_stood_below_17", 13)]


def test_a_spot_that_was_dealt_nothing_is_no_hand_to_lose() -> None:
    text = "bet 1 1000; bet 2 1000; 2 9S; D TH; 2 8C; D AC down; show D AC; close"
    assert found(text) == [("spot_skipped", 3)]
    assert nets(text) == [None, -1000]


def test_a_blackjack_paid_early_in_parts_is_one_mistake() -> None:
    text = "bet 1 1000; 1 AS; D TC; 1 KD; D 8S down; pay 1 1000; pay 1 500; show D 8S; close"
    assert found(text) == [("blackjack_paid_early", 6)]


def test_a_split_hand_served_too_soon_is_told_once() -> None:
    text = (
        "bet 1 1000; 1 8S; D TH; 1 8D; D 7C down; say-split 1; split 1.1 1000; 1.1 3S; "
        "1 8C; say-split 1; split 1.2 1000; 1 TS; 1.2 TD; 1.1 TC; show D 7C; close"
    )
    assert found(text) == [("split_hand_order", 8)]


VOID = "policy.illegal_option=void"


def test_void_insurance_is_void_in_all_its_parts() -> None:
    text = "bet 1 1000; 1 TS; D TC; 1 9D; D 7C down; ins 1 200; ins 1 300; show D 7C; close"
    assert found(text, "kansas-shoe", VOID) == [("insurance_not_offered", 6)]
    assert nets(text, "kansas-shoe", VOID) == [1000]


def test_a_void_late_surrender_does_not_stand_against_a_blackjack() -> None:
    text = "bet 1 1000; 1 TS; D AC; 1 6D; D TC down; surrender 1; show D TC; close"
    assert found(text, "casino-shoe", VOID) == [("surrender_vs_dealer_blackjack", 6)]
    assert nets(text, "casino-shoe", VOID) == [-1000]


def test_a_card_drawn_on_a_blackjack_does_not_unmake_it() -> None:
    text = "bet 1 1000; 1 TS; D AC; 1 9D; D KC down; ins 1 500; show D KC; D 5S; close"
    keep = "policy.dealer_overdraw=keep"
    assert found(text, "kansas-shoe", keep) == [("dealer_drew_on_blackjack", 8)]
    result = one_round(text, "kansas-shoe", keep)
    assert (result.dealer.outcome, result.net) == ("blackjack", 0)


def test_a_break_taken_in_its_turn_belongs_to_no_pass_even_with_the_hole_card_up() -> None:
    text = (
        "bet 1 1000; bet 2 1000; 1 TS; 2 9S; D TC; 1 6D; 2 9D; D 8S down; "
        "show D 8S; 1 KS; pay 1 -1000; pay 2 0; close"
    )
    assert found(text) == [("hole_card_exposed", 9)]


def test_standing_short_is_told_where_the_cards_are_taken_up() -> None:
    text = (
        "tray 90000; bet 1 1000; 1 TS; D TH; 1 9C; D 5C down; stand 1; show D 5C; close; tray 90000"
    )
    assert found(text) == [("dealer_stood_below_17", 9)]


def test_only_the_card_boxed_last_is_just_boxed() -> None:
    dealt = "shoe 6; bet 1 1000; boxed 4H; 1 TS; D 6C; 1 9C; D TC down; show D TC; "
    text = dealt + "boxed QD; D 4H; close"
    assert found(text) == []
