"""Hands and arms, modelled as rounded limbs and lit from above."""

from dataclasses import dataclass
from functools import cache
from typing import Final, Literal, TypeAlias

import cv2
import numpy as np
from numpy.typing import NDArray

from vision.scenes.lens import Lens, Light
from vision.scenes.look import Look
from vision.scenes.sprites import Box, Image, Matrix, Patch, on_felt, put, smeared, spread, warped

Field: TypeAlias = NDArray[np.float32]
Sleeve: TypeAlias = Literal["black", "white", "vest", "bare", "denim", "wool"]

# Chosen to look like a hand and forearm, not measured.
_PX_PER_MM: Final = 1.5  # of the drawn hand
_HALF_WIDTH_MM: Final = 92.0  # half the width of the drawn picture
_LENGTH_MM: Final = 1150.0  # of hand and arm
_TIP_MM: Final = 44.0
"""Mm of the arm's picture beyond the middle of the fingertips."""
_CUFF_MM: Final = -196.0  # y in the hand's frame, as in _PALM
_BAND_PX: Final = 72  # rows shaded at a time
_COARSE: Final = 2  # shadows are drawn at a half of the size
_ABOVE: Final = 1.12
"""Scale of hands: they are closer to the camera than the felt."""
# BGR, six tones.
_SKIN: Final = (
    (168, 190, 228),
    (136, 166, 214),
    (110, 144, 200),
    (84, 118, 176),
    (60, 86, 134),
    (40, 56, 90),
)
# BGR.
_SLEEVES: Final[dict[Sleeve, tuple[int, int, int]]] = {
    "black": (40, 38, 36),
    "white": (222, 220, 216),
    "vest": (226, 222, 214),
    "bare": (0, 0, 0),
    "denim": (120, 84, 58),
    "wool": (62, 78, 112),
}
# Each limb: its two ends (x, y in mm from the finger tips, arm upwards) and radii there.
_Limb: TypeAlias = tuple[float, float, float, float, float, float]
# In mm: from x, y to x, y, radius at either end.
_PALM: Final[tuple[_Limb, ...]] = (
    (-16, -140, -25, -90, 20, 17),
    (0, -146, 0, -88, 23, 19),
    (17, -140, 23, -96, 18, 16),
    (0, -150, 0, -280, 26, 33),
)
# Fingers laid flat, in the same form.
_FLAT: Final[tuple[_Limb, ...]] = (
    (-27, -88, -30, -46, 10.5, 9.5),
    (-30, -46, -27, -9, 9.5, 8.0),
    (-9, -82, -9, -38, 10.5, 9.5),
    (-9, -38, -8, -1, 9.5, 8.0),
    (10, -86, 11, -43, 10.0, 9.0),
    (11, -43, 10, -8, 9.0, 7.5),
    (27, -94, 31, -60, 9.0, 8.0),
    (31, -60, 30, -30, 8.0, 7.0),
    (-30, -132, -54, -98, 14.0, 11.5),
    (-54, -98, -47, -60, 11.5, 9.0),
)
# One finger out, in the same form.
_POINTING: Final[tuple[_Limb, ...]] = (
    (-27, -88, -22, -44, 10.5, 9.5),
    (-22, -44, -8, -2, 9.5, 8.0),
    (-9, -82, -5, -54, 12.0, 12.0),
    (10, -86, 13, -60, 11.5, 11.5),
    (27, -94, 28, -70, 10.0, 10.0),
    (-30, -132, -44, -100, 14.0, 11.5),
    (-44, -100, -20, -70, 11.5, 9.5),
)
_NAILS: Final = ((-26.5, -4, 5), (-8, 4, 5), (10, -3, 4.6), (30, -26, 4.2))  # mm: x, y, radius


@dataclass(frozen=True, slots=True)
class Reach:
    """The state of one hand: fingertips, shoulder, and posture."""

    tip_mm: tuple[float, float]
    shoulder_mm: tuple[float, float]
    speed_mm_s: tuple[float, float]
    skin: int
    sleeve: Sleeve
    pointing: bool = False
    left: bool = False


def arm_patches(reach: Reach, lens: Lens, light: Light, look: Look) -> list[Patch]:
    """Draw an arm and its soft shadow as bands that do not overlap, shadow first."""
    sprite = _arm(reach.skin % len(_SKIN), reach.sleeve, reach.pointing, reach.left)
    to_px = lens.flat @ _place(reach) @ _anchored(sprite)
    per_s = lens.px_per_mm * look.exposure_ms / 1000
    smear = reach.speed_mm_s[0] * per_s, reach.speed_mm_s[1] * per_s
    shade = put(*(lens.px_per_mm * 1.0 * part for part in _cast(look))) @ to_px
    dark = _shadow(reach.pointing, reach.left)
    shadows = _bands(dark, shade @ np.diag([_COARSE, _COARSE, 1.0]), lens.size_px, (0, 0))
    limbs = _bands(sprite, to_px, lens.size_px, smear)
    shaded = [_as_shadow(patch, look.shadow) for patch in shadows]
    return shaded + [light.on(patch) for patch in limbs]


def _cast(look: Look) -> tuple[float, float]:
    """Return the offset, in mm, of a hand's shadow on the felt."""
    away = np.deg2rad(look.light_from_deg)
    return float(-26 * np.cos(away)), float(-26 * np.sin(away))


def _as_shadow(patch: Patch, dark: float) -> Patch:
    cover = (255 - patch.keep).astype(np.float32) * np.float32(dark)
    keep = (255 - cover).astype(np.uint8)
    return Patch(patch.left, patch.top, np.zeros_like(patch.colour), keep)


def _place(reach: Reach) -> Matrix:
    along_x = reach.tip_mm[0] - reach.shoulder_mm[0]
    along_y = reach.tip_mm[1] - reach.shoulder_mm[1]
    angle = float(np.rad2deg(np.arctan2(-along_x, along_y)))
    return put(*reach.tip_mm, angle, _ABOVE)


def _anchored(sprite: Image) -> Matrix:
    """Map an arm's pixels to millimetres from its fingertips."""
    middle = on_felt(sprite, (_PX_PER_MM, _PX_PER_MM))
    return put(0, _TIP_MM - sprite.shape[0] / _PX_PER_MM / 2) @ middle


def _bands(
    sprite: Image, to_px: Matrix, size_px: tuple[int, int], smear: tuple[float, float]
) -> list[Patch]:
    """Draw a long slanting thing in bands, so that few empty pixels are touched."""
    pad = int(np.ceil(max(abs(smear[0]), abs(smear[1])) / 2)) + 1
    _, top, _, bottom = spread(sprite, to_px)
    first, last = max(0, int(top) - pad), min(size_px[1], int(bottom) + 2 + pad)
    patches = []
    for row in range(first, last, _BAND_PX):
        end = min(row + _BAND_PX, last)
        across = _columns(sprite, to_px, row - pad, end + pad)
        if across is None:
            continue
        left, right = max(0, across[0] - pad), min(size_px[0], across[1] + pad)
        if left < right:
            patches.append(_band(sprite, to_px, (left, row, right, end), pad, smear))
    return patches


def _band(sprite: Image, to_px: Matrix, box: Box, pad: int, smear: tuple[float, float]) -> Patch:
    left, top, right, bottom = box
    wide = (left - pad, top - pad, right + pad, bottom + pad)
    drawn = smeared(warped(sprite, to_px, wide, fine=1), smear)[pad:-pad, pad:-pad]
    return Patch.of(left, top, np.ascontiguousarray(drawn))


def _columns(sprite: Image, to_px: Matrix, top: int, bottom: int) -> tuple[int, int] | None:
    """Return the columns that a sprite's outline touches between two rows."""
    height, width = sprite.shape[:2]
    corners = np.array([[0, 0], [width, 0], [width, height], [0, height]], np.float32)
    outline = cv2.perspectiveTransform(corners.reshape(-1, 1, 2), to_px).astype(np.float32)
    rows = np.array([[-9999, top], [9999, top], [9999, bottom], [-9999, bottom]], np.float32)
    area, shared = cv2.intersectConvexConvex(outline, rows.reshape(-1, 1, 2))
    if area <= 0:
        return None
    xs = shared.reshape(-1, 2)[:, 0]
    return int(np.floor(xs.min())), int(np.ceil(xs.max())) + 1


@cache
def _arm(skin: int, sleeve: Sleeve, pointing: bool, left: bool) -> Image:
    """Draw an arm from above, fingers down: BGRA with colours weighted."""
    x, y = _grid()
    limbs = _PALM + (_POINTING if pointing else _FLAT)
    hand = _height(x, y, limbs)
    arm = _height(x, y, ((0, -280, 0, -1200, 33, 52),))
    cloth = _folded(_height(x, y, ((0, -205, 0, -1200, 41, 64),)), x, y)
    picture = _painted(np.maximum(hand, arm), np.array(_SKIN[skin], np.float32))
    if not pointing:
        _nails(picture, x, y)
    if sleeve != "bare":
        worn = _painted(cloth, np.array(_SLEEVES[sleeve], np.float32))
        _cuff(worn, y, sleeve)
        clothed = (y < _CUFF_MM) & (worn[..., 3] > 0)
        picture[clothed] = worn[clothed]
    soft = cv2.GaussianBlur(picture, (0, 0), 0.6)
    return np.asarray(soft[:, ::-1] if left else soft, np.uint8).copy()


@cache
def _shadow(pointing: bool, left: bool) -> Image:
    """Draw the soft shadow of an arm, at a lower resolution than the arm."""
    arm = _arm(0, "black", pointing, left)
    size = arm.shape[1] // _COARSE, arm.shape[0] // _COARSE
    small = cv2.resize(arm[..., 3], size, interpolation=cv2.INTER_AREA)
    shade = np.zeros((*small.shape, 4), np.uint8)
    shade[..., 3] = cv2.GaussianBlur(small, (0, 0), 13 / _COARSE)
    return np.asarray(shade, np.uint8)


def _grid() -> tuple[Field, Field]:
    width, height = round(2 * _HALF_WIDTH_MM * _PX_PER_MM), round(_LENGTH_MM * _PX_PER_MM)
    y, x = np.mgrid[0:height, 0:width].astype(np.float32)
    return (x + 0.5) / _PX_PER_MM - _HALF_WIDTH_MM, (y + 0.5) / _PX_PER_MM - _LENGTH_MM + _TIP_MM


def _height(x: Field, y: Field, limbs: tuple[_Limb, ...]) -> Field:
    """Return the height of the limbs over each place, in mm; below 0 is beside them."""
    top = np.full(x.shape, -1.0, np.float32)
    for x0, y0, x1, y1, r0, r1 in limbs:
        along = ((x - x0) * (x1 - x0) + (y - y0) * (y1 - y0)) / ((x1 - x0) ** 2 + (y1 - y0) ** 2)
        along = np.clip(along, 0, 1)
        radius = r0 + (r1 - r0) * along
        away = (x - x0 - along * (x1 - x0)) ** 2 + (y - y0 - along * (y1 - y0)) ** 2
        rise = radius * radius - away
        top = np.maximum(top, np.where(rise > 0, np.sqrt(np.maximum(rise, 0)), -1))
    return top


def _painted(height: Field, colour: NDArray[np.float32]) -> Image:
    """Colour a relief, brighter where it faces up and towards the light."""
    slope_y, slope_x = np.gradient(_fleshed(np.maximum(height, 0)) * _PX_PER_MM)
    facing = (1 + 0.25 * slope_x + 0.25 * slope_y) / np.sqrt(1 + slope_x**2 + slope_y**2)
    bright = 0.42 + 0.62 * np.clip(facing, 0, 1.1)
    grain = np.random.default_rng(5).normal(1, 0.025, height.shape)
    out = np.zeros((*height.shape, 4), np.uint8)
    cover = (height > 0).astype(np.float32)
    out[..., 3] = (255 * cover).astype(np.uint8)
    shaded = colour * (bright * grain * cover)[..., None]
    out[..., :3] = np.clip(shaded, 0, 255).astype(np.uint8)
    return out


def _fleshed(height: Field) -> Field:
    """Join the limbs: fingers stay separate, the back of the hand becomes one."""
    fingers, back = (cv2.GaussianBlur(height, (0, 0), sigma) for sigma in (1.4, 5.5))
    rows = (np.arange(len(height)) + 0.5) / _PX_PER_MM - _LENGTH_MM + _TIP_MM
    share = np.clip((rows + 100) / 26, 0, 1).astype(np.float32)[:, None]
    joined = 0.8 * back + 0.2 * fingers
    return np.asarray(fingers * share + joined * (1 - share), np.float32)


def _folded(height: Field, x: Field, y: Field) -> Field:
    """Crease a sleeve."""
    ripple = 2.2 * np.sin(0.09 * y + 0.05 * x + 1.7 * np.sin(0.021 * y))
    ripple += 1.1 * np.sin(0.23 * y - 0.08 * x)
    return np.where(height > 4, height + ripple, height).astype(np.float32)


def _cuff(sleeve: Image, y: Field, kind: Sleeve) -> None:
    cuff = (y > _CUFF_MM - 15) & (sleeve[..., 3] > 0)
    sleeve[cuff, :3] = (
        (228, 226, 222) if kind == "black" else (sleeve[cuff, :3] * 0.86).astype("u1")
    )
    seam = (np.abs(y - (_CUFF_MM - 16)) < 1.2) & (sleeve[..., 3] > 0)
    sleeve[seam, :3] = (sleeve[seam, :3] * 0.6).astype(np.uint8)


def _nails(hand: Image, x: Field, y: Field) -> None:
    for at_x, at_y, size in _NAILS:
        nail = ((x - at_x) / size) ** 2 + ((y - at_y) / (1.3 * size)) ** 2 < 0.8
        nail &= hand[..., 3] > 0
        hand[nail, :3] = np.clip(hand[nail, :3] * 1.08 + 14, 0, 255).astype(np.uint8)
