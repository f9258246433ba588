"""A recorded session of pictures that each bear their own number, for clips and incidents."""

from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path

import av
import numpy as np
from msgspec.structs import replace
from numpy.typing import NDArray

from devices.cameras.frame import Frame
from models.session import CameraRecord, ReferencePoint, Session
from server.table.config import Recorder
from server.table.recorder import Film
from stream import library
from stream.recording import read_description, write_session

SIZE = (320, 192)
FPS = 10
START_NS = 1_800_000_000_000_000_000
_CELL = 32
_BITS = 12


def at(number: int) -> int:
    """When picture ``number`` was taken: the first half a second after the session's start."""
    return START_NS + 500_000_000 + number * 1_000_000_000 // FPS


def painted(number: int, size: tuple[int, int] = SIZE) -> NDArray[np.uint8]:
    """A BGR picture that bears its number as black and white cells along its top."""
    picture = np.full((size[1], size[0], 3), 128, np.uint8)
    for bit in range(_BITS):
        row, column = divmod(bit, 6)
        cell = picture[row * _CELL : (row + 1) * _CELL, column * _CELL : (column + 1) * _CELL]
        cell[:] = 235 if number >> bit & 1 else 20
    return picture


def number_in(image: NDArray[np.uint8]) -> int:
    """Read the number that a picture bears."""
    middles = ((*divmod(bit, 6), bit) for bit in range(_BITS))
    return sum(
        int(image[row * _CELL + 16, column * _CELL + 16].mean() > 128) << bit
        for row, column, bit in middles
    )


def shot(number: int, at_ns: int, size: tuple[int, int] = SIZE) -> Frame:
    """A picture as a camera gives it."""
    decoded = av.VideoFrame.from_ndarray(painted(number, size), format="bgr24")
    decoded.pts, decoded.time_base = number, Fraction(1, FPS)
    return Frame(number, at_ns, decoded.reformat(format="yuv420p"))


def session() -> Session:
    """A table filmed by one camera."""
    points = ((0, 0), (320, 0), (320, 192), (0, 192))
    view = tuple(ReferencePoint(x, y, x - 160.0, y * 1.0) for x, y in points)
    return Session(
        table="BJ-01",
        rulebook="kansas-shoe",
        currency="USD",
        table_min=500,
        chips=(500,),
        layout="layout.toml",
        at=START_NS,
        dealing="shoe",
        cameras=(
            CameraRecord(name="overhead", file="overhead.mp4", fps=FPS, reference_points=view),
        ),
    )


def film(folder: Path, numbers: Sequence[int], *, segment_s: float, close: bool = True) -> Film:
    """Record pictures into the session ``folder`` as a live table does."""
    session = read_description(folder)
    recorder = Recorder(folder="", segment_minutes=segment_s / 60)
    (camera,) = session.cameras
    filming = Film(folder, camera, session.at, recorder)
    for number in numbers:
        filming.add(shot(number, at(number)))
    if close:
        filming.close()
        described(folder, replace(session, cameras=(replace(camera, segments=filming.segments),)))
    return filming


def recording(folder: Path, numbers: Sequence[int], *, segment_s: float) -> Film:
    """Begin the recording of a table at work: its last segment is still being written."""
    described(folder, session())
    (folder / "layout.toml").write_text(library.layout_text("five-spots"))
    return film(folder, numbers, segment_s=segment_s, close=False)


def described(folder: Path, session: Session) -> None:
    """Write the session's description."""
    folder.mkdir(exist_ok=True)
    write_session(folder, session)
