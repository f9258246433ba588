"""The printed betting circles in a picture: found as ellipses, matched to the layout, traced."""

import math
from dataclasses import dataclass
from itertools import combinations
from typing import Final

import cv2
import numpy as np
from numpy.typing import NDArray

from models.layout import Circle, TableLayout
from vision.felt import Felt, Points

# Chosen, not measured.
_LEAST_SHARE: Final = 0.015  # of the picture's width: the narrowest ring that is looked for
_ROUND: Final = 0.04  # mean distance of a ring's points from an ellipse, of its radius
_MOST: Final = 10  # rings that are matched, the largest
_UNLIKE: Final = 0.12  # misfit of a match, in radii of the rings
_PLACES: Final = 60  # traced points of a ring
_STEPS: Final = 41  # places across a ring's edge
_LEAST_TRACED: Final = 0.6  # share of a ring's points that must be seen


@dataclass(frozen=True, slots=True)
class SeenRing:
    """An ellipse: its middle, and its radius as the square root of its axes' product."""

    middle_px: tuple[float, float]
    radius_px: float


def find_rings(gray: NDArray[np.uint8]) -> tuple[SeenRing, ...]:
    """Find bright rings on a darker felt, the outermost of each nest, from left to right."""
    width = gray.shape[1]
    block = 2 * (width // 60) + 1
    bright = cv2.adaptiveThreshold(
        cv2.GaussianBlur(gray, (0, 0), 1.0),
        255,
        cv2.ADAPTIVE_THRESH_MEAN_C,
        cv2.THRESH_BINARY,
        block,
        -8,
    )
    outlines, _ = cv2.findContours(bright, cv2.RETR_LIST, cv2.CHAIN_APPROX_NONE)
    rings = [
        ring
        for outline in outlines
        if (ring := _ellipse(np.asarray(outline, np.int32), width)) is not None
    ]
    kept: list[SeenRing] = []
    for ring in sorted(rings, key=lambda one: -one.radius_px):
        if all(math.dist(ring.middle_px, other.middle_px) > other.radius_px / 2 for other in kept):
            kept.append(ring)
    return tuple(sorted(kept[:_MOST], key=lambda one: one.middle_px))


def _ellipse(outline: NDArray[np.int32], width: int) -> SeenRing | None:
    if len(outline) < 40 or np.ptp(outline[:, 0, 0]) < _LEAST_SHARE * width:
        return None
    (x, y), (one, other), turn_deg = cv2.fitEllipseDirect(outline)
    if not 0.1 * max(one, other) < min(one, other) or max(one, other) > width / 4:
        return None
    turn = math.radians(turn_deg)
    off = outline[:, 0].astype(np.float64) - (x, y)
    across = (off[:, 0] * math.cos(turn) + off[:, 1] * math.sin(turn)) / (one / 2)
    down = (off[:, 1] * math.cos(turn) - off[:, 0] * math.sin(turn)) / (other / 2)
    around = np.floor((np.arctan2(down, across) + np.pi) / (2 * np.pi) * 16)
    if np.abs(np.hypot(across, down) - 1).mean() > _ROUND or len(np.unique(around)) < 15:
        return None
    return SeenRing((x, y), math.sqrt(one * other) / 2)


def match_rings(rings: tuple[SeenRing, ...], layout: TableLayout) -> tuple[Points, Points] | None:
    """Match rings to the layout's circles: middles in mm and in pixels; ``None`` without a match.

    Circles stand on an arc. From wherever an arc is seen, what stands on it keeps its order around
    the middle. The reverse order would show the felt from below.
    """
    circles = [spot.circle for spot in layout.spots]
    best: tuple[float, Points] | None = None
    mm = np.array([(circle.x_mm, circle.y_mm) for circle in circles])
    for chosen in combinations(rings, len(circles)):
        for ordered in _orders(chosen):
            px = np.array([ring.middle_px for ring in ordered])
            misfit = _misfit(mm, px, circles, ordered)
            if misfit < (best[0] if best else _UNLIKE):
                best = misfit, px
    return None if best is None else (mm, best[1])


def _orders(rings: tuple[SeenRing, ...]) -> list[tuple[SeenRing, ...]]:
    """Return the rings in their order around their middle, begun at each, both ways around."""
    x, y = np.mean([ring.middle_px for ring in rings], axis=0)
    around = sorted(
        rings, key=lambda ring: math.atan2(ring.middle_px[1] - y, ring.middle_px[0] - x)
    )
    begun = [tuple(around[at:] + around[:at]) for at in range(len(around))]
    return begun + [order[::-1] for order in begun]


def _misfit(mm: Points, px: Points, circles: list[Circle], rings: tuple[SeenRing, ...]) -> float:
    """Return how badly rings fit circles, in radii: their middles and their sizes."""
    fitted = cv2.findHomography(mm, px, 0)[0] if len(mm) >= 4 else None
    if fitted is None:
        return math.inf
    felt = Felt(np.asarray(fitted, np.float64), 0.0)
    worst = 0.0
    for circle, ring, at in zip(circles, rings, px, strict=True):
        edge = felt.to_px(_rim(circle)).astype(np.float32)
        if not cv2.contourArea(edge, oriented=True) > 0:
            return math.inf
        size = math.sqrt(cv2.contourArea(edge) / math.pi) / ring.radius_px
        away = math.dist(felt.to_px(np.array([(circle.x_mm, circle.y_mm)]))[0], at)
        worst = max(worst, away / ring.radius_px, abs(math.log(size)) / 3)
    return worst


def _rim(circle: Circle, places: int = _PLACES) -> Points:
    turns = np.linspace(0, 2 * np.pi, places, endpoint=False)
    way = np.column_stack([np.cos(turns), np.sin(turns)])
    return np.asarray((circle.x_mm, circle.y_mm) + circle.radius_mm * way, np.float64)


def traced_ring(
    gray: NDArray[np.uint8], circle: Circle, felt: Felt, reach_mm: float
) -> tuple[Points, Points]:
    """Trace the outer edge of a printed circle: its points in mm, and where each is seen.

    Args:
        gray: the picture.
        circle: the circle in the layout.
        felt: about where the felt lies in the picture.
        reach_mm: how far from there an edge is looked for.

    Returns:
        ``(K, 2)`` each; none where too little of the ring is seen.
    """
    rim = _rim(circle)
    out = (rim - (circle.x_mm, circle.y_mm)) / circle.radius_mm
    across = np.linspace(-reach_mm, reach_mm, _STEPS)
    places = (rim[:, None] + across[None, :, None] * out[:, None]).reshape(-1, 2)
    seen = felt.to_px(places).astype(np.float32)
    x_px, y_px = (seen[:, at].reshape(len(rim), _STEPS) for at in (0, 1))
    light = np.asarray(cv2.remap(gray, x_px, y_px, cv2.INTER_LINEAR), np.float64)
    edges = np.array([_outer(row, across) for row in light])
    kept = np.isfinite(edges)
    if kept.mean() < _LEAST_TRACED:
        return rim[:0], rim[:0]
    return rim[kept], felt.to_px(rim[kept] + edges[kept, None] * out[kept])


def _outer(light: NDArray[np.float64], across_mm: NDArray[np.float64]) -> float:
    """Return where the last bright line across an edge ends; NaN where there is none."""
    felt, line = float(np.median(light)), float(light.max())
    if line - felt < 20:
        return math.nan
    last = int(np.nonzero(light > (felt + line) / 2)[0][-1])
    if last == len(light) - 1:
        return math.nan
    share = (light[last] - (felt + line) / 2) / (light[last] - light[last + 1])
    return float(across_mm[last] + share * (across_mm[1] - across_mm[0]))
