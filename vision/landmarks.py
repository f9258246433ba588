"""Fixed features of a picture: whether they are visible, how far they moved, how blurred they are.

Landmarks are square patches with corners in them, printed or part of the table, away from cards and
chips. They are compared by their spectra: one Fourier transform a patch gives shift, likeness and
blur.
"""

from dataclasses import dataclass
from itertools import pairwise
from typing import Final, TypeAlias

import cv2
import numpy as np
from numpy.typing import NDArray

from models.layout import TableLayout
from vision.felt import Felt, Points
from vision.focus import blur_px

Spectra: TypeAlias = NDArray[np.complex64]
"""``(N, S, S // 2 + 1)``, of N patches of S by S pixels."""

# Chosen, not measured, unless a line says otherwise.
MOST: Final = 24  # landmarks of a picture
_CELLS: Final = (8, 5)
"""The grid of cells across and down; each gives at most one landmark."""
_PATCH_MM: Final = 64.0  # side of the patch around one
_SIDES_PX: Final = (32, 64, 128)  # sides that a Fourier transform likes; the nearest is taken
_MARGIN_PX: Final = 4  # a patch stays this far from the picture's edge
_LEAST_CORNER: Final = 2e-4
"""OpenCV's smallest eigenvalue, the picture's grey levels taken as 0 to 1."""
_BROAD: Final = 0.10
"""Cycles a pixel up to which patches are compared: the band that survives a loss of focus."""
_BANDS: Final = ((0.03, 0.07), (0.09, 0.16))
"""Cycles a pixel of a band that blur preserves, and of one that it removes."""
_EDGES: Final = 0.05
"""Share of a patch's pixels that count as edges."""
_HARDLY: Final = 1e-9  # keeps a division finite


@dataclass(frozen=True, slots=True)
class Compared:
    """N landmarks in a picture.

    Attributes:
        places_px: ``(N, 2)``, their middles when they were chosen.
        shift_px: ``(N, 2)``, the apparent movement of each.
        alike: ``(N,)``, 1 where it looks as before, about 0 where something else is there.
        softer_px: ``(N,)``, the added blur, a Gaussian's sigma.
    """

    places_px: Points
    shift_px: Points
    alike: NDArray[np.float64]
    softer_px: NDArray[np.float64]


class Landmarks:
    """Chooses landmarks in one picture and finds them in later ones.

    Args:
        gray: ``(H, W)`` uint8, the reference picture for later ones.
        felt: where the felt lies in it.
        layout: where cards, chips and furniture lie.
    """

    def __init__(self, gray: NDArray[np.uint8], felt: Felt, layout: TableLayout) -> None:
        scale = felt.px_per_mm(0.0, layout.depth_mm / 2)
        self._side = min(_SIDES_PX, key=lambda side: abs(side - _PATCH_MM * scale))
        self._fixed = _fixed(gray.shape[:2], felt, layout)
        self._window = np.outer(np.hanning(self._side), np.hanning(self._side)).astype(np.float32)
        across, down = np.fft.rfftfreq(self._side), np.fft.fftfreq(self._side)
        away = np.hypot(across[None, :], down[:, None])
        self._weight = (away * np.exp(-((away / _BROAD) ** 2))).astype(np.float32)
        self._bands = tuple((away >= low) & (away < high) for low, high in _BANDS)
        self._squares = tuple(float((away[band] ** 2).mean()) for band in self._bands)
        self._places = self._choose(gray, self._fixed)
        self._patches_before = self._patches(gray, self._places)
        self._before = self._spectra(gray, self._places)

    def __len__(self) -> int:
        return len(self._places)

    def compare(self, gray: NDArray[np.uint8], near_px: Points | None = None) -> Compared:
        """Find every landmark in another picture of the same size.

        Args:
            gray: the picture.
            near_px: ``(N, 2)``, the approximate movement of each, to be refined.
        """
        half = self._side // 2
        height, width = gray.shape[:2]
        near = np.zeros_like(self._places) if near_px is None else np.round(near_px)
        least = half - self._places
        most = np.array([width - half, height - half]) - self._places
        near = np.clip(near, np.minimum(least, 0), np.maximum(most, 0))
        now = self._spectra(gray, self._places + near)
        one, other = self._before * self._weight, now * self._weight
        strength = np.sqrt(_energy(one) * _energy(other)) + _HARDLY
        surface = np.fft.irfft2(np.conj(one) * other, s=(self._side, self._side))
        shift, peak = _peaks(np.asarray(surface, np.float64))
        alike = peak * self._side**2 / strength
        return Compared(self._places, shift + near, alike, self._softer(now))

    def unlike(self, gray: NDArray[np.uint8]) -> NDArray[np.float64]:
        """Return the unlikeness of each landmark at its old place, ``(N,)``, cheaply.

        0 is the same in any light, 1 something else: the share of the patch that the old one does
        not explain.
        """
        now, before = self._patches(gray, self._places), self._patches_before
        shared = np.einsum("nij,nij->n", now, before) ** 2
        strength = np.einsum("nij,nij->n", now, now) * np.einsum("nij,nij->n", before, before)
        return np.asarray(1 - shared / (strength + _HARDLY), np.float64)

    def softness(self, gray: NDArray[np.uint8]) -> float:
        """Return the blur of the sharpest landmark, a Gaussian's sigma in pixels."""
        half = self._side // 2
        patches = [
            gray[y - half : y + half, x - half : x + half] for x, y in self._places.astype(int)
        ]
        return min((blur_px(patch, _EDGES) for patch in patches), default=0.0)

    def renew(self, gray: NDArray[np.uint8], lost: NDArray[np.bool_]) -> None:
        """Replace lost landmarks by others from the same parts of the picture."""
        taken = np.zeros(gray.shape[:2], np.uint8)
        half = self._side // 2
        for x, y in self._places[~lost].astype(int):
            cv2.rectangle(taken, (x - half, y - half), (x + half, y + half), 1, -1)
        fresh = self._choose(gray, self._fixed & (taken == 0))[: int(lost.sum())]
        self._places = np.concatenate([self._places[~lost], fresh])
        self._before = np.concatenate([self._before[~lost], self._spectra(gray, fresh)])
        kept = self._patches_before[~lost]
        self._patches_before = np.concatenate([kept, self._patches(gray, fresh)])

    def _softer(self, now: Spectra) -> NDArray[np.float64]:
        """Return the loss of the fine band beyond that of the coarse one."""
        kept = [
            np.log(
                (np.abs(now[:, band]).mean(axis=1) + _HARDLY)
                / (np.abs(self._before[:, band]).mean(axis=1) + _HARDLY)
            )
            for band in self._bands
        ]
        square = (kept[0] - kept[1]) / (2 * np.pi**2 * (self._squares[1] - self._squares[0]))
        return np.asarray(np.sign(square) * np.sqrt(np.abs(square)), np.float64)

    def _spectra(self, gray: NDArray[np.uint8], places: Points) -> Spectra:
        return np.asarray(np.fft.rfft2(self._patches(gray, places)), np.complex64)

    def _patches(self, gray: NDArray[np.uint8], places: Points) -> NDArray[np.float32]:
        """Cut out patches, ``(N, S, S)``, about 0 and fading towards their edges."""
        half = self._side // 2
        patches = np.empty((len(places), self._side, self._side), np.float32)
        for patch, (x, y) in zip(patches, places.astype(int), strict=True):
            patch[:] = gray[y - half : y + half, x - half : x + half]
        patches -= patches.mean(axis=(1, 2), keepdims=True)
        patches *= self._window
        return patches

    def _choose(self, gray: NDArray[np.uint8], where: NDArray[np.bool_]) -> Points:
        """Take the best corner of each cell, and the best of those."""
        small = cv2.resize(gray, None, fx=0.5, fy=0.5, interpolation=cv2.INTER_AREA)
        corners = cv2.cornerMinEigenVal(cv2.blur(small, (3, 3)), 5, ksize=3)
        around = cv2.blur(corners, (self._side // 4, self._side // 4))
        around = cv2.resize(around, gray.shape[::-1], interpolation=cv2.INTER_NEAREST)
        around[~where] = 0
        height, width = gray.shape[:2]
        reach = self._side // 2 + _MARGIN_PX
        found = []
        for top, bottom in _cuts(height, _CELLS[1], reach):
            for left, right in _cuts(width, _CELLS[0], reach):
                cell = around[top:bottom, left:right]
                _, best, _, (x, y) = cv2.minMaxLoc(cell)
                if best > _LEAST_CORNER:
                    found.append((best, left + x, top + y))
        kept = sorted(found, reverse=True)[:MOST]
        return np.array([(x, y) for _, x, y in kept], np.float64).reshape(-1, 2)


def _cuts(length: int, parts: int, margin: int) -> list[tuple[int, int]]:
    edges = np.linspace(margin, length - margin, parts + 1).astype(int)
    return [(int(a), int(b)) for a, b in pairwise(edges)]


def _fixed(shape: tuple[int, ...], felt: Felt, layout: TableLayout) -> NDArray[np.bool_]:
    """Mark the felt without cards, chips or furniture."""
    half, depth = layout.width_mm / 2, layout.depth_mm
    mask = np.zeros(shape[:2], np.uint8)
    rim = [(-half, 0.0), (half, 0.0), (half, depth), (-half, depth)]
    _fill(mask, felt, np.array(rim), 1)
    busy = [layout.dealer_cards, layout.tray, layout.discard_rack]
    for zone in [*busy, *(spot.cards for spot in layout.spots)]:
        _fill(mask, felt, np.array(zone), 0)
    return mask > 0


def _fill(mask: NDArray[np.uint8], felt: Felt, zone: Points, by: int) -> None:
    cv2.fillPoly(mask, [np.round(felt.outline_px(zone)).astype(np.int32)], by)


def _energy(spectra: Spectra) -> NDArray[np.float64]:
    """Return the energy of whole pictures: their spectra are stored without the mirror half."""
    power = np.abs(spectra) ** 2
    mirrored = power[:, :, 1:-1].sum(axis=(1, 2))
    return np.asarray(power.sum(axis=(1, 2)) + mirrored, np.float64)


def _peaks(surface: NDArray[np.float64]) -> tuple[Points, NDArray[np.float64]]:
    """Return each surface's maximum, subpixel and relative to 0, and its height."""
    count, side, _ = surface.shape
    flat = surface.reshape(count, -1)
    at = flat.argmax(axis=1)
    rows, columns, each = at // side, at % side, np.arange(count)
    x = columns + _vertex(surface, each, rows, columns, (0, 1))
    y = rows + _vertex(surface, each, rows, columns, (1, 0))
    shift = np.column_stack([x, y])
    return (shift + side / 2) % side - side / 2, flat[each, at]


def _vertex(
    surface: NDArray[np.float64],
    each: NDArray[np.intp],
    rows: NDArray[np.intp],
    columns: NDArray[np.intp],
    step: tuple[int, int],
) -> NDArray[np.float64]:
    """Return the vertex of the parabola through the peak and its two neighbours."""
    side = surface.shape[1]
    low = surface[each, (rows - step[0]) % side, (columns - step[1]) % side]
    high = surface[each, (rows + step[0]) % side, (columns + step[1]) % side]
    top = surface[each, rows, columns]
    curve = low - 2 * top + high
    return np.where(np.abs(curve) > _HARDLY, (low - high) / (2 * np.minimum(curve, -_HARDLY)), 0.0)
