"""Counting of the best play, on what can be counted by hand; the edges themselves take minutes."""

import pytest

from tests.oracle.best_play import BestPlay, Counts, Dealer, published, rules, total
from tests.oracle.dealer_alone import chances
from tests.settlement.table import rules as shipped

GAME = BestPlay(shipped("spanish-21"))


def hand(values: str) -> Counts:
    return tuple(values.count(value) for value in "A23456789T")


@pytest.mark.parametrize("soft17", ["S17", "H17"])
@pytest.mark.parametrize("up", [1, 2, 6, 10])
def test_the_dealers_hands_end_as_every_way_to_draw_them_says(up: int, soft17: str) -> None:
    left = tuple(4 * many - (value + 1 == up) for value, many in enumerate((1,) * 9 + (4,)))
    counted = Dealer(hits=soft17 == "H17").chances(up - 1, left)
    exact = chances(1, soft17, up)
    known = 1 - exact["blackjack"]
    assert tuple(counted[:5]) == pytest.approx([exact[str(end)] / known for end in range(17, 22)])
    assert counted[5:].sum() == pytest.approx(exact["bust"] / known)


def test_a_hand_counts_as_at_the_table() -> None:
    assert [total(hand(cards)) for cards in ("A6", "A6T", "AA9", "99T")] == [
        (17, True), (17, False), (21, True), (28, False),
    ]  # fmt: skip


def test_a_pay_table_is_averaged_over_the_suits_that_the_shoe_deals() -> None:
    mixed, flush, spades = 1.5, 2.0, 3.0
    alone, each = 1 / 64, 4 / 64
    mean = spades * alone + flush * (each - alone) + mixed * (1 - each)
    paid, wins = GAME._odds(hand("678"), hand("T").index(1), split=False, doubled=False)
    assert wins
    assert paid == pytest.approx(mean)
    third = 5 / 23 * 4 / 22
    sevens = spades * third / 4 + flush * third * 3 / 4 + mixed * (1 - third)
    paid, wins = GAME._odds(hand("777"), hand("T").index(1), split=False, doubled=False)
    assert wins
    assert paid == pytest.approx(sevens)


@pytest.mark.parametrize(
    ("cards", "doubled", "odds"),
    [("23457", False, 1.5), ("223455", False, 2.0), ("2223345", False, 3.0), ("678", True, 1.0)],
)
def test_a_21_is_paid_by_its_cards_and_wins(cards: str, doubled: bool, odds: float) -> None:
    assert GAME._odds(hand(cards), 0, split=False, doubled=doubled) == (odds, True)


def test_a_published_edge_is_of_a_rulebook_that_ships() -> None:
    assert {rules(one).pack_without for one in published()} == {("T",)}
