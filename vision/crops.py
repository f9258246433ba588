"""The piece of a picture that an observation rests on, for people to look at."""

from collections.abc import Sequence
from typing import Final, TypeAlias

import cv2
import numpy as np
from numpy.typing import NDArray

from models.layout import CARD_HEIGHT_MM, CARD_WIDTH_MM
from vision.change import Rect

Corners: TypeAlias = Sequence[tuple[float, float]]

_QUALITY: Final = 85


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
    """Turn a card upright out of a BGR picture, and encode it ``width`` pixels wide.

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


def encoded(image: NDArray[np.uint8]) -> bytes:
    """Return a BGR picture as JPEG."""
    _, jpeg_bytes = cv2.imencode(".jpg", image, [cv2.IMWRITE_JPEG_QUALITY, _QUALITY])
    return bytes(jpeg_bytes)


def _sized(piece: NDArray[np.uint8], width: int, height: int) -> NDArray[np.uint8]:
    how = cv2.INTER_AREA if width < piece.shape[1] else cv2.INTER_CUBIC
    return np.asarray(cv2.resize(piece, (width, height), interpolation=how), np.uint8)
