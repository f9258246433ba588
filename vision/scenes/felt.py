"""The table without cards: cloth, print, rail and the floor beyond it."""

from functools import lru_cache
from typing import Final

import cv2
import numpy as np
from numpy.typing import NDArray

from models.layout import DEALER_POINT, TableLayout
from vision.markers import pattern
from vision.scenes.furniture import draw_furniture
from vision.scenes.lens import Lens
from vision.scenes.lettering import arc_text, straight_text
from vision.scenes.look import Felt, Look
from vision.scenes.sprites import Image, padded, put, spread, warped

RAIL_MM: Final = 1062.0
"""Where the players' padded rail begins, from the dealer's point."""
_RAIL_WIDTH_MM: Final = 130.0  # chosen, as a usual table's
# BGR.
_CLOTH: Final[dict[Felt, tuple[int, int, int]]] = {
    "green": (58, 104, 30),
    "blue": (128, 74, 24),
    "red": (38, 34, 138),
    "burgundy": (44, 26, 88),
    "grey": (96, 92, 88),
    "teal": (104, 98, 18),
    "sand": (112, 150, 178),
}
_INKS: Final = ((226, 230, 230), (92, 190, 228))
"""White and gold, BGR."""
_STICKER: Final = (222, 226, 228)  # BGR of a marker's paper
_STICKER_INK: Final = (34, 32, 30)  # and its print
_CELL_PX: Final = 8  # pixels of a marker's cell


def draw_felt(layout: TableLayout, look: Look, lens: Lens) -> Image:
    """Draw the empty table in flat pixels, ``(H, W, 3)`` uint8 BGR, evenly lit."""
    rng = np.random.default_rng((look.seed, 1))
    places = lens.felt_grid()
    cloth = np.full((*places.shape[:2], 3), _CLOTH[look.felt], np.float32)
    for ink, mask in zip(_INKS, _prints(layout, look, lens), strict=True):
        cloth += (np.array(ink, np.float32) - cloth) * (mask[..., None] * np.float32(0.88 / 255))
    cloth *= _weave(rng, places)[..., None]
    _lay_rail(cloth, places, rng)
    picture = np.clip(cloth, 0, 255).astype(np.uint8)
    if look.markers:
        _stick_markers(picture, layout, lens)
    draw_furniture(picture, layout, look, lens)
    return picture


def _weave(rng: np.random.Generator, places: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return the cloth's brightness: fibres, brushed streaks, and patches of wear."""
    height, width = places.shape[:2]
    fibre = rng.normal(0, 0.055, (height, width)).astype(np.float32)
    streak = cv2.blur(rng.normal(0, 0.12, (height, width)).astype(np.float32), (23, 1))
    rough = rng.normal(0, 1, (height // 60 + 2, width // 60 + 2)).astype(np.float32)
    patches = cv2.resize(rough, (width, height), interpolation=cv2.INTER_CUBIC)
    return np.asarray(1 + fibre + streak + 0.022 * patches, np.float32)


def _lay_rail(
    cloth: NDArray[np.float32], places: NDArray[np.float32], rng: np.random.Generator
) -> None:
    """Draw the padded rail and the floor beyond the felt, and the rail's shadow."""
    away = np.hypot(places[..., 0] - DEALER_POINT[0], places[..., 1] - DEALER_POINT[1])
    across = (away - RAIL_MM) / _RAIL_WIDTH_MM
    rail = across >= 0
    bulge = np.sqrt(np.clip(1 - (2 * across[rail] - 1) ** 2, 0, 1))
    grain = rng.normal(1, 0.05, bulge.shape)
    leather = np.array([30, 34, 44], np.float32) * ((0.45 + 1.1 * bulge) * grain)[:, None]
    floor = np.array([26, 22, 30], np.float32) * rng.normal(1, 0.12, bulge.shape)[:, None]
    cloth[rail] = np.where((across[rail] < 1)[:, None], leather, floor)
    cloth *= (1 - 0.45 * np.exp(-((np.minimum(across, 0) / 0.06) ** 2)) * ~rail)[..., None]


def _stick_markers(picture: Image, layout: TableLayout, lens: Lens) -> None:
    """Draw the layout's markers, each on a white sticker one cell wider."""
    for marker in layout.markers:
        cells = np.pad(pattern(layout.marker_family, marker.id), 1)
        fine = np.kron(cells, np.ones((_CELL_PX, _CELL_PX), np.bool_))
        colour = np.where(fine[..., None], _STICKER_INK, _STICKER)
        opaque = np.full((*fine.shape, 1), 255)
        sprite = padded(np.concatenate([colour, opaque], axis=2).astype(np.uint8))
        cell_mm = marker.side_mm / (len(cells) - 2)
        middle = (sprite.shape[0] - 1) / 2
        place = put(marker.x_mm, marker.y_mm, marker.angle_deg, cell_mm / _CELL_PX)
        to_px = lens.flat @ place @ put(-middle, -middle)
        left, top, right, bottom = (round(side) for side in spread(sprite, to_px))
        box = (
            max(0, left),
            max(0, top),
            min(lens.size_px[0], right + 1),
            min(lens.size_px[1], bottom + 1),
        )
        if box[0] < box[2] and box[1] < box[3]:
            drawn = warped(sprite, to_px, box, fine=4)
            part = picture[box[1] : box[3], box[0] : box[2]]
            part[:] = part * (1 - drawn[..., 3:] / 255) + drawn[..., :3]


def _prints(layout: TableLayout, look: Look, lens: Lens) -> tuple[NDArray[np.float32], ...]:
    """Project each ink's mask into the picture."""
    inks = _inks(layout, look.lettering, 2 * lens.px_per_mm)
    to_px = lens.flat @ np.linalg.inv(Pen(layout, 2 * lens.px_per_mm).to_raster)
    return tuple(
        np.asarray(
            cv2.warpPerspective(ink, to_px, lens.size_px, flags=cv2.INTER_LINEAR), np.float32
        )
        for ink in inks
    )


@lru_cache(maxsize=2)
def _inks(layout: TableLayout, words: tuple[str, str, str], fine: float) -> tuple[Image, ...]:
    """Draw each ink's mask on the felt, ``fine`` pixels a millimetre."""
    size = round(layout.depth_mm * fine), round(layout.width_mm * fine)
    inks = np.zeros(size, np.uint8), np.zeros(size, np.uint8)
    pen = Pen(layout, fine)
    pen.rings(inks[0])
    pen.insurance(inks[1])
    pen.lettering(inks, words)
    return tuple(np.asarray(cv2.GaussianBlur(ink, (0, 0), 0.7), np.uint8) for ink in inks)


class Pen:
    """Draws the layout's print on a raster of ``fine`` pixels a millimetre."""

    def __init__(self, layout: TableLayout, fine: float) -> None:
        self._layout, self._fine = layout, fine
        half = layout.width_mm / 2
        self.to_raster = np.array([[fine, 0, half * fine - 0.5], [0, fine, -0.5], [0, 0, 1]])
        line = np.array(layout.insurance_line) - DEALER_POINT
        self.insurance_radius_mm = float(np.hypot(line[:, 0], line[:, 1]).mean())

    def place(self, x_mm: float, y_mm: float) -> tuple[float, float]:
        """Map millimetres on the felt to the raster's pixels."""
        x, y, _ = self.to_raster @ (x_mm, y_mm, 1.0)
        return float(x), float(y)

    def rings(self, ink: Image) -> None:
        """Print each spot's betting circle and, small inside it, its number."""
        for spot in self._layout.spots:
            circle = spot.circle
            middle = self.place(circle.x_mm, circle.y_mm)
            for radius_mm, thick_mm in ((circle.radius_mm, 4.5), (circle.radius_mm - 8, 1.6)):
                self._ring(ink, middle, radius_mm, thick_mm)
            straight_text(ink, str(spot.spot), middle, 30 * self._fine)

    def insurance(self, ink: Image) -> None:
        """Print the insurance line, and the second one that closes its band."""
        line = self._curve()
        outer = np.array(DEALER_POINT) + (line - DEALER_POINT) * (1 + 40 / self.insurance_radius_mm)
        for points, thick_mm in ((line, 4.0), (outer, 2.5)):
            raster = np.array([self.place(x, y) for x, y in points])
            thick = max(1, round(thick_mm * self._fine))
            shifted = np.round(raster * 16).astype(np.int32)
            cv2.polylines(ink, [shifted], False, 255, thick, cv2.LINE_AA, 4)

    def _curve(self) -> NDArray[np.float64]:
        """Return the insurance line, rounded between the layout's points."""
        line = np.array(self._layout.insurance_line) - DEALER_POINT
        turn = np.unwrap(np.arctan2(line[:, 1], line[:, 0]))
        share = np.arange(len(line), dtype=float)
        fine = np.linspace(0, len(line) - 1, 12 * len(line))
        angle = np.interp(fine, share, turn)
        away = np.interp(fine, share, np.hypot(line[:, 0], line[:, 1]))
        return np.array(DEALER_POINT) + np.column_stack(
            [away * np.cos(angle), away * np.sin(angle)]
        )

    def lettering(self, inks: tuple[Image, Image], words: tuple[str, str, str]) -> None:
        """Print the odds, the dealer's rule, and the insurance band's words three times."""
        fine, reach, hub = self._fine, self.insurance_radius_mm, self.place(*DEALER_POINT)
        arc_text(inks[1], words[0], hub, radius=(reach - 78) * fine, height=40 * fine)
        arc_text(inks[0], words[1], hub, radius=(reach - 30) * fine, height=17 * fine)
        for turn in (-52, 0, 52):
            arc_text(
                inks[1],
                words[2],
                hub,
                radius=(reach + 19) * fine,
                height=22 * fine,
                turn_deg=turn,
            )

    def _ring(
        self, ink: Image, middle: tuple[float, float], radius_mm: float, thick_mm: float
    ) -> None:
        centre = round(middle[0] * 16), round(middle[1] * 16)
        radius = round((radius_mm - thick_mm / 2) * self._fine * 16)
        thick = max(1, round(thick_mm * self._fine))
        cv2.circle(ink, centre, radius, 255, thick, cv2.LINE_AA, 4)
