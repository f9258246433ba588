"""Random players at random tables: legal rounds are found clean, every mistake is found as it is.

``PITWATCH_RANDOM_ROUNDS`` sets how many rounds each rulebook plays; a million and more go through
``python -m lab.bench.random_rounds``.
"""

import ast
import os
from pathlib import Path

import pytest

from settlement.clauses import BREAKS
from tests.settlement.plain.busy import Busy
from tests.settlement.plain.checking import disagreements
from tests.settlement.plain.game import Game
from tests.settlement.plain.houses import any_house, with_hole_card
from tests.settlement.plain.slips import WAYS
from tests.settlement.table import IDS, rules
from tests.settlement.test_random_side_bets import with_bets

ROUNDS = int(os.environ.get("PITWATCH_RANDOM_ROUNDS", "2000"))
TABLE = 50
"""Rounds at one table, before another is told of in another style."""
HOUSES = tuple(with_hole_card(any_house(number)) for number in range(40))
BOOKS = tuple(rules(name) for name in IDS)


@pytest.mark.parametrize("name", IDS)
def test_legal_rounds_settle_as_reckoned_and_without_a_violation(name: str) -> None:
    book = rules(name)
    for number in range(-(-ROUNDS // TABLE)):
        game = Game(book, f"{name}:{number}")
        assert list(disagreements(book, game.rounds(TABLE))) == [], f"table {number}"


@pytest.mark.parametrize("name", IDS)
def test_rounds_with_guests_tokes_side_bets_and_rulings_settle_as_reckoned(name: str) -> None:
    for number in range(-(-ROUNDS // TABLE) // 4):
        book = with_bets(rules(name), number)
        game = Busy(book, f"{name}:{number}")
        assert list(disagreements(book, game.rounds(TABLE))) == [], f"table {number}"


def test_they_do_so_in_a_house_of_any_knobs() -> None:
    for number in range(max(50, ROUNDS // 40)):
        house = with_bets(any_house(number), number)
        game = Busy(house, number)
        assert list(disagreements(house, game.rounds(20))) == [], house.id


def test_legal_rounds_in_a_house_of_any_knobs_settle_as_reckoned() -> None:
    for number in range(max(100, ROUNDS // 20)):
        house = any_house(number)
        game = Game(house, number)
        assert list(disagreements(house, game.rounds(20))) == [], house.id


def test_the_reckoning_shares_nothing_with_what_it_checks() -> None:
    plain = Path(__file__).parent / "plain"
    sources = [path for path in plain.rglob("*.py") if path.name != "checking.py"]
    assert len(sources) > 5
    for path in sources:
        for line in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(line, ast.Import | ast.ImportFrom):
                named = getattr(line, "module", None) or line.names[0].name
                assert not named.startswith(("settlement", "simulation")), path


def test_every_code_can_be_committed() -> None:
    assert set(WAYS) == set(BREAKS)


@pytest.mark.parametrize("code", WAYS)
def test_a_mistake_amid_a_random_round_is_found_once_and_alone(code: str) -> None:
    way, made = WAYS[code], 0
    for house in (*BOOKS, *HOUSES):
        if way.possible(house, code):
            game = way(house, house.id, code)
            assert list(disagreements(house, game.rounds_until_made())) == [], house
            made += not game.pending
    assert made >= 3
