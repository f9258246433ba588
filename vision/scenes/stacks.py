"""Stacks of chips as a camera sees them from the side: every chip a cylinder, ray by ray."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Final

import cv2
import numpy as np
from numpy.typing import NDArray

from models.chip_set import Chip, ChipSet
from models.layout import Circle
from models.money import Cents
from models.session import CameraPose
from vision.camera import Camera
from vision.scenes.lens import Light
from vision.scenes.look import Look
from vision.scenes.sprites import Patch

Colours = NDArray[np.float32]
"""``(…, 3)`` BGR, 0 to 255."""

_FINE: Final = 3  # rays across a pixel
_FACE_PX: Final = 192  # width of a drawn face
_INLAY: Final = 0.60  # of the radius
_MOULD: Final = 0.72  # of the radius: the moulded ring ends, the edge spots' ends begin
_SEAM: Final = 0.16  # share of a chip's thickness that its rounded edge takes at either side
_AMBIENT: Final = 0.52  # share of the light that comes from everywhere
_PENUMBRA_MM: Final = 7.0
_CONTACT_MM: Final = 6.0  # reach of the darkness beside a stack's foot


@dataclass(frozen=True, slots=True)
class LaidChip:
    """One chip of a stack.

    Attributes:
        x_mm, y_mm: its middle.
        from_mm, to_mm: heights of its lower and its upper face.
        turn_deg: its pattern's direction.
        tint: ``(3,)``, factor of its colours: print and dirt.
    """

    value: Cents
    x_mm: float
    y_mm: float
    from_mm: float
    to_mm: float
    turn_deg: float
    tint: tuple[float, float, float] = (1.0, 1.0, 1.0)


@dataclass(frozen=True, slots=True)
class Stack:
    """The chips of one stack, lowest first."""

    chips: tuple[LaidChip, ...]

    @property
    def values(self) -> tuple[Cents, ...]:
        """The chips' values, lowest first."""
        return tuple(chip.value for chip in self.chips)

    @property
    def height_mm(self) -> float:
        """Height of its upper face."""
        return self.chips[-1].to_mm


def stacked(
    rng: np.random.Generator,
    chips: ChipSet,
    values: Sequence[Cents],
    at_mm: tuple[float, float],
    *,
    untidy_mm: float = 0.7,
    shear: float = 0.0,
) -> Stack:
    """Stack chips as a hand does.

    Args:
        rng: decides how each chip lies.
        chips: the set.
        values: the chips' values, lowest first.
        at_mm: the middle of the stack's foot.
        untidy_mm: standard deviation of each chip's place.
        shear: how far the stack leans, millimetres a millimetre of height.
    """
    towards = rng.uniform(0, 2 * np.pi)
    lean = shear * np.array([np.cos(towards), np.sin(towards)])
    laid, height = [], 0.0
    for value in values:
        off = np.clip(rng.normal(0, untidy_mm, 2), -3, 3) + lean * height
        thick = chips.thick_mm * float(np.clip(rng.normal(1, 0.006), 0.98, 1.02))
        tint = np.clip(rng.normal(1, 0.025) * rng.normal(1, 0.012, 3), 0.85, 1.12)
        laid.append(
            LaidChip(
                value,
                at_mm[0] + float(off[0]),
                at_mm[1] + float(off[1]),
                height,
                height + thick,
                float(rng.uniform(0, 360)),
                (float(tint[0]), float(tint[1]), float(tint[2])),
            )
        )
        height += thick
    return Stack(tuple(laid))


def varied_stacks(
    rng: np.random.Generator, chips: ChipSet, circle: Circle, count: int, kinds: int = 5
) -> tuple[Stack, ...]:
    """Bet ``count`` chips of up to ``kinds`` values in a circle, as players do.

    They stand in one to three stacks, usually the highest values lowest, some untidy, some leaning.
    """
    offered = [chip.value for chip in chips.chips]
    used = rng.choice(offered, min(int(rng.integers(1, kinds + 1)), len(offered)), replace=False)
    values = [int(value) for value in rng.choice(used, count)]
    if rng.random() < 0.8:
        values.sort(reverse=True)
    groups = min(count, int(rng.choice([1, 2, 3], p=[0.75, 0.18, 0.07])))
    cuts = np.sort(rng.choice(np.arange(1, count), groups - 1, replace=False)).tolist()
    turn = rng.uniform(0, 2 * np.pi)
    apart = chips.diameter_mm * rng.uniform(1.03, 1.25)
    middle = np.array([circle.x_mm, circle.y_mm]) + rng.uniform(-1, 1, 2) * (
        14 if groups == 1 else 6
    )
    stacks = []
    for number, part in enumerate(np.split(np.array(values), cuts)):
        angle = turn + 2 * np.pi * number / groups
        away = 0.0 if groups == 1 else apart / (2 * math.sin(math.pi / groups))
        at = middle + away * np.array([np.cos(angle), np.sin(angle)])
        untidy = rng.choice([0.3, 0.7, 1.4], p=[0.4, 0.4, 0.2])
        shear = abs(rng.normal(0, 0.06)) if rng.random() < 0.3 else 0.0
        stacks.append(
            stacked(
                rng,
                chips,
                [int(value) for value in part],
                (float(at[0]), float(at[1])),
                untidy_mm=float(untidy),
                shear=float(shear),
            )
        )
    return tuple(stacks)


def shadow_patch(stacks: Sequence[Stack], chips: ChipSet, pose: CameraPose, look: Look) -> Patch:
    """Return the stacks' shadows on the felt, for a whole flat picture."""
    camera = Camera.of(pose)
    y_px, x_px = np.mgrid[0 : pose.height_px, 0 : pose.width_px]
    rays = camera.rays(np.column_stack([x_px.ravel(), y_px.ravel()]).astype(np.float64))
    reach = -camera.place_mm[2] / np.minimum(rays[:, 2], -1e-6)
    felt = camera.place_mm[:2] + reach[:, None] * rays[:, :2]
    shade = _lit(felt, np.zeros(len(felt)), stacks, chips.diameter_mm / 2, look)
    for stack in stacks:
        foot = stack.chips[0]
        away = np.hypot(felt[:, 0] - foot.x_mm, felt[:, 1] - foot.y_mm) - chips.diameter_mm / 2
        shade *= 1 - 0.5 * np.exp(-np.maximum(away, 0) / _CONTACT_MM)
    keep = np.clip(255 * shade, 0, 255).astype(np.uint8).reshape(pose.height_px, pose.width_px)
    whole = np.repeat(keep[..., None], 3, axis=2)
    return Patch(0, 0, np.zeros_like(whole), whole)


def stack_patches(
    stacks: Sequence[Stack], chips: ChipSet, pose: CameraPose, look: Look, light: Light
) -> list[Patch]:
    """Return what the camera sees of each stack, in flat pixels, the farthest first."""
    camera = Camera.of(pose)
    place = camera.place_mm
    order = sorted(
        stacks,
        key=lambda stack: (
            -math.hypot(stack.chips[0].x_mm - place[0], stack.chips[0].y_mm - place[1])
        ),
    )
    drawn = (_patch(stack, stacks, chips, pose, look) for stack in order)
    return [light.on(patch) for patch in drawn if patch is not None]


def _patch(
    stack: Stack,
    others: Sequence[Stack],
    chips: ChipSet,
    pose: CameraPose,
    look: Look,
) -> Patch | None:
    camera, radius = Camera.of(pose), chips.diameter_mm / 2
    box = _box(stack, radius, camera, pose)
    if box is None:
        return None
    left, top, right, bottom = box
    wide, high = (right - left) * _FINE, (bottom - top) * _FINE
    y_px, x_px = np.mgrid[0:high, 0:wide]
    fine = np.column_stack([x_px.ravel(), y_px.ravel()]) + 0.5
    rays = camera.rays(fine / _FINE - 0.5 + np.array([left, top]))
    nearest, colour = np.full(len(rays), np.inf), np.zeros((len(rays), 3), np.float32)
    for chip in stack.chips:
        start = camera.place_mm - (chip.x_mm, chip.y_mm, 0.0)
        _see(chip, chips, _Rays(start, rays, nearest, colour))
    seen = np.isfinite(nearest)
    places = camera.place_mm + nearest[seen, None] * rays[seen]
    rest = [one for one in others if one is not stack]
    colour[seen] *= _lit(places[:, :2], places[:, 2], rest, radius, look)[:, None]
    whole = np.concatenate([colour, 255.0 * seen[:, None]], axis=1).astype(np.float32)
    small = cv2.resize(
        whole.reshape(high, wide, 4), (right - left, bottom - top), interpolation=cv2.INTER_AREA
    )
    return Patch.of(left, top, np.clip(np.rint(small), 0, 255).astype(np.uint8))


def _box(
    stack: Stack, radius: float, camera: Camera, pose: CameraPose
) -> tuple[int, int, int, int] | None:
    turns = np.linspace(0, 2 * np.pi, 24, endpoint=False)
    rim = (radius + 1) * np.column_stack([np.cos(turns), np.sin(turns)])
    rings = [
        np.column_stack([rim + np.array([chip.x_mm, chip.y_mm]), np.full(len(rim), height)])
        for chip in stack.chips
        for height in (chip.from_mm, chip.to_mm)
    ]
    seen = camera.to_flat(np.concatenate(rings))
    (x0, y0), (x1, y1) = np.floor(seen.min(axis=0)) - 1, np.ceil(seen.max(axis=0)) + 2
    left, top = max(0, int(x0)), max(0, int(y0))
    right, bottom = min(pose.width_px, int(x1)), min(pose.height_px, int(y1))
    return (left, top, right, bottom) if left < right and top < bottom else None


@dataclass(frozen=True, slots=True)
class _Rays:
    """Rays from one lens, ``start`` from the middle of a chip's axis, and what they show so far."""

    start: NDArray[np.float64]
    ways: NDArray[np.float64]
    nearest: NDArray[np.float64]
    colour: Colours


def _see(laid: LaidChip, chips: ChipSet, seen: _Rays) -> None:
    """Let the rays that meet a chip first show it: changes their ``nearest`` and ``colour``."""
    radius, chip = chips.diameter_mm / 2, chips.chip(laid.value)
    start, rays, nearest, colour = seen.start, seen.ways, seen.nearest, seen.colour
    flat = rays[:, :2]
    square = (flat**2).sum(axis=1)
    along = flat @ start[:2]
    root = along**2 - square * (float(start[:2] @ start[:2]) - radius**2)
    with np.errstate(invalid="ignore", divide="ignore"):
        edge = (-along - np.sqrt(root)) / square
        height = start[2] + edge * rays[:, 2]
        over = (laid.to_mm - start[2]) / rays[:, 2]
    on_edge = (root > 0) & (edge > 0) & (height >= laid.from_mm) & (height <= laid.to_mm)
    on_edge &= edge < nearest
    met = start[:2] + over[:, None] * flat
    on_top = (over > 0) & (over < nearest) & ((met**2).sum(axis=1) <= radius**2) & ~on_edge
    tint = np.array(laid.tint, np.float32)
    if on_edge.any():
        nearest[on_edge] = edge[on_edge]
        there = start[:2] + edge[on_edge, None] * flat[on_edge]
        angle = np.degrees(np.arctan2(there[:, 1], there[:, 0]))
        share = (height[on_edge] - laid.from_mm) / (laid.to_mm - laid.from_mm)
        colour[on_edge] = _edge(chip, laid, angle, share) * tint
    if on_top.any():
        nearest[on_top] = over[on_top]
        colour[on_top] = _top(chip, laid, met[on_top] / radius) * tint


def _edge(
    chip: Chip, laid: LaidChip, angle_deg: NDArray[np.float64], share: NDArray[np.float64]
) -> Colours:
    """Colour a chip's edge at directions from its middle and shares of its thickness."""
    plain = _patterned(chip, angle_deg - laid.turn_deg)
    rounded = np.minimum(share, 1 - share) / _SEAM
    seam = np.where(rounded < 1, 0.45 + 0.55 * np.sqrt(np.clip(rounded, 0, 1)), 1.0)
    dirt = 1 + 0.03 * np.sin(np.radians(3 * angle_deg + 5 * laid.turn_deg))
    lamp = np.cos(np.radians(angle_deg - _LAMP_DEG))
    foot = 0.8 + 0.2 * np.clip((laid.from_mm + 3.3 * share) / 8, 0, 1)
    shade = (_AMBIENT + 0.12 + 0.3 * np.clip(lamp, 0, 1)) * seam * dirt * foot
    shine = 22 * np.clip(np.cos(np.radians(angle_deg - _LAMP_DEG + 12)), 0, 1) ** 24
    return np.asarray(plain * shade[:, None] + (shine * (rounded >= 1))[:, None], np.float32)


_LAMP_DEG: Final = -70.0
"""From where the lamp shines on edges: over the dealer, a little from his left."""


def _top(chip: Chip, laid: LaidChip, at: NDArray[np.float64]) -> Colours:
    """Colour a chip's upper face at places in radii from its middle."""
    turn = np.radians(laid.turn_deg)
    x = at[:, 0] * np.cos(turn) + at[:, 1] * np.sin(turn)
    y = at[:, 1] * np.cos(turn) - at[:, 0] * np.sin(turn)
    middle = (_FACE_PX - 1) / 2
    face = _face(chip)
    column = np.clip(np.rint(middle + x * middle), 0, _FACE_PX - 1).astype(int)
    row = np.clip(np.rint(middle + y * middle), 0, _FACE_PX - 1).astype(int)
    return np.asarray(face[row, column], np.float32)


def _patterned(chip: Chip, angle_deg: NDArray[np.float64]) -> Colours:
    """Return the colours around a chip's rim."""
    plain = np.tile(bgr(chip.body), (len(angle_deg), 1))
    for spots in chip.spots:
        step = 360 / spots.count
        off = np.abs((angle_deg - spots.from_deg + step / 2) % step - step / 2)
        plain[off <= spots.width_deg / 2] = bgr(spots.colour)
    return plain


@cache
def _face(chip: Chip) -> Colours:
    """Draw a chip's upper face, lit: spots at the rim, the moulded ring, the inlay, the value."""
    y, x = np.mgrid[0:_FACE_PX, 0:_FACE_PX].astype(np.float64)
    middle = (_FACE_PX - 1) / 2
    x, y = (x - middle) / middle, (y - middle) / middle
    away, angle = np.hypot(x, y), np.degrees(np.arctan2(y, x))
    face = _patterned(chip, angle.ravel()).reshape(_FACE_PX, _FACE_PX, 3)
    mould = away < _MOULD
    face[mould] = bgr(chip.body)
    face[mould] *= (0.9 + 0.1 * np.sign(np.sin(np.radians(angle * 16))))[mould, None]
    inlay = away < _INLAY
    face[inlay] = bgr(chip.inlay)
    ink = 0.35 * bgr(chip.body)
    words = f"{chip.value // 100}" if chip.value % 100 == 0 else f"{chip.value / 100:.1f}"
    mask = np.zeros((_FACE_PX, _FACE_PX), np.uint8)
    (wide, tall), _ = cv2.getTextSize(words, cv2.FONT_HERSHEY_DUPLEX, 1.0, 2)
    size = min(0.42 * _FACE_PX / wide, 0.3 * _FACE_PX / tall)
    low = round(middle - wide * size / 2), round(middle + tall * size / 2)
    cv2.putText(mask, words, low, cv2.FONT_HERSHEY_DUPLEX, size, 255, 3, cv2.LINE_AA)
    share = mask[..., None].astype(np.float32) / 255
    face += share * (ink - face)
    rim = np.clip((1.0 - away) / 0.05, 0.55, 1)
    return np.asarray(face * rim[..., None], np.float32)


def bgr(colour: str) -> Colours:
    """Return the colour ``#rrggbb`` as BGR, 0 to 255."""
    return np.array([int(colour[at : at + 2], 16) for at in (5, 3, 1)], np.float32)


def _lit(
    places: NDArray[np.float64],
    heights: NDArray[np.float64],
    stacks: Sequence[Stack],
    radius: float,
    look: Look,
) -> NDArray[np.float64]:
    """Return the share of the light at places that the stacks' shadows leave."""
    turn = np.radians(look.light_from_deg)
    towards = 0.55 * np.array([np.cos(turn), np.sin(turn)])  # millimetres a millimetre of height
    left = np.ones(len(places))
    for stack in stacks:
        foot, head = stack.chips[0], stack.chips[-1]
        middle = np.array([foot.x_mm + head.x_mm, foot.y_mm + head.y_mm]) / 2
        above = np.maximum(stack.height_mm - heights, 0)
        off = middle - places
        along = np.clip(off @ towards / max(float(towards @ towards), 1e-9), 0, above)
        near = np.hypot(*(off - along[:, None] * towards).T)
        inside = np.clip((radius + _PENUMBRA_MM / 2 - near) / _PENUMBRA_MM, 0, 1)
        left *= 1 - look.shadow * inside * np.clip(above / 2, 0, 1)
    return left
