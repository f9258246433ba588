"""Rounds of long runs of the noise bench that were told wrongly, or accused somebody falsely.

The rates are those measured on films. Each of them is told as it was, or a person is asked.
"""

from typing import Final

import pytest

from simulation.ideal import LEFT, OVERHEAD, RIGHT
from tests.bench.film_noise import FilmRates
from tests.bench.noise import Plan, Rates, played

CASES: Final = {
    "a card to a spot beside one that was due first and hidden": ("pitch-double-deck", 6902, 50, 1),
    "a card seen a moment after the dealer turned his": ("pitch-double-deck", 7908, 40, 1),
    "a double's card and the hole card before it unseen": ("pitch-double-deck", 7915, 22, 1),
    "the hole card unseen, and a hit seen late": ("casino-single-deck", 7927, 15, 1),
    "two faces that broke a hand unseen, and two hits for them": ("pitch-double-deck", 7906, 34, 1),
    "a hit taken for a card turned up": ("pitch-double-deck", 7951, 28, 1),
    "two aces seen amiss by one camera, and split": ("casino-single-deck", 8009, 36, 3),
    "the first of two aces seen only after the split": ("kansas-shoe", 6600885, 13, 1),
    "a dealer's card that shoe and camera both missed": ("kansas-shoe", 6601464, 12, 1),
    "a cut card between two cards of the dealer's": ("casino-single-deck", 8260, 2, 1),
    "a track of nothing at the rack as a card was missed": ("kansas-shoe", 6800326, 20, 1),
    "a back where none lies, and an up card that nobody saw": ("kansas-shoe", 6601005, 45, 1),
    "a track of nothing on the up card, gone": ("pitch-double-deck", 8075, 41, 3),
}


@pytest.mark.parametrize(("book", "seed", "number", "cameras"), CASES.values(), ids=list(CASES))
def test_a_round_is_told_as_it_was_or_asked_about(
    book: str, seed: int, number: int, cameras: int
) -> None:
    eyes = (OVERHEAD, LEFT, RIGHT)[:cameras]
    film = FilmRates.measured("shoe" if book == "kansas-shoe" else "hand", "unknown")
    rates = Rates().of_shoe()
    plan = Plan(book, rates, 50, 10, clinging=False, show=True, film=film, eyes=eyes)
    _, lines = played(seed, plan)
    told = [line for line in lines if line.strip().startswith(f"seed {seed} round {number} ")]
    assert all(" review: " in line for line in told)
