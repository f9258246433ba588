"""Where the picture changed and came to rest: in time, never in frames."""

import numpy as np
import pytest
from numpy.typing import NDArray

from vision.change import REST_NS, ChangeDetector, Grid, portion, regions

GRID = Grid.of(960, 540, 30)
HERE = (slice(200, 260), slice(300, 340))


def plain(level: float = 80, grain: int | None = None, sigma: float = 3.0) -> NDArray[np.uint8]:
    picture = np.full((540, 960), level, np.float64)
    if grain is not None:
        picture += np.random.default_rng(grain).normal(0, sigma, picture.shape)
    return np.clip(picture, 0, 255).astype(np.uint8)


def with_card(picture: NDArray[np.uint8]) -> NDArray[np.uint8]:
    picture = picture.copy()
    picture[HERE] = 220
    return picture


def ready(detector: ChangeDetector, *pictures: NDArray[np.uint8]) -> None:
    """Let the first picture settle and be read."""
    for i, picture in enumerate(pictures * 2):
        detector.see(GRID.reduce(picture), i * REST_NS)
    detector.accept(detector.due)


@pytest.mark.parametrize("fps", [10, 15, 29.97, 60])
def test_a_card_is_due_when_it_has_rested_60_ms(fps: float) -> None:
    detector = ChangeDetector(GRID)
    ready(detector, plain())
    due_after_ns = []
    for i in range(1, 60):
        at_ns = REST_NS + round(i * 1e9 / fps)
        detector.see(GRID.reduce(with_card(plain())), at_ns)
        if detector.due.any():
            due_after_ns.append(at_ns - REST_NS - round(1e9 / fps))
            break
    assert len(due_after_ns) == 1
    assert REST_NS <= due_after_ns[0] < REST_NS + 1e9 / fps + 1


def test_the_first_picture_is_due_as_a_whole() -> None:
    detector = ChangeDetector(GRID)
    detector.see(GRID.reduce(plain()), 0)
    assert not detector.due.any()
    detector.see(GRID.reduce(plain()), REST_NS)
    assert detector.due.all()
    assert regions(GRID, detector.due, 50) == [(0, 0, 960, 540)]


def test_a_hand_that_leaves_everything_as_it_was_makes_nothing_due() -> None:
    detector = ChangeDetector(GRID)
    ready(detector, plain())
    for i in range(1, 40):
        picture = plain()
        if i < 12:
            hand = np.arange(100)[:, None] % 40 * 3 + 60
            picture[100 + 10 * i : 200 + 10 * i, 200:300] = hand
        detector.see(GRID.reduce(picture), REST_NS + i * 40_000_000)
        assert not detector.due.any()


def test_only_the_changed_place_is_due_and_only_until_it_is_read() -> None:
    detector = ChangeDetector(GRID)
    ready(detector, plain())
    for at_ns in (2 * REST_NS, 3 * REST_NS):
        detector.see(GRID.reduce(with_card(plain())), at_ns)
    ((left, top, width, height),) = regions(GRID, detector.due, 40)
    assert 180 < left <= 260
    assert 80 < top <= 160
    assert 380 <= left + width < 460
    assert 300 <= top + height < 380
    detector.accept(detector.due)
    detector.see(GRID.reduce(with_card(plain())), 4 * REST_NS)
    assert not detector.due.any()


def test_what_moves_is_never_due() -> None:
    detector = ChangeDetector(GRID)
    ready(detector, plain())
    for i in range(1, 60):
        picture = plain()
        picture[200:280, 5 * i : 5 * i + 100] = 40 + 150 * (i % 2)
        detector.see(GRID.reduce(picture), REST_NS + i * 33_000_000)
        moving = GRID.share(np.asarray(GRID.reduce(picture) != 80, np.uint8) * 255) > 0.5
        assert not (detector.due & moving).any()


@pytest.mark.parametrize("sigma", [2.0, 6.0, 10.0])
def test_noise_makes_nothing_due(sigma: float) -> None:
    detector = ChangeDetector(GRID)
    ready(detector, plain(grain=100, sigma=sigma), plain(grain=101, sigma=sigma))
    for i in range(1, 40):
        detector.see(GRID.reduce(plain(grain=i, sigma=sigma)), 3 * REST_NS + i * 60_000_000)
        assert not detector.due.any()


def test_slow_light_makes_nothing_due() -> None:
    detector = ChangeDetector(GRID)
    ready(detector, plain(80))
    for i in range(1, 400):
        detector.see(GRID.reduce(plain(80 + i * 0.1)), REST_NS + i * 60_000_000)
        assert not detector.due.any()


def test_a_place_waits_for_what_moves_beside_it_but_not_for_ever() -> None:
    detector = ChangeDetector(GRID)
    ready(detector, plain())
    first_due_ns = None
    for i in range(1, 30):
        picture = with_card(plain())
        picture[200:260, 340:380] = 40 + 150 * (i % 2)
        at_ns = REST_NS + i * 50_000_000
        detector.see(GRID.reduce(picture), at_ns)
        if first_due_ns is None and detector.due[GRID.rows * 230 // 540, GRID.columns * 330 // 960]:
            first_due_ns = at_ns
    assert first_due_ns == REST_NS + 50_000_000 + 450_000_000


def test_far_apart_changes_are_read_apart_and_near_ones_together() -> None:
    detector = ChangeDetector(GRID)
    ready(detector, plain())
    picture = with_card(plain())
    picture[200:260, 345:385] = 200
    picture[400:460, 800:840] = 200
    for at_ns in (2 * REST_NS, 3 * REST_NS):
        detector.see(GRID.reduce(picture), at_ns)
    assert len(regions(GRID, detector.due, 40)) == 2


def test_a_place_read_in_doubt_is_looked_at_twice_more_and_no_more() -> None:
    detector = ChangeDetector(GRID)
    ready(detector, plain())
    looked_ms = []
    for i in range(200):
        at_ns = 2 * REST_NS + i * 50_000_000
        detector.see(GRID.reduce(with_card(plain())), at_ns)
        if detector.due.any():
            looked_ms.append(i * 50)
            blocks = detector.due.copy()
            detector.accept(blocks)
            detector.doubt(blocks, at_ns)
    assert len(looked_ms) == 3
    assert looked_ms[1] - looked_ms[0] == 350
    assert looked_ms[2] - looked_ms[1] == 1000


def test_a_place_read_in_doubt_is_looked_at_again_once_an_arm_has_passed_over_it() -> None:
    detector = ChangeDetector(GRID)
    ready(detector, plain())
    looked_ms = []
    for i in range(40):
        at_ns = 2 * REST_NS + i * 50_000_000
        picture = with_card(plain())
        if 4 <= i < 12:
            picture[180:280, 250:400] = 40 + 150 * (i % 2)
        detector.see(GRID.reduce(picture), at_ns)
        if detector.due[GRID.rows * 230 // 540, GRID.columns * 320 // 960]:
            looked_ms.append(i * 50)
            read = detector.due.copy()
            detector.accept(read)
            if len(looked_ms) == 1:
                detector.doubt(read, at_ns)
    assert len(looked_ms) == 2
    assert looked_ms[1] > 600


def test_what_moves_far_away_keeps_nothing_waiting() -> None:
    detector = ChangeDetector(GRID)
    ready(detector, plain())
    for i in range(1, 8):
        picture = with_card(plain())
        picture[200:260, 340:700] = 150  # an arm from the card to a hand that moves
        picture[200:260, 700:760] = 40 + 150 * (i % 2)
        detector.see(GRID.reduce(picture), REST_NS + i * 50_000_000)
        if detector.due.any():
            break
    assert detector.due[GRID.rows * 230 // 540, GRID.columns * 320 // 960]
    assert i * 50_000_000 <= REST_NS + 100_000_000


def test_what_is_left_for_later_frames_comes_to_every_block_once() -> None:
    chance = np.random.default_rng(4)
    due = chance.random((GRID.rows, GRID.columns)) < 0.7
    left, parts = due.copy(), []
    while left.any():
        parts.append(portion(left, 50))
        left &= ~parts[-1]
    assert all(part.sum() == 50 for part in parts[:-1])
    assert np.array_equal(np.sum(parts, axis=0), due)
    assert np.array_equal(portion(due, int(due.sum())), due)
