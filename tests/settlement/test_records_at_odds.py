"""Records of tables where cards went astray: each mistake is told once, the rest settles."""

import pytest

from models import events as ev
from models.events import AnyFact
from models.judgements import AnyEvent
from settlement.engine import Engine, settle
from settlement.ledger import post
from tests.settlement.table import codes, facts, found, nets, one_round, rounds, rules

TWO = "bet 1 1000; bet 2 1000; 1 {}; 2 {}; D {}; 1 {}; 2 {}; D {} down; "
ACES = "bet 1 1000; bet 2 1000; 1 AS; 2 6D; D 6H; 1 AC; 2 6C; D TC down; "
ACES += "say-split 1; split 1.1 1000; 1 5D; "
EIGHTS = "bet 1 1000; 1 8S; D 6H; 1 8C; D TC down; say-split 1; split 1.1 1000; "
END = "show D TC; D 9S; close"


# --- split hands and turns ----------------------------------------------------------------


def test_a_split_ace_without_its_card_has_its_turn_still_to_come() -> None:
    assert found(ACES + "2 7H; 1.1 9C; " + END) == [("player_turn_order", 12)]
    one = "bet 1 1000; 1 AS; D 6H; 1 AC; D TC down; say-split 1; split 1.1 1000; 1 5D; "
    assert found(one + "show D TC; 1.1 9C; D 9S; close") == [("hole_card_exposed", 9)]
    early = found(one + "D 9S; 1.1 9C; show D TC; close")
    assert early == [("dealer_acted_before_players", 9)]


def test_aces_that_may_be_split_again_keep_the_turn_until_they_stand() -> None:
    again = "1 AD; 1.1 5D; {}2 9H; say-split 1; split 1.2 1000; 1 3C; 1.2 4C; " + END
    text = ACES.removesuffix("1 5D; ") + again
    assert found(text.format("")) == [("player_turn_order", 13)]
    assert found(text.format("").replace("AD", "8D"))[0][0] != "player_turn_order"
    assert "player_turn_order" not in codes(text.format(""), "kansas-double-deck")
    assert "player_turn_order" not in codes(text.format("stand 1; "))
    stood = ACES.removesuffix("1 5D; ") + "1 AD; stand 1; 1.1 5D; 2 9H; " + END
    assert found(stood) == []
    unread = ACES.removesuffix("1 5D; ") + "1 ??; 1.1 5D; 2 9H; 1 3C; " + END
    assert found(unread) == [("extra_card_on_split_ace", 14)]


def test_a_hand_never_dealt_its_second_card_is_told_where_it_was_split() -> None:
    assert found(EIGHTS + "1.1 3D; stand 1.1; " + END) == [("missing_card", 6)]
    assert found(EIGHTS + "1 3D; stand 1; " + END) == [("missing_card", 6)]
    text = "bet 1 1000; 1 8S; D 6H; 1 2C; D TC down; 1 8H; say-split 1; split 1.1 1000; 1.1 TD; "
    assert found(text + END) == [("split_not_pair", 7)]


def test_a_double_on_one_card_is_one_mistake_with_one_card_or_two() -> None:
    text = EIGHTS + "double 1.1 1000; 1 TS; 1.1 3D; " + END
    assert found(text) == [("double_not_first_two", 8)]
    assert [hand.net for hand in one_round(text).spots[0].hands] == [1000, 2000]
    dealt = text.replace("1.1 3D;", "1.1 3D; 1.1 5D;")
    assert found(dealt) == [("double_not_first_two", 8)]
    three = dealt.replace("1.1 5D;", "1.1 5D; 1.1 2C;")
    assert [code for code, _ in found(three)] == [
        "double_not_first_two",
        "extra_card_after_double",
    ]
    assert codes(EIGHTS + "double 1.1 1000; 1 TS; " + END) == [
        "double_not_first_two",
        "missing_card",
    ]


def test_a_double_before_the_second_card_of_the_deal_is_one_mistake() -> None:
    for said in ("double 2 1000", "say-double 2; double 2 1000", "double 2 1000; say-double 2"):
        text = f"bet 1 1000; bet 2 1000; 1 TS; 2 5C; D AH; {said}; 1 9C; 2 6D; D 7C down; "
        insured = text + "ins 1 500; stand 1; show D 7C; close"
        assert codes(insured) == ["double_not_first_two"]
        drawn = text + "ins 1 500; stand 1; 2 TD; show D 7C; close"
        assert codes(drawn) == ["double_not_first_two"]


def test_cards_that_are_no_pair_are_parted_as_the_dealer_parted_them() -> None:
    text = "bet 1 1000; 1 AS; D 6H; 1 5C; D TC down; say-split 1; split 1.1 1000; "
    assert found(text + "1.1 3D; stand 1.1; 1 4S; stand 1; " + END) == [("split_not_pair", 6)]
    tens = "bet 1 1000; 1 TS; D 6H; 1 5C; D TC down; say-split 1; split 1.1 1000; 1 5D; "
    assert found(tens + END) == [("split_not_pair", 6), ("missing_card", 6)]


def test_chips_beside_no_pair_split_nothing() -> None:
    text = "bet 1 1000; 1 TS; D 6H; 1 5C; D TC down; split 1.1 1000; 1.1 5D; " + END
    assert codes(text) == ["card_to_empty_spot"]
    ranks = "bet 1 1000; 1 KS; D 6H; 1 QC; D TC down; split 1.1 1000; 1.1 5D; 1 4D; " + END
    assert "card_to_empty_spot" not in codes(ranks)
    assert "card_to_empty_spot" in codes(ranks, "kansas-shoe", "split_match=rank")


# --- cards to where nobody plays ----------------------------------------------------------


@pytest.mark.parametrize("hand", [1, 3])
def test_a_card_to_a_hand_that_was_never_split_off_is_nobodys(hand: int) -> None:
    text = f"bet 1 1000; 1 8S; D 6H; 1 8C; D TC down; 1.{hand} TD; " + END
    assert found(text) == [("card_to_empty_spot", 6)]
    assert nets(text) == [1000]


def test_a_spot_whose_wager_came_late_plays_the_cards_it_got() -> None:
    text = "bet 1 1000; 1 TS; bet 2 1000; 2 5D; D 6H; 1 9C; 2 6D; D TC down; 2 TD; "
    assert found(text + "show D TC; D 5S; close") == [("wager_after_deal", 3)]
    assert nets(text + "show D TC; D 5S; close") == [-1000, 0]
    blackjack = "bet 1 1000; 1 TS; bet 2 1000; D 6H; 1 9C; D TC down; 2 AD; 2 KD; 2 TD; "
    assert found(blackjack + END) == [("wager_after_deal", 3), ("card_to_blackjack", 9)]
    assert nets(blackjack + END) == [1000, 1500]


def test_a_late_wager_without_cards_is_in_no_result() -> None:
    text = "bet 1 1000; 1 TS; bet 2 1000; bet 2 500; D 6H; 1 9C; D TC down; " + END
    assert found(text) == [("wager_after_deal", 3), ("wager_after_deal", 4)]
    assert [spot.spot for spot in one_round(text).spots] == [1]


def test_a_decision_for_a_hand_that_is_not_there_changes_nothing() -> None:
    text = "bet 1 1000; 1 TS; D 6H; 1 9C; D TC down; stand 1.1; stand 2; " + END
    assert found(text) == []


@pytest.mark.parametrize(
    ("acted", "told"),
    [
        pytest.param("hit 1; stand 1", [], id="stood-after-all"),
        pytest.param("hit 1", [("missing_card", 6)], id="no-card-came"),
        pytest.param("double 1 1000; stand 1", [("missing_card", 6)], id="doubled"),
    ],
)
def test_a_card_asked_for_is_owed_unless_the_hand_stands(
    acted: str, told: list[tuple[str, int]]
) -> None:
    assert found(f"bet 1 1000; 1 5S; D 6H; 1 6C; D TC down; {acted}; " + END) == told


def test_a_split_ace_that_kept_a_third_card_is_finished() -> None:
    text = ACES.replace("1 5D; ", "1 5D; 1 3C; 1.1 5S; 2 9H; 1 2D; ") + END
    told = [("extra_card_on_split_ace", 12), ("extra_card_on_split_ace", 15)]
    assert found(text, "kansas-shoe", "policy.extra_player_card=keep") == told


def test_a_game_without_doubling() -> None:
    text = "bet 1 1000; 1 5S; D 6H; 1 6C; D TC down; double 1 1000; 1 9D; " + END
    assert found(text, "kansas-shoe", "double_on=none") == [("double_total_not_allowed", 6)]


def test_a_hand_given_up_takes_no_card() -> None:
    text = "bet 1 1000; bet 2 1000; 1 TS; 2 TD; D 6H; 1 6C; 2 9C; D TC down; surrender 1; 1 2C; "
    assert found(text + END, "kansas-shoe", "surrender=late") == [("card_after_stand", 10)]


def test_chips_for_two_splits_may_lie_there_before_either() -> None:
    text = "bet 1 1000; 1 8S; D 6H; 1 8C; D TC down; split 1.1 1000; split 1.2 1000; say-split 1; "
    text += "1 8H; say-split 1; 1 TS; 1.1 TD; 1.2 TH; " + END
    assert found(text) == []
    assert nets(text) == [3000]


def test_cards_that_would_make_a_seventeenth_hand_stay_where_they_lie() -> None:
    text = "bet 1 1000; 1 8S; D 6H; 1 8C; D TC down; " + "say-split 1; 1 8H; " * 17 + END
    assert len(one_round(text).spots[0].hands) == 16


# --- the deal -----------------------------------------------------------------------------


def test_two_spots_passed_over_are_two_mistakes_and_no_wrong_order() -> None:
    text = "bet 1 1000; bet 2 1000; bet 3 1000; 3 TS; D 6H; 3 9C; D TC down; " + END
    assert found(text) == [("spot_skipped", 4), ("spot_skipped", 4)]


def test_a_card_given_twice_names_who_was_to_get_it() -> None:
    text = "bet 1 1000; bet 2 1000; bet 3 1000; 1 TS; 2 5H; 1 9C; 3 TD; D 6H; 2 6D; 3 9D; "
    (violation,) = one_round(text + "D TC down; " + END).violations
    assert (violation.code, violation.seq) == ("deal_order", 6)
    assert violation.detail == "card to spot 1; spot 3 was to get the next card"


# --- doubles that do not stand ------------------------------------------------------------


def test_the_card_of_a_void_double_is_its_only_one() -> None:
    text = "bet 1 1000; 1 AS; D 6C; 1 TD; D TC down; double 1 1000; 1 2C; {}show D TC; close"
    settings = ("kansas-shoe", "policy.illegal_option=void")
    assert found(text.format(""), *settings) == [("double_on_blackjack", 6)]
    one_more = found(text.format("1 3C; "), *settings)
    assert one_more == [("double_on_blackjack", 6), ("extra_card_after_double", 8)]


# --- surrender ----------------------------------------------------------------------------

LATE = ("kansas-shoe", "surrender=late")


@pytest.mark.parametrize("first", ["hit", "stand"])
def test_surrender_is_the_first_decision(first: str) -> None:
    text = f"bet 1 1000; 1 TS; D TH; 1 6C; D 7C down; {first} 1; surrender 1; show D 7C; close"
    assert found(text, *LATE) == [("surrender_after_action", 7)]
    assert nets(text, *LATE) == [-500]


def test_surrender_after_a_void_double_is_too_late() -> None:
    text = "bet 1 1000; 1 AS; D TH; 1 TC; D 7C down; double 1 1000; 1 2C; surrender 1; "
    settings = (*LATE, "policy.illegal_option=void")
    told = found(text + "show D 7C; close", *settings)
    assert told == [("double_on_blackjack", 6), ("surrender_after_action", 8)]


def test_a_surrender_refused_already_is_not_told_again_of_the_blackjack() -> None:
    text = "bet 1 1000; 1 TS; D TH; 1 6C; D AC down; {}surrender 1; show D AC; close"
    assert found(text.format(""), *LATE) == [("surrender_vs_dealer_blackjack", 6)]
    assert found(text.format("stand 1; "), *LATE) == [("surrender_after_action", 7)]


def test_early_surrender_waits_for_no_turn_until_the_dealer_has_looked() -> None:
    text = TWO.format("TS", "TC", "TH", "6C", "6D", "7C") + "{}surrender 2; 1 4S; show D 7C; close"
    early = ("kansas-shoe", "surrender=early")
    assert found(text.format(""), *early) == []
    assert found(text.format("peek no; "), *early) == [("player_turn_order", 10)]
    assert found(text.format("").replace("TH", "9H"), *early)[0] == ("player_turn_order", 9)


# --- the dealer's cards -------------------------------------------------------------------


def test_a_card_that_was_not_dealt_there_still_turns_the_hole_card() -> None:
    text = "bet 1 1000; 1 TS; D 6H; 1 9C; D TC down; stand 1; show D 5C; D 9S; pay 1 1000; close"
    assert (found(text), nets(text)) == ([], [None])
    open_ = "bet 1 1000; 1 TS; D 6H; 1 9C; D ?? down; show D 5C; show D 6H"
    assert one_round(open_).spots[0].hands[0].outcome == "pending"
    acting = "bet 1 1000; 1 TS; D 6H; 1 2C; D TC down; show D 5C; 1 3D; D 9S; close"
    assert found(acting) == [("hole_card_exposed", 6)]


def test_the_up_card_shown_again_does_not_turn_the_hole_card() -> None:
    text = "bet 1 1000; 1 TS; D 6H; 1 2C; D TC down; show D 6H; 1 3D; show D TC; D 9S; close"
    assert found(text) == []


def test_play_after_the_dealers_blackjack_does_not_make_his_card_early() -> None:
    text = TWO.format("TS", "TD", "TH", "6C", "6D", "AC")
    assert found(text + "peek yes; show D AC; 1 5S; close") == []
    unlooked = found(text + "show D AC; 1 5S; close")
    assert unlooked == [("hole_card_exposed", 9)]


def test_a_dealer_who_stood_short_is_told_at_the_first_payment_of_the_pass() -> None:
    text = "bet 1 1000; bet 2 1000; 1 TS; 2 TH; D 2H; 1 9C; 2 6C; D TC down; stand 1; {}"
    short = ("dealer_stood_below_17", 14)
    drawn = text.format("2 KD; pay 2 -1000; show D TC; D 3S; pay 1 -1000; close")
    assert found(drawn) == [short]
    undrawn = text.format("2 3D; stand 2; show D TC; pay 2 -1000; pay 1 -1000; close")
    assert found(undrawn) == [("dealer_stood_below_17", 13)]
    unpaid = text.format("2 3D; stand 2; show D TC; close")
    assert found(unpaid) == [("dealer_stood_below_17", 13)]


def test_a_payment_before_the_last_draw_does_not_end_the_dealers_turn() -> None:
    text = "bet 1 1000; 1 TS; D 2H; 1 9C; D TC down; stand 1; show D TC; pay 1 1000; touch 1 "
    text += "one_hand; D 3S; pay 1 -1000; close"
    assert found(text, "home")[-1] == ("dealer_stood_below_17", 11)
    undrawn = "bet 1 1000; 1 TS; D 6H; 1 9C; D TC down; stand 1; pay 1 1000; show D TC; pay 1 500; "
    assert found(undrawn + "close") == [("dealer_stood_below_17", 9)]


# --- payments -----------------------------------------------------------------------------

TENS = "bet 1 1000; bet 2 1000; 1 TS; 2 TD; D AH; 1 9C; 2 9D; D 9S down; ins 1 500; ins 2 500; "
TENS += "peek no; show D 9S; {}; close"


@pytest.mark.parametrize(
    ("order", "seqs"),
    [
        pytest.param("payins 2 -500; payins 1 -500; pay 2 -1000; pay 1 -1000", [], id="right"),
        pytest.param(
            "payins 1 -500; payins 2 -500; pay 2 -1000; pay 1 -1000", [14], id="insurances-wrong"
        ),
        pytest.param(
            "payins 2 -500; payins 1 -500; pay 1 -1000; pay 2 -1000", [16], id="hands-wrong"
        ),
        pytest.param(
            "payins 2 -200; payins 1 -500; payins 2 -300; pay 2 -500; pay 1 -1000; pay 2 -500",
            [],
            id="back-to-a-spot-of-the-same-pass",
        ),
    ],
)
def test_hands_and_insurances_are_a_pass_each(order: str, seqs: list[int]) -> None:
    assert found(TENS.format(order)) == [("settle_order", seq) for seq in seqs]


@pytest.mark.parametrize(
    ("paid", "place"),
    [
        pytest.param("payins 1.1 -500", (1, 1), id="insurance-of-a-split-hand"),
        pytest.param("payins 3 -500", (3, 0), id="insurance-of-nobody"),
        pytest.param("pay 1.1 -500", (1, 1), id="no-such-hand"),
        pytest.param("pay 3 -500", (3, 0), id="no-such-spot"),
    ],
)
def test_what_is_paid_where_nothing_is_due(paid: str, place: tuple[int, int]) -> None:
    right = "payins 2 -500; payins 1 -500; pay 2 -1000; pay 1 -1000; peek no; "
    wrong = [
        violation
        for violation in one_round(TENS.format(right + paid)).violations
        if violation.code == "wrong_payout"
    ]
    assert [(each.spot, each.hand) for each in wrong] == [place]
    assert wrong[0].detail.endswith("due 0.00, paid -5.00, difference -5.00")


def test_insurance_collected_that_was_never_laid() -> None:
    text = (
        "bet 1 1000; 1 TS; D 9H; 1 9C; D 9C down; stand 1; show D 9C; payins 1 -500; pay 1 1000; "
    )
    assert found(text + "close") == [("wrong_payout", 8)]


@pytest.mark.parametrize(
    ("paid", "early"),
    [("pay 1 1", True), ("pay 1 0", False), ("payins 1 1000", False), ("pay 1 -1000", False)],
)
def test_only_a_blackjack_paid_is_paid_early(paid: str, early: bool) -> None:
    text = f"bet 1 1000; 1 AS; D AH; 1 KC; D 9S down; ins 1 500; {paid}; peek no; show D 9S; close"
    assert ("blackjack_paid_early" in codes(text)) is early
    unseen = f"bet 1 1000; 1 AS; D AH down; 1 KC; D 9S down; {paid}; close"
    assert "blackjack_paid_early" not in codes(unseen)


def test_a_card_the_dealer_draws_is_no_up_card() -> None:
    text = "bet 1 1000; 1 TS; D AH down; 1 9C; D 5C down; stand 1; D 9H; ins 1 500; close"
    assert codes(text) == ["deal_face", "insurance_late", "dealer_stood_below_17"]


def test_a_cent_not_paid_is_a_cent_due() -> None:
    text = "bet 1 1; 1 TS; D 9H; 1 9C; D 9C down; stand 1; show D 9C; pay 2 0; close"
    missing = one_round(text).violations[-1]
    assert missing.detail == "hand not settled: 0.01 should have been paid"


def test_even_money_is_for_an_ace_only() -> None:
    text = "bet 1 1000; 1 AS; D {}; 1 KC; D 9S down; even_money 1; show D 9S; close"
    assert codes(text.format("AH"), "kansas-shoe", "even_money=true") == []
    two = codes(text.format("2H"), "kansas-shoe", "even_money=true")
    assert two == ["even_money_not_offered"]


# --- what nobody knows --------------------------------------------------------------------


def test_insurance_is_open_until_the_hole_card_is_known() -> None:
    result = one_round("bet 1 1000; 1 TS; D AC; 1 9C; ins 1 500")
    assert result.spots[0].insurance is not None
    assert result.spots[0].insurance.net is None


def test_a_blackjack_against_an_unread_hole_card_leaves_the_dealer_open() -> None:
    result = one_round("bet 1 1000; 1 AS; D AC; 1 KC; D ?? down; close")
    assert (result.dealer.outcome, result.spots[0].hands[0].outcome) == ("unknown", "unknown")
    broken = "bet 1 1000; 1 TS; D 6C; 1 6C; D ?? down; 1 9D; close"
    assert one_round(broken).dealer.outcome == "no_draw"


def test_a_split_that_hangs_on_an_unread_card_may_not_have_come_about() -> None:
    text = "bet 1 1000; 1 8S; D 6H; 1 ??; D TC down; split 1.1 1000; 1.1 TS; 1 5D; " + END
    (first, second) = one_round(text).spots[0].hands
    assert first.outcome == "win"
    assert second.outcome == "unknown"
    assert isinstance(second.possible, tuple)
    assert {way.outcome for way in second.possible} == {"win", "pending"}


def test_an_insured_blackjack_that_may_lose_hangs_on_the_hole_card() -> None:
    text = "bet 1 1000; 1 AS; D AC; 1 KC; D ?? down; ins 1 500; close"
    settings = ("casino-shoe", "insured_blackjack_vs_dealer_blackjack=lose")
    hand = one_round(text, *settings).spots[0].hands[0]
    assert isinstance(hand.possible, tuple)
    assert {way.outcome: way.net for way in hand.possible} == {"lose": -1000, "blackjack": 1500}


NINETEEN = "bet 1 1000; 1 TS; D {}; 1 9D; D {} down; {}close"
PLAYED = "the dealer's cards make "


@pytest.mark.parametrize(
    ("dealer", "ways"),
    [
        pytest.param(
            ("??", "??", ""),
            {
                "win": PLAYED + "soft 18, hard 17 or hard 18",
                "push": PLAYED + "soft 19 or hard 19",
                "lose": PLAYED + "soft 20, a blackjack or hard 20",
            },
            id="both-cards",
        ),
        pytest.param(
            ("6C", "??", "show D ??; D ??; "),
            {
                "win": PLAYED + "soft 18, hard 17, hard 18 or more than 21",
                "push": PLAYED + "soft 19 or hard 19",
                "lose": PLAYED + "soft 20, soft 21, hard 20 or hard 21",
            },
            id="the-hole-card-and-the-draw",
        ),
        pytest.param(
            ("AC", "??", "peek no; show D ??; D ??; "),
            {
                "win": PLAYED + "soft 18 or hard 17",
                "push": PLAYED + "soft 19",
                "lose": PLAYED + "soft 20 or soft 21",
            },
            id="no-blackjack-after-the-look",
        ),
        pytest.param(
            ("AC", "5C", "peek no; show D 5C; D ??; "),
            {
                "win": "the dealer's unknown card is 2",
                "push": "the dealer's unknown card is 3",
                "lose": "the dealer's unknown card is 4 or 5",
            },
            id="the-draw-alone",
        ),
    ],
)
def test_what_the_dealers_unread_cards_would_decide(
    dealer: tuple[str, str, str], ways: dict[str, str]
) -> None:
    hand = one_round(NINETEEN.format(*dealer)).spots[0].hands[0]
    assert isinstance(hand.possible, tuple)
    told = {way.outcome: way.condition for way in hand.possible if way.outcome != "pending"}
    assert told == ways


def test_what_a_hands_unread_cards_would_decide() -> None:
    text = "bet 1 1000; 1 {}; D TH; 1 ??; D TC down; {}show D TC; close"
    three = one_round(text.format("8S", "1 ??; ")).spots[0].hands[0]
    assert isinstance(three.possible, tuple)
    assert {way.outcome for way in three.possible} == {"push", "win", "lose", "bust"}
    two = one_round(text.format("??", "")).spots[0].hands[0]
    assert isinstance(two.possible, tuple)
    assert {way.outcome: way.net for way in two.possible} == {
        "lose": -1000,
        "push": 0,
        "blackjack": 1500,
    }


def test_a_void_split_hangs_on_the_card_of_the_other_hand() -> None:
    split = "bet 1 1000; 1 8S; D 6H; 1 ??; D TC down; say-split 1; split 1.1 1000; 1 TS; 1.1 5D; "
    settings = ("kansas-shoe", "policy.illegal_option=void")
    (first, second) = one_round(split + END, *settings).spots[0].hands
    assert (first.outcome, first.net) == ("win", 1000)
    assert isinstance(second.possible, tuple)
    assert [(way.outcome, way.net) for way in second.possible] == [("win", 0), ("win", 1000)]
    assert second.possible[1].condition == "the hand's unknown card is 8"
    assert nets(split + END) == [2000]
    later = "bet 1 1000; 1 8S; D 6H; 1 8C; D TC down; say-split 1; split 1.1 1000; 1 ??; 1.1 5D; "
    hands = one_round(later + "show D TC; D 2S; close", *settings).spots[0].hands
    assert [hand.outcome for hand in hands] == ["unknown", "lose"]


# --- split tens and aces that make blackjack ----------------------------------------------


def test_a_split_aces_blackjack_pushes_the_dealers() -> None:
    text = "bet 1 1000; 1 AS; D AH; 1 AC; D TC down; say-split 1; split 1.1 1000; 1 TD; "
    settings = ("kansas-shoe", "split_ace_21_is_blackjack=true")
    hands = one_round(text + "1.1 5D; show D TC; close", *settings).spots[0].hands
    assert hands[0].outcome == "push"
    asked = text + "even_money 1; 1.1 5D; show D TC; close"
    assert codes(asked, *settings) == ["even_money_not_offered"]
    assert codes(asked, *settings, "even_money=true") == []
    assert one_round(asked, *settings, "even_money=true").spots[0].hands[0].net == 1000
    assert codes(asked, "kansas-shoe", "even_money=true") == ["even_money_not_offered"]


# --- seats, shoe and tray -----------------------------------------------------------------

WON = "D 6H; 1 9C; D TC down; show D TC; D 9S; "
SEEN = "shoe 6; seat ANN 1; burn 2C; bet 1 1000; 1 TS; " + WON + "pay 1 1000; close; "
CLOSED = ("casino-shoe", "mid_shoe_entry=false")


BOTH_PLAY = (
    "bet 1 1000; bet 2 1000; 1 TS; 2 TH; D 6H; 1 9C; 2 9S; D TC down; show D TC; D 9D; "
    "pay 2 1000; pay 1 1000; close; "
)


def _more(spot: int) -> str:
    return (
        f"bet {spot} 1000; {spot} TS; {WON.replace('1 9C', f'{spot} 9C')}pay {spot} 1000; close; "
    )


@pytest.mark.parametrize("shoe", ["shoe 6; ", ""], ids=["shoe seen", "shoe not seen"])
def test_a_player_who_changes_seat_without_missing_a_round_has_not_entered(shoe: str) -> None:
    start = shoe + "seat ANN 1; " + _more(1)
    assert found(start + "leave ANN 1; seat ANN 2; " + _more(2), *CLOSED) == []
    assert found(start + "seat ANN 2; leave ANN 1; " + _more(2), *CLOSED) == []
    assert found(start + "leave ANN 1; seat ANN 1; " + _more(1), *CLOSED) == []


def test_a_player_who_left_and_missed_a_round_comes_back_as_a_newcomer() -> None:
    start = "seat ANN 1; seat BOB 2; " + BOTH_PLAY
    missed = start + "leave ANN 1; " + _more(2)
    assert codes("shoe 6; " + missed + "seat ANN 1; " + _more(1), *CLOSED) == ["mid_shoe_entry"]
    assert codes(missed + "seat ANN 1; " + _more(1), *CLOSED) == ["mid_shoe_entry"]


def test_a_player_who_keeps_one_spot_has_not_left() -> None:
    two = "shoe 6; seat ANN 1,2; burn 2C; bet 1 1000; 1 TS; " + WON + "pay 1 1000; close; "
    again = "leave ANN 2; bet 1 1000; 1 TS; " + WON + "pay 1 1000; close"
    assert found(two + again, *CLOSED) == []
    others = "leave BOB 1; bet 1 1000; 1 TS; " + WON + "pay 1 1000; close"
    assert found(two + others, *CLOSED) == []


def test_a_newcomer_is_one_who_sat_down_at_no_spot_before() -> None:
    start = "seat ANN 1; bet 1 1000; 1 TS; " + WON + "pay 1 1000; close; "
    more = "bet 1 1000; 1 TS; " + WON + "pay 1 1000; close"
    assert found(start + "seat ANN 2; " + more, *CLOSED) == []
    assert found(start + "seat BOB 1; " + more, *CLOSED) == [("mid_shoe_entry", 12)]


def test_too_many_spots_are_told_at_the_deal_where_no_wager_was_seen() -> None:
    text = "seat ANN 1,2,3; 1 5H; 2 TS; 3 TD; D 6H; 1 6H; 2 9H; 3 9D; D TC down; 1 TH; " + END
    settings = ("casino-shoe", "max_spots_per_player=2")
    assert found(text, *settings) == [("too_many_spots", 2)]


def test_a_round_whose_payments_nobody_saw_leaves_the_tray_unproved() -> None:
    unseen = "tray 100000; bet 1 1000; 1 TS; D 6H; 1 9C; {}close; "
    more = "bet 1 1000; 1 TH; D 7H; 1 9D; D TD down; show D TD; pay 1 1000; close; tray 90000"
    assert found(unseen.format("D TC down; show D TC; D 9S; ") + more) == []
    push = unseen.format("D 3C down; show D 3C; D TD; ") + more
    assert [code for code, _ in found(push)] == ["tray_mismatch"]


def test_the_cut_card_ends_its_own_shoe_only() -> None:
    cut = "shoe 6; burn 2C; bet 1 1000; 1 TS; cut; " + WON + "pay 1 1000; close; "
    more = "bet 1 1000; 1 TS; " + WON + "pay 1 1000; close; "
    assert found(cut + more) == [("dealt_past_cut_card", 14)]
    assert found(cut + "shoe 6; burn 3C; " + more + more) == []


def test_a_tray_counted_after_a_round_without_payments_starts_the_next_proof() -> None:
    text = "tray 100000; bet 1 1000; 1 TS; D 6H; 1 9C; D TC down; show D TC; D 9S; close; "
    text += "tray 99000; bet 1 1000; 1 TH; D 7H; 1 9D; D TD down; show D TD; pay 1 1000; close; "
    assert found(text + "tray 98000") == []
    assert [code for code, _ in found(text + "tray 97000")] == ["tray_mismatch"]


# --- the shoe -----------------------------------------------------------------------------

ONE_DECK = ("kansas-shoe", "decks=1")
NEXT = "D 6H; 1 9C; D 7C down; show D 7C; D 5D; close"


def test_no_shoe_holds_a_fifty_third_card() -> None:
    assert found("shoe 1; " + "burn ??; " * 52, *ONE_DECK) == []
    assert found("shoe 1; " + "burn ??; " * 53, *ONE_DECK) == [("impossible_card", 54)]


def test_a_card_turned_up_later_is_counted_as_what_it_was() -> None:
    text = "shoe 1; burn 2C; bet 1 1000; 1 TS; D 8H; 1 9D; D ?? down; show D TC; close; "
    assert found(text + "bet 1 1000; 1 TC; " + NEXT, *ONE_DECK) == [("impossible_card", 11)]
    assert found(text + "bet 1 1000; 1 TD; " + NEXT, *ONE_DECK) == []


def test_a_boxed_card_burned_is_the_same_card() -> None:
    settings = ("kansas-shoe", "burn_after_shuffle=1")
    end = "bet 1 1000; 1 TS; " + NEXT
    missing = [("burn_missing", 5)]
    assert found("shoe 6; boxed 4H; burn 4H; " + end, *settings) == missing
    assert found("shoe 6; boxed 4H; burn ??; " + end, *settings) == missing
    assert found("shoe 6; boxed ??; burn 9D; " + end, *settings) == missing
    assert found("shoe 6; boxed 4H; burn 9D; " + end, *settings) == []
    two = ("kansas-shoe", "burn_after_shuffle=2")
    assert found("shoe 6; burn 4H; " + end, *two) == [("burn_missing", 4)]


def test_a_boxed_card_used_leaves_the_faces_told_before() -> None:
    text = "shoe 6; bet 1 1000; bet 2 1000; 1 TS down; boxed 4H; 2 4H down; D 6H; 1 9C; 2 9D; "
    told = found(text + "D TC down; " + END, "kansas-shoe", "burn_after_shuffle=0")
    assert told == [("deal_face", 4), ("face_up_card_used", 6)]


def test_two_boxed_cards_alike_are_two_cards() -> None:
    text = "shoe 2; boxed 4H; boxed 4H; burn 4H; bet 1 1000; 1 4H; " + NEXT
    two = ("kansas-shoe", "decks=2")
    assert "face_up_card_used" in codes(text, *two)
    assert "face_up_card_used" not in codes(text.replace("boxed 4H; boxed", "boxed"), *two)


# --- several tables -----------------------------------------------------------------------


def _at(table: str, text: str) -> list[AnyFact]:
    return [_at_table(fact, table) for fact in facts(text)]


def _at_table(fact: AnyFact, table: str) -> AnyFact:
    fields = {name: getattr(fact, name) for name in fact.__struct_fields__}
    return type(fact)(**(fields | {"table": table}))


def test_two_tables_in_one_file_do_not_hear_of_each_other() -> None:
    one = _at("BJ1", "bet 1 1000; 1 TS; " + WON + "pay 1 1000; close")
    other = _at("BJ2", "bet 1 500; 1 TS; " + WON + "pay 1 500; close")
    woven = [fact for pair in zip(one, other, strict=True) for fact in pair]
    results = list(settle(enumerate(woven, start=1), rules()))
    assert [result.violations for result in results] == [(), ()]
    assert [result.spots[0].net for result in results] == [1000, 500]


def test_judgements_in_a_file_are_passed_over() -> None:
    played = facts("bet 1 1000; 1 TS; " + WON + "pay 1 1000; close")
    (result,) = settle(enumerate(played, start=1), rules())
    woven: list[AnyEvent] = []
    for fact in played:
        woven += [fact, *post(result)]
    assert list(settle(enumerate(woven, start=1), rules())) == [result]


def test_facts_of_several_rounds_are_numbered_on() -> None:
    engine = Engine(rules())
    closed = [result for fact in facts(SEEN + SEEN) for result in engine.feed(fact)]
    assert [result.round for result in closed] == [1, 2]
    text = "bet 1 1000; 1 TS; " + WON + "pay 1 900; close; "
    again = Engine(rules())
    told = [
        violation.seq
        for fact in facts(text + text)
        for result in again.feed(fact)
        for violation in result.violations
    ]
    assert told == [8, 17]
    lines = Engine(rules())
    told = [
        violation.seq
        for line, fact in enumerate(facts(text), start=101)
        for result in lines.feed(fact, line)
        for violation in result.violations
    ]
    assert told == [108]


def test_a_round_without_facts_is_no_round() -> None:
    assert rounds("seat ANN 1; shoe 6; burn 2C") == []
    assert Engine(rules()).finish() == ()
    assert list(Engine(rules()).feed(ev.RoundClosed())) == []
