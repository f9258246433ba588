"""``session.toml``: the table, cameras and ports of a recorded session."""

from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from models.money import Cents

Name = Annotated[str, Meta(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*$", max_length=64)]


Lettering = Literal["english", "german", "french", "dutch", "scandinavian", "russian", "italian"]
"""A language of the letters on aces and court cards."""


class ReferencePoint(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A point of the picture with its known place on the felt."""

    x_px: float
    y_px: float
    x_mm: float
    y_mm: float


class CameraPose(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The pose of a camera over the felt, with its lens distortion.

    The camera's own frame is OpenCV's: x to the picture's right, y down, z into the scene. A point
    of the felt is rotated, shifted, divided by its depth, distorted by the lens and scaled by the
    focal length. ``pitwatch calibrate`` writes it.
    """

    width_px: Annotated[int, Meta(ge=16)]
    height_px: Annotated[int, Meta(ge=16)]
    """Height of the picture that the pose holds for."""
    focal_px: Annotated[float, Meta(gt=0)]
    centre_px: tuple[float, float]
    """Principal point: the pixel on the optical axis."""
    distortion: tuple[float, float] = (0.0, 0.0)
    """The lens's first two radial coefficients (Brown's model); negative for barrel distortion."""
    turn_rad: tuple[float, float, float]
    """Rotation from the felt's frame to the camera's: axis times angle."""
    shift_mm: tuple[float, float, float]
    """The felt's origin in the camera's frame."""
    error_mm: Annotated[float, Meta(ge=0)]
    """Root mean square error, on the felt, of the points behind the pose."""


class CameraRecord(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One camera's video and its view of the felt: a pose, or else reference points.

    Raises:
        ValueError: neither a pose nor at least four reference points are given.
    """

    name: Name
    file: str
    """The video, or its first segment; ``overhead.mp4`` continues in ``overhead+0001.mp4``."""
    segments: Annotated[int, Meta(ge=1)] | None = None
    """The number of files; absent during recording: all files present count."""
    fps: Annotated[float, Meta(gt=0, le=240)]
    reference_points: tuple[ReferencePoint, ...] = ()
    """For a lens without distortion; ignored where there is a pose."""
    pose: CameraPose | None = None
    deck: str | None = None
    """The deck's id where it is known."""

    def __post_init__(self) -> None:
        if self.pose is None and len(self.reference_points) < 4:
            raise ValueError("Expected a pose or at least 4 reference_points")

    def segment(self, number: int) -> str:
        """Return the name of segment ``number``, from 0; no camera's name contains a plus."""
        stem, dot, ending = self.file.rpartition(".")
        return f"{stem}+{number:04}{dot}{ending}" if number else self.file

    @property
    def view(self) -> CameraPose | tuple[ReferencePoint, ...]:
        """The camera's view of the felt: the pose where there is one, else the reference points."""
        return self.pose or self.reference_points


class SerialRecord(
    msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True
):
    """One serial port's capture."""

    port: Name
    driver: str
    file: str
    settings: dict[str, bool | int | str] = {}
    """The driver's settings that differ from its defaults; a ``register`` file lies in the
    folder."""


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
    """All learnt decks in use; empty where they are unknown."""
    letters: tuple[Lettering, ...] = ()
    """Every language of the decks' letters; empty where it is unknown."""
    serial: tuple[SerialRecord, ...] = ()
    console: str | None = None
    links: str | None = None
    """File of link events during the session: links lost and restored, and reads possibly
    missed."""
    truth: str | None = None
