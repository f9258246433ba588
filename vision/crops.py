"""The piece of a picture that an observation rests on, for people to look at."""

from typing import Final

import cv2
import numpy as np
from numpy.typing import NDArray

from vision.change import Rect

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
    how = cv2.INTER_AREA if width < piece.shape[1] else cv2.INTER_CUBIC
    sized = cv2.resize(piece, (width, height), interpolation=how)
    _, encoded = cv2.imencode(".jpg", sized, [cv2.IMWRITE_JPEG_QUALITY, _QUALITY])
    return bytes(encoded)
