"""The felt in the picture: millimetres to pixels and back."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from models.errors import InstallerError
from models.session import ReferencePoint
from vision.felt import Pose, fit_card, locate_felt

MARKS = [
    (-885.0, 397.0),
    (-534.0, 831.0),
    (0.0, 995.0),
    (534.0, 831.0),
    (885.0, 397.0),
    (0.0, 530.0),
]


def seen(x_mm: float, y_mm: float, off_px: float = 0.0) -> ReferencePoint:
    """A mark as a slightly tilted camera sees it."""
    w = 1 + 2e-5 * x_mm + 4e-5 * y_mm
    x_px, y_px = (960 + 0.95 * x_mm + 0.02 * y_mm) / w, (20 + 0.95 * y_mm) / w
    return ReferencePoint(x_px=x_px + off_px, y_px=y_px, x_mm=x_mm, y_mm=y_mm)


@given(st.floats(-900, 900), st.floats(50, 1050))
def test_a_place_goes_to_the_picture_and_back(x_mm: float, y_mm: float) -> None:
    felt = locate_felt([seen(*mark) for mark in MARKS], where="overhead")
    there = felt.to_px(np.array([(x_mm, y_mm)]))
    assert there[0] == pytest.approx((seen(x_mm, y_mm).x_px, seen(x_mm, y_mm).y_px), abs=1e-3)
    assert felt.to_mm(there)[0] == pytest.approx((x_mm, y_mm), abs=1e-6)


@given(st.floats(-800, 800), st.floats(100, 1000), st.floats(-179, 179))
def test_a_cards_corners_give_its_pose(x_mm: float, y_mm: float, angle_deg: float) -> None:
    pose, misfit_mm = fit_card(Pose(x_mm, y_mm, angle_deg).corners_mm)
    assert (pose.x_mm, pose.y_mm) == pytest.approx((x_mm, y_mm), abs=1e-6)
    assert math.cos(math.radians(pose.angle_deg - angle_deg)) == pytest.approx(1.0)
    assert misfit_mm < 1e-6


def test_an_angle_is_the_top_edges_direction_clockwise_from_the_dealer() -> None:
    corners = Pose(0, 0, 90).corners_mm
    top_middle = corners[:2].mean(axis=0)
    assert top_middle == pytest.approx((44.45, 0.0))  # a quarter turn clockwise: to the right


def test_corners_of_a_wrong_size_are_told_by_their_misfit() -> None:
    _, misfit_mm = fit_card(Pose(0, 0, 20).outline_mm(15))
    assert misfit_mm == pytest.approx(15 * math.sqrt(2), abs=1)


def test_a_card_inferred_too_large_from_its_index_is_held_there() -> None:
    true = Pose(100, 200, 30)
    index = true.corners_mm[0]
    too_large = index + 1.1 * (true.corners_mm - index)
    assert fit_card(too_large)[0].distance_mm(true) > 5
    assert fit_card(too_large, held_at=(0.0, 0.0))[0].distance_mm(true) < 1e-6


def test_a_card_looks_the_same_upside_down() -> None:
    assert Pose(0, 0, 175).turn_deg(Pose(0, 0, -10)) == pytest.approx(5)
    assert Pose(0, 0, 5).turn_deg(Pose(0, 0, 95)) == pytest.approx(90)


def test_the_scale_is_pixels_for_a_millimetre() -> None:
    felt = locate_felt([seen(*mark) for mark in MARKS], where="overhead")
    assert felt.px_per_mm(0, 0) == pytest.approx(0.95, abs=0.02)
    assert felt.card_width_px(0, 1000) < felt.card_width_px(0, 100)


def test_one_stray_mark_is_set_aside() -> None:
    points = [seen(*mark) for mark in MARKS[:-1]] + [seen(-300, 500), seen(300, 500)]
    felt = locate_felt([*points, seen(0, 530, off_px=80)], where="overhead")
    assert felt.error_mm < 1
    assert felt.to_px(np.array([(0.0, 530.0)]))[0][0] == pytest.approx(seen(0, 530).x_px, abs=1)


@pytest.mark.parametrize(
    ("points", "complaint"),
    [
        pytest.param([seen(*m) for m in MARKS[:3]], "at least 4", id="three-points"),
        pytest.param([seen(x, 500) for x in (-800, -200, 300, 800)], "one line", id="on-a-line"),
        pytest.param([seen(0, 500)] * 6, "one line", id="all-the-same"),
        pytest.param(
            [seen(-800, 400), seen(0, 400), seen(800, 400), seen(0, 900)],
            "one line",
            id="three-of-four-on-a-line",
        ),
        pytest.param(
            [
                ReferencePoint(x_px=1900 - p.x_px, y_px=p.y_px, x_mm=p.x_mm, y_mm=p.y_mm)
                for p in (seen(*m) for m in MARKS)
            ],
            "mirrored",
            id="mirrored",
        ),
        pytest.param(
            [seen(*m, off_px=(-1) ** i * 90) for i, m in enumerate(MARKS)],
            "disagree",
            id="contradictory",
        ),
        pytest.param(
            [ReferencePoint(x_px=math.nan, y_px=0, x_mm=1, y_mm=1)] + [seen(*m) for m in MARKS[:3]],
            "at least 4",
            id="not-a-number",
        ),
    ],
)
def test_points_that_fix_no_felt_are_refused(points: list[ReferencePoint], complaint: str) -> None:
    with pytest.raises(InstallerError, match=complaint) as refused:
        locate_felt(points, where="camera overhead")
    assert refused.value.where == "camera overhead"
