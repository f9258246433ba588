"""The piece of a picture an observation rests on."""

import cv2
import numpy as np
import pytest
from numpy.typing import NDArray

from vision.crops import jpeg

PICTURE = np.zeros((100, 200, 3), np.uint8)
PICTURE[20:60, 50:80] = (0, 0, 250)


def decoded(data: bytes) -> NDArray[np.uint8]:
    picture = cv2.imdecode(np.frombuffer(data, np.uint8), cv2.IMREAD_COLOR)
    assert picture is not None
    return picture.astype(np.uint8)


@pytest.mark.parametrize("width", [15, 30, 120])
def test_a_crop_shows_its_piece_at_the_width_asked(width: int) -> None:
    piece = decoded(jpeg(PICTURE, (50, 20, 30, 40), width))
    assert piece.shape == (round(40 * width / 30), width, 3)
    assert piece[..., 2].mean() > 220
    assert piece[..., 0].mean() < 30


def test_a_crop_over_the_edge_ends_at_it() -> None:
    assert decoded(jpeg(PICTURE, (-10, -10, 30, 40), 20)).shape == (30, 20, 3)


@pytest.mark.parametrize("crop", [(300, 20, 30, 40), (10, 20, 0, 40), (10, -90, 30, 40)])
def test_a_crop_outside_the_picture_is_refused(crop: tuple[int, int, int, int]) -> None:
    with pytest.raises(ValueError, match="no picture in crop"):
        jpeg(PICTURE, crop, 100)
