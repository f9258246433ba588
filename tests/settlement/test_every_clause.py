"""Every clause, kept and broken: once as the house has it, once as it does not.

The tables are the index: a clause or a violation code without an entry fails here.
"""

from typing import NamedTuple

import pytest

from settlement.clauses import BREAKS, CLAUSES
from settlement.pay_tables import side_bets
from settlement.rulebooks import shown
from stream.library import side_bet_text
from tests.settlement.table import found, one_round, rounds

OVER_13 = shown(side_bets({"over": {"extends": "over-13"}}, "", "test", side_bet_text))


class Kept(NamedTuple):
    """A round by the rules, and the same with one mistake at fact ``seq``."""

    kept: str
    broken: str
    seq: int
    settings: tuple[str, ...] = ("kansas-shoe",)


class Paid(NamedTuple):
    """A round whose payment (``{}``) follows from a clause: what is due, and what is not."""

    round: str
    due: int
    wrong: int
    settings: tuple[str, ...] = ("kansas-shoe",)


STOOD = "bet 1 1000; 1 TS; D {0}; 1 9C; D {1} down; show D {1}; "
"""A player on 19; the dealer has turned his hole card with fact 6."""
HARD_17, HARD_18, SOFT_17 = STOOD.format("TH", "7C"), STOOD.format("TH", "8C"), ("AH", "6C")
HARD_16, NATURAL = STOOD.format("TH", "6C"), STOOD.format("AH", "TC")
BROKEN = "bet 1 1000; 1 TS; D TH; 1 6C; D 6D down; 1 9S; show D 6D; "

BOTH = "bet 1 1000; bet 2 1000; "
DEALT = BOTH + "1 TS; 2 9S; D TH; 1 2C; 2 3C; D 7C down; "
TURNED = "show D 7C; close"

HAND = "bet 1 1000; 1 {}; D 6C; 1 {}; D TC down; "
"""Five facts; the dealer's 16 breaks with the nine of ``END``."""
END = "show D TC; D 9S; close"
ELEVEN, TWELVE, BLACKJACK = (
    HAND.format("5S", "6D"),
    HAND.format("TS", "2D"),
    HAND.format("AS", "KD"),
)
EIGHTS = HAND.format("8S", "8D") + "say-split 1; split 1.1 1000; "
ACES = HAND.format("AS", "AD") + "say-split 1; split 1.1 1000; "
ACE_UP = "bet 1 1000; 1 TS; D AC; 1 9D; D 7C down; "
TEN_UP = "bet 1 1000; 1 TS; D TC; 1 6D; D 8C down; "
EIGHT = "show D 8C; close"

TABLE = "1 TS; D TC; 1 TD; D 8S down; show D 8S; close; "
TWO_SPOTS = "1 TS; 2 9S; D TC; 1 TD; 2 9D; D 8S down; show D 8S; close; "
THREE = "bet 1 1000; bet 2 1000; bet 3 1000; 1 TS; 2 9S; 3 TH; D TC; 1 TD; 2 9D; 3 7H; D 8S down; "
SETTLING = THREE + "show D 8S; "

CODES: dict[str, Kept] = {
    # the dealer's draw
    "dealer_hit_hard_17": Kept(HARD_17 + "close", HARD_17 + "D 5S; close", 7),
    "dealer_hit_18_plus": Kept(HARD_18 + "close", HARD_18 + "D 2S; close", 7),
    "dealer_hit_soft_17": Kept(
        STOOD.format(*SOFT_17) + "close",
        STOOD.format(*SOFT_17) + "D 4S; close",
        7,
        ("kansas-shoe", "dealer_soft17=stand"),
    ),
    "dealer_stood_soft_17": Kept(
        STOOD.format(*SOFT_17) + "D 4S; close", STOOD.format(*SOFT_17) + "close", 7
    ),
    "dealer_stood_below_17": Kept(HARD_16 + "D 2S; close", HARD_16 + "close", 7),
    "dealer_drew_no_live_hands": Kept(BROKEN + "close", BROKEN + "D 5S; close", 8),
    "dealer_drew_after_breaking": Kept(HARD_16 + "D 9S; close", HARD_16 + "D 9S; D 2S; close", 8),
    "dealer_drew_on_blackjack": Kept(NATURAL + "close", NATURAL + "D 5S; close", 7),
    # the deal and the order of play
    "deal_order": Kept(DEALT + TURNED, DEALT.replace("1 TS; 2 9S", "2 9S; 1 TS") + TURNED, 3),
    "spot_skipped": Kept(
        DEALT + TURNED, DEALT.replace("1 TS; ", "").replace("1 2C; ", "") + TURNED, 3
    ),
    "card_to_empty_spot": Kept(DEALT + TURNED, DEALT.replace("2 9S; ", "2 9S; 3 4D; ") + TURNED, 5),
    "deal_face": Kept(DEALT + TURNED, DEALT.replace("2 3C", "2 3C down") + TURNED, 7),
    "hole_card_exposed": Kept(
        DEALT + "1 8D; 2 8C; " + TURNED, DEALT + "1 8D; show D 7C; 2 8C; close", 10
    ),
    "player_turn_order": Kept(
        DEALT + "1 8D; stand 1; 2 8C; " + TURNED, DEALT + "2 8C; 1 8D; stand 1; " + TURNED, 9
    ),
    "split_hand_order": Kept(EIGHTS + "1 TS; 1.1 2C; " + END, EIGHTS + "1.1 2C; 1 TS; " + END, 8),
    "dealer_acted_before_players": Kept(
        TWELVE + "1 7C; " + END, TWELVE + "show D TC; D 9S; 1 7C; close", 7
    ),
    "face_up_card_used": Kept(
        DEALT.replace("D TH", "boxed 4D; D TH") + TURNED,
        DEALT.replace("D TH", "boxed TH; D TH") + TURNED,
        6,
    ),
    "settle_order": Kept(
        SETTLING + "pay 3 -1000; pay 1 1000; close",
        SETTLING + "pay 1 1000; pay 3 -1000; close",
        14,
    ),
    "blackjack_paid_early": Kept(
        "bet 1 1000; 1 AS; D TC; 1 KD; D 8C down; show D 8C; pay 1 1500; close",
        "bet 1 1000; 1 AS; D TC; 1 KD; D 8C down; pay 1 1500; show D 8C; close",
        6,
    ),
    "hole_card_misread": Kept(
        TEN_UP + "peek no; stand 1; " + EIGHT, TEN_UP + "peek yes; stand 1; " + EIGHT, 6
    ),
    # cards to players
    "extra_card_after_double": Kept(
        ELEVEN + "double 1 1000; 1 2S; " + END, ELEVEN + "double 1 1000; 1 2S; 1 3S; " + END, 8
    ),
    "extra_card_on_split_ace": Kept(
        ACES + "1 TS; 1.1 5D; " + END, ACES + "1 TS; 1.1 5D; 1.1 3C; " + END, 10
    ),
    "card_after_stand": Kept(TWELVE + "stand 1; " + END, TWELVE + "stand 1; 1 2C; " + END, 7),
    "card_after_breaking": Kept(
        TWELVE + "1 KC; show D TC; close", TWELVE + "1 KC; 1 3C; show D TC; close", 7
    ),
    "card_to_blackjack": Kept(
        BLACKJACK + "show D TC; close", BLACKJACK + "1 2C; show D TC; close", 6
    ),
    "missing_card": Kept(ELEVEN + "hit 1; 1 8C; " + END, ELEVEN + "hit 1; " + END, 6),
    # the deck
    "impossible_card": Kept(
        "shoe 1; bet 1 1000; " + TABLE,
        "shoe 1; bet 1 1000; " + TABLE.replace("TD", "TS"),
        5,
        ("kansas-shoe", "decks=1"),
    ),
    "foreign_card": Kept(
        "bet 1 1000; " + TABLE, "bet 1 1000; " + TABLE.replace("show D 8S", "show D 9S"), 6
    ),
    "wrong_deck_count": Kept("shoe 6; bet 1 1000; " + TABLE, "shoe 8; bet 1 1000; " + TABLE, 1),
    "burn_missing": Kept(
        "shoe 6; burn 2C; bet 1 1000; " + TABLE,
        "shoe 6; bet 1 1000; " + TABLE,
        3,
        ("kansas-shoe", "burn_after_shuffle=1"),
    ),
    "dealt_past_cut_card": Kept(
        "shoe 6; bet 1 1000; " + TABLE.replace("show", "cut; show"),
        "shoe 6; cut; bet 1 1000; " + TABLE,
        4,
    ),
    # splits
    "split_not_pair": Kept(
        EIGHTS + "1 TS; 1.1 2C; " + END,
        EIGHTS.replace("8D", "9D") + "1 TS; 1.1 2C; " + END,
        6,
    ),
    "split_unequal_rank": Kept(
        EIGHTS.replace("8S", "KS").replace("8D", "KD") + "1 TS; 1.1 2C; " + END,
        EIGHTS.replace("8S", "KS").replace("8D", "QD") + "1 TS; 1.1 2C; " + END,
        6,
        ("kansas-shoe", "split_match=rank"),
    ),
    "split_wager_mismatch": Kept(
        EIGHTS + "1 TS; 1.1 2C; " + END,
        EIGHTS.replace("1.1 1000", "1.1 900") + "1 TS; 1.1 2C; " + END,
        7,
    ),
    "too_many_hands": Kept(
        EIGHTS + "1 TS; 1.1 2C; " + END,
        EIGHTS + "1 8C; say-split 1; split 1.2 1000; 1 TS; 1.1 2C; 1.2 3C; " + END,
        9,
        ("kansas-shoe", "max_hands=2"),
    ),
    "resplit_aces_not_allowed": Kept(
        ACES + "1 AC; 1.1 2C; " + END,
        ACES + "1 AC; say-split 1; split 1.2 1000; 1 TS; 1.1 2C; 1.2 3C; " + END,
        9,
        ("kansas-shoe", "resplit_aces=false"),
    ),
    # doubles
    "double_total_not_allowed": Kept(
        ELEVEN + "double 1 1000; 1 2S; " + END,
        TWELVE + "double 1 1000; 1 2S; " + END,
        6,
        ("kansas-shoe", "double_on=9-11"),
    ),
    "double_not_first_two": Kept(
        ELEVEN + "double 1 1000; 1 2S; " + END, ELEVEN + "1 2S; double 1 1000; 1 3S; " + END, 7
    ),
    "double_over_original": Kept(
        ELEVEN + "double 1 1000; 1 2S; " + END, ELEVEN + "double 1 1001; 1 2S; " + END, 6
    ),
    "double_for_less_not_allowed": Kept(
        ELEVEN + "double 1 1000; 1 2S; " + END,
        ELEVEN + "double 1 999; 1 2S; " + END,
        6,
        ("kansas-shoe", "double_for_less=false"),
    ),
    "double_after_split_not_allowed": Kept(
        EIGHTS + "1 3S; 1 TS; 1.1 2C; " + END,
        EIGHTS + "1 3S; double 1 1000; 1 TS; 1.1 2C; " + END,
        9,
        ("kansas-shoe", "double_after_split=false"),
    ),
    "double_split_aces": Kept(
        ACES + "1 9S; 1.1 2C; " + END, ACES + "1 9S; double 1 1000; 1 TS; 1.1 2C; " + END, 9
    ),
    "double_on_blackjack": Kept(
        BLACKJACK + "show D TC; close", BLACKJACK + "double 1 1000; 1 2C; " + END, 6
    ),
    # insurance, even money, surrender
    "insurance_not_offered": Kept(
        ACE_UP + "ins 1 500; show D 7C; close", TEN_UP + "ins 1 500; " + EIGHT, 6
    ),
    "insurance_over_half": Kept(
        ACE_UP + "ins 1 500; show D 7C; close", ACE_UP + "ins 1 501; show D 7C; close", 6
    ),
    "insurance_not_half": Kept(
        ACE_UP + "ins 1 500; show D 7C; close",
        ACE_UP + "ins 1 499; show D 7C; close",
        6,
        ("kansas-shoe", "insurance=exactly_half"),
    ),
    "insurance_late": Kept(
        ACE_UP + "ins 1 500; stand 1; show D 7C; close",
        ACE_UP + "stand 1; ins 1 500; show D 7C; close",
        7,
    ),
    "surrender_not_offered": Kept(
        TEN_UP + "stand 1; " + EIGHT, TEN_UP + "surrender 1; " + EIGHT, 6
    ),
    "surrender_after_action": Kept(
        TEN_UP + "surrender 1; " + EIGHT,
        TEN_UP.replace("6D", "2D") + "1 3D; surrender 1; " + EIGHT,
        7,
        ("casino-shoe",),
    ),
    "surrender_after_split": Kept(
        EIGHTS + "1 TS; 1.1 2C; " + END,
        EIGHTS + "1 TS; surrender 1; 1.1 2C; " + END,
        9,
        ("casino-shoe",),
    ),
    "surrender_vs_dealer_blackjack": Kept(
        TEN_UP + "surrender 1; " + EIGHT,
        TEN_UP.replace("8C", "AC") + "surrender 1; show D AC; close",
        6,
        ("casino-shoe",),
    ),
    "even_money_not_offered": Kept(
        BLACKJACK.replace("6C", "AC") + "even_money 1; show D TC; close",
        BLACKJACK.replace("6C", "9C") + "even_money 1; show D TC; close",
        6,
        ("kansas-shoe", "even_money=true"),
    ),
    # the table
    "below_table_min": Kept("bet 1 500; " + TABLE, "bet 1 499; " + TABLE, 1),
    "above_table_max": Kept(
        "bet 1 9000; " + TABLE, "bet 1 9001; " + TABLE, 1, ("kansas-shoe", "table_max=9000")
    ),
    "multi_spot_minimum": Kept(
        "seat ANN 1,2; bet 1 1000; bet 2 1000; " + TWO_SPOTS,
        "seat ANN 1,2; bet 1 1000; bet 2 999; " + TWO_SPOTS,
        3,
    ),
    "too_many_spots": Kept(
        "seat ANN 1; seat BOB 2; bet 1 1000; bet 2 1000; " + TWO_SPOTS,
        "seat ANN 1; seat ANN 2; bet 1 1000; bet 2 1000; " + TWO_SPOTS,
        4,
        ("kansas-shoe", "multi_spot_min_multiple=none", "max_spots_per_player=1"),
    ),
    "mid_shoe_entry": Kept(
        "shoe 6; bet 1 1000; bet 2 1000; " + TWO_SPOTS + "bet 1 1000; " + TABLE,
        "shoe 6; bet 1 1000; " + TABLE + "bet 1 1000; bet 2 1000; " + TWO_SPOTS,
        10,
        ("kansas-shoe", "mid_shoe_entry=false"),
    ),
    "side_wager_prohibited": Kept(
        "bet 1 1000; " + TABLE,
        "bet 1 1000; side 1 500; " + TABLE,
        2,
        ("kansas-shoe", "side_wagers=false"),
    ),
    # wagers after the deal
    "stake_increased_after_deal": Kept(
        "bet 1 1000; bet 1 500; " + TABLE,
        "bet 1 1000; " + TABLE.replace("D TC", "bet 1 500; D TC"),
        3,
    ),
    "stake_reduced_after_deal": Kept(
        "bet 1 1500; back 1 500; " + TABLE,
        "bet 1 1500; " + TABLE.replace("D TC", "back 1 500; D TC"),
        3,
    ),
    "wager_after_deal": Kept(
        "bet 1 1000; bet 2 1000; " + TWO_SPOTS,
        "bet 1 1000; " + TABLE.replace("show", "bet 2 1000; show"),
        6,
    ),
    "wager_on_no_hand": Kept("bet 1 1000; " + TABLE, "bet 1 1000; bet 1.1 500; " + TABLE, 2),
    # conduct
    "signal_not_accepted": Kept(
        TWELVE + "stand 1 hand; " + END, TWELVE + "stand 1 verbal; " + END, 6
    ),
    "player_touched_cards": Kept(
        TWELVE + "touch 1 one_hand; " + END,
        TWELVE + "touch 1 two_hands; " + END,
        6,
        ("kansas-shoe", "player_touch=one_hand"),
    ),
    # payment
    "wrong_payout": Kept(
        SETTLING + "pay 3 -1000; pay 1 1000; close", SETTLING + "pay 3 -1000; pay 1 1500; close", 14
    ),
    "payment_missing": Kept(
        SETTLING + "pay 3 -1000; pay 1 1000; close", SETTLING + "pay 3 -1000; close", 14
    ),
    "tray_mismatch": Kept(
        "tray 90000; " + SETTLING + "pay 3 -1000; pay 1 1000; close; tray 90000",
        "tray 90000; " + SETTLING + "pay 3 -1000; pay 1 1000; close; tray 90001",
        17,
    ),
}

PAID: dict[str, Paid] = {
    "dealer.22": Paid(
        "bet 1 1000; 1 TS; D 9H; 1 9C; D 4D down; show D 4D; D 9D; pay 1 {}; close",
        0,
        1000,
        ("kansas-shoe", "dealer_22=pushes"),
    ),
    "win.pay_table": Paid(
        "bet 1 1000; 1 6S; D 9H; 1 7C; D KD down; hit 1; 1 8S; show D KD; pay 1 {}; close",
        1500,
        1000,
        ("spanish-21",),
    ),
    "surrender.rescue": Paid(
        "bet 1 1000; 1 6S; D 9H; 1 5C; D KD down; double 1 1000; 1 2S; surrender 1; pay 1 {};"
        "show D KD; close",
        -1000,
        -2000,
        ("spanish-21",),
    ),
    "dealer.breaks": Paid(TWELVE + "show D TC; D 9S; pay 1 {}; close", 1000, -1000),
    "dealer.blackjack": Paid(
        "bet 1 1000; 1 7S; D AC; 1 7D; D KD down; 1 7C; show D KD; pay 1 {}; close", -1000, 0
    ),
    "insurance.pays": Paid(
        ACE_UP.replace("7C", "KC") + "ins 1 500; show D KC; payins 1 {}; pay 1 -1000; close",
        1000,
        500,
    ),
    "insurance.both_blackjacks": Paid(
        BLACKJACK.replace("6C", "AC") + "ins 1 500; show D TC; payins 1 1000; pay 1 {}; close",
        -1000,
        0,
        ("kansas-shoe", "insured_blackjack_vs_dealer_blackjack=lose"),
    ),
    "player.breaks": Paid(TWELVE + "1 KC; pay 1 {}; show D TC; close", -1000, 0),
    "blackjack.pays": Paid(BLACKJACK + "show D TC; pay 1 {}; close", 1500, 1000),
    "win.pays": Paid(STOOD.format("TH", "8C") + "pay 1 {}; close", 1000, 1500),
    "lose.takes": Paid(STOOD.format("TH", "TC") + "pay 1 {}; close", -1000, -500),
    "push.returns": Paid(STOOD.format("TH", "9C") + "pay 1 {}; close", 0, -1000),
    "side_bet.pays": Paid(
        "bet 1 1000; side 1 500 %over; 1 TS; D TH; 1 9C; D 8C down; pay-side 1 {} %over; close",
        500,
        -500,
        ("kansas-shoe", f"side_bets={OVER_13}"),
    ),
    "payout.rounding": Paid(
        BLACKJACK.replace("1000", "1005") + "show D TC; pay 1 {}; close", 1507, 1508
    ),
}


def test_every_violation_code_is_kept_and_broken_here() -> None:
    assert set(CODES) == set(BREAKS)


def test_every_clause_is_kept_and_broken_here() -> None:
    assert {BREAKS[code] for code in CODES} | set(PAID) == set(CLAUSES)


@pytest.mark.parametrize("code", CODES, ids=lambda code: f"{BREAKS[code]}:{code}")
def test_a_clause_accepted(code: str) -> None:
    assert found(CODES[code].kept, *CODES[code].settings) == []


@pytest.mark.parametrize("code", CODES, ids=lambda code: f"{BREAKS[code]}:{code}")
def test_a_clause_violated(code: str) -> None:
    case = CODES[code]
    told = [one for result in rounds(case.broken, *case.settings) for one in result.violations]
    assert [(one.code, one.seq, one.clause) for one in told] == [(code, case.seq, BREAKS[code])]
    assert told[0].detail


@pytest.mark.parametrize("clause", PAID)
def test_a_clause_of_settling_accepted(clause: str) -> None:
    case = PAID[clause]
    result = one_round(case.round.format(case.due), *case.settings)
    assert result.violations == ()
    if clause != "insurance.pays":
        hands = {one for spot in result.spots for hand in spot.hands for one in hand.clauses}
        sides = {
            one for spot in result.spots for side in spot.side or () for one in side.clauses or ()
        }
        assert clause in hands | sides


@pytest.mark.parametrize("clause", PAID)
def test_a_clause_of_settling_violated(clause: str) -> None:
    case = PAID[clause]
    (told,) = one_round(case.round.format(case.wrong), *case.settings).violations
    assert (told.code, told.clause) == ("wrong_payout", "payment.due")
