"""Pictures that cannot be trusted."""

import numpy as np
import pytest
from numpy.typing import NDArray

from vision.faults import FROZEN_NS, PictureCheck

SIZE = (320, 180)
FRAME_NS = 66_666_667


def grainy(seed: int) -> NDArray[np.uint8]:
    return np.random.default_rng(seed).integers(60, 90, SIZE[::-1]).astype(np.uint8)


def flat(level: int) -> NDArray[np.uint8]:
    return np.full(SIZE[::-1], level, np.uint8)


def test_a_sound_picture_has_no_fault() -> None:
    check = PictureCheck(SIZE)
    assert [check.see(grainy(i), i * FRAME_NS) for i in range(40)] == [None] * 40
    assert check.trusted


@pytest.mark.parametrize(
    ("picture", "kind"),
    [
        pytest.param(flat(16), "black", id="black"),
        pytest.param(flat(235), "overexposed", id="overexposed"),
        pytest.param(grainy(0)[:90], "size", id="another-size"),
    ],
)
def test_a_fault_is_told_once_until_it_ends(picture: NDArray[np.uint8], kind: str) -> None:
    check = PictureCheck(SIZE)
    assert check.see(grainy(1), 0) is None
    fault = check.see(picture, FRAME_NS)
    assert fault is not None
    assert fault[0] == kind
    assert check.see(picture, 2 * FRAME_NS) is None
    trusted = [check.trusted]
    assert check.see(grainy(2), 3 * FRAME_NS) is None
    assert [*trusted, check.trusted] == [False, True]
    assert check.see(picture, 4 * FRAME_NS) is not None


def test_the_same_picture_for_a_second_is_frozen() -> None:
    check = PictureCheck(SIZE)
    faults = {i: check.see(grainy(1), i * FRAME_NS) for i in range(40)}
    told = {i: fault for i, fault in faults.items() if fault}
    assert list(told) == [-(-FROZEN_NS // FRAME_NS)]
    assert next(iter(told.values()))[0] == "frozen"
    assert check.see(grainy(2), 41 * FRAME_NS) is None


def test_a_dark_table_is_not_a_black_picture() -> None:
    check = PictureCheck(SIZE)
    dark = flat(18)
    dark[60:120, 100:200] = 60
    assert check.see(dark, 0) is None
