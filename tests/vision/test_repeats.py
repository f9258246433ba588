"""A picture shown twice is told from a new one by its noise, and by everything stopping at once."""

from collections.abc import Sequence

import numpy as np
import pytest
from numpy.typing import NDArray

from vision.repeats import FROZEN_NS, STOPPED_NS, Repeats

FRAME_NS = 66_666_667
SHAPE = (270, 480)


def still(number: int, sigma: float = 2.0) -> NDArray[np.uint8]:
    """A new picture of a table where nothing moves."""
    grain = np.random.default_rng(number).normal(0, sigma, SHAPE)
    return np.clip(90 + grain, 0, 255).astype(np.uint8)


def moving(number: int, sigma: float = 2.0) -> NDArray[np.uint8]:
    """A new picture in which an arm is somewhere else in each."""
    picture = still(number, sigma)
    left = 20 + 13 * (number % 30)
    picture[60:200, left : left + 60] = 180
    return picture


def judged(repeats: Repeats, pictures: Sequence[NDArray[np.uint8]], from_ns: int = 0) -> list[bool]:
    return [repeats.repeated(picture, from_ns + i * FRAME_NS) for i, picture in enumerate(pictures)]


@pytest.mark.parametrize("sigma", [0.7, 2.0, 8.0])
def test_a_still_table_under_noise_is_new_in_every_picture(sigma: float) -> None:
    assert not any(judged(Repeats(), [still(n, sigma) for n in range(60)]))


@pytest.mark.parametrize("sigma", [0.0, 2.0])
def test_a_moving_table_is_new_in_every_picture(sigma: float) -> None:
    assert not any(judged(Repeats(), [moving(n, sigma) for n in range(60)]))


@pytest.mark.parametrize("scene", [still, moving])
def test_a_picture_shown_again_bit_for_bit_is_a_repeat(scene: object) -> None:
    assert callable(scene)
    repeats = Repeats()
    judged(repeats, [scene(n) for n in range(30)])
    shown = [scene(30), scene(30), scene(30), scene(31)]
    assert judged(repeats, shown, 30 * FRAME_NS) == [False, True, True, False]


def test_a_moving_picture_encoded_again_is_a_repeat_though_not_bit_for_bit() -> None:
    repeats = Repeats()
    judged(repeats, [moving(n) for n in range(30)])
    again = moving(30)
    again[::7, ::3] += 1
    shown = [moving(30), again, moving(31)]
    assert judged(repeats, shown, 30 * FRAME_NS) == [False, True, False]


def test_without_noise_a_picture_in_which_all_stopped_waits_for_the_next() -> None:
    repeats = Repeats()
    judged(repeats, [still(0, 0.0)] * 30)
    judged(repeats, [moving(n, 0.0) for n in range(30)], 30 * FRAME_NS)
    rested = judged(repeats, [moving(29, 0.0)] * 6, 60 * FRAME_NS)
    assert rested == [(i + 1) * FRAME_NS < STOPPED_NS for i in range(6)]


def test_a_hand_that_withdraws_under_noise_keeps_nothing_waiting() -> None:
    repeats = Repeats()
    judged(repeats, [*map(still, range(20)), *map(moving, range(20, 40))])
    assert not any(judged(repeats, [still(n) for n in range(40, 60)], 40 * FRAME_NS))


def test_a_frozen_picture_is_not_waited_for_for_ever() -> None:
    repeats = Repeats()
    judged(repeats, [moving(n) for n in range(30)])
    frozen = judged(repeats, [moving(29)] * 20, 30 * FRAME_NS)
    assert frozen.index(False) * FRAME_NS == pytest.approx(FROZEN_NS, abs=FRAME_NS)


def test_a_still_film_without_noise_is_never_a_repeat() -> None:
    assert not any(judged(Repeats(), [still(0, 0.0)] * 60))


def test_a_picture_of_another_size_is_new() -> None:
    repeats = Repeats()
    judged(repeats, [still(n) for n in range(30)])
    assert not repeats.repeated(np.zeros((100, 100), np.uint8), 30 * FRAME_NS)
