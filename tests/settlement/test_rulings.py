"""What the floor rules: hands and rounds called off, cards moved, chips taken off."""

import pytest

from models.judgements import RoundResult
from settlement.balance import balance, payments_in
from tests.settlement.table import codes, facts, nets, one_round, rounds

DEAL = "bet 1 1000; bet 2 2000; 1 TS; 2 9S; D TH; 1 6D; 2 9C; D ?? down; "
END = "stand 2; show D 7D; pay 2 2000; close"


def outcomes(result: RoundResult) -> list[tuple[str, int | None]]:
    return [(hand.outcome, hand.net) for spot in result.spots for hand in spot.hands]


# --- a round called off -------------------------------------------------------------------


def test_a_round_called_off_returns_every_wager() -> None:
    result = one_round(DEAL + "off; back 1 1000; back 2 2000; close")
    assert outcomes(result) == [("void", 0), ("void", 0)]
    assert (result.status, result.net, result.violations) == ("final", 0, ())
    assert result.dealer.outcome == "no_draw"


@pytest.mark.parametrize("chips", ["", "back 1 1000; ", "take-off 1 1000; ", "off; back 1 1000; "])
def test_the_mistake_that_led_to_it_is_stated_once(chips: str) -> None:
    text = "bet 1 1000; bet 2 2000; 1 TS; 2 9S; D TH; 2 9C; off; " + chips + "close"
    assert codes(text) == ["spot_skipped"]
    assert nets(text) == [0, 0]


@pytest.mark.parametrize(
    ("deal", "code"),
    [
        pytest.param("1 TS; D TH; 2 9S; ", "deal_order", id="late-in-the-first-pass"),
        pytest.param("2 9S; 1 TS; ", "deal_order", id="second-spot-first"),
        pytest.param("1 TS; D TH; ", "spot_skipped", id="no-card-in-the-first-pass"),
        pytest.param("1 TS; 2 9S; D TH; 2 9C; 1 6D; ", "deal_order", id="late-in-the-second-pass"),
    ],
)
def test_a_deal_called_off_is_judged_as_far_as_it_had_come(deal: str, code: str) -> None:
    """Nobody lacks a card of a pass that had not begun."""
    assert codes("bet 1 1000; bet 2 2000; " + deal + "off; close") == [code]


@pytest.mark.parametrize(
    ("before", "code"),
    [
        ("stand 1; 1 5D; ", "card_after_stand"),
        ("stand 1; stand 2; show D 7D; D 2C; ", "dealer_hit_hard_17"),
        ("double 1 1500; 1 3D; ", "double_over_original"),
        ("bet 1 500; ", "stake_increased_after_deal"),
    ],
)
def test_a_mistake_before_it_stands(before: str, code: str) -> None:
    assert codes(DEAL + before + "off; close") == [code]


@pytest.mark.parametrize(
    "before",
    [
        "",
        "stand 1; ",
        "double 1 400; ",
        "say-double 1; ",
        "stand 1; stand 2; show D 5D; ",
        "stand 1; stand 2; show D 6D; pay 2 -2000; pay 2 2000; ",
    ],
)
def test_what_was_not_done_yet_is_no_mistake(before: str) -> None:
    text = DEAL + before + "off; close"
    expected = ["dealer_stood_below_17"] if "pay" in before else []
    assert codes(text) == expected


@pytest.mark.parametrize(
    "after", ["1 5D; ", "show D 7D; ", "stand 1; ", "split 1.1 500; ", "bet 1 5; "]
)
def test_nothing_is_played_after_it(after: str) -> None:
    assert codes(DEAL + "off; " + after + "close") == []


def test_its_cards_stay_out_of_the_shoe() -> None:
    text = "shoe 1; open 1; bet 1 1000; 1 TS; D 6D; off; 2D; close; open 2; bet 1 1000; "
    text = text.replace("2D;", "1 2D;") + "1 TS; D 5C; 1 QC; D ?? down; off; close"
    assert codes(text, "kansas-shoe", "decks=1") == ["impossible_card"]


def test_money_paid_before_it_has_to_come_back() -> None:
    paid = DEAL + "1 9D; pay 1 -1000; off; "
    assert codes(paid + "pay 1 1000; back 2 2000; close") == []
    assert codes(paid + "back 2 2000; close") == ["wrong_payout"]
    assert codes(paid + "close; pay 1 1000") == []


@pytest.mark.parametrize("ruling", ["off", "off 1"])
def test_a_wager_that_was_taken_goes_back_out_of_the_tray(ruling: str) -> None:
    taken = "tray 100000; " + DEAL + f"1 9D; pay 1 -1000; {ruling}; "
    end = "close; tray {}" if ruling == "off" else END + "; tray {}"
    due = 100000 if ruling == "off" else 98000
    assert codes(taken + "back 1 1000; " + end.format(due)) == []
    assert codes(taken + "back 1 1000; back 1 1000; " + end.format(due)) == []
    assert codes(taken + end.format(due + 1000)) == ["wrong_payout"]
    text = taken + "back 1 1000; " + end.format(due)
    found = balance(one_round(text), payments_in(facts(text)))
    assert (found.difference, found.underpaid, found.overpaid) == (0, 0, 0)


def test_it_may_come_after_the_close() -> None:
    text = DEAL + "stand 1; stand 2; show D 8D; pay 2 -2000; pay 1 -1000; close; "
    assert nets(text) == [-1000, 0]
    text = DEAL + "stand 1; stand 2; show D 7D; pay 2 2000; pay 1 -1000; close; off; "
    assert nets(text) == [0, 0]
    assert codes(text) == ["wrong_payout", "wrong_payout"]
    assert codes(text + "pay 2 -2000; pay 1 1000") == []


def test_between_rounds_there_is_nothing_to_call_off() -> None:
    assert [one.net for one in rounds("off; off 1; move 8D 1>2; " + DEAL + "off 1; " + END)] == [
        -2000
    ]


def test_the_next_wager_begins_a_round_where_none_is_marked() -> None:
    text = "bet 1 1000; 1 TS; D 6D; off; bet 1 500; 1 TD; D 6C; 1 TC; D TH down; show D TH; D 9S; "
    assert nets(text + "pay 1 500") == [0, 500]


# --- a hand called off --------------------------------------------------------------------


@pytest.mark.parametrize(
    "chips", ["", "back 1 1000; ", "take-off 1 1000; ", "off 1; ", "off 1.0; "]
)
def test_a_hand_called_off_goes_back_alone(chips: str) -> None:
    result = one_round(DEAL + "off 1.0; " + chips + END)
    assert outcomes(result) == [("void", 0), ("win", 2000)]
    assert (result.violations, result.net) == ((), -2000)


def test_a_split_hand_called_off_leaves_the_other() -> None:
    text = "bet 1 1000; 1 8S; D TH; 1 8D; D ?? down; say-split 1; split 1.1 1000; 1 3C; "
    text += "off 1.0; 1.1 TC; stand 1.1; show D 7D; pay 1.1 1000; close"
    result = one_round(text)
    assert outcomes(result) == [("void", 0), ("win", 1000)]
    assert result.violations == ()
    assert outcomes(one_round(text.replace("off 1.0", "off 1"))) == [("void", 0)] * 2


def test_its_insurance_goes_back_with_it() -> None:
    text = "bet 1 1000; 1 TS; D AH; 1 6D; D TC down; ins 1 500; off 1; show D TC; close"
    result = one_round(text)
    assert result.spots[0].insurance is not None
    assert (result.spots[0].insurance.net, result.net) == (0, 0)


def test_with_no_hand_left_the_dealer_draws_none() -> None:
    deal = "bet 1 1000; 1 TS; D TH; 1 6D; D 6C down; stand 1; "
    assert codes(deal + "off 1; show D 6C; close") == []
    assert codes(deal + "off 1; show D 6C; D 2C; close") == ["dealer_drew_no_live_hands"]
    assert codes(deal + "show D 6C; D 2C; off 1; close") == []


def test_a_card_dealt_to_it_is_a_mistake() -> None:
    assert codes(DEAL + "off 1; 1 5D; " + END) == ["card_after_stand"]


def test_a_hand_called_off_in_the_deal_waits_for_no_card() -> None:
    text = "bet 1 1000; bet 2 2000; 1 TS; off 1; 2 9S; D TH; 2 9C; D ?? down; " + END
    assert codes(text) == []
    assert nets(text) == [0, 2000]


def test_a_hand_may_be_called_off_after_it_was_taken() -> None:
    taken = DEAL + "1 9D; pay 1 -1000; off 1; "
    assert codes(taken + "pay 1 1000; " + END) == []
    assert codes(taken + END) == ["wrong_payout"]
    late = DEAL + "1 9D; pay 1 -1000; " + END + "; off 1; pay 1 1000"
    assert (codes(late), nets(late)) == ([], [0, 2000])


# --- a card moved -------------------------------------------------------------------------

OFFERED = DEAL + "stand 1; 1 2D; "


def test_a_card_offered_to_the_next_player_is_his() -> None:
    result = one_round(OFFERED + "move 2D 1>2; " + END)
    assert [hand.cards for spot in result.spots for hand in spot.hands][1][-1].value == "2D"  # type: ignore[union-attr]
    assert outcomes(result) == [("lose", -1000), ("win", 2000)]
    assert [one.code for one in result.violations] == ["card_after_stand", "payment_missing"]


@pytest.mark.parametrize(
    "moves", ["move 2D 1>rack; move 2D rack>1; ", "move 2D 1>D; move 2D D>1; "]
)
def test_a_card_moved_away_and_back_lies_there_once(moves: str) -> None:
    text = "shoe 1; " + DEAL + "1 2D; " + moves + "stand 1; " + END
    result = one_round(text, "kansas-shoe", "decks=1")
    assert [str(card) for card in result.spots[0].hands[0].cards] == ["TS", "6D", "2D"]
    assert [one.code for one in result.violations] == ["payment_missing"]
    assert result.net == -3000


def test_a_card_moved_to_the_dealer_is_no_draw_of_his() -> None:
    text = OFFERED + "move 2D 1>D; stand 2; show D 7D; pay 2 2000; pay 1 -1000; close"
    assert codes(text) == ["card_after_stand"]
    assert [str(card) for card in one_round(text).dealer.cards] == ["TH", "7D"]
    drawn = OFFERED + "move 2D 1>D; stand 2; show D 5D; pay 2 2000; pay 1 -1000; close"
    assert [str(card) for card in one_round(drawn).dealer.cards] == ["TH", "5D", "2D"]


def test_a_card_moved_counts_once_out_of_the_shoe() -> None:
    for target in ("2", "rack", "D"):
        text = "shoe 1; " + OFFERED + f"move 2D 1>{target}; stand 2; off; close"
        assert codes(text, "kansas-shoe", "decks=1") == ["card_after_stand"]
        again = text + "; bet 1 1000; 1 2D; off; close"
        assert codes(again, "kansas-shoe", "decks=1") == ["card_after_stand", "impossible_card"]


def test_a_card_passed_over_in_the_deal_is_moved_to_where_it_was_due() -> None:
    text = "bet 1 1000; bet 2 2000; 2 TS; move TS 2>1; 2 9S; D TH; 1 6D; 2 9C; D ?? down; "
    assert codes(text + "stand 1; " + END.replace("pay 2 2000", "pay 2 2000; pay 1 -1000")) == [
        "spot_skipped"
    ]


def test_a_draw_in_error_moved_from_the_dealer_stays_his_mistake() -> None:
    text = "bet 1 1000; 1 TS; D TH; 1 9D; D 7C down; stand 1; show D 7C; D 4S; move 4S D>rack; "
    assert codes(text + "pay 1 1000; close") == ["dealer_hit_hard_17"]
    assert nets(text + "pay 1 1000; close") == [1000]


def test_a_card_that_nobody_read_becomes_known_where_it_is_moved() -> None:
    result = one_round(DEAL + "stand 1; 1 ??; move 2D 1>2; " + END)
    assert [str(card) for card in result.spots[1].hands[0].cards] == ["9S", "9C", "2D"]
    unread = one_round(DEAL + "stand 1; 1 ??; move ?? 1>2; " + END)
    assert unread.spots[1].hands[0].outcome == "unknown"


def test_a_card_that_did_not_lie_there_leaves_that_hand_open() -> None:
    result = one_round(DEAL + "move 2D 1>2; stand 1; " + END)
    assert [hand.outcome for spot in result.spots for hand in spot.hands] == ["unknown", "win"]
    assert result.status == "pending"
    dealer = one_round(DEAL.replace("??", "7D") + "move 2D D>2; stand 1; " + END)
    assert [hand.outcome for spot in dealer.spots for hand in spot.hands] == ["unknown", "unknown"]


def test_a_card_from_the_rack_was_out_of_the_shoe() -> None:
    text = "shoe 1; burn 2D; " + DEAL + "stand 1; hit 2; move 2D rack>2; " + END
    result = one_round(text, "kansas-shoe", "decks=1")
    assert [str(card) for card in result.spots[1].hands[0].cards] == ["9S", "9C", "2D"]
    assert [one.code for one in result.violations] == ["payment_missing"]


# --- chips taken off ----------------------------------------------------------------------


def test_chips_laid_too_late_are_taken_off_alone() -> None:
    text = DEAL + "bet 1 500; take-off 1 500; stand 1; "
    text += "stand 2; show D 7D; pay 2 2000; pay 1 -1000; close"
    assert codes(text) == ["stake_increased_after_deal"]


def test_the_floor_may_take_off_part_of_a_wager() -> None:
    text = DEAL + "take-off 1 400; stand 1; stand 2; show D 7D; pay 2 2000; pay 1 -600; close"
    assert (codes(text), nets(text)) == ([], [-600, 2000])


@pytest.mark.parametrize("amount", [1000, 5000])
def test_a_hand_without_a_wager_left_is_called_off(amount: int) -> None:
    text = DEAL + f"take-off 1 {amount}; " + END
    assert (codes(text), outcomes(one_round(text))[0]) == ([], ("void", 0))


@pytest.mark.parametrize(
    ("wagers", "off", "net"),
    [
        ("bet 1 1000; bet 1 700 @ANN", "take-off 1 1000", 700),
        ("bet 1 1000; bet 1 700 @ANN", "take-off 1 700 @ANN", 1000),
        ("bet 1 1000; bet 1 700 @ANN", "take-off 1 1000; take-off 1 700 @ANN", 0),
        ("bet 1 700 @ANN", "take-off 1 700 @ANN", 0),
    ],
)
def test_a_hand_plays_on_while_anybodys_wager_lies_on_it(wagers: str, off: str, net: int) -> None:
    text = f"{wagers}; bet 2 500; 1 TS; 2 TH; D 6H; 1 9S; 2 9H; D TD down; {off}; stand 1; "
    (own, _) = one_round(text + "stand 2; show D TD; D 9C; close").spots
    assert (own.net, own.hands[0].outcome) == (net, "win" if net else "void")


def test_a_double_over_the_wager_is_a_mistake_though_the_floor_takes_it_off() -> None:
    text = DEAL + "double 1 1500; take-off 1 500 double; 1 2D; "
    text += "stand 2; show D 7D; pay 2 2000; pay 1 2000; close"
    assert codes(text) == ["double_over_original"]
    less = DEAL + "double 1 1000; take-off 1 400 double; 1 2D; "
    less += "stand 2; show D 7D; pay 2 2000; pay 1 1600; close"
    assert codes(less, "kansas-shoe", "double_for_less=false") == []


# --- discards shuffled again --------------------------------------------------------------


def test_what_lies_on_the_table_stays_out_when_the_discards_are_shuffled() -> None:
    start = "shoe 1; open 1; bet 1 1000; 1 2S; D 6D; 1 3S; D TC down; show D TC; D 9S; close; "
    start += "open 2; bet 1 1000; bet 2 1000; 1 TS; 2 8S; D 6H; 1 5D; 2 8C; D ?? down; reshuffle; "
    play = "hit 1; 1 {}; stand 2; close"
    one = ("kansas-shoe", "decks=1")
    assert "impossible_card" not in codes(start + play.format("2S"), *one)
    for lying in ("TS", "8S", "6H", "8C"):
        assert "impossible_card" in codes(start + play.format(lying), *one)


def test_cards_taken_up_before_may_come_again() -> None:
    text = "shoe 1; bet 1 1000; bet 2 1000; 1 TS; 2 8S; D 6H; 1 5D; 2 8C; D ?? down; 1 KS; "
    text += "pay 1 -1000; reshuffle; hit 2; 2 {}; close"
    assert "impossible_card" not in codes(text.format("KS"), "kansas-shoe", "decks=1")
    assert "impossible_card" in codes(text.format("8S"), "kansas-shoe", "decks=1")
