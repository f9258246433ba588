"""Pictures that hold no card: written pages, keyboards and chips, photographed aslant.

They are drawn from a seed, with blur and noise. Nothing here is shared with the scenes that the
networks learn from.
"""

from typing import Final

import cv2
import numpy as np
from numpy.typing import NDArray

from vision.scenes.chips import chip_sprite

SIZE_PX: Final = (1280, 960)
VALUES: Final = (100, 500, 1000, 2500, 10000, 50000)
KEYS: Final = ("1234567890QWERTZ", "UIOPASDFGHJKLYXC", "VBNM,.-+AKQJ1098")
WORDS: Final = ("dealer", "must", "draw", "to", "16", "stand", "17s", "A", "10", "J", "Q", "K", "5")

Picture = NDArray[np.uint8]


def page(rng: np.random.Generator) -> Picture:
    """A printed page on a table."""
    picture = ground(rng)
    paper = picture[120:840, 200:1080]
    paper[:] = rng.integers(225, 256, 3)
    height = int(rng.integers(16, 60))
    for bottom in range(height + 20, len(paper) - 10, round(1.6 * height)):
        words = " ".join(rng.choice(WORDS, 16))
        write(paper, words, (24, bottom), height, rng.integers(0, 70, 3))
    return picture


def keys(rng: np.random.Generator) -> Picture:
    """A keyboard on a table."""
    picture = ground(rng)
    pitch = int(rng.integers(58, 76))
    cap, ink = rng.integers(20, 60, 3), rng.integers(190, 256, 3)
    if rng.random() < 0.5:
        cap, ink = ink, cap
    for row, signs in enumerate(KEYS):
        for column, sign in enumerate(signs):
            left, top = 40 + column * pitch + row * pitch // 3, 260 + row * pitch
            key = picture[top : top + pitch - 8, left : left + pitch - 8]
            key[:] = cap
            write(key, sign, (pitch // 5, 3 * pitch // 5), pitch // 2, ink)
    return picture


def wagers(rng: np.random.Generator) -> Picture:
    """Rows of chips in rings on a felt, as large as on an overhead camera's picture and larger."""
    picture = ground(rng)
    width = int(rng.integers(50, 130))
    for _ in range(rng.integers(3, 9)):
        middle = rng.integers(200, 760, 2) * (1.3, 1.0)
        place = (round(middle[0]), round(middle[1]))
        cv2.circle(picture, place, round(1.5 * width), (220, 225, 225), 4, cv2.LINE_AA)
        way, count = rng.uniform(0, 2 * np.pi), rng.integers(1, 5)
        for number in range(count):
            step = 1.05 * width * (number - (count - 1) / 2)
            at = middle + step * np.array([np.cos(way), np.sin(way)])
            lay(picture, chip_sprite(int(rng.choice(VALUES))), at, width, rng.uniform(0, 360))
    return picture


KINDS: Final = {"page": page, "keys": keys, "chips": wagers}


def ground(rng: np.random.Generator) -> Picture:
    """A plain table top with some grain."""
    base = np.full((SIZE_PX[1], SIZE_PX[0], 3), rng.integers(20, 200, 3), np.float64)
    grain = cv2.resize(rng.normal(0, 8, (60, 80)), SIZE_PX)
    return np.clip(base + grain[..., None], 0, 255).astype(np.uint8)


def write(
    picture: Picture, text: str, at: tuple[int, int], height: int, ink: NDArray[np.int64]
) -> None:
    """Write a line in the built-in typeface."""
    colour = (int(ink[0]), int(ink[1]), int(ink[2]))
    drawn = np.ascontiguousarray(picture)
    cv2.putText(drawn, text, at, colour, cv2.FontFace("sans"), height, 500)
    picture[:] = drawn


def lay(
    picture: Picture, sprite: Picture, at: NDArray[np.float64], width: int, turn_deg: float
) -> None:
    """Lay a picture with premultiplied colours about a place."""
    half = (sprite.shape[1] / 2, sprite.shape[0] / 2)
    onto = cv2.getRotationMatrix2D(half, turn_deg, width / sprite.shape[1])
    onto[:, 2] += at - half
    laid = cv2.warpAffine(sprite, onto, SIZE_PX).astype(np.float32)
    rest = 1 - laid[..., 3:] / 255
    picture[:] = np.clip(picture * rest + laid[..., :3], 0, 255).astype(np.uint8)


def photographed(rng: np.random.Generator, picture: Picture) -> Picture:
    """Photograph a table top aslant, slightly blurred, with noise, compressed."""
    width, height = SIZE_PX
    corners = np.array([(0, 0), (width, 0), (width, height), (0, height)], np.float32)
    moved = corners + rng.uniform(-120, 120, (4, 2)).astype(np.float32)
    onto = cv2.getPerspectiveTransform(corners, moved)
    seen = cv2.warpPerspective(picture, onto, SIZE_PX, borderMode=cv2.BORDER_REPLICATE)
    soft = cv2.GaussianBlur(seen, (0, 0), rng.uniform(0.5, 1.3)).astype(np.float64)
    noisy = np.clip(soft + rng.normal(0, 3, soft.shape), 0, 255).astype(np.uint8)
    _, packed = cv2.imencode(".jpg", noisy, [cv2.IMWRITE_JPEG_QUALITY, 85])
    return np.asarray(cv2.imdecode(packed, cv2.IMREAD_COLOR), np.uint8)
