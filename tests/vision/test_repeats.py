"""A picture is surely new when something moved in it; a few in which nothing did may be repeats."""

import numpy as np
import pytest
from numpy.typing import NDArray

from vision.change import ChangeDetector, Grid
from vision.repeats import STILL, Repeats

GRID = Grid.of(960, 540, 30)
FRAME_NS = 66_666_667


def still(number: int, sigma: float = 2.0) -> NDArray[np.uint8]:
    """A new picture of a table where nothing moves."""
    grain = np.random.default_rng(number).normal(0, sigma, (540, 960))
    return np.clip(90 + grain, 0, 255).astype(np.uint8)


def moving(number: int, sigma: float = 2.0) -> NDArray[np.uint8]:
    """A new picture in which an arm is somewhere else in each."""
    picture = still(number, sigma)
    left = 20 + 13 * (number % 30)
    picture[120:400, left : left + 60] = 180
    return picture


def encoded(picture: NDArray[np.uint8], number: int) -> NDArray[np.uint8]:
    """The picture as an encoder changes it that shows it again."""
    change = np.random.default_rng((number, 7)).normal(0, 3.0, picture.shape).round()
    return np.clip(picture + change, 0, 255).astype(np.uint8)


class Followed:
    """A film as a watcher follows it."""

    def __init__(self) -> None:
        self._detector, self._repeats, self._taken = ChangeDetector(GRID), Repeats(), 0

    def possible(self, *pictures: NDArray[np.uint8]) -> list[bool]:
        return [self._possible(GRID.reduce(picture)) for picture in pictures]

    def _possible(self, small: NDArray[np.uint8]) -> bool:
        possible = self._repeats.possible(self._detector.change(small))
        self._taken += 1
        if not possible:
            self._detector.see(small, self._taken * FRAME_NS)
        return possible


@pytest.mark.parametrize("sigma", [0.0, 2.0, 8.0])
def test_a_picture_in_which_something_moved_is_new(sigma: float) -> None:
    assert not any(Followed().possible(*(moving(n, sigma) for n in range(60))))


@pytest.mark.parametrize("sigma", [0.0, 2.0, 4.0])
def test_noise_alone_proves_no_picture_new(sigma: float) -> None:
    followed = Followed()
    followed.possible(*(moving(n, sigma) for n in range(20)))
    followed.possible(still(20, sigma))
    assert all(followed.possible(*(still(n, sigma) for n in range(21, 20 + STILL))))


def test_so_many_still_pictures_in_a_row_show_a_table_at_rest() -> None:
    followed = Followed()
    assert followed.possible(moving(0), moving(1)) == [False, False]
    waiting = [True] * (STILL - 1)
    assert followed.possible(*[moving(1)] * (STILL + 20)) == [*waiting, *[False] * 21]
    assert followed.possible(moving(2), moving(2)) == [False, True]


@pytest.mark.parametrize("in_a_row", range(1, STILL))
def test_a_repeat_may_be_one_whether_bit_for_bit_or_encoded_again(in_a_row: int) -> None:
    followed = Followed()
    followed.possible(*(moving(n) for n in range(30)))
    assert all(followed.possible(*[moving(29)] * in_a_row))
    assert followed.possible(moving(30)) == [False]
    assert all(followed.possible(*(encoded(moving(30), n) for n in range(in_a_row))))
    assert followed.possible(moving(31)) == [False]
