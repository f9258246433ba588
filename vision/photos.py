"""Read photographs without a layout: whole cards anywhere in the picture."""

import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import cv2
import numpy as np
from numpy.typing import NDArray

from models.cards import DECK
from models.errors import OperatorError
from vision.picture_files import LARGEST_PIXELS, damage, declared_size
from vision.sightings import CardReader, Sightings

LARGEST_FILE_BYTES: Final = 200_000_000  # bounds memory; chosen
SMALLEST_SIDE_PX: Final = 16  # the finder's stride


@dataclass(frozen=True)
class PhotoReading:
    """What one photograph shows.

    Attributes:
        image: the file's name, as given.
        sightings: every card found.
        confident_p: probability from which a card counts as read.
        ms: milliseconds of finding and reading.
    """

    image: str
    sightings: Sightings
    confident_p: float
    ms: float

    def as_json(self) -> dict[str, Any]:
        """Return the object that ``pitwatch read --json`` prints."""
        cards: list[dict[str, Any]] = []
        doubtful: list[dict[str, Any]] = []
        for at in np.flatnonzero(self.sightings.face_up):
            row, corners = self.sightings.card_p[at], self._corners(int(at))
            if row.max() >= self.confident_p:
                called = {"card": str(DECK[int(row.argmax())]), "p": round(float(row.max()), 4)}
                cards.append(called | {"corners_px": corners})
            else:
                doubtful.append({"candidates": candidates(row), "corners_px": corners})
        backs = int((~self.sightings.face_up).sum())
        return {
            "image": self.image,
            "cards": cards,
            "doubtful": doubtful,
            "backs": backs,
            "ms": round(self.ms, 1),
        }

    def _corners(self, at: int) -> list[list[float]]:
        return [[round(float(v), 1) for v in corner] for corner in self.sightings.corners_px[at]]


def candidates(card_p: NDArray[np.float32], at_least: float = 0.02) -> dict[str, float]:
    """Name the most likely faces of one sighting, best first; at least two, at most five."""
    order = np.argsort(-card_p, kind="stable")[:5]
    likely = [i for i in order if card_p[i] >= at_least]
    named = likely if len(likely) > 1 else order[:2]
    return {str(DECK[int(i)]): round(float(card_p[i]), 4) for i in named}


def read_photo(path: Path, reader: CardReader) -> PhotoReading:
    """Read the cards in a photograph.

    Raises:
        OperatorError: the file cannot be read as a picture, or is too large or too small.
    """
    picture = open_picture(path)
    began = time.perf_counter_ns()
    sightings = reader.read(picture, card_width_px=None)
    ms = (time.perf_counter_ns() - began) / 1e6
    return PhotoReading(str(path), sightings, reader.confident_p, ms)


def open_picture(path: Path) -> NDArray[np.uint8]:
    """Open a picture file as ``(H, W, 3)`` uint8 BGR, upright as its camera was held.

    Sixteen-bit, grey, alpha and CMYK pictures become eight-bit BGR. Of an animation, the first
    frame counts.

    Raises:
        OperatorError: as for :func:`read_photo`.
    """
    content = _content(path)
    if (declared := declared_size(content)) is not None:
        _sized(path, declared)
    if (broken := damage(content)) is not None:
        raise _unusable(path, broken)
    if declared is None:  # a decoder would allocate whatever such a file asks for
        raise _unusable(path, "this is not a picture that can be read")
    # The decoder's own messages would appear beside this program's one line.
    cv2.utils.logging.setLogLevel(cv2.utils.logging.LOG_LEVEL_SILENT)
    try:
        decoded = cv2.imdecode(np.frombuffer(content, np.uint8), cv2.IMREAD_COLOR)
    except cv2.error as refused:
        raise _unusable(path, "the picture is damaged or far too large") from refused
    if decoded is None:
        raise _unusable(path, "the picture is damaged")
    _sized(path, (decoded.shape[1], decoded.shape[0]))
    return np.asarray(decoded, np.uint8)


def _sized(path: Path, size: tuple[int, int]) -> None:
    width, height = size
    if height * width > LARGEST_PIXELS:
        raise _unusable(path, f"{width} x {height} pixels are more than 100 megapixels")
    if min(height, width) < SMALLEST_SIDE_PX:
        raise _unusable(path, f"{width} x {height} pixels are too few to show a card")


def _content(path: Path) -> bytes:
    try:
        if path.stat().st_size > LARGEST_FILE_BYTES:
            raise _unusable(path, "the file is larger than 200 MB")
        content = path.read_bytes()
    except OSError as refused:
        raise OperatorError(
            f"the file cannot be read: {refused.strerror or 'refused'}",
            where=str(path),
            way_out="Check the name and the permissions",
        ) from refused
    if not content:
        raise _unusable(path, "the file is empty")
    return content


def _unusable(path: Path, what: str) -> OperatorError:
    return OperatorError(what, where=str(path), way_out="Give a whole JPEG, PNG or WebP photograph")


def annotate(image_bgr: NDArray[np.uint8], reading: PhotoReading) -> NDArray[np.uint8]:
    """Draw the reading over a copy of the picture: certain green, doubtful amber, backs blue."""
    drawn = image_bgr.copy()
    seen = reading.sightings
    for at, corners in enumerate(seen.corners_px):
        row = seen.card_p[at]
        if not seen.face_up[at]:
            colour, label = (200, 120, 40), "back"
        elif row.max() >= reading.confident_p:
            colour, label = (60, 170, 30), str(DECK[int(row.argmax())])
        else:
            colour, label = (
                (20, 150, 240),
                " ".join(f"{card}?" for card in list(candidates(row))[:2]),
            )
        across = float(np.linalg.norm(corners[1] - corners[0]))
        outline = np.round(corners).astype(np.int32)
        cv2.polylines(drawn, [outline], True, colour, max(1, round(across / 60)), cv2.LINE_AA)
        _label(drawn, label, corners[:2].mean(0), colour, across)
    return drawn


def _label(
    drawn: NDArray[np.uint8],
    label: str,
    above: NDArray[np.float32],
    colour: tuple[int, int, int],
    card_px: float,
) -> None:
    """Write over a card's top edge, a quarter of the card wide, so that its face stays visible."""
    scale = max(0.38, card_px / 130)
    font, weight = cv2.FONT_HERSHEY_SIMPLEX, max(1, round(scale * 1.6))
    (width, height), _ = cv2.getTextSize(label, font, scale, weight)
    x, y = round(float(above[0]) - width / 2), round(float(above[1]) + height / 2)
    cv2.rectangle(drawn, (x - 2, y - height - 2), (x + width + 2, y + 3), colour, -1)
    cv2.putText(drawn, label, (x, y), font, scale, (255, 255, 255), weight, cv2.LINE_AA)
