"""Light on whole lines of the picture is no motion; what lies on a part of them is."""

from collections.abc import Callable

import numpy as np
import pytest
from numpy.typing import NDArray

from tests.vision.test_change import GRID, HERE, plain, ready, with_card
from vision.change import REST_NS, ChangeDetector
from vision.exposure import gains, lit

LINES = np.arange(540)[:, None] / 540
STEP_NS = 66_666_667


def table(card: bool = False) -> NDArray[np.uint8]:
    """A felt with a white card on it, and maybe a second one."""
    picture = plain(80)
    picture[300:360, 600:640] = 225
    return with_card(picture) if card else picture


def flicker(at_s: float) -> NDArray[np.float64]:
    return np.full((540, 1), 1 + 0.05 * np.sin(2 * np.pi * 100.3 * at_s))


def bands(at_s: float) -> NDArray[np.float64]:
    return np.asarray(1 + 0.05 * np.sin(2 * np.pi * (100.3 * at_s + 2.5 * LINES)))


def exposure(at_s: float) -> NDArray[np.float64]:
    return np.full((540, 1), 1 + 0.12 * np.sin(2 * np.pi * at_s / 4))


Light = Callable[[float], NDArray[np.float64]]


def under(light: Light, picture: NDArray[np.uint8], at_s: float) -> NDArray[np.uint8]:
    return np.clip(picture * light(at_s) + 0.5, 0, 255).astype(np.uint8)


def watch(detector: ChangeDetector, picture: NDArray[np.uint8], at_ns: int) -> None:
    detector.see(detector.evened(GRID.reduce(picture)), at_ns)


@pytest.mark.parametrize("light", [flicker, bands, exposure])
def test_changing_light_makes_nothing_due(light: Light) -> None:
    detector = ChangeDetector(GRID)
    ready(detector, table())
    for i in range(1, 90):
        at_ns = 2 * REST_NS + i * STEP_NS
        watch(detector, under(light, table(), at_ns / 1e9), at_ns)
        assert not detector.due.any(), i


@pytest.mark.parametrize("light", [flicker, bands, exposure])
def test_a_card_that_comes_in_changing_light_is_due_alone(light: Light) -> None:
    detector = ChangeDetector(GRID)
    ready(detector, table())
    due = []
    for i in range(1, 20):
        at_ns = 2 * REST_NS + i * STEP_NS
        watch(detector, under(light, table(card=i >= 10), at_ns / 1e9), at_ns)
        due.append(int(detector.due.sum()))
        card = np.zeros((540, 960), np.uint8)
        card[HERE] = 255
        assert not (detector.due & (GRID.share(GRID.reduce(card)) == 0)).any()
    assert not any(due[:9])
    assert any(due[10:12])


def test_still_light_has_no_gains_and_light_beyond_all_bounds_neither() -> None:
    assert gains(table(), table()) is None
    assert gains(plain(10), plain(200)) is None
    assert gains(np.zeros((90, 160), np.uint8), np.zeros((90, 160), np.uint8)) is None
    assert lit(table(), None) is not None


def test_gains_are_those_of_each_line() -> None:
    found = gains(under(bands, table(card=True), 0.0), table())
    assert found is not None
    assert np.abs(found * bands(0.0) - 1).max() < 0.01
    colour = np.repeat(under(bands, table(), 0.0)[..., None], 3, axis=2)
    assert np.abs(lit(colour, found).astype(int) - table()[..., None]).max() <= 4
