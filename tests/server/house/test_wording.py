"""How places and cards are written for people: one way, on screen and on paper."""

from msgspec.structs import replace

from models.places import hand_name, spot_hand
from server.house.wording import candidates_text, place, place_in, with_pips
from settlement.ledger import post
from tests.server.samples import DEALER_OVERDREW
from tests.settlement.table import one_round

SPLIT = "bet 1 1500; 1 8S; D 6D; 1 8D; D TH down; say-split 1 hand; split 1.1 1500; "
PLAYED = "1.0 TS; stand 1.0 hand; 1.1 2S; stand 1.1 hand; show D TH; D 9C; close"


def test_hands_count_from_one_for_people() -> None:
    assert (hand_name(0), spot_hand(3, 1)) == ("hand 1", "spot 3 hand 2")
    assert [place(None), place(3), place(3, None), place(3, 0), place(3, 1)] == [
        "dealer",
        "spot 3",
        "spot 3",
        "spot 3",
        "spot 3, hand 2",
    ]


def test_the_hands_of_a_split_spot_are_each_named() -> None:
    split = one_round(SPLIT + PLAYED)
    assert [place_in(split, 1, hand) for hand in (0, 1)] == ["spot 1, hand 1", "spot 1, hand 2"]
    single = replace(split, spots=(replace(split.spots[0], hands=split.spots[0].hands[:1]),))
    assert place_in(single, 1, 0) == "spot 1"
    assert place_in(split, None, None) == "dealer"


def test_the_ledger_names_a_split_spot_s_hands_from_one() -> None:
    lines = [line.memo for line in post(one_round(SPLIT + PLAYED)) if line.account == "spot:1"]
    assert lines == ["hand 1: win", "hand 2: win"]


def test_cards_in_a_sentence_are_written_as_in_a_table() -> None:
    (violation,) = DEALER_OVERDREW.violations
    assert (
        with_pips("drew 2H on JS TC (hard 17); he stands")
        == "drew 2♥ on J♠ 10♣ (hard 17); he stands"
    )
    assert not any(code in with_pips(violation.detail) for code in ("TS", "7H"))
    assert with_pips("BJ-07 at 21:14, ASIDE, 12H") == "BJ-07 at 21:14, ASIDE, 12H"
    assert candidates_text(("6H", "TD")) == "Either 6♥ or 10♦."
