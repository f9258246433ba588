"""What is wrong with a camera's picture, told within a second, and never for nothing."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache

import cv2
import numpy as np
import pytest
from msgspec.structs import replace as changed
from numpy.typing import NDArray

from tests.vision.stage import layout, performance
from vision.felt import felt_of
from vision.health import CameraHealth, Fault
from vision.scenes.film import still
from vision.scenes.lens import Lens
from vision.scenes.look import Look

NS = 1_000_000_000
LOOK = Look(width_px=960, height_px=540, noise_sigma=0, distortion=-0.1)
_GRAIN = np.tile(np.random.default_rng(0).normal(0, 2.0, (540, 960)).round(), (2, 2))
"""A sensor's noise, laid twice beside and below itself: each offset is another frame's noise."""
_BRIGHTER = np.clip(_GRAIN, 0, None).astype(np.uint8)
_DARKER = np.clip(-_GRAIN, 0, None).astype(np.uint8)

Gray = NDArray[np.uint8]


@cache
def plain(look: Look = LOOK) -> Gray:
    picture = still(performance(ms=100), 0, layout(), look)
    planes = cv2.cvtColor(picture, cv2.COLOR_BGR2YUV_I420)
    return np.asarray(planes[: picture.shape[0]], np.uint8)


def grainy(picture: Gray, number: int) -> Gray:
    height, width = picture.shape
    top, left = 97 * number % height, 31 * number % width
    part = np.s_[top : top + height, left : left + width]
    return np.asarray(cv2.subtract(cv2.add(picture, _BRIGHTER[part]), _DARKER[part]), np.uint8)


@dataclass(frozen=True)
class Told:
    at_s: float
    fault: Fault


def watch(
    phases: Sequence[tuple[float, Gray]],
    *,
    fps: float = 15,
    look: Look = LOOK,
    grain: Callable[[Gray, int], Gray] = grainy,
) -> list[Told]:
    """Show each picture until its second, with fresh grain in every frame."""
    table = layout() if look.markers else changed(layout(), markers=())
    pose = Lens(layout(), look).pose()
    health = CameraHealth((look.width_px, look.height_px), felt_of(pose), table, pose)
    told, number = [], 0
    for until_s, picture in phases:
        while number / fps < until_s:
            faults = health.see(grain(picture, number), round(number / fps * NS))
            told += [Told(number / fps, fault) for fault in faults]
            number += 1
    return told


def kinds(told: Sequence[Told]) -> list[tuple[str, bool]]:
    return [(one.fault.kind, one.fault.over) for one in told]


def knocked(x_px: float, y_px: float, turn_deg: float = 0.0) -> Gray:
    turned = cv2.getRotationMatrix2D((480, 270), turn_deg, 1.0)
    onto = np.asarray(turned, np.float64) + np.array([(0, 0, x_px), (0, 0, y_px)])
    return np.asarray(
        cv2.warpAffine(plain(), onto, (960, 540), borderMode=cv2.BORDER_REFLECT), np.uint8
    )


def covered(share: float) -> Gray:
    picture = plain().copy()
    picture[:, : int(960 * share)] = 60
    return picture


def with_hands() -> Gray:
    """Arms from the rail over two circles, a sleeve over the tray."""
    picture = plain().copy()
    for arm in ([(0, 540), (120, 540), (240, 300), (180, 280)], [(700, 0), (800, 0), (640, 250)]):
        cv2.fillPoly(picture, [np.array(arm, np.int32)], 150)
    return picture


BLACK = np.full((540, 960), 17, np.uint8)
WHITE = np.full((540, 960), 234, np.uint8)
SOFT = np.asarray(cv2.GaussianBlur(plain(), (0, 0), 1.5), np.uint8)
VERY_SOFT = np.asarray(cv2.GaussianBlur(plain(), (0, 0), 4), np.uint8)


def half(what: int | None, part: tuple[slice, slice] = np.s_[260:, :]) -> Gray:
    """A picture of which a part was not decoded: one level, or its last row again and again."""
    picture = plain().copy()
    picture[part] = picture[part][0] if what is None else what
    return picture


def whole_grain(picture: Gray, number: int) -> Gray:
    """Noise where the picture was decoded: what stands for the lost part has none."""
    lost = (picture[1:] == picture[:-1]).all(axis=1)
    noisy = grainy(picture, number)
    noisy[1:][lost] = picture[1:][lost]
    return noisy


HALVES = {
    "grey": half(128),
    "green": half(90),
    "smeared": half(None),
    "above": half(128, np.s_[:250, :]),
}


@pytest.mark.parametrize("lost", HALVES)
def test_half_a_picture_is_told_where_it_lasts(lost: str) -> None:
    phases = [(4, plain()), (6, HALVES[lost]), (8, plain())]
    begun, ended = watch(phases, grain=whole_grain)
    assert (begun.fault.kind, begun.fault.over) == ("incomplete", False)
    assert (ended.fault.kind, ended.fault.over) == ("incomplete", True)
    assert 4 <= begun.at_s <= 5
    assert ended.at_s <= 7


@pytest.mark.parametrize("lost", HALVES)
def test_a_single_half_picture_is_passed_over(lost: str) -> None:
    pose = Lens(layout(), LOOK).pose()
    health = CameraHealth((960, 540), felt_of(pose), layout(), pose)
    for number in range(60):
        is_half = number % 7 == 5
        picture = HALVES[lost] if is_half else plain()
        assert health.see(whole_grain(picture, number), number * NS // 15) == ()
        assert health.trusted is not is_half


def test_half_a_picture_that_is_cut_upright_is_told() -> None:
    pose = Lens(layout(), LOOK).pose()
    health = CameraHealth((960, 540), felt_of(pose), layout(), pose)
    health.see(plain(), 0)
    health.see(half(128, np.s_[:, 500:]), NS)
    assert not health.trusted


@pytest.mark.parametrize(
    ("picture", "kind"),
    [
        pytest.param(BLACK, "black", id="black"),
        pytest.param(WHITE, "overexposed", id="overexposed"),
        pytest.param(SOFT, "unfocused", id="unfocused"),
        pytest.param(VERY_SOFT, "unfocused", id="very-unfocused"),
        pytest.param(knocked(1.5, 0), "moved", id="knocked-three-millimetres"),
        pytest.param(knocked(0, 0, 0.4), "moved", id="turned-half-a-degree"),
        pytest.param(knocked(30, -12, 3), "moved", id="knocked-far"),
        pytest.param(covered(0.7), "obstructed", id="covered"),
    ],
)
@pytest.mark.parametrize("fps", [10, 30])
def test_a_fault_and_its_end_are_told_within_a_second(picture: Gray, kind: str, fps: float) -> None:
    begun, ended = watch([(4, plain()), (6, picture), (8, plain())], fps=fps)
    assert (begun.fault.kind, begun.fault.over) == (kind, False)
    assert (ended.fault.kind, ended.fault.over) == (kind, True)
    assert 4 <= begun.at_s <= 5
    assert 6 <= ended.at_s <= 7
    assert ended.fault.lasted_ns == pytest.approx(2 * NS, abs=0.3 * NS)


@pytest.mark.parametrize(
    "picture",
    [
        pytest.param(with_hands(), id="hands"),
        pytest.param(covered(0.25), id="a-sleeve-over-a-quarter"),
        pytest.param(np.asarray(plain() * 0.7, np.uint8), id="lights-dimmed"),
        pytest.param(np.clip(plain() * 1.25, 0, 255).astype(np.uint8), id="lights-up"),
        pytest.param(knocked(0.3, 0.2), id="half-a-millimetre-of-play"),
    ],
)
def test_ordinary_things_are_no_fault(picture: Gray) -> None:
    assert watch([(3, plain()), (7, picture), (9, plain())]) == []


def test_a_shake_that_passes_is_no_fault() -> None:
    assert watch([(3, plain()), (3.2, knocked(4, 1)), (6, plain())]) == []


def test_a_dark_table_is_not_a_black_picture() -> None:
    lamp = np.asarray(plain() * 0.2, np.uint8)
    lamp[200:300, 300:600] = 80
    assert kinds(watch([(2, lamp)], look=LOOK)) == []


def test_another_size_of_picture_is_told() -> None:
    small = np.ascontiguousarray(plain()[::2, ::2])
    (told,) = watch([(2, small)], grain=lambda picture, _: picture)
    assert told.fault.kind == "size_changed"
    assert "480x270 pixels, not 960x540" in told.fault.detail


# --- frozen ------------------------------------------------------------------------------


def stuck_from(number: int) -> Callable[[Gray, int], Gray]:
    return lambda picture, at: grainy(picture, min(at, number))


@pytest.mark.parametrize("fps", [10, 30])
def test_a_camera_whose_noise_stops_is_frozen(fps: float) -> None:
    (told,) = watch([(8, plain())], fps=fps, grain=stuck_from(round(5 * fps)))
    assert told.fault.kind == "frozen"
    assert 5 <= told.at_s <= 6


def test_a_still_recording_without_noise_is_not_frozen() -> None:
    assert watch([(20, plain())], grain=lambda picture, _: picture) == []


def test_nor_is_one_in_which_hands_moved_before_everything_came_to_rest() -> None:
    def moving(picture: Gray, number: int) -> Gray:
        if number > 90:
            return picture
        moved = picture.copy()
        cv2.circle(moved, (100 + 5 * number, 300), 60, 140, -1)
        return moved

    assert watch([(12, plain())], grain=moving) == []


# --- moved -------------------------------------------------------------------------------


@pytest.mark.parametrize("markers", [True, False])
@pytest.mark.parametrize(
    "knock",
    [
        pytest.param(replace(LOOK, shift_px=(3.0, -2.0)), id="millimetres"),
        pytest.param(replace(LOOK, tilt_deg=(1.5, 1.0), rotation_deg=1.0), id="degrees"),
    ],
)
def test_the_pose_proposed_is_the_one_in_which_it_hangs_now(knock: Look, markers: bool) -> None:
    before = replace(LOOK, markers=markers)
    after = replace(knock, markers=markers)
    (told,) = watch([(2, plain(before)), (4, plain(after))], look=before)
    assert told.fault.proposed is not None
    places = np.array([(x, y) for x in range(-800, 801, 200) for y in range(100, 1000, 150)], float)
    seen = Lens(layout(), after).project(places)
    off = np.hypot(*(felt_of(told.fault.proposed).to_mm(seen) - places).T)
    assert off.mean() < 1.0


def test_a_card_or_hand_on_the_markers_is_no_move() -> None:
    look = replace(LOOK, markers=True)
    picture = plain(look).copy()
    lens = Lens(layout(), look)
    for marker in layout().markers[::2]:
        spot = lens.project(np.array([(marker.x_mm, marker.y_mm)]))[0].astype(int)
        cv2.circle(picture, (int(spot[0]), int(spot[1])), 34, 170, -1)
    assert watch([(2, plain(look)), (6, picture)], look=look) == []


def test_a_camera_knocked_since_it_was_calibrated_is_told_from_its_markers() -> None:
    look = replace(LOOK, markers=True)
    since = plain(replace(look, shift_px=(5.0, 0.0)))
    (told,) = watch([(2, since)], look=look)
    assert told.fault.kind == "moved"
    assert told.at_s <= 1
    assert told.fault.proposed is not None
