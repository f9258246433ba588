"""``session.toml``: what a recorded session states about its table, cameras and ports."""

from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from models.money import Cents

Name = Annotated[str, Meta(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*$", max_length=64)]


class ReferencePoint(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A point seen in the picture whose place on the felt is known."""

    x_px: float
    y_px: float
    x_mm: float
    y_mm: float


class CameraPose(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How a camera hangs over the felt and how its lens bends the picture.

    The camera's own frame is OpenCV's: x to the picture's right, y down, z into the scene. A
    place of the felt is turned, shifted, divided by its depth, bent by the lens and spread by
    the focal length. Written by ``pitwatch calibrate``.
    """

    width_px: Annotated[int, Meta(ge=16)]
    height_px: Annotated[int, Meta(ge=16)]
    """The picture that all of it holds for."""
    focal_px: Annotated[float, Meta(gt=0)]
    centre_px: tuple[float, float]
    """Where the lens looks straight ahead."""
    distortion: tuple[float, float] = (0.0, 0.0)
    """The lens's first two radial coefficients (Brown's model); below 0 it bulges."""
    turn_rad: tuple[float, float, float]
    """From the felt's frame to the camera's: an axis as long as the angle about it."""
    shift_mm: tuple[float, float, float]
    """The felt's origin in the camera's frame."""
    error_mm: Annotated[float, Meta(ge=0)]
    """Rms distance, on the felt, of what it was found from."""


class CameraRecord(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One camera's video, and how the felt lies in it: its pose, or else points clicked.

    Raises:
        ValueError: neither a pose nor at least four reference points are given.
    """

    name: Name
    file: str
    """The video, or its first segment; ``overhead.mp4`` goes on in ``overhead+0001.mp4``."""
    segments: Annotated[int, Meta(ge=1)] | None = None
    """In how many files it lies; left out while it is recorded: as many as are there."""
    fps: Annotated[float, Meta(gt=0, le=240)]
    reference_points: tuple[ReferencePoint, ...] = ()
    """For a lens that bends nothing; passed over where there is a pose."""
    pose: CameraPose | None = None
    deck: str | None = None
    """The deck's id where it is known."""

    def __post_init__(self) -> None:
        if self.pose is None and len(self.reference_points) < 4:
            raise ValueError("Expected a pose or at least 4 reference_points")

    def segment(self, number: int) -> str:
        """Return the name of one of its files, counted from 0; no camera's name holds a plus."""
        stem, dot, ending = self.file.rpartition(".")
        return f"{stem}+{number:04}{dot}{ending}" if number else self.file

    @property
    def view(self) -> CameraPose | tuple[ReferencePoint, ...]:
        """How the felt lies in the picture, the best that is known."""
        return self.pose or self.reference_points


class SerialRecord(
    msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True
):
    """One serial port's capture."""

    port: Name
    driver: str
    file: str
    settings: dict[str, bool | int | str] = {}
    """The driver's own, where they are not its defaults; a ``register`` lies in the folder."""


class Session(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A recorded session folder, as its ``session.toml`` describes it."""

    table: Name
    rulebook: str
    """A rulebook's id, or a TOML file beside ``session.toml``."""
    currency: Annotated[str, Meta(pattern=r"^[A-Z]{3}$")]
    table_min: Annotated[Cents, Meta(ge=0)]
    table_max: Annotated[Cents, Meta(ge=1)] | None = None
    chips: Annotated[tuple[Annotated[Cents, Meta(ge=1)], ...], Meta(min_length=1)]
    layout: str
    at: Annotated[int, Meta(ge=0)]
    """Start, nanoseconds since the Unix epoch, UTC."""
    dealing: Literal["shoe", "pitch"]
    cameras: tuple[CameraRecord, ...]
    decks: tuple[Name, ...] = ()
    """The learnt decks in use, all of them; empty where they are not known."""
    serial: tuple[SerialRecord, ...] = ()
    console: str | None = None
    links: str | None = None
    """What was told of the devices' links meanwhile: lost, returned, what may have been missed."""
    truth: str | None = None
