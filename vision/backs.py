"""Backs of cards that show no index."""

from collections.abc import Sequence
from typing import Final

import cv2
import numpy as np
from numpy.typing import NDArray

from vision.corners import (
    CARD_HEIGHT_MM,
    CARD_WIDTH_MM,
    card_corners,
)
from vision.finder import Found

BACK_HEAT: Final = 0.3  # heat of the finder from which a back counts; chosen


BARE_HEAT: Final = 0.5
"""The same for one that no other card lies on: all of it shows. On films the finder gives such
cards 0.56 and more, but rows of chips, sleeves and cards that are carried up to 0.43."""


LAPPED: Final = 0.1
"""Share of a card that another one must cover for it to be found faintly. Chosen."""


BENEATH_HEAT: Final = 0.25
"""The same for one that shows beside a certain back and lies like it: cards dealt face down to one
hand lie so. Of 14 strips on films that an earlier finder missed, 5 have 0.3 and 8 have 0.25."""


BESIDE: Final = 0.25  # card widths that what shows of it lies from the other's outline, at most


ALIKE: Final = 0.96  # cosine of their directions, at least: turned by up to 16 degrees


SAME_MIDDLE: Final = 0.25
"""Card widths. A back whose middle is this close to that of a face or of a more certain back may be
the same card: it is, if what is visible of it lies on that one."""


ON_IT_MM: Final = 1.5
"""Millimetres within a card's outline from where on a point lies on the card: outlines are found
to about that."""


PIP_SIZE: Final = 0.6
"""Ratio. A back on a face, no wider than this share of it, is a pip: cards in one picture have
about one size."""


def backs_of(
    found: Found, faces: NDArray[np.float32], face_p: NDArray[np.float64]
) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Return corners and heats of the backs found, without duplicates, faces and pips.

    Args:
        found: what the finder reports.
        faces: ``(N, 4, 2)``, the corners of the cards that show a face.
        face_p: ``(N,)``, how sure each of them is; one that is less sure than a back in its place
            is that back.
    """
    x_axis, y_axis = found.back_rights / CARD_WIDTH_MM, -found.back_ups / CARD_WIDTH_MM
    origin = found.back_middles - x_axis * CARD_WIDTH_MM / 2 - y_axis * CARD_HEIGHT_MM / 2
    maps = np.stack([x_axis, y_axis, origin], axis=2).astype(np.float32)
    widths = np.hypot(*found.back_ups.T)
    corners = card_corners(maps)
    kept: list[int] = []
    for at in np.argsort(-found.back_heat, kind="stable"):
        middle, point = found.back_middles[at], found.back_points[at]
        if found.back_heat[at] < BACK_HEAT and not any(
            found.back_heat[at] >= BENEATH_HEAT
            and 0 < -_depth(corners[k], point) < BESIDE * widths[at]
            and abs(found.back_ups[k] @ found.back_ups[at]) > ALIKE * widths[k] * widths[at]
            for k in kept
        ):
            continue
        near = SAME_MIDDLE * widths[at]
        repeated = any(
            np.hypot(*(found.back_middles[k] - middle)) < near
            and _lies_on(corners[k], point)
            and _lies_on(corners[at], found.back_points[k])
            for k in kept
        )
        face = any(
            p >= found.back_heat[at]
            and np.hypot(*(f.mean(0) - middle)) < near
            and _lies_on(f, point)
            for f, p in zip(faces, face_p, strict=True)
        )
        bare = found.back_heat[at] < BARE_HEAT and not _lapped(
            corners[at], [*faces, *(corners[k] for k in kept)]
        )
        if not (repeated or face or bare) and not _is_pip(faces, middle, widths[at]):
            kept.append(int(at))
    return corners[kept], found.back_heat[kept]


def not_backs(
    faces: NDArray[np.float32],
    face_p: NDArray[np.float64],
    backs: NDArray[np.float32],
    back_p: NDArray[np.float32],
) -> NDArray[np.bool_]:
    """Return which faces, ``(N,)``, are no surer back in the same place: its print read amiss."""
    apart = np.hypot(*np.moveaxis(faces.mean(1)[:, None] - backs.mean(1)[None], 2, 0))
    near = SAME_MIDDLE * np.hypot(*(backs[:, 1] - backs[:, 0]).T)
    return np.asarray(~((apart < near) & (back_p > face_p[:, None])).any(1), np.bool_)


def _lapped(outline: NDArray[np.float32], others: Sequence[NDArray[np.float32]]) -> bool:
    """Return whether another card's outline overlaps one."""
    least = LAPPED * cv2.contourArea(outline)
    return any(cv2.intersectConvexConvex(outline, other)[0] > least for other in others)


def _lies_on(outline: NDArray[np.float32], point: NDArray[np.float32]) -> bool:
    """Return whether a visible point lies on a card, not beside it on one beneath."""
    within = np.hypot(*(outline[1] - outline[0])) / CARD_WIDTH_MM * ON_IT_MM
    return bool(_depth(outline, point) >= within)


def _depth(outline: NDArray[np.float32], point: NDArray[np.float32]) -> float:
    """Return how far a point lies within an outline, in pixels; negative outside."""
    place = (float(point[0]), float(point[1]))
    return cv2.pointPolygonTest(outline, place, measureDist=True)


def _is_pip(faces: NDArray[np.float32], middle: NDArray[np.float32], width: float) -> bool:
    place = (float(middle[0]), float(middle[1]))
    return any(
        width <= PIP_SIZE * np.hypot(*(face[1] - face[0]))
        and cv2.pointPolygonTest(face, place, measureDist=False) >= 0
        for face in faces
    )
