"""Pictures of the evidence behind an observation, for people."""

from collections.abc import Sequence
from typing import Final, TypeAlias

import cv2
import numpy as np
from numpy.typing import NDArray

from models.layout import CARD_HEIGHT_MM, CARD_WIDTH_MM
from vision.change import Rect

Corners: TypeAlias = Sequence[tuple[float, float]]

_QUALITY: Final = 85  # JPEG quality of an evidence picture, chosen
_AROUND: Final = 0.75
"""Multiples of a card's longer side shown on each side of it."""
_MARK_BGR: Final = (60, 214, 255)  # yellow
_EDGE_BGR: Final = (20, 24, 22)  # nearly black, so that the mark shows on a light card


def jpeg(image: NDArray[np.uint8], crop: Rect, width: int) -> bytes:
    """Cut ``crop`` out of a BGR picture and encode it ``width`` pixels wide.

    Raises:
        ValueError: if ``crop`` lies outside the picture or ``width`` is below 1.
    """
    left, top = max(0, crop[0]), max(0, crop[1])
    piece = image[top : max(top, crop[1] + crop[3]), left : max(left, crop[0] + crop[2])]
    if not piece.size or width < 1:
        raise ValueError(f"no picture in crop {crop} of {image.shape[1]}x{image.shape[0]} pixels")
    height = max(1, round(piece.shape[0] * width / piece.shape[1]))
    return encoded(_sized(piece, width, height))


def upright(image: NDArray[np.uint8], corners_px: Corners, width: int) -> bytes:
    """Rectify a card out of a BGR picture, upright, and encode it ``width`` pixels wide.

    Args:
        image: ``(H, W, 3)`` uint8.
        corners_px: the card's corners in the picture, clockwise from the top left of its face.
        width: of the card, in pixels.

    Raises:
        ValueError: if ``width`` is below 1 or the corners enclose nothing.
    """
    seen = np.array(corners_px, np.float32)
    if width < 1 or cv2.contourArea(seen) < 1:
        raise ValueError(f"no card of {width} pixels in corners {corners_px}")
    height = round(width * CARD_HEIGHT_MM / CARD_WIDTH_MM)
    flat = np.array([(0, 0), (width, 0), (width, height), (0, height)], np.float32)
    laid = cv2.getPerspectiveTransform(seen, flat)
    return encoded(np.asarray(cv2.warpPerspective(image, laid, (width, height)), np.uint8))


def in_surroundings(image: NDArray[np.uint8], outline_px: Corners, width: int) -> bytes:
    """Cut a whole card with its surroundings out of a BGR picture, and mark its outline.

    Args:
        image: ``(H, W, 3)`` uint8.
        outline_px: a polygon around the card, in pixels of the picture.
        width: of the result, in pixels.

    Raises:
        ValueError: the outline lies outside the picture, or ``width`` is below 1.
    """
    outline = np.array(outline_px, np.float64)
    low, high = outline.min(axis=0), outline.max(axis=0)
    margin = _AROUND * float((high - low).max())
    left, top = np.maximum(0, np.floor(low - margin)).astype(int)
    right, bottom = np.ceil(high + margin).astype(int)
    piece = image[top : max(top, bottom), left : max(left, right)]
    if not piece.size or width < 1:
        raise ValueError(f"no card in outline {outline_px} of {image.shape[1]}x{image.shape[0]}")
    scale = width / piece.shape[1]
    sized = _sized(piece, width, max(1, round(piece.shape[0] * scale)))
    corners = np.round((outline - (left, top)) * scale).astype(np.int32)
    for colour, thick in ((_EDGE_BGR, 5), (_MARK_BGR, 2)):
        cv2.polylines(sized, [corners], True, colour, thick, cv2.LINE_AA)
    return encoded(sized)


def encoded(image: NDArray[np.uint8]) -> bytes:
    """Return a BGR picture as JPEG."""
    _, jpeg_bytes = cv2.imencode(".jpg", image, [cv2.IMWRITE_JPEG_QUALITY, _QUALITY])
    return bytes(jpeg_bytes)


def as_png(image: NDArray[np.uint8]) -> bytes:
    """Return a BGR picture as PNG, without loss."""
    _, png_bytes = cv2.imencode(".png", image)
    return bytes(png_bytes)


def decoded(content: bytes) -> NDArray[np.uint8] | None:
    """Return a picture file's content as BGR ``(H, W, 3)``; ``None`` where it is no picture."""
    image = cv2.imdecode(np.frombuffer(content, np.uint8), cv2.IMREAD_COLOR)
    return None if image is None else np.asarray(image, np.uint8)


def _sized(piece: NDArray[np.uint8], width: int, height: int) -> NDArray[np.uint8]:
    how = cv2.INTER_AREA if width < piece.shape[1] else cv2.INTER_CUBIC
    return np.asarray(cv2.resize(piece, (width, height), interpolation=how), np.uint8)
