"""Cameras that look at the felt from the side, and what such a camera sees of a table."""

from dataclasses import dataclass, replace
from typing import Final

import cv2
import numpy as np
from msgspec.structs import replace as changed

from models.cards import Card
from models.chip_set import ChipSet
from models.layout import TableLayout
from models.session import CameraPose
from vision.camera import Places
from vision.scenes.decks import PX_PER_MM, load_deck
from vision.scenes.felt import draw_felt
from vision.scenes.grain import Grain
from vision.scenes.lens import Lens, Light
from vision.scenes.look import Look
from vision.scenes.performance import Place
from vision.scenes.sprites import (
    Box,
    Image,
    Patch,
    on_felt,
    padded,
    premultiplied,
    put,
    spread,
    warped,
)
from vision.scenes.stacks import Stack, shadow_patch, stack_patches

_TALL_MM: Final = 70.0  # height that the picture shows too: a stack of twenty chips
_AWAY_MM: Final = (300.0, 20_000.0)  # nearest and farthest a camera is hung
_FILLED: Final = 0.97  # share of the picture's width and height that the table fills at most
_SHARP_PX: Final = 0.25  # a lens less soft than this blurs nothing
_RIM_PX: Final = 16
"""Drawn around a part of a picture and cut off again: the reach of the lens's bend and blur."""


def oblique_pose(
    layout: TableLayout,
    size_px: tuple[int, int],
    *,
    elevation_deg: float = 25.0,
    azimuth_deg: float = -60.0,
    roll_deg: float = 0.0,
    focal_widths: float = 1.1,
    distortion: float = 0.0,
) -> CameraPose:
    """Hang a camera so that every circle of the felt, with tall stacks, just fits its picture.

    Args:
        layout: the felt.
        size_px: width and height of the picture.
        elevation_deg: how high above the felt it stands, seen from the middle of the circles.
        azimuth_deg: from where it looks: 0 is the dealer's left, 90 the players, -90 the dealer.
        roll_deg: the picture turned clockwise.
        focal_widths: focal length in picture widths.
        distortion: the lens's first radial coefficient.
    """
    high, around = np.deg2rad(elevation_deg), np.deg2rad(azimuth_deg)
    # In the frame of a pose, whose third axis points into the felt.
    level = -np.cos(high) * np.array([np.cos(around), np.sin(around)])
    forward = np.array([*level, np.sin(high)])
    down = np.array([0.0, 0.0, 1.0]) - forward * forward[2]
    down /= np.linalg.norm(down)
    spun = cv2.Rodrigues(np.array([0.0, 0.0, np.deg2rad(roll_deg)]))[0] @ np.array(
        [np.cross(down, forward), down, forward]
    )
    shown = _shown(layout)
    middle = np.append(shown[:, :2].mean(axis=0), 0.0)
    focal = focal_widths * size_px[0]
    near_mm, far_mm = _AWAY_MM
    for _ in range(30):
        away = (near_mm + far_mm) / 2
        seen = (shown - middle) @ spun.T + (0.0, 0.0, away)
        beside = np.abs(seen[:, :2]) * focal / np.maximum(seen[:, 2:], 1.0)
        fits = bool((beside < _FILLED * np.array(size_px) / 2).all())
        near_mm, far_mm = (near_mm, away) if fits else (away, far_mm)
    shift = np.array([0.0, 0.0, far_mm]) - spun @ middle
    turn = cv2.Rodrigues(spun)[0].ravel()
    return CameraPose(
        width_px=size_px[0],
        height_px=size_px[1],
        focal_px=focal,
        centre_px=((size_px[0] - 1) / 2, (size_px[1] - 1) / 2),
        distortion=(distortion, 0.0),
        turn_rad=(float(turn[0]), float(turn[1]), float(turn[2])),
        shift_mm=(float(shift[0]), float(shift[1]), float(shift[2])),
        error_mm=0.0,
    )


def window(pose: CameraPose, box: Box) -> CameraPose:
    """Return the pose of a part of a camera's picture, taken as a picture of its own."""
    left, top, right, bottom = box
    return changed(
        pose,
        width_px=right - left,
        height_px=bottom - top,
        centre_px=(pose.centre_px[0] - left, pose.centre_px[1] - top),
    )


@dataclass(frozen=True, slots=True)
class OnFelt:
    """What lies on the felt before an oblique camera.

    Attributes:
        chips: the set that the stacks' chips are of.
        stacks: the stacks.
        cards: cards beneath them, the lowest first.
    """

    chips: ChipSet
    stacks: tuple[Stack, ...]
    cards: tuple[tuple[Card, Place], ...] = ()


def photograph(
    layout: TableLayout,
    look: Look,
    pose: CameraPose,
    lying: OnFelt | None = None,
    *,
    index: int = 0,
) -> Image:
    """Return a picture of the table, ``(H, W, 3)`` uint8 BGR, of the pose's size.

    ``look`` gives cloth, cards, light, lens and noise; its own camera does not count. ``index`` is
    the frame, which has noise of its own.
    """
    rim = _RIM_PX
    wide = window(pose, (-rim, -rim, pose.width_px + rim, pose.height_px + rim))
    seen = replace(look, width_px=wide.width_px, height_px=wide.height_px)
    lens = Lens(layout, seen, wide)
    light = Light(seen)
    lit = light.on_cloth(draw_felt(layout, seen, lens))
    if lying is not None:
        for card, place in lying.cards:
            _lay_card(lit, load_deck(look.deck).faces[card], place, lens, light)
        shadow_patch(lying.stacks, lying.chips, wide, seen).lay(lit)
        for patch in stack_patches(lying.stacks, lying.chips, wide, seen, light):
            patch.lay(lit)
    lit = lens.bend(lit)
    soft = cv2.GaussianBlur(lit, (0, 0), look.blur_px) if look.blur_px >= _SHARP_PX else lit
    return np.asarray(Grain(seen).on(np.asarray(soft, np.uint8), index)[rim:-rim, rim:-rim])


def _lay_card(picture: Image, face: Image, place: Place, lens: Lens, light: Light) -> None:
    sprite = padded(premultiplied(face))
    to_px = (
        lens.flat
        @ put(place.x_mm, place.y_mm, place.angle_deg)
        @ on_felt(sprite, (PX_PER_MM, PX_PER_MM))
    )
    left, top, right, bottom = (round(side) for side in spread(sprite, to_px))
    box = max(0, left), max(0, top), min(lens.size_px[0], right), min(lens.size_px[1], bottom)
    if box[0] < box[2] and box[1] < box[3]:
        drawn = warped(sprite, to_px, box, fine=3)
        light.on(Patch.of(box[0], box[1], drawn)).lay(picture)


def _shown(layout: TableLayout) -> Places:
    """Return the places whose view decides how far the camera hangs: circles, low and high."""
    rings = [
        (spot.circle.x_mm + away[0], spot.circle.y_mm + away[1], -height)
        for spot in layout.spots
        for away in spot.circle.radius_mm * np.array([(1, 0), (0, 1), (-1, 0), (0, -1)])
        for height in (0.0, _TALL_MM)
    ]
    corners = [(x, y, 0.0) for x, y in (*layout.insurance_line, *layout.dealer_cards)]
    return np.array([*rings, *corners], np.float64)
