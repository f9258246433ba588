"""Rendered stacks of chips: where an oblique camera sees them, and what it sees."""

from dataclasses import replace

import cv2
import numpy as np
import pytest
from numpy.typing import NDArray

from models.cards import Card
from models.chip_set import Chip, ChipSet
from models.session import CameraPose
from stream.library import chip_set_ids
from stream.recording import table_chips
from tests.vision.stage import layout
from vision.camera import Camera
from vision.scenes.look import Look
from vision.scenes.oblique import OnFelt, oblique_pose, photograph, window
from vision.scenes.performance import Place
from vision.scenes.stacks import Stack, bgr, stacked, varied_stacks

CIRCLE = layout().spots[2].circle
BARE = Look(noise_sigma=0, blur_px=0, glare=0, light_slope=0, shadow=0, lettering=("A", "B", "C"))


def view(elevation_deg: float = 25.0) -> CameraPose:
    """An oblique 4K camera's picture of the middle circle, 240 pixels wide."""
    whole = oblique_pose(layout(), (3840, 2160), elevation_deg=elevation_deg)
    x, y = Camera.of(whole).to_px(np.array([(CIRCLE.x_mm, CIRCLE.y_mm, 20.0)]))[0].astype(int)
    return window(whole, (x - 120, y - 120, x + 120, y + 120))


def tidy(values: list[int], at: tuple[float, float] = (CIRCLE.x_mm, CIRCLE.y_mm)) -> Stack:
    return stacked(np.random.default_rng(1), table_chips("harbour"), values, at, untidy_mm=0)


def picture(*stacks: Stack, look: Look = BARE, pose: CameraPose | None = None) -> NDArray[np.uint8]:
    return photograph(layout(), look, pose or view(), OnFelt(table_chips("harbour"), stacks))


def changed(*stacks: Stack) -> NDArray[np.bool_]:
    apart = cv2.absdiff(picture(*stacks), photograph(layout(), BARE, view()))
    return np.asarray(apart.max(axis=2) > 30, np.bool_)


@pytest.mark.parametrize("count", [4, 8, 20])
def test_a_stack_stands_where_the_camera_projects_it(count: int) -> None:
    stack = tidy([500] * count)
    turns = np.radians(np.arange(0, 360, 2))
    rim = 19.5 * np.column_stack([np.cos(turns), np.sin(turns)]) + (CIRCLE.x_mm, CIRCLE.y_mm)
    top = Camera.of(view()).to_px(np.column_stack([rim, np.full(len(rim), stack.height_mm)]))
    foot_hidden = round(top[:, 1].mean()) + 1  # lower down the foot's shadow shows beside it
    y, x = np.nonzero(changed(stack)[:foot_hidden])
    assert y.min() == pytest.approx(top[:, 1].min(), abs=1.5)
    assert (x.min(), x.max()) == pytest.approx((top[:, 0].min(), top[:, 0].max()), abs=1.5)


def test_every_chip_of_a_stack_is_a_band_of_its_side() -> None:
    chip = Chip(value=100, name="white", body="#e9e6dc", inlay="#ffffff")
    white = ChipSet(name="white", chips=(chip,))
    at = (CIRCLE.x_mm, CIRCLE.y_mm)
    stack = stacked(np.random.default_rng(1), white, [100] * 9, at, untidy_mm=0)
    camera = Camera.of(view())
    towards = camera.place_mm[:2] - (CIRCLE.x_mm, CIRCLE.y_mm)
    front = (CIRCLE.x_mm, CIRCLE.y_mm) + 19.5 * towards / np.hypot(*towards)
    heights = np.linspace(0, stack.height_mm, 9 * 12 + 1)
    px = camera.to_px(np.column_stack([np.tile(front, (len(heights), 1)), heights]))
    seen = photograph(layout(), BARE, view(), OnFelt(white, (stack,))).astype(np.float32)
    column, row = (px[:, at, None].astype(np.float32) for at in (0, 1))
    light = np.asarray(cv2.remap(seen, column, row, cv2.INTER_LINEAR)).sum(axis=(1, 2))
    bands = np.asarray(light[: 9 * 12]).reshape(9, 12)
    assert (bands[:, 4:8].mean(axis=1) > 1.15 * bands[:, [0, 11]].mean(axis=1)).all()


def test_of_two_stacks_the_nearer_covers_the_farther() -> None:
    place = Camera.of(view()).place_mm[:2]
    towards = place - (CIRCLE.x_mm, CIRCLE.y_mm)
    step = 22 * towards / np.hypot(*towards)
    near = tidy([10000] * 6, (CIRCLE.x_mm + step[0], CIRCLE.y_mm + step[1]))
    far = tidy([100] * 6, (CIRCLE.x_mm - step[0], CIRCLE.y_mm - step[1]))
    mine = changed(near)
    both, alone = picture(far, near), picture(near)
    inner = cv2.erode(mine.astype(np.uint8), np.ones((5, 5))) > 0
    assert np.abs(both[inner].astype(int) - alone[inner]).mean() < 3
    assert changed(far, near).sum() > 1.3 * mine.sum()


def test_a_shadow_falls_away_from_the_lamp() -> None:
    dark = replace(BARE, shadow=0.6, light_from_deg=0.0)
    under, bare = (picture(*s, look=dark).astype(int) for s in ((tidy([500] * 12),), ()))
    beside = [(CIRCLE.x_mm + side * 30, CIRCLE.y_mm, 0.0) for side in (-1, 1)]
    away, towards = Camera.of(view()).to_px(np.array(beside)).round().astype(int)
    fell = [bare[y, x].sum() - under[y, x].sum() for x, y in (away, towards)]
    assert fell[0] > 1.5 * fell[1]


def test_the_same_scene_is_drawn_twice_and_another_seed_lies_otherwise() -> None:
    chips = table_chips("mesa")
    one, again, other = (
        varied_stacks(np.random.default_rng(seed), chips, CIRCLE, 12) for seed in (5, 5, 6)
    )
    assert one == again != other


@pytest.mark.parametrize("count", [1, 2, 7, 20])
def test_a_bet_has_its_chips_in_stacks_that_do_not_cut_each_other(count: int) -> None:
    chips = table_chips("regent")
    for seed in range(25):
        stacks = varied_stacks(np.random.default_rng(seed), chips, CIRCLE, count)
        assert sum(len(stack.chips) for stack in stacks) == count
        feet = np.array([(s.chips[0].x_mm, s.chips[0].y_mm) for s in stacks])
        apart = np.hypot(*(feet[:, None] - feet[None]).transpose(2, 0, 1))
        assert (apart[~np.eye(len(feet), dtype=bool)] > 36).all()
        for stack in stacks:
            heights = [chip.to_mm - chip.from_mm for chip in stack.chips]
            assert heights == pytest.approx([3.3] * len(heights), rel=0.021)


def test_cards_lie_under_the_chips() -> None:
    stack, place = tidy([500] * 3), Place(CIRCLE.x_mm, CIRCLE.y_mm)
    lying = OnFelt(table_chips("harbour"), (stack,), ((Card.KH, place),))
    with_card = cv2.absdiff(photograph(layout(), BARE, view(), lying), picture(stack)).max(axis=2)
    inner = cv2.erode(changed(stack).astype(np.uint8), np.ones((5, 5))) > 0
    assert with_card[inner].mean() < 2
    assert (with_card > 60).sum() > 1000


@pytest.mark.parametrize("name", chip_set_ids())
def test_a_shipped_sets_chips_differ_from_each_other(name: str) -> None:
    chips: ChipSet = table_chips(name)
    assert chips.name == name
    assert (chips.diameter_mm, chips.thick_mm) == (39.0, 3.3)
    values = [chip.value for chip in chips.chips]
    assert values == sorted(set(values))
    bodies = [bgr(chip.body) for chip in chips.chips]
    for at, body in enumerate(bodies):
        assert all(np.abs(body - other).max() > 40 for other in bodies[:at])
