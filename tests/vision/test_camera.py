"""A camera in space: places over the felt, their pixels, and back."""

from functools import cache
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from models.session import CameraPose
from tests.vision.stage import layout
from vision.calibration import Calibration, Tie, calibrate
from vision.camera import Camera, chip_px
from vision.felt import Points, felt_of
from vision.overlay import draw_layout
from vision.scenes.lens import Lens
from vision.scenes.look import Look
from vision.scenes.oblique import oblique_pose, photograph, window

HD = (1920, 1080)
LOOK = Look(markers=True, noise_sigma=1.5)
GRID: Points = np.stack(
    np.meshgrid(np.linspace(-900, 900, 9), np.linspace(100, 1000, 7)), -1
).reshape(-1, 2)


def at_height(points: Points, height_mm: float) -> NDArray[np.float64]:
    return np.column_stack([points, np.full(len(points), height_mm)])


def pose(elevation_deg: float = 25.0, azimuth_deg: float = -60.0) -> CameraPose:
    return oblique_pose(
        layout(), HD, elevation_deg=elevation_deg, azimuth_deg=azimuth_deg, distortion=-0.06
    )


def test_on_the_felt_it_agrees_with_the_felt() -> None:
    seen = Camera.of(pose()).to_px(at_height(GRID, 0.0))
    assert seen == pytest.approx(felt_of(pose()).to_px(GRID), abs=1e-6)


@given(st.floats(0, 100), st.floats(15, 35), st.floats(-180, 180))
def test_a_pixel_leads_back_to_its_place_at_any_height(
    height_mm: float, elevation_deg: float, azimuth_deg: float
) -> None:
    camera = Camera.of(
        oblique_pose(
            layout(), HD, elevation_deg=elevation_deg, azimuth_deg=azimuth_deg, distortion=-0.06
        )
    )
    back = camera.to_mm(camera.to_px(at_height(GRID, height_mm)), height_mm)
    assert back == pytest.approx(GRID, abs=1e-3)


@pytest.mark.parametrize(("elevation", "azimuth"), [(15, -60), (25, 30), (35, -120)])
def test_it_stands_where_it_was_hung(elevation: float, azimuth: float) -> None:
    camera = Camera.of(pose(elevation, azimuth))
    assert camera.place_mm[2] > 0
    x, y = camera.place_mm[:2] - GRID.mean(axis=0)
    assert np.degrees(np.arctan2(y, x)) == pytest.approx(azimuth, abs=8)
    assert camera.elevation_deg(*GRID.mean(axis=0)) == pytest.approx(elevation, abs=2)


def test_what_stands_higher_on_the_felt_lies_higher_in_the_picture() -> None:
    camera = Camera.of(pose())
    low, high = (camera.to_px(at_height(GRID, height)) for height in (0.0, 33.0))
    assert (high[:, 1] < low[:, 1]).all()
    assert np.abs(high[:, 0] - low[:, 0]).max() < np.abs(high[:, 1] - low[:, 1]).min()


def test_above_the_horizon_there_is_no_place() -> None:
    camera = Camera.of(oblique_pose(layout(), HD, elevation_deg=5.0))
    assert np.isnan(camera.to_mm(np.array([(960.0, 0.0)]))).all()
    behind = camera.place_mm + (camera.place_mm - (0.0, 500.0, 0.0))
    assert np.isnan(camera.to_px(behind[None])).all()


def test_a_chip_is_a_few_pixels_high_from_the_side_and_none_from_above() -> None:
    least, most = chip_px(Camera.of(pose()), layout())
    assert 2 < least < most < 5
    assert chip_px(Camera.of(Lens(layout(), Look()).pose()), layout())[0] < 1.6


def test_the_page_states_how_high_a_chip_is_at_each_angle() -> None:
    page = (Path(__file__).parents[2] / "docs" / "camera.md").read_text()
    for elevation in (15, 25, 35):
        row = [f"{elevation}"]
        for size in (HD, (3840, 2160)):
            camera = Camera.of(oblique_pose(layout(), size, elevation_deg=elevation))
            least, most = chip_px(camera, layout())
            row += [f"{round(camera.place_mm[2], -1):.0f} mm"] if size == HD else []
            row.append(f"{least:.1f} to {most:.1f} px")
        assert f"| {' | '.join(row)} |" in page


def test_a_part_of_the_picture_is_a_picture_of_its_own() -> None:
    part = Camera.of(window(pose(), (600, 300, 900, 500)))
    seen = at_height(GRID, 20.0)
    moved = part.to_px(seen) + np.array([600.0, 300.0])
    assert moved == pytest.approx(Camera.of(pose()).to_px(seen), abs=1e-6)


@cache
def found(elevation_deg: float, azimuth_deg: float) -> Calibration:
    picture = photograph(layout(), LOOK, pose(elevation_deg, azimuth_deg))
    return calibrate(picture, layout(), where="left.png")


@pytest.mark.slow(shows="where an oblique camera hangs, found from a picture")
@pytest.mark.parametrize(
    ("elevation", "azimuth"), [(25, -60), (15, -60), (35, -90), (20, -120), (25, 20)]
)
@pytest.mark.parametrize("height_mm", [0.0, 66.0])
def test_an_oblique_camera_is_found_by_its_markers_within_half_a_pixel(
    elevation: float, azimuth: float, height_mm: float
) -> None:
    places = at_height(GRID, height_mm)
    told, true = (
        Camera.of(one).to_px(places)
        for one in (found(elevation, azimuth).pose, pose(elevation, azimuth))
    )
    apart = np.hypot(*(told - true).T)
    assert apart.mean() < 0.1
    assert apart.max() < 0.5


@pytest.mark.slow
@pytest.mark.parametrize(("elevation", "azimuth"), [(20, -120), (25, -60), (25, 20), (35, -90)])
def test_without_markers_it_is_found_by_the_printed_circles(
    elevation: float, azimuth: float
) -> None:
    true = pose(elevation, azimuth)
    told = calibrate(photograph(layout(), Look(), true), layout(), where="left.png").pose
    circles = np.array([(spot.circle.x_mm, spot.circle.y_mm) for spot in layout().spots])
    for height_mm in (0.0, 66.0):
        seen = (Camera.of(one).to_px(at_height(circles, height_mm)) for one in (told, true))
        assert np.hypot(*np.subtract(*seen).T).max() < 1.0


@pytest.mark.slow
def test_an_oblique_camera_is_found_by_clicked_circles_and_corners() -> None:
    true = pose()
    named = {f"circle-{s.spot}": (s.circle.x_mm, s.circle.y_mm) for s in layout().spots}
    named |= {f"tray-{at}": corner for at, corner in enumerate(layout().tray, 1)}
    chance = np.random.default_rng(2)
    ties = [
        Tie(name, np.array([place]), felt_of(true).to_px(np.array([place])) + chance.normal(0, 0.5))
        for name, place in named.items()
    ]
    by_hand = calibrate(photograph(layout(), LOOK, true), layout(), ties, where="left.png")
    seen = (Camera.of(one).to_px(at_height(GRID, 30.0)) for one in (by_hand.pose, true))
    assert np.hypot(*np.subtract(*seen).T).mean() < 4


def test_the_drawn_check_has_a_stack_in_every_circle() -> None:
    picture = np.zeros((HD[1], HD[0], 3), np.uint8)
    felt, camera = felt_of(pose()), Camera.of(pose())
    with_stacks = draw_layout(picture, layout(), felt, (), camera)
    added = (with_stacks != draw_layout(picture, layout(), felt)).any(axis=2)
    for spot in layout().spots:
        top = np.array([(spot.circle.x_mm - 19.5, spot.circle.y_mm, 66.0)])
        x, y = camera.to_px(top)[0].round().astype(int)
        assert added[y - 2 : y + 3, x - 2 : x + 3].any()
