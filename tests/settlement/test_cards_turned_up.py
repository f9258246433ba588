"""deck.same_card: which of the cards lying there a card turned up is."""

import pytest

from settlement.facts import CARD_DEALT, FOREIGN, HOLE, KINDS, OPEN
from settlement.hands import FACES
from settlement.reading import read_through, take
from settlement.state import Round
from tests.settlement.table import facts


def _read(text: str) -> Round:
    round_ = Round(2)
    for seq, fact in enumerate(facts(text), start=1):
        noted = round_.blank()
        noted.write(fact, KINDS[type(fact)], seq)
        take(round_, noted)
    read_through(round_)
    return round_


def _recorded(text: str) -> tuple[list[str], int]:
    """Return the cards as the record tells them in the end, and what the last fact turned."""
    round_ = _read(text)
    cards = [FACES[noted.card] for noted in round_.record if noted.kind == CARD_DEALT]
    return ["??" if card is None else str(card) for card in cards], round_.record[-1].turned


@pytest.mark.parametrize(
    ("text", "cards", "turned"),
    [
        pytest.param("1 5C down; 1 ?? down; show 1 5C", ["5C", "??"], HOLE, id="the-same"),
        pytest.param(
            "1 ?? down; 1 5C down; show 1 5C", ["??", "5C"], HOLE, id="same-before-unread"
        ),
        pytest.param("1 5? down; 1 ?? down; show 1 5C", ["5C", "??"], HOLE, id="first-it-may-be"),
        pytest.param("1 ?? down; 1 5? down; show 1 5C", ["5C", "5?"], HOLE, id="unread-first"),
        pytest.param("1 5D down; 1 5? down; show 1 5C", ["5D", "5C"], HOLE, id="not-another-suit"),
        pytest.param("1 5C; 1 ?? down; show 1 5C", ["5C", "5C"], HOLE, id="down-before-up"),
        pytest.param("1 ?? down; 1 5C; show 1 5C", ["5C", "5C"], HOLE, id="first-down-before-up"),
        pytest.param("1 5C; 1 8D down; show 1 5C", ["5C", "8D"], OPEN, id="up-where-none-is-down"),
        pytest.param("1 8D; 1 5C; show 1 5C", ["8D", "5C"], OPEN, id="the-second-up"),
        pytest.param("1 5?; 1 8D down; show 1 5C", ["5C", "8D"], OPEN, id="up-by-its-rank"),
        pytest.param("1 5C; 1 ??; show 1 5C", ["5C", "5C"], OPEN, id="unread-up-before-known-up"),
        pytest.param("1 ??; 1 5C; show 1 5C", ["5C", "5C"], OPEN, id="unread-up-first"),
        pytest.param("1 5C; 1 5?; show 1 5C", ["5C", "5C"], OPEN, id="rank-before-known-up"),
        pytest.param("1 8D down; 1 5D down; show 1 9C", ["??", "??"], FOREIGN, id="foreign"),
        pytest.param("1 8D; 1 5D; show 1 9C", ["??", "??"], FOREIGN, id="foreign-where-all-is-up"),
        pytest.param("1 8D; 1 5D down; show 1 9C", ["8D", "??"], FOREIGN, id="foreign-to-the-down"),
        pytest.param("1 8D; 1 ??; show 1 5D; show 1 9C", ["8D", "??"], FOREIGN, id="told-twice"),
        pytest.param(
            "1 8D down; 1 5D down; show 1 8D; show 1 9C", ["8D", "??"], FOREIGN, id="the-other"
        ),
        pytest.param(
            "1 8D down; 1 5D down; show 1 9C; show 1 8D", ["8D", "??"], OPEN, id="the-other-first"
        ),
        pytest.param("1 8D down; show 1 9C; show 1 8D", ["??"], OPEN, id="and-as-dealt-again"),
        pytest.param(
            "1 ?? down; 1 ?? down; show 1 6S; show 1 5D; 1 8H; show 1 8S",
            ["6S", "5D", "??"],
            FOREIGN,
            id="another-suit",
        ),
        pytest.param("1 8D down; 1 5D; show 1 ??", ["8D", "5D"], HOLE, id="unread-when-shown"),
        pytest.param("1 5D; 1 8D; show 1 ??", ["5D", "8D"], OPEN, id="unread-when-shown-up"),
        pytest.param("1 5C down; 1 8D; show 1 5?", ["5C", "8D"], HOLE, id="rank-says-no-more"),
        pytest.param("1 5C down; show 1 5C; show 1 5C", ["5C"], OPEN, id="turned-once-only"),
        pytest.param("1 5C; 1 5C down; show 1 5C; show 1 5C", ["5C", "5C"], OPEN, id="twins"),
        pytest.param(
            "1 8C down; 1 8D down; show 1 8C; say-split 1; show 1 8C",
            ["8C", "8D"],
            OPEN,
            id="split",
        ),
        pytest.param(
            "1 8C; 1 ?? down; show 1 8C; say-split 1; show 1.1 8C", ["8C", "8C"], OPEN, id="parted"
        ),
        pytest.param("1 8C; show 1 8C; 1 ??; show 1 2D", ["8C", "2D"], OPEN, id="laid-after"),
    ],
)
def test_a_card_turned_up_is_the_first_it_can_be(text: str, cards: list[str], turned: int) -> None:
    assert _recorded(text) == (cards, turned)


@pytest.mark.parametrize(
    ("text", "faces"),
    [
        pytest.param("1 8D down; show 1 9C", ["8D", "9C"], id="two"),
        pytest.param("1 8D down; show 1 9C; show 1 TC; show 1 9C", ["8D", "9C", "TC"], id="three"),
        pytest.param("1 8? down; show 1 9C; show 1 9?", ["8?", "9C"], id="by-rank"),
        pytest.param("1 8D down; show 1 8?", [], id="none"),
    ],
)
def test_every_face_that_was_stated_of_a_card_is_kept(text: str, faces: list[str]) -> None:
    assert [str(FACES[face]) for face in _read(text).record[0].between] == faces


def test_a_card_that_was_down_lies_up_once_it_is_turned() -> None:
    round_ = _read("1 5C down; show 1 5C")
    assert (round_.record[0].down, round_.record[0].lies_down) == (True, False)


@pytest.mark.parametrize(
    ("text", "last"),
    [
        pytest.param("bet 1 1000; 1 5C; 1 6C; hit 1; 1 2C", 4, id="a-card"),
        pytest.param("bet 1 1000; 1 5C; 1 6C; hit 1; even_money 1", 3, id="even-money-is-no-play"),
        pytest.param("bet 1 1000; 1 5C; 1 6C; stand 1; 1 2C", 3, id="stood"),
        pytest.param("bet 1 1000; 1 5C; 1 6C; surrender 1; hit 1", 3, id="gave-up"),
        pytest.param("bet 1 1000; 1 5C; 1 6C; double 1 1000", 3, id="chips-of-a-double"),
        pytest.param("bet 1 1000; 1 5C; 1 5D; split 1.1 1000; side 1 500", 2, id="other-chips"),
        pytest.param("bet 1 1000; 1 5C; 1 5D; back 1 1000 double; pay 1 5", 2, id="chips-back"),
    ],
)
def test_a_hand_is_played_on_by_cards_and_decisions_until_it_stands(text: str, last: int) -> None:
    round_ = _read(text)
    assert (round_.spot(1).last_turn, round_.spot(1).script(0).last_turn) == (last, last)


def test_the_cards_of_a_spot_are_parted_as_long_as_its_hands_can_be_numbered() -> None:
    many = _read("1 8C; 1 8D; " + "say-split 1; 1 8H; " * 17)
    assert many.spot(1).top == 15
    assert _read("1 8C; 1 8D; 1.2 8H; say-split 1").spot(1).top == 1
