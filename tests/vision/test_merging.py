"""Two corners of one card are one card; corners of different cards stay apart."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from models.cards import DECK, Card
from vision.corners import ANCHOR_MM, card_corners, card_to_picture
from vision.indices import Indices
from vision.joining import in_place, joined_map, joined_vote, turned, unseen_corners
from vision.merging import explained, group, with_hands_settled, without_duplicates, without_print

W, H = 63.5, 88.9
SILENT = np.zeros(53)


def card_map(x: float, y: float, turn: float, scale: float = 1.0) -> NDArray[np.float32]:
    """The map of a card whose middle lies at a place, in pixels."""
    c, s = np.cos(turn) * scale, np.sin(turn) * scale
    linear = np.array([[c, -s], [s, c]])
    return np.column_stack([linear, [x, y] - linear @ [W / 2, H / 2]]).astype(np.float32)


def indices(*told: tuple[NDArray[np.float32], str, float], right: bool = False) -> Indices:
    """Indices with the card each tells and how likely it is."""
    card_log = np.full((len(told), 52), np.log(1e-6))
    for at, (_, card, p) in enumerate(told):
        card_log[at, DECK.index(Card(card))] = np.log(p)
    none = np.log(1 - np.exp(card_log).sum(1))
    hands = np.zeros(len(told), bool)
    hands[1:] = right
    return Indices(
        np.array([t[0] for t in told]), hands, np.full(len(told), 0.9, np.float32), card_log, none
    )


def faces_of(told: Indices) -> list[int]:
    return [int(face) for face in told.card_log.argmax(1)]


def lone(whole: NDArray[np.float32], size: float, askew: float = 0.0) -> NDArray[np.float32]:
    """The map of a card as its upper left index tells it, of another size and direction."""
    c, s = np.cos(askew) * size, np.sin(askew) * size
    linear = np.array([[c, -s], [s, c]]) @ whole[:, :2]
    anchor = whole[:, :2] @ ANCHOR_MM + whole[:, 2]
    return np.column_stack([linear, anchor - linear @ ANCHOR_MM]).astype(np.float32)


turns = st.floats(0, 2 * np.pi)


@given(turn=turns, x=st.floats(100, 900), y=st.floats(100, 900), scale=st.floats(0.5, 3))
def test_both_indices_of_a_card_join_and_keep_its_place(
    turn: float, x: float, y: float, scale: float
) -> None:
    one, other = card_map(x, y, turn, scale), card_map(x, y, turn + np.pi, scale)
    both = indices((one, "8S", 0.9), (other, "8S", 0.9))
    (members,) = group(both, W * scale)
    assert sorted(members) == [0, 1]
    told = card_corners(joined_map(both, members)[None])[0]
    true = card_corners(np.stack([one, other]))
    assert min(np.abs(told - way).max() for way in true) < 0.05 * scale + 1e-3


def apart_mm(x_mm: float, second: dict[str, float]) -> list[list[int]]:
    """Group a sure JD with its opposite so far off, which reads otherwise."""
    both = indices((card_map(50, 50, 0), "JD", 0.98), (card_map(50 + x_mm, 50, np.pi), "JH", 0.7))
    both.card_log[1, [DECK.index(Card(card)) for card in second]] = np.log([*second.values()])
    return group(both, W)


def test_indices_at_one_place_are_one_cards_if_what_they_read_allows_it() -> None:
    assert len(apart_mm(9, {"JD": 0.1})) == 1
    assert len(apart_mm(9, {"JD": 0.001})) == 2
    assert len(apart_mm(18, {"JD": 0.1})) == 2


@pytest.mark.parametrize("size", [0.65, 1.0, 1.3, 1.5])
@pytest.mark.parametrize("turn", [0.0, 0.7, 2.4])
def test_the_two_ends_of_a_card_join_whatever_size_its_index_has(size: float, turn: float) -> None:
    """Ends of a deck with larger indices were two cards, each larger than a card."""
    one, other = card_map(300, 200, turn), turned(card_map(300, 200, turn).astype(np.float64))
    both = indices((lone(one, size), "8S", 0.9), (lone(other.astype(np.float32), size), "8S", 0.9))
    assert len(group(both, W)) == 1


def test_two_equal_cards_farther_apart_than_the_ends_of_one_stay_two() -> None:
    one, other = card_map(300, 200, 0.0), card_map(320, 225, np.pi)
    both = indices((lone(one, 0.8), "8S", 0.9), (lone(other, 0.8), "8S", 0.9))
    assert len(group(both, W)) == 2


def test_two_indices_are_surer_than_one() -> None:
    both = indices((card_map(50, 50, 0), "8S", 0.8), (card_map(50, 50, np.pi), "8S", 0.7))
    votes = joined_vote(both, [0, 1], 0.5, SILENT, 1.0)
    chances, none = votes[:52], votes[52]
    assert chances.max() > 0.8
    assert chances.sum() + none == pytest.approx(1)


@given(overlap=st.floats(0, 1))
def test_the_more_two_indices_have_in_common_the_less_the_second_adds(overlap: float) -> None:
    both = indices((card_map(50, 50, 0), "8S", 0.8), (card_map(50, 50, np.pi), "8S", 0.8))
    alone = joined_vote(both, [0], overlap, SILENT, 1.0)[:52]
    one_way = joined_vote(both, [0, 1], overlap, SILENT, 1.0)[:52]
    apart = joined_vote(both, [0, 1], 0.0, SILENT, 1.0)[:52]
    assert alone.max() - 1e-9 <= one_way.max() <= apart.max() + 1e-9


def test_a_face_settles_what_an_index_leaves_open() -> None:
    one = indices((card_map(50, 50, 0), "8S", 0.5))
    says = np.where(np.arange(53) == DECK.index(Card("8S")), 0.0, -9.0)
    alone = joined_vote(one, [0], 0.5, SILENT, 1.0)[:52]
    both = joined_vote(one, [0], 0.5, says, 0.8)[:52]
    assert alone.max() < 0.6
    assert both[DECK.index(Card("8S"))] > 0.99


def test_a_face_that_tells_nothing_takes_nothing_from_an_index() -> None:
    one = indices((card_map(50, 50, 0), "8S", 0.99))
    alone = joined_vote(one, [0], 0.5, SILENT, 1.0)[:52]
    beside = joined_vote(one, [0], 0.5, SILENT, 0.7)[:52]
    assert beside.max() == alone.max()


def test_a_face_that_prefers_another_card_leaves_doubt() -> None:
    one = indices((card_map(50, 50, 0), "8S", 0.99))
    says = np.where(np.arange(53) == DECK.index(Card("6S")), 0.0, -9.0)
    both = joined_vote(one, [0], 0.5, says, 0.7)[:52]
    assert both.max() < 0.9


def test_a_right_hand_index_joins_the_left_one_beside_it() -> None:
    both = indices((card_map(50, 50, 0), "8S", 0.8), (card_map(51, 50, 0), "8S", 0.8), right=True)
    assert group(both, W) == [[0, 1]] or group(both, W) == [[1, 0]]


@pytest.mark.parametrize(
    ("second", "card"),
    [
        pytest.param(card_map(68, 42, 0), "8S", id="next-of-a-cascade"),
        pytest.param(card_map(50, 50, np.pi), "7H", id="reads-differently"),
        pytest.param(card_map(50, 50, np.pi / 2), "8S", id="lies-across"),
        pytest.param(card_map(54, 50, 0), "8S", id="same-corner-twice"),
        pytest.param(card_map(50, 50, np.pi, 1.6), "8S", id="another-size"),
    ],
)
def test_indices_of_different_cards_stay_apart(second: NDArray[np.float32], card: str) -> None:
    both = indices((card_map(50, 50, 0), "8S", 0.99), (second, card, 0.99))
    assert len(group(both, W)) == 2


@given(turn=turns, right=st.booleans())
def test_a_cards_map_follows_from_one_anchor_and_its_directions(turn: float, right: bool) -> None:
    true = card_map(300, 200, turn, 0.9)
    x = W - ANCHOR_MM[0] if right else ANCHOR_MM[0]
    anchor = true[:, :2] @ [x, ANCHOR_MM[1]] + true[:, 2]
    told = card_to_picture(
        anchor[None].astype(np.float32),
        -true[None, :, 1] * np.float32(W),
        true[None, :, 0] * np.float32(W),
        np.array([right]),
    )
    assert told[0] == pytest.approx(true, abs=1e-2)


def beside(one: NDArray[np.float32], right_mm: float) -> NDArray[np.float32]:
    moved = one.copy()
    moved[:, 2] += one[:, 0] * right_mm
    return moved


@given(turn=turns)
def test_an_index_taken_for_the_other_upper_corner_is_set_right_by_its_opposite(
    turn: float,
) -> None:
    """A four-index card: the upper right index is taken for an upper left one."""
    true, opposite = card_map(300, 300, turn), card_map(300, 300, turn + np.pi)
    mistaken = beside(true, W - 2 * ANCHOR_MM[0])
    told = indices((mistaken, "8S", 0.9), (opposite, "8S", 0.9), right=True)
    settled = with_hands_settled(told)
    assert settled.right_hand.tolist() == [True, True]
    assert len(group(settled, W)) == 1


def test_hands_stay_as_they_are_on_a_deck_of_two_indices() -> None:
    one = card_map(300, 300, 0.0)
    told = indices((one, "8S", 0.9), (beside(one, W - 2 * ANCHOR_MM[0]), "8S", 0.9))
    settled = with_hands_settled(told)
    assert not settled.right_hand.any()
    assert len(group(settled, W)) == 2


@given(turn=turns)
def test_the_opposite_index_is_looked_for_where_it_must_lie(turn: float) -> None:
    one, other = card_map(300, 300, turn), card_map(300, 300, turn + np.pi)
    told = indices((one, "8S", 0.9))
    maps, right_hand, cards_of = unseen_corners(told, group(told, W))
    assert (right_hand.tolist(), cards_of) == ([False], [0])
    assert np.abs(maps[0] - other).max() < 1e-2
    assert in_place(maps, other[None], right_hand).all()
    assert not in_place(maps, beside(other, 9.0)[None], right_hand).any()


def test_of_four_indices_those_not_found_are_looked_for() -> None:
    one = card_map(300, 300, 0.3)
    told = indices((one, "8S", 0.9), (one, "8S", 0.9), right=True)
    _, right_hand, _ = unseen_corners(told, group(told, W))
    assert sorted(right_hand.tolist()) == [False, True]


@given(
    turn=turns, size=st.floats(0.55, 0.8), unlike=st.floats(0.85, 1.15), askew=st.floats(-0.1, 0.1)
)
def test_two_ends_that_misjudge_the_card_s_size_are_one_card_of_its_true_size(
    turn: float, size: float, unlike: float, askew: float
) -> None:
    one, other = card_map(300, 300, turn), card_map(300, 300, turn + np.pi)
    both = indices(
        (lone(one, size, askew), "8S", 0.9), (lone(other, size * unlike, askew), "8S", 0.8)
    )
    (members,) = group(both, None)
    width = np.sqrt(np.linalg.det(joined_map(both, members)[:, :2]))
    assert width == pytest.approx(1, abs=0.05)


@pytest.mark.parametrize(
    ("second", "card"),
    [
        pytest.param(lone(card_map(300, 300, np.pi), 0.6), "8H", id="another-face"),
        pytest.param(lone(card_map(380, 300, np.pi), 0.6), "8S", id="not-where-the-end-would-be"),
        pytest.param(lone(card_map(300, 300, np.pi), 0.6, 0.5), "8S", id="points-elsewhere"),
        pytest.param(lone(card_map(700, 850, np.pi), 0.6), "8S", id="far-too-far"),
    ],
)
def test_what_is_not_the_other_end_stays_a_card_of_its_own(
    second: NDArray[np.float32], card: str
) -> None:
    told = indices((lone(card_map(300, 300, 0), 0.6), "8S", 0.9), (second, card, 0.8))
    assert len(group(told, None)) == 2


@given(turn=turns, size=st.floats(0.5, 0.8), opposite=st.booleans())
def test_a_lone_index_in_a_like_card_s_own_corner_is_that_card(
    turn: float, size: float, opposite: bool
) -> None:
    whole = card_map(300, 300, turn)
    corner = lone(card_map(300, 300, turn + (np.pi if opposite else 0.0)), size)
    told = indices((whole, "8S", 0.9), (corner, "8S", 0.8))
    assert without_duplicates(told, [[0], [1]], told.maps, faces_of(told)) == [0]


@pytest.mark.parametrize(("x", "y", "least"), [(312, 305, 1.0), (318, 310, 1.12)])
@given(turn=turns, share=st.floats(0, 1), opposite=st.booleans())
def test_a_card_told_again_almost_there_or_at_another_size_is_told_once(
    x: float, y: float, least: float, turn: float, share: float, opposite: bool
) -> None:
    size = least + share * (1.7 - least)
    again = card_map(x, y, turn + (np.pi if opposite else 0.0), size)
    told = indices((card_map(300, 300, turn), "8S", 0.9), (again, "8S", 0.8))
    assert without_duplicates(told, [[0], [1]], told.maps, faces_of(told)) == [0]


@pytest.mark.parametrize(
    ("second", "card"),
    [
        pytest.param(card_map(318, 305, 0.0), "8S", id="a-like-card-that-shows-both-indices"),
        pytest.param(card_map(312, 305, 0.0, 1.3), "8H", id="another-face"),
        pytest.param(card_map(340, 305, 0.0, 1.3), "8S", id="half-a-card-away"),
        pytest.param(card_map(312, 305, np.pi / 2, 1.3), "8S", id="lies-across"),
    ],
)
def test_two_cards_are_told_both(second: NDArray[np.float32], card: str) -> None:
    told = indices((card_map(300, 300, 0), "8S", 0.9), (second, card, 0.8))
    assert without_duplicates(told, [[0], [1]], told.maps, faces_of(told)) == [0, 1]


def test_what_reads_badly_within_a_whole_card_is_its_print() -> None:
    turned, within = card_map(50, 50, np.pi), card_map(55, 55, 0)
    whole = (card_map(50, 50, 0), "JD", 0.9), (turned, "JD", 0.9)
    told = indices(*whole, (within, "JH", 0.5))
    assert without_print(told, [[0, 1], [2]]) == [[0, 1]]
    assert without_print(told, [[0], [2]]) == [[0], [2]]  # one index only: it may be covered
    sure = indices(*whole, (within, "JH", 0.95))
    assert without_print(sure, [[0, 1], [2]]) == [[0, 1], [2]]
    outside = indices(*whole, (card_map(40, 45, 0), "JH", 0.5))
    assert without_print(outside, [[0, 1], [2]]) == [[0, 1], [2]]


WHOLE = card_map(100, 100, 0.3)
BOTH_ENDS = [
    (WHOLE, "KH", 0.999),
    (turned(WHOLE.astype(np.float64)).astype(np.float32), "KH", 0.99),
]


def kept(other: NDArray[np.float32], card: str, p: float, *, certain: bool) -> list[int]:
    """Which of two cards are told: a certain king with both ends open, and another find."""
    told = indices(*BOTH_ENDS, (other, card, p))
    cards, maps = [[0, 1], [2]], np.array([WHOLE, other])
    return explained(told, cards, maps, [faces_of(told)[0], faces_of(told)[2]], [True, certain])


@pytest.mark.parametrize(("card", "certain"), [("QH", False), ("KH", False), ("KH", True)])
def test_print_on_a_certain_card_is_no_card(card: str, certain: bool) -> None:
    pip = lone(WHOLE, 0.6, 1.2)
    pip[:, 2] += WHOLE[:, :2] @ [20, 25]
    assert kept(pip, card, 0.8, certain=certain) == [0]


def test_a_certain_card_that_lies_on_another_stays() -> None:
    on_top = card_map(104, 96, 1.9)
    assert kept(on_top, "QH", 0.999, certain=True) == [0, 1]


@pytest.mark.parametrize("card", ["KH", "QD"])
def test_a_card_beneath_a_certain_one_shows_its_index_beside_it_and_stays(card: str) -> None:
    x, y = np.array([100, 100]) + WHOLE[:, :2] @ [-18, 8]
    assert kept(card_map(x, y, 0.3), card, 0.8, certain=False) == [0, 1]


@pytest.mark.parametrize(
    ("down_mm", "size", "told"), [(-9, 1.0, [0, 1]), (0, 1.0, [0]), (-9, 0.8, [0])]
)
def test_a_card_of_a_fan_leaves_both_indices_of_the_one_beneath_it_visible(
    down_mm: float, size: float, told: list[int]
) -> None:
    """A three in doubt lay so between a king and a seven (session 9345 of the home game)."""
    x, y = np.array([100, 100]) + WHOLE[:, :2] @ [18, down_mm]
    assert kept(card_map(x, y, 0.3, size), "3C", 0.93, certain=False) == told


def test_what_lies_on_a_card_of_which_one_end_is_covered_stays() -> None:
    on_top = card_map(110, 90, 0.5)
    told = indices((WHOLE, "KH", 0.999), (on_top, "QH", 0.6))
    cards = [[0], [1]]
    maps = np.array([WHOLE, on_top])
    assert explained(told, cards, maps, faces_of(told), [True, False]) == [0, 1]
