"""In a picture of unknown scale, what the finder doubts is no card unless a card lies beside it."""

import numpy as np
import pytest

from tests.vision.cardless import KINDS, photographed
from vision.belief import ALIKE_SIZE, BACK_ALONE, BACK_BESIDE, FACE_ALONE, FACE_BESIDE, believed
from vision.reader import Reader

NO_CARD = np.zeros(0)


@pytest.mark.parametrize("face_up", [True, False])
@pytest.mark.parametrize("found_p", [0.3, FACE_BESIDE, 0.55, FACE_ALONE, 0.9])
def test_a_find_beside_a_certain_card_of_its_size_needs_less(found_p: float, face_up: bool) -> None:
    found, size = np.array([found_p]), np.array([100.0])

    def kept(*certain_px: float) -> bool:
        return bool(believed(found, size, np.array(certain_px), face_up=face_up)[0])

    alone = FACE_ALONE if face_up else BACK_ALONE
    assert kept() == kept(100.0 * ALIKE_SIZE * 1.01) == (found_p >= alone)
    assert kept(100.0 / ALIKE_SIZE * 1.01) >= kept()
    assert kept(100.0) == (found_p >= (FACE_BESIDE if face_up else BACK_BESIDE))


def test_every_find_has_its_own_answer() -> None:
    found, sizes = np.array([0.5, 0.5, 0.7]), np.array([100.0, 300.0, 300.0])
    assert believed(found, sizes, np.array([110.0]), face_up=True).tolist() == [True, False, True]
    assert believed(NO_CARD, NO_CARD, NO_CARD, face_up=True).tolist() == []


@pytest.mark.parametrize(("kind", "number"), [("page", 5), ("page", 9), ("keys", 1), ("chips", 4)])
def test_pages_keys_and_chips_leave_no_doubtful_cards(kind: str, number: int) -> None:
    rng = np.random.default_rng([1, number])
    seen = Reader.load().read(photographed(rng, KINDS[kind](rng)), card_width_px=None)
    assert not seen.face_up.any()
