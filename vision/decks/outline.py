"""Fit the outline of a lone card to the edges in the picture.

An index gives a card's size by the usual proportions of decks. Where a deck's own index is larger,
smaller or elsewhere, that outline is wrong. A card shown by itself has four visible edges.
"""

from typing import Final

import cv2
import numpy as np
from numpy.typing import NDArray

from vision.corners import CARD_HEIGHT_MM, CARD_WIDTH_MM

REACH: Final = 0.14
"""Card widths from the given outline within which an edge is searched. Not measured."""
ALONG: Final = np.linspace(0.15, 0.85, 24)
"""Positions along a side, as shares of it: its corners are round."""
STEP: Final = 0.005
"""Card widths of a search step."""
ACROSS: Final = 3
"""Steps on either side of an edge between which colours are compared."""
CLEAR: Final = 20.0
"""Levels of colour difference that make an edge. Not measured."""
OUTERMOST: Final = 0.6
"""Share of the greatest colour change. Of several changes, the outermost one above it is the edge:
print lies further in."""
BEND: Final = 0.06
"""Card widths that an edge may deviate from its side's mean: the given directions are inexact."""
PROPORTIONS: Final = 0.1
"""Share by which a card's proportions may differ from those of the given outline."""

EDGE_PASSES: Final = 5
"""Times that a misfit card's outline is moved onto its edges. Of backs found 6 degrees askew 2 of 6
fit after one, 5 after three, all after five."""
OWN_EDGES: Final = 0.15
"""Share by which a card's edges may be off its width at its place. Chosen: the width is that at the
middle of what is read; two backs that were found as one had edges 0.2 too wide."""

Quad = NDArray[np.float32]
Line = tuple[NDArray[np.float64], NDArray[np.float64]]
"""A point, and a direction of length 1."""


def outlined(image: NDArray[np.uint8], quad: Quad) -> Quad:
    """Move an outline ``(4, 2)`` onto the edges around it; keep it where they are unclear.

    Args:
        image: ``(H, W, 3)`` BGR, the card alone on a cloth.
        quad: the card's corners as found, clockwise from its own upper left.
    """
    width = float(np.linalg.norm(quad[1].astype(np.float64) - quad[0]))
    blur_px = max(0.8, width / 120)
    around, origin = _around(image, quad, REACH * width + 4 * blur_px)
    if not around.size:
        return quad
    given = quad - origin
    smooth = np.asarray(cv2.GaussianBlur(around, (0, 0), blur_px), np.float32)
    sides = [_edge(smooth, given, side, width) for side in range(4)]
    lines = [line for line in sides if line is not None]
    if len(lines) < 4:
        return quad
    found = np.array([_crossing(lines[side - 1], lines[side]) for side in range(4)])
    return np.asarray(found + origin, np.float32) if _is_card(found, given) else quad


def on_own_edges(
    image: NDArray[np.uint8], quads: NDArray[np.float32], card_width_px: float | None
) -> tuple[NDArray[np.float32], NDArray[np.bool_]]:
    """Move outlines ``(N, 4, 2)`` onto the edges around them; return which have a card's own.

    Edges that are unclear are none, nor are those of two cards that were found as one.

    Args:
        image: ``(H, W, 3)`` BGR.
        quads: the cards' corners as found.
        card_width_px: how wide a card is there; ``None`` where nobody knows.
    """
    edged = np.array([_moved_on(image, quad) for quad in quads], np.float32).reshape(-1, 4, 2)
    own = (edged != quads).any((1, 2))
    if card_width_px is not None:
        widths = np.array([width_px(quad) for quad in edged])
        own &= np.abs(widths / card_width_px - 1) <= OWN_EDGES
    return edged, own


def _moved_on(image: NDArray[np.uint8], quad: Quad) -> Quad:
    for _ in range(EDGE_PASSES):
        before, quad = quad, outlined(image, quad)
        if np.array_equal(before, quad):
            break
    return quad


def width_px(quad: Quad) -> float:
    """Return the width of a card of an outline's area."""
    across, down = quad[1] - quad[0], quad[3] - quad[0]
    area = abs(float(across[0] * down[1] - across[1] * down[0]))
    return float(np.sqrt(area * CARD_WIDTH_MM / CARD_HEIGHT_MM))


def _around(
    image: NDArray[np.uint8], quad: Quad, margin_px: float
) -> tuple[NDArray[np.uint8], NDArray[np.float64]]:
    """Return the part of a picture around an outline, and where its upper left lies."""
    (left, top), (right, bottom) = quad.min(0) - margin_px, quad.max(0) + margin_px
    x, y = max(0, int(left)), max(0, int(top))
    part = image[y : max(y, int(bottom) + 1), x : max(x, int(right) + 1)]
    return part, np.array([x, y], np.float64)


def _edge(
    image: NDArray[np.float32], quad: NDArray[np.float64], side: int, width: float
) -> Line | None:
    """Return the card's edge on one side; ``None`` where it is unclear."""
    start, end = quad[side], quad[(side + 1) % 4]
    length = float(np.linalg.norm(end - start))
    along = (end - start) / max(length, 1e-6)
    out = np.array([along[1], -along[0]])
    off = np.arange(-REACH, REACH, STEP) * width
    points = start + np.multiply.outer(ALONG * length, along) + np.multiply.outer(off, out)[:, None]
    x, y = np.moveaxis(points.astype(np.float32), 2, 0)
    seen = cv2.remap(image, x, y, cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE)
    change = np.linalg.norm(seen[2 * ACROSS :] - seen[: -2 * ACROSS], axis=2)
    off = off[ACROSS:-ACROSS]
    everywhere = np.quantile(change, 0.25, axis=1)
    if everywhere.max() < CLEAR:
        return None
    outer = int(np.flatnonzero(everywhere >= OUTERMOST * everywhere.max()).max())
    first = max(0, outer - 2 * ACROSS)
    peak = first + int(everywhere[first : outer + 1].argmax())
    near = np.where(np.abs(off - off[peak])[:, None] < BEND * width, change, 0)
    clear = near.max(0) > CLEAR
    if clear.sum() < len(ALONG) / 2:
        return None
    runs = np.column_stack([ALONG * length, off[near.argmax(0)]])[clear].astype(np.float32)
    right, away, at, by = cv2.fitLine(runs, cv2.DIST_HUBER, 0, 0.01, 0.01).ravel()
    return start + at * along + by * out, right * along + away * out


def _crossing(one: Line, other: Line) -> NDArray[np.float64]:
    (p, u), (q, v) = one, other
    way = np.column_stack([u, -v])
    if abs(float(np.linalg.det(way))) < 0.5:
        return np.full(2, np.nan)
    return np.asarray(p + np.linalg.solve(way, q - p)[0] * u, np.float64)


def _is_card(quad: NDArray[np.float64], given: NDArray[np.float64]) -> bool:
    """Return whether an outline has a card's proportions, seen as aslant as the given one."""
    return bool(np.isfinite(quad).all()) and abs(_share(quad) / _share(given) - 1) < PROPORTIONS


def _share(quad: NDArray[np.float64]) -> float:
    """Return the length of an outline as a share of its width."""
    across, down = (np.linalg.norm(quad[k + 1] - quad[k]) for k in (0, 1))
    across += np.linalg.norm(quad[2] - quad[3])
    down += np.linalg.norm(quad[3] - quad[0])
    return float(down / across)
