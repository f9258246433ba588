from pathlib import Path

import msgspec
import pytest

from models.cards import DECK, Card
from models.decode import from_toml
from models.layout import TableLayout, faults, inside
from models.money import Odds, dollars

LAYOUTS = sorted(Path("models/layouts").glob("*.toml"))


def test_the_deck_has_52_faces_and_no_rank_alone() -> None:
    assert len(set(DECK)) == 52
    assert all(card.suited for card in DECK)


@pytest.mark.parametrize(("code", "points"), [("AS", 1), ("2H", 2), ("TD", 10), ("K?", 10)])
def test_a_card_counts_its_points(code: str, points: int) -> None:
    assert Card(code).points == points


@pytest.mark.parametrize("text", ["3:0", "3", "3:-2", "a:b", "3:2.5", ""])
def test_odds_are_two_positive_integers(text: str) -> None:
    with pytest.raises(ValueError, match="odds"):
        Odds.parse(text)


def test_odds_read_as_they_print() -> None:
    assert str(Odds.parse("6:5")) == "6:5"


@pytest.mark.parametrize(
    ("cents", "text"), [(0, "0.00"), (-1250, "-12.50"), (5, "0.05"), (123456, "1,234.56")]
)
def test_money_is_written_for_people(cents: int, text: str) -> None:
    assert dollars(cents) == text


@pytest.mark.parametrize("path", LAYOUTS, ids=lambda path: path.stem)
def test_a_shipped_layout_can_be_a_real_felt(path: Path) -> None:
    layout = from_toml(path.read_text(), TableLayout, path.name)
    assert faults(layout) == ()


def five() -> TableLayout:
    return from_toml(Path("models/layouts/five-spots.toml").read_text(), TableLayout, "five")


def test_spots_that_do_not_run_from_the_dealers_left_are_impossible() -> None:
    turned = msgspec.structs.replace(five(), spots=tuple(reversed(five().spots)))
    assert "numbered" in faults(turned)[0]


def test_a_zone_off_the_felt_is_impossible() -> None:
    narrow = msgspec.structs.replace(five(), width_mm=900.0)
    assert any("leaves the felt" in fault for fault in faults(narrow))


def test_two_spots_cannot_share_a_zone() -> None:
    one, two, *rest = five().spots
    shared = msgspec.structs.replace(
        five(), spots=(one, msgspec.structs.replace(two, cards=one.cards), *rest)
    )
    assert any("overlap" in fault for fault in faults(shared))


def test_a_point_is_inside_its_polygon() -> None:
    square = ((0.0, 0.0), (10.0, 0.0), (10.0, 10.0), (0.0, 10.0))
    assert inside((5.0, 5.0), square)
    assert not inside((15.0, 5.0), square)
