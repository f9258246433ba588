"""A picture is surely new when something moved in it; a few in which nothing did may be repeats."""

from functools import lru_cache

import numpy as np
import pytest
from numpy.typing import NDArray

from vision.change import ChangeDetector, Grid
from vision.repeats import MOST_STILL, Repeats

GRID = Grid.of(960, 540, 30)
FRAME_NS = 66_666_667
GRAINS = 90  # pictures until the same grain comes again; the arm's places come again after 30


@lru_cache(maxsize=GRAINS)
def grainy(number: int, sigma: float) -> NDArray[np.uint8]:
    grain = np.random.default_rng(number).normal(0, sigma, (540, 960))
    return np.clip(90 + grain, 0, 255).astype(np.uint8)


def still(number: int, sigma: float = 2.0) -> NDArray[np.uint8]:
    """A new picture of a table where nothing moves."""
    return grainy(number % GRAINS, sigma).copy()


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
    assert all(followed.possible(*(still(n, sigma) for n in range(21, 20 + MOST_STILL))))


def test_so_many_still_pictures_in_a_row_show_a_table_at_rest() -> None:
    followed = Followed()
    assert followed.possible(moving(0), moving(1)) == [False, False]
    waiting = [True] * (MOST_STILL - 1)
    assert followed.possible(*[moving(1)] * (MOST_STILL + 20)) == [*waiting, *[False] * 21]
    assert followed.possible(moving(2), moving(2)) == [False, True]


@pytest.mark.parametrize("in_a_row", range(1, MOST_STILL))
def test_a_repeat_may_be_one_whether_bit_for_bit_or_encoded_again(in_a_row: int) -> None:
    followed = Followed()
    followed.possible(*(moving(n) for n in range(8)))
    assert all(followed.possible(*[moving(7)] * in_a_row))
    assert followed.possible(moving(8)) == [False]
    assert all(followed.possible(*(encoded(moving(8), n) for n in range(in_a_row))))
    assert followed.possible(moving(9)) == [False]


def still_needed(followed: Followed) -> int:
    """How many still pictures in a row this camera's watcher waits for."""
    waiting = followed.possible(*[still(0, 0.0)] * 20)
    return waiting.index(False, 1)


def test_a_camera_that_repeats_no_picture_is_waited_for_less() -> None:
    followed = Followed()
    followed.possible(*(moving(n) for n in range(20)))
    assert still_needed(followed) > 2
    followed.possible(*(moving(n) for n in range(400)))
    assert still_needed(followed) == 2


@pytest.mark.parametrize(("every", "needed"), [(100, 3), (20, 4), (6, 5)])
def test_the_oftener_it_repeats_one_the_longer(every: int, needed: int) -> None:
    followed = Followed()
    followed.possible(*(moving(n - (n % every == 0)) for n in range(1, 600)))
    assert still_needed(followed) == needed


def test_a_hand_that_pauses_shows_no_repeat() -> None:
    """It begins to move slowly: the next picture differs by less than before it paused."""
    steps = (13, 13, 13, 0, 6, 13, 13, 13, 13, 13)
    lefts = np.cumsum(np.resize(steps, 600))

    def arm(left: int) -> NDArray[np.uint8]:
        picture = still(int(left), 0.0)
        picture[120:400, 20 + left % 390 :][:, :60] = 180
        return picture

    followed = Followed()
    followed.possible(*(arm(left) for left in lefts))
    assert still_needed(followed) == 2


@pytest.mark.slow
def test_a_camera_that_begins_to_repeat_is_waited_for_longer() -> None:
    followed = Followed()
    followed.possible(*(moving(n) for n in range(4_000)))
    followed.possible(*(moving(n - (n % 5 == 0)) for n in range(1, 1_000)))
    assert still_needed(followed) >= 4
