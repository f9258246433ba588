import math
from collections import Counter

import msgspec
import pytest

from settlement.engine import Engine
from tests.oracle.dealer_alone import ENDS, chances, ended
from tests.oracle.player import Table
from tests.oracle.rule_sets import ROWS, rulebook
from tests.oracle.test_oracle import SETS

ROUNDS = 3_000

# Published, one deck, the dealer stands on soft 17 (Wizard of Odds, blackjack appendix 2b).
PUBLISHED = {
    1: (0.126128, 0.131003, 0.129486, 0.131553, 0.0515646, 0.313726, 0.11654),
    2: (0.138976, 0.131762, 0.131815, 0.123948, 0.120526, 0, 0.352973),
    6: (0.166948, 0.106454, 0.107192, 0.100705, 0.0978785, 0, 0.420823),
    8: (0.130857, 0.362989, 0.129445, 0.0682898, 0.0697914, 0, 0.238627),
}


@pytest.mark.parametrize("up", PUBLISHED)
def test_the_exact_chances_are_the_published_ones(up: int) -> None:
    exact = chances(1, "S17", up)
    assert tuple(exact.values()) == pytest.approx(PUBLISHED[up], abs=2e-6)


@pytest.mark.parametrize("decks", [1, 2, 6])
@pytest.mark.parametrize("soft17", ["S17", "H17"])
def test_dealers_hands_end_through_the_engine_as_often_as_they_must(
    decks: int, soft17: str
) -> None:
    table, engine = _standing(decks, soft17)
    seen: Counter[tuple[int, str]] = Counter()
    for _ in range(ROUNDS):
        for fact in table.deal():
            for result in engine.feed(fact):
                up = result.dealer.cards[0]
                assert up is not None
                seen[up.points, ended(result.dealer)] += 1
    assert {end for _, end in seen} <= set(ENDS)
    assert _surprise(seen, decks, soft17) < 4


def _standing(decks: int, soft17: str) -> tuple[Table, Engine]:
    """Return seven spots that stand on all they get: one is always left for the dealer to beat."""
    stand = dict.fromkeys(ROWS, ("S" * 10,) * 3)
    base = SETS["6d_h17_das"]
    rule_set = msgspec.structs.replace(base, decks=decks, soft17=soft17, td=stand)
    return Table(rule_set, 7, f"{decks}{soft17}"), Engine(rulebook(rule_set))


def _surprise(seen: Counter[tuple[int, str]], decks: int, soft17: str) -> float:
    """Return how many of its own deviations chi-square lies above what chance leads to expect."""
    square, cells = 0.0, 0
    for up in range(1, 11):
        dealt = (16 if up == 10 else 4) / 52
        for end, chance in chances(decks, soft17, up).items():
            expected = ROUNDS * dealt * chance
            if expected >= 5:
                square += (seen[up, end] - expected) ** 2 / expected
                cells += 1
            elif expected == 0:
                assert not seen[up, end]
    return (square - cells) / math.sqrt(2 * cells)
