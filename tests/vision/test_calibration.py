"""A camera's pose and lens, found from one picture of a felt with markers, or from clicks."""

from collections.abc import Callable
from dataclasses import replace
from functools import cache

import cv2
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace as changed
from numpy.typing import NDArray

from models.errors import InstallerError
from models.layout import TableLayout, faults, landmarks
from models.session import CameraPose
from tests.vision.stage import layout, performance
from vision.calibration import Calibration, Tie, calibrate
from vision.felt import Points, felt_of, locate
from vision.markers import corners_mm, find_markers
from vision.optics import Optics
from vision.scenes.film import still
from vision.scenes.lens import Lens
from vision.scenes.look import Look

LOOK = Look(markers=True, width_px=1280, height_px=720, noise_sigma=1.0)
WIDE = replace(LOOK, distortion=-0.25, tilt_deg=(3, -2), rotation_deg=1, zoom=0.97)
PLACES = np.stack(np.meshgrid(np.linspace(-950, 950, 13), np.linspace(20, 1050, 9)), -1)
FELT_MM: Points = PLACES.reshape(-1, 2)


@cache
def picture(look: Look) -> NDArray[np.uint8]:
    return still(performance(ms=100), 0, layout(), look)


@cache
def found(look: Look) -> Calibration:
    return calibrate(picture(look), layout(), where="frame.png")


def off_mm(pose: CameraPose, look: Look) -> NDArray[np.float64]:
    """How far from its true place a pose puts each of many places of the felt."""
    seen = Lens(layout(), look).project(FELT_MM)
    return np.asarray(np.hypot(*(felt_of(pose).to_mm(seen) - FELT_MM).T), np.float64)


@pytest.mark.parametrize(
    "look",
    [
        pytest.param(LOOK, id="straight"),
        pytest.param(WIDE, id="barrel-lens-askew"),
        pytest.param(replace(WIDE, distortion=0.15), id="pincushion-lens"),
    ],
)
def test_every_place_of_the_felt_is_found_within_two_millimetres(look: Look) -> None:
    assert off_mm(found(look).pose, look).mean() < 0.5
    assert off_mm(found(look).pose, look).max() < 2.0


def test_what_it_says_it_is_off_is_what_the_markers_are_off() -> None:
    told = found(WIDE)
    assert {error.name for error in told.errors} == {f"marker {m.id}" for m in layout().markers}
    assert 0 < told.pose.error_mm < 1
    assert all(error.held_out_mm >= 0.9 * error.error_mm for error in told.errors)


def test_a_bent_picture_taken_for_a_straight_one_would_be_off_by_a_cards_width() -> None:
    straight = changed(found(WIDE).pose, distortion=(0.0, 0.0))
    assert off_mm(straight, WIDE).max() > 20


def clicked(look: Look, names: list[str], off_px: float = 0.0) -> list[Tie]:
    places = landmarks(layout())
    chance = np.random.default_rng(3)
    mm = np.array([places[name] for name in names])
    px = Lens(layout(), look).project(mm) + chance.normal(0, off_px, mm.shape)
    return [Tie(n, m.reshape(1, 2), p.reshape(1, 2)) for n, m, p in zip(names, mm, px, strict=True)]


EIGHT = [*(f"circle-{n}" for n in range(1, 6)), "line-left", "line-middle", "line-right"]


def test_eight_points_clicked_a_pixel_off_do_without_markers() -> None:
    plain = replace(WIDE, markers=False)
    by_hand = calibrate(picture(plain), layout(), clicked(plain, EIGHT, 0.7), where="frame.png")
    assert off_mm(by_hand.pose, plain).mean() < 4


def test_covered_markers_are_not_missed_while_four_are_spread() -> None:
    image = picture(LOOK).copy()
    lens = Lens(layout(), LOOK)
    for marker in layout().markers[2:5]:
        hand = lens.project(corners_mm(marker)).astype(np.int32)
        cv2.fillConvexPoly(image, hand, (120, 150, 205))
    told = calibrate(image, layout(), where="frame.png")
    assert len(told.errors) == len(layout().markers) - 3
    assert off_mm(told.pose, LOOK).max() < 3


def renumbered(by: int) -> TableLayout:
    table = layout()
    return changed(table, markers=tuple(changed(m, id=m.id + by) for m in table.markers))


def misplaced(by_mm: float) -> TableLayout:
    table = layout()
    first, *rest = table.markers
    return changed(table, markers=(changed(first, x_mm=first.x_mm - by_mm), *rest))


def blurred() -> NDArray[np.uint8]:
    return np.asarray(cv2.GaussianBlur(picture(LOOK), (0, 0), 5), np.uint8)


def twice() -> NDArray[np.uint8]:
    return np.hstack([picture(LOOK)[:, :640], picture(LOOK)[:, :640]])


def uncircled() -> NDArray[np.uint8]:
    """A felt whose markers and second circle are covered."""
    image = picture(replace(LOOK, markers=False)).copy()
    circle = layout().spots[1].circle
    x, y = Lens(layout(), LOOK).project(np.array([(circle.x_mm, circle.y_mm)]))[0].astype(int)
    cv2.rectangle(image, (x - 60, y - 60), (x + 60, y + 30), (120, 150, 205), -1)
    return image


@pytest.mark.parametrize(
    ("seen", "table", "complaint"),
    [
        (lambda: picture(LOOK), renumbered(20), "are of another layout"),
        (lambda: picture(LOOK), misplaced(40), "marker 0 most"),
        (uncircled, layout(), "0 of 8 markers"),
        (uncircled, changed(layout(), markers=()), "has no markers"),
        (blurred, layout(), "blurred"),
        (twice, layout(), "seen twice"),
    ],
    ids=[
        "another-layout",
        "marker-elsewhere",
        "no-markers-seen",
        "none-in-layout",
        "blurred",
        "seen-twice",
    ],
)
def test_what_fixes_no_pose_is_refused_with_the_reason(
    seen: Callable[[], NDArray[np.uint8]], table: TableLayout, complaint: str
) -> None:
    with pytest.raises(InstallerError, match=complaint) as refused:
        calibrate(seen(), table, where="frame.png")
    assert refused.value.where == "frame.png"
    assert refused.value.way_out


@pytest.mark.parametrize("table", [layout(), changed(layout(), markers=())])
def test_the_printed_circles_do_without_markers(table: TableLayout) -> None:
    plain = replace(WIDE, markers=False)
    told = calibrate(picture(plain), table, where="frame.png")
    assert [error.name for error in told.errors] == [f"circle-{n}" for n in range(1, 6)]
    assert off_mm(told.pose, plain).mean() < 4


def test_too_few_clicks_and_clicks_in_one_corner_are_refused() -> None:
    with pytest.raises(InstallerError, match="at least 6"):
        calibrate(picture(LOOK), layout(), clicked(LOOK, EIGHT[:5]), where="frame.png")
    corner = [*(f"tray-{n}" for n in range(1, 5)), *(f"rack-{n}" for n in range(1, 5))]
    with pytest.raises(InstallerError, match="of the felt"):
        calibrate(picture(LOOK), layout(), clicked(LOOK, corner), where="frame.png")


def test_every_marker_is_seen_where_it_lies() -> None:
    gray = np.asarray(cv2.cvtColor(picture(WIDE), cv2.COLOR_BGR2GRAY), np.uint8)
    seen = {marker.id: marker.corners_px for marker in find_markers(gray, "aruco-4x4")}
    lens = Lens(layout(), WIDE)
    for marker in layout().markers:
        assert np.abs(seen[marker.id] - lens.project(corners_mm(marker))).max() < 0.8


@pytest.mark.parametrize("name", ["four-spots", "five-spots", "six-spots", "seven-spots"])
def test_shipped_layouts_have_room_for_their_markers(name: str) -> None:
    assert faults(layout(name)) == ()
    assert len(layout(name).markers) >= 7


def test_a_marker_where_cards_are_dealt_is_a_fault_of_the_layout() -> None:
    first, *rest = layout().markers
    under = changed(first, x_mm=0.0, y_mm=280.0)
    assert "marker 0 lies under the dealer's cards" in faults(
        changed(layout(), markers=(under, *rest))
    )


@given(
    st.floats(-0.3, 0.3),
    st.floats(-0.1, 0.1),
    st.floats(-500, 500),
    st.floats(-300, 300),
)
def test_what_a_lens_bends_it_straightens(one: float, two: float, x_px: float, y_px: float) -> None:
    camera = np.array([(1200.0, 0, 640), (0, 1200.0, 360), (0, 0, 1)])
    lens = Optics(camera, (one, two))
    flat = np.array([(640 + x_px, 360 + y_px)])
    assert lens.straighten(lens.bend(flat))[0] == pytest.approx(flat[0], abs=1e-3)


def test_a_wide_lens_puts_nothing_from_outside_into_the_picture() -> None:
    camera = np.array([(640.0, 0, 640), (0, 640.0, 360), (0, 0, 1)])
    lens = Optics(camera, (-0.3, 0.0))
    aside = np.column_stack([640 + np.linspace(0, 3000, 40), np.full(40, 360.0)])
    assert (np.diff(lens.bend(aside)[:, 0]) >= -1e-9).all()


def test_a_pose_from_below_the_felt_is_refused() -> None:
    below = changed(found(LOOK).pose, turn_rad=(3.1, 0.0, 0.0))
    with pytest.raises(InstallerError, match="from below"):
        locate(below, where="camera overhead")
