"""Draw the layout over a picture, for people to check that it matches the felt."""

from collections.abc import Sequence
from itertools import pairwise
from typing import Final, TypeAlias

import cv2
import numpy as np
from numpy.typing import NDArray

from models.chip_set import CHIP_DIAMETER_MM, CHIP_THICK_MM
from models.layout import Circle, Point, TableLayout, middle
from vision.calibration import Tie
from vision.camera import Camera
from vision.felt import Felt, Points
from vision.markers import corners_mm

_Colour: TypeAlias = tuple[int, int, int]

_CARDS: Final[_Colour] = (255, 210, 60)  # BGR
_CIRCLES: Final[_Colour] = (60, 220, 255)  # BGR
_FURNITURE: Final[_Colour] = (200, 120, 255)  # BGR
_MARKERS: Final[_Colour] = (90, 90, 255)  # BGR
_STACKS: Final[_Colour] = (255, 255, 255)
_DARK: Final[_Colour] = (20, 20, 20)  # BGR
_CORNERS: Final = 72  # of the polygon that draws a circle
_STACK: Final = 20  # chips of a drawn stack
_CHORD_MM: Final = 40.0  # a line is drawn in pieces so long, since a lens bends it
_ENLARGED: Final = 20
"""Scale of the drawn errors."""
_FINE: Final = 4
"""Fractional bits of a drawn coordinate."""


def draw_layout(
    image: NDArray[np.uint8],
    layout: TableLayout,
    felt: Felt,
    ties: Sequence[Tie] = (),
    camera: Camera | None = None,
) -> NDArray[np.uint8]:
    """Return a BGR picture with the layout over it: zones, circles, line, furniture, markers.

    Args:
        image: ``(H, W, 3)`` uint8, left unchanged.
        layout: the felt.
        felt: its place in the picture.
        ties: the points behind it; each one's error is drawn twenty times as long.
        camera: where it is given, a stack of twenty chips stands in every circle.
    """
    pen = _Pen(image.copy(), felt)
    for spot in layout.spots:
        pen.polygon(spot.cards, _CARDS)
        pen.label(str(spot.spot), middle(spot.cards), _CARDS)
        pen.polygon(_round(spot.circle), _CIRCLES)
    pen.polygon(layout.dealer_cards, _CARDS)
    pen.label("dealer", middle(layout.dealer_cards), _CARDS)
    pen.line(layout.insurance_line, _CIRCLES)
    for name, zone in (("tray", layout.tray), ("rack", layout.discard_rack)):
        pen.polygon(zone, _FURNITURE)
        pen.label(name, middle(zone), _FURNITURE)
    pen.polygon(_round(Circle(*layout.shoe_mouth, 18.0)), _FURNITURE)
    for marker in layout.markers:
        pen.polygon([(float(x), float(y)) for x, y in corners_mm(marker)], _MARKERS)
        pen.label(str(marker.id), (marker.x_mm, marker.y_mm), _MARKERS)
    for tie in ties:
        pen.errors(tie)
    if camera is not None:
        for spot in layout.spots:
            pen.stack(camera, spot.circle)
    return pen.picture


def png(image: NDArray[np.uint8]) -> bytes:
    """Encode a BGR picture without loss."""
    _, encoded = cv2.imencode(".png", image)
    return bytes(encoded)


class _Pen:
    def __init__(self, picture: NDArray[np.uint8], felt: Felt) -> None:
        self.picture, self._felt = picture, felt
        self._thick = max(1, round(picture.shape[1] / 960))

    def polygon(self, corners: Sequence[Point], colour: _Colour) -> None:
        self.line([*corners, corners[0]], colour)

    def line(self, points: Sequence[Point], colour: _Colour) -> None:
        way = np.array(points, np.float64)
        parts = [
            start
            + np.linspace(0, 1, 1 + int(np.hypot(*(end - start)) / _CHORD_MM))[:, None]
            * (end - start)
            for start, end in pairwise(way)
        ]
        self._stroke(self._felt.to_px(np.concatenate([*parts, way[-1:]])), colour)

    def label(self, words: str, at: Point, colour: _Colour) -> None:
        x, y = (round(float(v)) for v in self._felt.to_px(np.array([at]))[0])
        size = 0.6 * self._thick
        (wide, tall), _ = cv2.getTextSize(words, cv2.FONT_HERSHEY_SIMPLEX, size, self._thick)
        for ink, thick in ((_DARK, 3 * self._thick), (colour, self._thick)):
            place = x - wide // 2, y + tall // 2
            cv2.putText(self.picture, words, place, cv2.FONT_HERSHEY_SIMPLEX, size, ink, thick)

    def errors(self, tie: Tie) -> None:
        meant = self._felt.to_px(tie.mm)
        for from_px, to_px in zip(meant, meant + _ENLARGED * (tie.px - meant), strict=True):
            self._stroke(np.array([from_px, to_px]), (255, 255, 255))

    def stack(self, camera: Camera, circle: Circle) -> None:
        """Draw a stack in the middle of a circle: a ring at every fifth chip, and its two sides."""
        ring = np.array(_round(Circle(circle.x_mm, circle.y_mm, CHIP_DIAMETER_MM / 2)))
        heights = CHIP_THICK_MM * np.arange(0, _STACK + 1, _STACK // 4)
        rings = [
            camera.to_px(np.column_stack([ring, np.full(len(ring), height)])) for height in heights
        ]
        for drawn in rings:
            self._stroke(np.concatenate([drawn, drawn[:1]]), _STACKS)
        for side in (np.argmin, np.argmax):
            at = int(side(rings[0][:, 0]))
            self._stroke(np.array([drawn[at] for drawn in rings]), _STACKS)

    def _stroke(self, places_px: Points, colour: _Colour) -> None:
        fine = np.round(places_px * (1 << _FINE)).astype(np.int32)
        cv2.polylines(self.picture, [fine], False, colour, self._thick, cv2.LINE_AA, _FINE)


def _round(circle: Circle) -> list[Point]:
    turns = np.linspace(0, 2 * np.pi, _CORNERS, endpoint=False)
    x = circle.x_mm + circle.radius_mm * np.cos(turns)
    y = circle.y_mm + circle.radius_mm * np.sin(turns)
    return list(zip(x.tolist(), y.tolist(), strict=True))
