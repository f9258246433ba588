"""The clauses of the seven sheets, row by row: the same scene in every house, as each has it.

A row is named by its number in the clause matrix. ``told`` says in which houses the scene is a
mistake, and which; in all others nothing is wrong with it.
"""

from dataclasses import dataclass, field
from typing import Final

import pytest

from tests.settlement.table import IDS, codes, nets, rules

SEVEN = tuple(name for name in IDS if name != "spanish-21")

KANSAS, KANSAS_DD, PITCH = "kansas-shoe", "kansas-double-deck", "pitch-double-deck"
SHOE, DOUBLE, SINGLE, HOME = "casino-shoe", "casino-double-deck", "casino-single-deck", "home"

FACE_UP: Final = (KANSAS, KANSAS_DD, SHOE)
FACE_DOWN: Final = (PITCH, DOUBLE, SINGLE, HOME)
ALL: Final = (*FACE_UP, *FACE_DOWN)


@dataclass(frozen=True)
class Scene:
    """One spot's first two cards, the dealer's up and hole card, and what follows."""

    player: tuple[str, str]
    dealer: tuple[str, str]
    play: str
    net: int | None
    told: dict[tuple[str, ...], tuple[str, ...]] = field(default_factory=dict)
    nets: dict[str, int | None] = field(default_factory=dict)
    """Where a house comes to another net."""


def dealt(name: str, player: tuple[str, str], dealer: tuple[str, str]) -> str:
    """Write the deal as the house makes it: its faces, its order of the dealer's two cards."""
    house = rules(name)
    face = " down" if house.player_cards == "down" else ""
    cards = [f"D {dealer[0]}", f"D {dealer[1]} down"]
    first, second = cards if house.dealer_first_card == "up" else cards[::-1]
    return f"bet 1 1000; 1 {player[0]}{face}; {first}; 1 {player[1]}{face}; {second}; "


STIFF, TWENTY, TEN_NINE = ("TS", "2D"), ("TS", "KD"), ("TH", "9C")
SIX_TEN = ("6C", "TC")
BUSTS = "show D TC; D 9S; close"
SPLIT = "say-split 1; split 1.1 1000; "

SCENES: dict[str, Scene] = {
    "04 card values": Scene(("JS", "QD"), TEN_NINE, "show D 9C; close", 1000),
    "05 an ace falls to 1": Scene(("AS", "6D"), TEN_NINE, "1 8C; show D 9C; close", -1000),
    "05 an ace counts 11": Scene(("AS", "6D"), TEN_NINE, "1 3C; show D 9C; close", 1000),
    "06 first two cards only": Scene(("7S", "7D"), SIX_TEN, "1 7C; " + BUSTS, 1000),
    "07 blackjack pays": Scene(("AS", "KD"), SIX_TEN, "show D TC; close", 1500, {}, {SINGLE: 1200}),
    "08 both blackjack": Scene(("AS", "KD"), ("AC", "TC"), "show D TC; close", 0),
    "09 the dealer's blackjack beats 21": Scene(
        ("7S", "7D"), ("AC", "TC"), "1 7C; show D TC; close", -1000
    ),
    "10 win": Scene(TWENTY, TEN_NINE, "show D 9C; close", 1000),
    "11 tie": Scene(("TS", "9D"), TEN_NINE, "show D 9C; close", 0),
    "12 both break": Scene(STIFF, SIX_TEN, "1 KC; show D TC; close", -1000),
    "12 the dealer breaks": Scene(STIFF, SIX_TEN, "stand 1; " + BUSTS, 1000),
    "13 soft 17 drawn to": Scene(
        TWENTY,
        ("6C", "AC"),
        "show D AC; D 2S; close",
        1000,
        {(HOME,): ("dealer_hit_soft_17",)},
    ),
    "13 soft 17 stood on": Scene(
        TWENTY,
        ("6C", "AC"),
        "show D AC; close",
        None,
        {(*FACE_UP, PITCH, DOUBLE, SINGLE): ("dealer_stood_soft_17",)},
        {HOME: 1000},
    ),
    "13 hard 17 drawn to": Scene(
        TWENTY, ("TC", "7C"), "show D 7C; D 4S; close", 1000, {ALL: ("dealer_hit_hard_17",)}
    ),
    "14 no live hand, no draw": Scene(STIFF, SIX_TEN, "1 KC; show D TC; close", -1000),
    "14 the dealer plays last": Scene(
        STIFF,
        SIX_TEN,
        "show D TC; D 9S; 1 7C; close",
        1000,
        {ALL: ("dealer_acted_before_players",)},
    ),
    "15 king and queen split": Scene(
        ("KS", "QD"),
        SIX_TEN,
        SPLIT + "1 TS; 1.1 5D; " + BUSTS,
        2000,
        {(PITCH, HOME): ("split_unequal_rank",)},
    ),
    "15 two kings split": Scene(("KS", "KD"), SIX_TEN, SPLIT + "1 TS; 1.1 5D; " + BUSTS, 2000),
    "16 three hands": Scene(
        ("8S", "8D"),
        SIX_TEN,
        SPLIT + "1 8C; say-split 1; split 1.2 1000; 1 TS; 1.1 TD; 1.2 TH; " + BUSTS,
        3000,
        {(HOME,): ("too_many_hands",)},
    ),
    "17 a second card on a split ace": Scene(
        ("AS", "AD"),
        SIX_TEN,
        SPLIT + "1 5S; 1.1 6D; 1.1 3H; " + BUSTS,
        2000,
        {ALL: ("extra_card_on_split_ace",)},
    ),
    "18 aces split again": Scene(
        ("AS", "AD"),
        SIX_TEN,
        SPLIT + "1 AC; say-split 1; split 1.2 1000; 1 TS; 1.1 TD; 1.2 TH; " + BUSTS,
        3000,
        {(PITCH, KANSAS_DD, DOUBLE, HOME): ("resplit_aces_not_allowed",)},
    ),
    "19 21 on split aces is no blackjack": Scene(
        ("AS", "AD"), SIX_TEN, SPLIT + "1 TS; 1.1 KD; " + BUSTS, 2000
    ),
    "19 an ace on a split ten is no blackjack": Scene(
        ("KS", "KD"), SIX_TEN, SPLIT + "1 AS; 1.1 AD; " + BUSTS, 2000
    ),
    "20 doubled on 12": Scene(
        STIFF,
        SIX_TEN,
        "double 1 1000; 1 7C; " + BUSTS,
        2000,
        {(PITCH,): ("double_total_not_allowed",)},
    ),
    "20 doubled on 11": Scene(("5S", "6D"), SIX_TEN, "double 1 1000; 1 7C; " + BUSTS, 2000),
    "20 doubled on ace and 8": Scene(
        ("AS", "8D"),
        SIX_TEN,
        "double 1 1000; 1 7C; " + BUSTS,
        2000,
        {(PITCH,): ("double_total_not_allowed",)},
    ),
    "20 a blackjack doubled": Scene(
        ("AS", "KD"),
        SIX_TEN,
        "double 1 1000; 1 7C; " + BUSTS,
        2000,
        {ALL: ("double_on_blackjack",)},
    ),
    "21 doubled for less": Scene(
        ("5S", "6D"),
        SIX_TEN,
        "double 1 400; 1 7C; " + BUSTS,
        1400,
        {(PITCH, HOME): ("double_for_less_not_allowed",)},
    ),
    "21 doubled for more": Scene(
        ("5S", "6D"),
        SIX_TEN,
        "double 1 1400; 1 7C; " + BUSTS,
        2400,
        {ALL: ("double_over_original",)},
    ),
    "22 doubled after a split": Scene(
        ("8S", "8D"), SIX_TEN, SPLIT + "1 3S; double 1 1000; 1 TS; 1.1 TD; " + BUSTS, 3000
    ),
    "22 a split ace doubled": Scene(
        ("AS", "AD"),
        SIX_TEN,
        SPLIT + "1 9H; double 1 1000; 1 TS; 1.1 TD; " + BUSTS,
        3000,
        {ALL: ("double_split_aces",)},
    ),
    "23 insured for half": Scene(TWENTY, ("AC", "TC"), "ins 1 500; show D TC; close", 0),
    "23 insured for less": Scene(
        TWENTY,
        ("AC", "TC"),
        "ins 1 300; show D TC; close",
        -400,
        {(HOME,): ("insurance_not_half",)},
    ),
    "23 insured for more": Scene(
        TWENTY, ("AC", "TC"), "ins 1 600; show D TC; close", 0, {ALL: ("insurance_over_half",)}
    ),
    "23 insured against a ten": Scene(
        TWENTY, ("TC", "8C"), "ins 1 500; show D 8C; close", 500, {ALL: ("insurance_not_offered",)}
    ),
    "23 insurance lost": Scene(TWENTY, ("AC", "8C"), "ins 1 500; show D 8C; close", 500),
    "23 an insured blackjack": Scene(
        ("AS", "KD"), ("AC", "TC"), "ins 1 500; show D TC; close", 1000
    ),
    "24 even money": Scene(
        ("AS", "KD"),
        ("AC", "8C"),
        "even_money 1; show D 8C; close",
        1000,
        {ALL: ("even_money_not_offered",)},
    ),
    "25 surrender": Scene(
        ("TS", "6D"),
        TEN_NINE,
        "surrender 1; show D 9C; close",
        -500,
        {(KANSAS, KANSAS_DD, PITCH, DOUBLE): ("surrender_not_offered",)},
    ),
    "25 surrender against a blackjack": Scene(
        ("TS", "6D"),
        ("TH", "AC"),
        "surrender 1; show D AC; close",
        -500,
        {
            (KANSAS, KANSAS_DD, PITCH, DOUBLE): ("surrender_not_offered",),
            (SHOE, SINGLE, HOME): ("surrender_vs_dealer_blackjack",),
        },
        dict.fromkeys((SHOE, SINGLE, HOME), -1000),
    ),
    "25 surrender of a split hand": Scene(
        ("8S", "8D"),
        TEN_NINE,
        SPLIT + "1 7S; surrender 1; 1.1 TD; show D 9C; close",
        -1500,
        {
            (KANSAS, KANSAS_DD, PITCH, DOUBLE): ("surrender_not_offered",),
            (SHOE, SINGLE, HOME): ("surrender_after_split",),
        },
    ),
    "26 a double against a blackjack": Scene(
        ("5S", "6D"), ("TH", "AC"), "double 1 1000; 1 9C; show D AC; close", -1000
    ),
    "26 a split against a blackjack": Scene(
        ("8S", "8D"), ("TH", "AC"), SPLIT + "1 TS; 1.1 TD; show D AC; close", -1000
    ),
    "29 a side wager": Scene(
        TWENTY, TEN_NINE, "show D 9C; close", 1000, {(PITCH,): ("side_wager_prohibited",)}
    ),
    "30 stood by hand": Scene(
        TWENTY,
        TEN_NINE,
        "stand 1 hand; show D 9C; close",
        1000,
        {(PITCH, DOUBLE, SINGLE): ("signal_not_accepted",)},
    ),
    "30 stood by tucking": Scene(
        TWENTY,
        TEN_NINE,
        "stand 1 tuck; show D 9C; close",
        1000,
        {(*FACE_UP, HOME): ("signal_not_accepted",)},
    ),
    "30 hit by hand": Scene(STIFF, TEN_NINE, "hit 1 hand; 1 8C; show D 9C; close", 1000),
    "30 hit by word": Scene(
        STIFF,
        TEN_NINE,
        "hit 1 verbal; 1 8C; show D 9C; close",
        1000,
        {(*FACE_UP, PITCH, DOUBLE, SINGLE): ("signal_not_accepted",)},
    ),
    "31 doubled by word": Scene(
        ("5S", "6D"),
        SIX_TEN,
        "say-double 1 verbal; double 1 1000; 1 7C; " + BUSTS,
        2000,
        {(KANSAS, SHOE): ("signal_not_accepted",)},
    ),
    "31 split by word": Scene(
        ("8S", "8D"),
        SIX_TEN,
        "say-split 1 verbal; split 1.1 1000; 1 TS; 1.1 TD; " + BUSTS,
        2000,
        {(KANSAS, SHOE): ("signal_not_accepted",)},
    ),
    "31 surrendered by hand": Scene(
        ("TS", "6D"),
        TEN_NINE,
        "surrender 1 hand; show D 9C; close",
        -500,
        {
            (KANSAS, KANSAS_DD, PITCH, DOUBLE): ("surrender_not_offered",),
            (SHOE, SINGLE): ("signal_not_accepted",),
        },
    ),
    "32 touched with one hand": Scene(
        TWENTY,
        TEN_NINE,
        "touch 1 one_hand; show D 9C; close",
        1000,
        {FACE_UP: ("player_touched_cards",)},
    ),
    "32 touched with both hands": Scene(
        TWENTY,
        TEN_NINE,
        "touch 1 two_hands; show D 9C; close",
        1000,
        {(*FACE_UP, PITCH, DOUBLE, SINGLE): ("player_touched_cards",)},
    ),
    "33 the same card twice": Scene(
        ("TS", "TS"), TEN_NINE, "show D 9C; close", 1000, {(SINGLE, HOME): ("impossible_card",)}
    ),
    "33 the same card three times": Scene(
        ("7S", "7S"),
        TEN_NINE,
        "1 7S; show D 9C; close",
        1000,
        {
            (KANSAS_DD, PITCH, DOUBLE): ("impossible_card",),
            (SINGLE, HOME): ("impossible_card", "impossible_card"),
        },
    ),
}


@pytest.mark.parametrize("name", SEVEN)
@pytest.mark.parametrize("row", SCENES)
def test_a_scene_in_every_house(row: str, name: str) -> None:
    scene = SCENES[row]
    side = "side 1 500; " if row == "29 a side wager" else ""
    text = (
        dealt(name, scene.player, scene.dealer).replace("1000; ", f"1000; {side}", 1) + scene.play
    )
    told = next((what for houses, what in scene.told.items() if name in houses), ())
    assert codes(text, name) == list(told)
    assert nets(text, name) == [scene.nets.get(name, scene.net)]


@pytest.mark.parametrize("name", SEVEN)
def test_row_01_players_cards_lie_as_the_house_deals_them(name: str) -> None:
    text = dealt(name, TWENTY, TEN_NINE) + "show D 9C; close"
    turned = (
        text.replace("1 TS down", "1 TS")
        if name in FACE_DOWN
        else text.replace("1 TS", "1 TS down")
    )
    assert codes(text, name) == []
    assert codes(turned, name) == ["deal_face"]


@pytest.mark.parametrize("name", SEVEN)
def test_row_02_the_dealers_first_card_lies_as_the_house_deals_it(name: str) -> None:
    text = dealt(name, TWENTY, TEN_NINE) + "show D 9C; close"
    swapped = text.replace("D TH;", "D 9C;", 1).replace("D 9C down;", "D TH down;", 1)
    other = KANSAS if name == HOME else HOME
    face = rules(name).player_cards
    assert codes(swapped.replace("show D 9C", "show D TH"), name) == []
    assert codes(text, other, f"player_cards={face}") == ["deal_face"]


@pytest.mark.parametrize("name", SEVEN)
def test_row_03_one_card_at_a_time_clockwise(name: str) -> None:
    text = dealt(name, TWENTY, TEN_NINE) + "show D 9C; close"
    face = " down" if name in FACE_DOWN else ""
    two = text.replace("bet 1 1000; ", "bet 1 1000; bet 2 1000; ")
    first, second = f"1 TS{face}; ", f"1 KD{face}; "
    in_order = two.replace(first, f"{first}2 5S{face}; ").replace(second, f"{second}2 TD{face}; ")
    swapped = two.replace(first, f"2 5S{face}; {first}").replace(second, f"{second}2 TD{face}; ")
    assert codes(in_order, name) == []
    assert codes(swapped, name) == ["deal_order"]


SPOTS = "1 TS{0}; 2 9S{0}; 3 8S{0}; 4 7S{0}; "
AGAIN = "1 TD{0}; 2 9D{0}; 3 8D{0}; 4 7D{0}; "


@pytest.mark.parametrize("name", SEVEN)
@pytest.mark.parametrize(
    ("held", "stake", "expected"),
    [
        pytest.param(2, 1000, [], id="two-at-twice"),
        pytest.param(2, 999, ["multi_spot_minimum"], id="two-below-twice"),
        pytest.param(3, 2500, [], id="three-at-five-times"),
        pytest.param(3, 2499, ["multi_spot_minimum"], id="three-below-five-times"),
        pytest.param(4, 2500, ["too_many_spots"], id="four"),
    ],
)
def test_row_27_spots_of_one_player(name: str, held: int, stake: int, expected: list[str]) -> None:
    face = " down" if name in FACE_DOWN else ""
    spots = range(1, 5)
    seats = f"seat ANN {','.join(map(str, spots[:held]))}; "
    bets = "".join(f"bet {spot} {stake if spot <= held else 500}; " for spot in spots)
    dealer = ["D TH; ", "D 9C down; "]
    if name == HOME:
        dealer.reverse()
    text = seats + bets + SPOTS.format(face) + dealer[0] + AGAIN.format(face) + dealer[1]
    assert codes(text + "show D 9C; close", name) == (expected if name == KANSAS else [])


@pytest.mark.parametrize("name", SEVEN)
def test_row_28_entry_in_the_middle_of_a_shoe(name: str) -> None:
    text = dealt(name, TWENTY, TEN_NINE) + "show D 9C; close; "
    elsewhere = dealt(name, ("TD", "KS"), ("TC", "9S")) + "show D 9S; close"
    elsewhere = elsewhere.replace("bet 1", "bet 2").replace(" 1 ", " 2 ")
    late = ["mid_shoe_entry"] if name in (PITCH, KANSAS_DD) else []
    decks = rules(name).decks
    assert codes(f"shoe {decks}; {text}{elsewhere}", name) == late
    assert codes(f"shoe {decks}; {text}shoe {decks}; {elsewhere}", name) == []
