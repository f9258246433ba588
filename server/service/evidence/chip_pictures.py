"""Pictures of a betting circle before and after its chips changed, without a hand over it."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import median
from typing import Final

import numpy as np
from numpy.typing import NDArray

from devices.cameras.footage import Footage
from models.errors import PitwatchError
from models.layout import Circle
from models.session import CameraRecord
from server.service.evidence.round_evidence import ChipsMoment
from server.service.evidence.video import Found
from stream.recording import video_files
from vision.change import Rect
from vision.crops import jpeg
from vision.felt import locate

WIDTH_PX: Final = 420
_AROUND_MM: Final = 75.0
"""Mm of felt shown around a circle: the wagers of split hands lie beside it."""
_STILL: Final = 2.0
"""Grey levels by which a still picture differs from the one before. Measured on the demo: 0.5
without a hand, 4 and more with a moving one."""


@dataclass(frozen=True, slots=True)
class Still:
    """A circle, with the time of its picture."""

    at_ns: int
    jpeg: bytes


@dataclass(frozen=True, slots=True)
class _Look:
    """A circle in one picture."""

    at_ns: int
    image: NDArray[np.uint8]


def stills(found: Found, camera: str, moment: ChipsMoment) -> tuple[Still | None, Still | None]:
    """Return a circle before and after a change; ``None`` where the camera has no such picture.

    A hand that lays chips down rests on them, so a still picture may still show it. Each side takes
    a picture from the longest motionless time with the same chips.
    """
    record = next((one for one in found.description.cameras if one.name == camera), None)
    if record is None:
        return None, None
    try:
        rect = _rect(record, found.layout.spot(moment.spot).circle)
        looks = _looks(found, record, rect, moment)
    except (PitwatchError, KeyError, ValueError):
        return None, None
    before = _longest(_calm([one for one in looks if one.at_ns < moment.at_ns]))
    after = _longest(_calm([one for one in looks if one.at_ns > moment.at_ns]))
    return _still(before[-1:]), _still(after[:1])


def _looks(
    found: Found, record: CameraRecord, rect: Rect, moment: ChipsMoment
) -> tuple[_Look, ...]:
    files = video_files(found.folder, record)
    footage = Footage(files, found.description.at, closed=record.segments is not None)
    return tuple(
        _Look(one.at_ns, _cut(one.image, rect))
        for one in footage.frames(moment.from_ns, moment.to_ns)
    )


def _calm(looks: Sequence[_Look]) -> Iterator[list[_Look]]:
    """Yield the motionless times, each without its first and last picture."""
    moved = [_difference(one, other) for one, other in pairwise(looks)]
    limit = max(_STILL, 3 * median(moved)) if moved else _STILL
    run: list[_Look] = []
    for one, change in zip(looks[1:], moved, strict=True):
        if change > limit:
            yield run[1:-1]
            run = []
        run.append(one)
    yield run[1:-1]


def _longest(runs: Iterable[list[_Look]]) -> list[_Look]:
    return max(runs, key=len, default=[])


def _difference(one: _Look, other: _Look) -> float:
    return float(np.abs(one.image.astype(np.int16) - other.image.astype(np.int16)).mean())


def _still(looks: Sequence[_Look]) -> Still | None:
    for one in looks:
        whole = (0, 0, one.image.shape[1], one.image.shape[0])
        return Still(one.at_ns, jpeg(one.image, whole, WIDTH_PX))
    return None


def _rect(record: CameraRecord, circle: Circle) -> Rect:
    felt = locate(record.view, where=record.name)
    reach = circle.radius_mm + _AROUND_MM
    sides = (-reach, reach)
    corners = np.array([(circle.x_mm + x, circle.y_mm + y) for x in sides for y in sides])
    px = felt.to_px(corners)
    left, top = (int(edge) for edge in px.min(axis=0))
    right, bottom = (int(edge) for edge in px.max(axis=0))
    return left, top, right - left, bottom - top


def _cut(image: NDArray[np.uint8], rect: Rect) -> NDArray[np.uint8]:
    left, top, width, height = rect
    piece = image[max(0, top) : top + height, max(0, left) : left + width]
    if not piece.size:
        raise ValueError(f"the circle lies outside the picture: {rect}")
    return piece.copy()
