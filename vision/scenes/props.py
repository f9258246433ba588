"""Cards and chips, drawn from the camera's view."""

from collections.abc import Mapping
from functools import cached_property
from typing import Final

import cv2
import numpy as np

from models.cards import Card
from models.chip_set import CHIP_THICK_MM
from models.layout import CARD_HEIGHT_MM, CARD_WIDTH_MM
from vision.scenes import chips as chip_art
from vision.scenes.decks import Deck
from vision.scenes.lens import Lens, Light
from vision.scenes.look import Look
from vision.scenes.performance import Place
from vision.scenes.sprites import (
    Box,
    Image,
    Matrix,
    Patch,
    grown,
    on_felt,
    padded,
    premultiplied,
    put,
    smeared,
    spread,
    warped,
)

_PAD: Final = 4  # pixels around a prop for its soft edge
_CARD_THICK_MM: Final = 0.3  # a plastic-coated card
_LAYER: Final = 8
"""Cards of the discard pile drawn as one layer."""


class Props:
    """Draws cards and chips, lit, at any place."""

    def __init__(self, deck: Deck, lens: Lens, light: Light, look: Look) -> None:
        self._deck, self._lens, self._light, self._look = deck, lens, light, look
        self._sprites: dict[Card | None, Image] = {}
        self._chips: dict[int, Image] = {}
        away = np.deg2rad(look.light_from_deg)
        self._cast = -float(np.cos(away)), -float(np.sin(away))

    def card(
        self,
        face: Card | None,
        place: Place,
        *,
        turning: float = 1.0,
        lift: float = 0.0,
        smear_mm: tuple[float, float] = (0.0, 0.0),
    ) -> Patch | None:
        """Draw a face, or the back where it is ``None``; return ``None`` if out of the picture.

        Args:
            face: the card.
            place: where it lies.
            turning: its apparent width while it is turned over, 0 to 1.
            lift: its height, 0 (at rest) to 1 (in mid move).
            smear_mm: its movement during the exposure.
        """
        sprite = self._sprite(face)
        ppm_x = (sprite.shape[1] - 2 * _PAD) / CARD_WIDTH_MM
        ppm_y = (sprite.shape[0] - 2 * _PAD) / CARD_HEIGHT_MM
        scale = 1 + 0.03 * lift
        held = put(place.x_mm, place.y_mm, place.angle_deg, scale)
        narrow = np.diag([max(turning, 0.04), 1.0, 1.0])
        to_px = self._lens.flat @ held @ narrow @ on_felt(sprite, (ppm_x, ppm_y))
        smear = smear_mm[0] * self._lens.px_per_mm, smear_mm[1] * self._lens.px_per_mm
        fall = (0.9 + 9 * lift) * self._lens.px_per_mm
        return self._drawn(sprite, to_px, fall, smear)

    def stack(
        self, stack_id: int, chips: Mapping[int, int], place: tuple[float, float]
    ) -> Patch | None:
        """Draw a stack of chips; higher ones lean away from the middle of the picture."""
        turns = np.random.default_rng((self._look.seed, 5, stack_id))
        patch: Patch | None = None
        for layer, value in enumerate(chip_art.piled(chips)):
            x, y = self._leaning(place, layer * CHIP_THICK_MM)
            askew = turns.normal(0, 0.5, 2)
            at = put(x + askew[0], y + askew[1], float(turns.uniform(0, 360)))
            upper = self._chip(value, at, layer)
            patch = upper if patch is None or upper is None else joined(patch, upper)
        return patch

    def discards(self, count: int, place: Place) -> list[Patch]:
        """Draw the cards in the discard rack as a pile of backs."""
        layers = -(-count // _LAYER)
        jitter = np.random.default_rng((self._look.seed, 6)).normal(0, 1.2, (layers, 3))
        pile = []
        for layer, (by_x, by_y, turn) in enumerate(jitter):
            x, y = self._leaning((place.x_mm, place.y_mm), layer * _LAYER * _CARD_THICK_MM)
            patch = self.card(None, Place(x + by_x, y + by_y, place.angle_deg + turn))
            if patch:
                pile.append(patch)
        return pile

    def _chip(self, value: int, at: Matrix, layer: int) -> Patch | None:
        sprite = self._chips.get(value)
        if sprite is None:
            art = chip_art.chip_sprite(value)
            sprite = self._chips[value] = _reduced(art, self._fine / chip_art.PX_PER_MM)
        wide_mm = 2 * chip_art.RADIUS_MM + 2 * _PAD / chip_art.PX_PER_MM
        ppm = sprite.shape[1] / wide_mm
        to_px = self._lens.flat @ at @ on_felt(sprite, (ppm, ppm))
        return self._drawn(sprite, to_px, (2.5 if layer == 0 else 1.0) * self._lens.px_per_mm)

    def _drawn(
        self,
        sprite: Image,
        to_px: Matrix,
        fall_px: float,
        smear: tuple[float, float] = (0.0, 0.0),
    ) -> Patch | None:
        margin = int(np.ceil(1.7 * fall_px + max(abs(smear[0]), abs(smear[1])))) + 2
        box = self._box(sprite, to_px, margin)
        if box is None:
            return None
        drawn = smeared(warped(sprite, to_px, box), smear)
        return self._light.on(Patch.of(box[0], box[1], self._with_shadow(drawn, fall_px)))

    def _box(self, sprite: Image, to_px: Matrix, margin: int) -> Box | None:
        left, top, right, bottom = spread(sprite, to_px)
        width, height = self._lens.size_px
        if right < 0 or bottom < 0 or left >= width or top >= height:
            return None
        return grown(
            (int(left), int(top), int(right) + 1, int(bottom) + 1), margin, (width, height)
        )

    def _with_shadow(self, drawn: Image, fall_px: float) -> Image:
        """Add a thing's soft shadow beneath it."""
        cover = drawn[..., 3]
        shift = np.array([[1, 0, self._cast[0] * fall_px], [0, 1, self._cast[1] * fall_px]])
        shade = cv2.warpAffine(cover, shift, (cover.shape[1], cover.shape[0]))
        shade = cv2.GaussianBlur(shade, (0, 0), 0.5 + 0.5 * fall_px)
        beneath = cv2.multiply(shade, 255 - cover, scale=self._look.shadow / 255)
        out = drawn.copy()
        out[..., 3] = cv2.add(cover, beneath)
        return out

    def _sprite(self, face: Card | None) -> Image:
        sprite = self._sprites.get(face)
        if sprite is None:
            art = self._deck.back if face is None else self._deck.faces[face]
            reduced = _reduced(_edged(art), self._fine * CARD_WIDTH_MM / art.shape[1])
            sprite = self._sprites[face] = padded(premultiplied(reduced), _PAD)
        return sprite

    @cached_property
    def _fine(self) -> float:
        """Return the resolution of sprites, twice the visible one."""
        return 2 * self._lens.px_per_mm

    def _leaning(self, place: tuple[float, float], height_mm: float) -> tuple[float, float]:
        """Return the apparent place on the felt of something ``height_mm`` above it."""
        middle = np.linalg.inv(self._lens.flat) @ self._under_camera
        x, y = middle[:2] / middle[2]
        out = height_mm / (self._lens.height_mm - height_mm)
        return float(place[0] + (place[0] - x) * out), float(place[1] + (place[1] - y) * out)

    @cached_property
    def _under_camera(self) -> Matrix:
        width, height = self._lens.size_px
        return np.array([width / 2, height / 2, 1.0])


def joined(lower: Patch, upper: Patch) -> Patch:
    """Combine two patches, one over the other, into one."""
    left, top = min(lower.left, upper.left), min(lower.top, upper.top)
    right, bottom = max(lower.right, upper.right), max(lower.bottom, upper.bottom)
    colour = np.zeros((bottom - top, right - left, 3), np.uint8)
    keep = np.full_like(colour, 255)
    for patch in (lower, upper):
        part = np.s_[patch.top - top : patch.bottom - top, patch.left - left : patch.right - left]
        cv2.multiply(colour[part], patch.keep, colour[part], 1 / 255)
        cv2.add(colour[part], patch.colour, colour[part])
        cv2.multiply(keep[part], patch.keep, keep[part], 1 / 255)
    return Patch(left, top, colour, keep)


def _edged(art: Image) -> Image:
    """Darken a card's outline, as its thickness does."""
    inner = cv2.erode(art[..., 3], np.ones((5, 5), np.uint8), borderValue=0)
    edge = (inner < 128)[..., None]
    out = art.copy()
    out[..., :3] = np.where(edge, art[..., :3] * 0.72, art[..., :3]).astype(np.uint8)
    return out


def _reduced(art: Image, ratio: float) -> Image:
    if ratio >= 1:
        return art
    size = round(art.shape[1] * ratio), round(art.shape[0] * ratio)
    return np.asarray(cv2.resize(art, size, interpolation=cv2.INTER_AREA), np.uint8)
