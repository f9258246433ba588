"""Clauses 13 and 14: what the dealer draws, when he stands, and what a wrong draw comes to."""

import pytest

from settlement.dealer import must_draw
from settlement.hands import counted
from settlement.houserules import HouseRules
from tests.settlement.table import found, nets, one_round, rules
from tests.settlement.test_hands import hand

S17, H17 = rules("home"), rules("kansas-shoe")

STANDS = "bet 1 1000; 1 TS; D {}; 1 9C; D {} down; "
"""A player standing on 19 against the dealer's two cards; seven facts with the turn."""


@pytest.mark.parametrize(
    ("dealer", "name", "due"),
    [
        pytest.param("TH 6C", "home", True, id="hard-16"),
        pytest.param("TH 7C", "kansas-shoe", False, id="hard-17-under-hit"),
        pytest.param("AH 6C", "home", False, id="soft-17-stand"),
        pytest.param("AH 6C", "kansas-shoe", True, id="soft-17-hit"),
        pytest.param("AH 5C AS", "kansas-shoe", True, id="soft-17-of-three-cards"),
        pytest.param("AH 6C TC", "kansas-shoe", False, id="ace-falls-to-one"),
        pytest.param("AH 7C", "kansas-shoe", False, id="soft-18"),
        pytest.param("AH 5C", "home", True, id="soft-16"),
    ],
)
def test_dealer_draws_when_due(dealer: str, name: str, due: bool) -> None:
    assert must_draw(counted(hand(dealer)), HouseRules(rules(name))) is due


@pytest.mark.parametrize(
    ("cards", "draws", "code", "net"),
    [
        pytest.param(("TH", "7C"), "D 5S", "dealer_hit_hard_17", 1000, id="hard-17"),
        pytest.param(("TH", "8C"), "D 2S", "dealer_hit_18_plus", 1000, id="18"),
        pytest.param(("AH", "7C"), "D 2S", "dealer_hit_18_plus", 1000, id="soft-18"),
        pytest.param(("TH", "6C"), "D 9S; D 2S", "dealer_drew_after_breaking", 1000, id="broken"),
        pytest.param(("TH", "6C"), "D 6S; D 2S", "dealer_drew_after_breaking", 1000, id="22"),
        pytest.param(("TH", "6C"), "D 5S; D 2S", "dealer_hit_18_plus", -1000, id="21"),
        pytest.param(("AH", "TC"), "D 5S", "dealer_drew_on_blackjack", -1000, id="blackjack"),
    ],
)
def test_dealer_draw_violated_by_a_card_too_many(
    cards: tuple[str, str], draws: str, code: str, net: int
) -> None:
    text = STANDS.format(*cards) + f"show D {cards[1]}; {draws}; close"
    last_draw = 6 + len(draws.split(";"))
    assert found(text) == [(code, last_draw)]
    assert nets(text) == [net]
    assert len(one_round(text).dealer.burned) == 1


def test_dealer_draw_violated_by_hitting_soft_17_where_the_house_stands() -> None:
    text = STANDS.format("AH", "6C") + "show D 6C; D 9S; D 2C; close"
    settings = ("dealer_soft17=stand",)
    assert found(text, "kansas-shoe", *settings) == [("dealer_hit_soft_17", 7)]
    dealer = one_round(text, "kansas-shoe", *settings).dealer
    assert (dealer.total, dealer.soft, dealer.outcome) == (17, True, "stand")
    assert [str(card) for card in dealer.burned] == ["9S", "2C"]


@pytest.mark.parametrize(
    ("cards", "code"),
    [
        pytest.param(("TH", "6C"), "dealer_stood_below_17", id="hard-16"),
        pytest.param(("AH", "5C"), "dealer_stood_below_17", id="soft-16"),
        pytest.param(("AH", "6C"), "dealer_stood_soft_17", id="soft-17"),
    ],
)
def test_dealer_draw_violated_by_standing_short(cards: tuple[str, str], code: str) -> None:
    text = STANDS.format(*cards) + f"show D {cards[1]}; close"
    assert found(text) == [(code, 7)]
    result = one_round(text)
    assert result.dealer.outcome == "short"
    assert (result.status, result.net) == ("pending", None)
    assert result.spots[0].hands[0].outcome == "pending"


def test_a_hand_settles_as_the_cards_lie_where_the_policy_says_so() -> None:
    text = STANDS.format("TH", "6C") + "show D 6C; close"
    assert nets(text, "kansas-shoe", "policy.dealer_underdraw=as_lies") == [1000]


def test_standing_short_is_told_where_the_settling_begins() -> None:
    text = STANDS.format("TH", "6C") + "show D 6C; pay 1 1000; close"
    assert found(text) == [("dealer_stood_below_17", 7)]


def test_dealer_draw_accepted_to_17() -> None:
    text = STANDS.format("TH", "2C") + "show D 2C; D 2S; D 3S; close"
    assert found(text) == []
    assert nets(text) == [1000]


def test_a_card_drawn_in_error_counts_where_the_policy_keeps_it() -> None:
    text = STANDS.format("TH", "7C") + "show D 7C; D 4S; close"
    assert nets(text, "kansas-shoe", "policy.dealer_overdraw=keep") == [-1000]
    assert nets(text) == [1000]


@pytest.mark.parametrize("policy", ["burn", "keep"])
def test_a_dealer_who_draws_on_and_on_errs_once(policy: str) -> None:
    overdraw = ("kansas-shoe", f"policy.dealer_overdraw={policy}")
    on_17 = STANDS.format("TH", "7C") + "show D 7C; D 3S; D 5S; close"
    assert found(on_17, *overdraw) == [("dealer_hit_hard_17", 7)]
    on_18 = STANDS.format("TH", "8C") + "show D 8C; D AS; D AC; close"
    assert found(on_18, *overdraw) == [("dealer_hit_18_plus", 7)]


def test_a_burned_card_is_in_no_total() -> None:
    (mistake,) = one_round(STANDS.format("TH", "7C") + "show D 7C; D 3S; D 5S; close").violations
    assert mistake.detail == "drew 3S on TH 7C (hard 17); he stands on hard 17"


def test_no_live_hands_no_draw() -> None:
    broken = "bet 1 1000; 1 TS; D TH; 1 6C; D 6D down; 1 9S; show D 6D; "
    assert found(broken + "close") == []
    assert one_round(broken + "close").dealer.outcome == "no_draw"
    assert found(broken + "D 5S; D 4S; close") == [("dealer_drew_no_live_hands", 8)]


def test_a_blackjack_alone_needs_no_draw() -> None:
    text = "bet 1 1000; 1 AS; D TH; 1 KC; D 6D down; show D 6D; "
    assert found(text + "close") == []
    assert nets(text + "close") == [1500]
    assert found(text + "D 5S; close") == [("dealer_drew_no_live_hands", 7)]


def test_surrendered_hands_need_no_draw() -> None:
    text = "bet 1 1000; 1 TS; D TH; 1 6C; D 6D down; surrender 1; show D 6D; D 5S; close"
    assert found(text, "casino-shoe") == [("dealer_drew_no_live_hands", 8)]


def test_the_dealer_plays_last() -> None:
    players = "bet 1 1000; 1 TS; D 9H; 1 3C; D 3D down; "
    assert found(players + "1 6S; show D 3D; D 6D; close") == []
    early = players + "show D 3D; D 6D; 1 6S; close"
    assert found(early) == [("dealer_acted_before_players", 7)]
    assert nets(early) == [1000]


def test_a_draw_both_early_and_not_due_is_one_mistake() -> None:
    text = "bet 1 1000; 1 TS; D TH; 1 3C; D 7D down; show D 7D; D 2D; 1 6S; close"
    assert found(text) == [("dealer_hit_hard_17", 7)]


def test_the_hole_card_stays_down() -> None:
    players = "bet 1 1000; 1 TS; D 9H; 1 3C; D 8D down; "
    assert found(players + "1 6S; show D 8D; close") == []
    assert found(players + "show D 8D; 1 6S; close") == [("hole_card_exposed", 6)]
    assert found(players.replace(" down", "") + "1 6S; close") == [("hole_card_exposed", 5)]


def test_a_dealer_blackjack_found_by_looking_is_turned_at_once() -> None:
    text = "bet 1 1000; 1 TS; D TH; 1 3C; D AD down; peek yes; show D AD; stand 1; close"
    assert found(text) == []


# --- the look at the hole card ------------------------------------------------------------

LOOKED = "bet 1 1000; 1 TS; D AC; 1 9D; D {0} down; peek {1}; show D {0}; {2}close"


def test_a_look_that_says_what_the_cards_make_is_no_mistake() -> None:
    assert found(LOOKED.format("KC", "yes", "")) == []
    assert found(LOOKED.format("7C", "no", "")) == []


def test_a_look_entered_as_a_blackjack_that_the_cards_do_not_make() -> None:
    text = LOOKED.format("7C", "yes", "pay 1 1000; ")
    assert found(text) == [("hole_card_misread", 6)]
    assert nets(text) == [1000]
    assert one_round(text).dealer.outcome == "stand"
    (misread,) = one_round(text).violations
    assert misread.clause == "deal.look"
    assert misread.detail == (
        "the look at the hole card was entered as a blackjack; AC 7C make none, "
        "and the cards decide"
    )


def test_a_blackjack_that_the_look_missed() -> None:
    text = LOOKED.format("KC", "no", "pay 1 -1000; ")
    assert found(text) == [("hole_card_misread", 6)]
    assert nets(text) == [-1000]
    assert one_round(text).dealer.outcome == "blackjack"


def test_the_last_of_two_looks_counts() -> None:
    assert found(LOOKED.format("7C", "yes; peek no", "")) == []
    assert found(LOOKED.format("7C", "no; peek yes", "")) == [("hole_card_misread", 7)]


def test_a_look_is_compared_with_the_card_that_was_dealt() -> None:
    swapped = LOOKED.format("7C", "no", "").replace("show D 7C", "show D KC")
    assert (found(swapped), nets(swapped)) == ([], [None])
    assert found(LOOKED.replace("D {0} down", "D ?? down").format("KC", "no", "")) == [
        ("hole_card_misread", 6)
    ]


def test_a_look_at_a_card_that_nobody_else_saw_is_not_judged() -> None:
    text = "bet 1 1000; 1 TS; D AC; 1 9D; D ?? down; peek yes; close"
    assert found(text) == []
    assert nets(text) == [-1000]
