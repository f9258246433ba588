"""``session.toml``: what a recorded session says of its table, cameras and ports."""

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


class CameraRecord(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One camera's video, and how the felt lies in it: at least four reference points."""

    name: Name
    file: str
    fps: Annotated[float, Meta(gt=0, le=240)]
    reference_points: Annotated[tuple[ReferencePoint, ...], Meta(min_length=4)]
    deck: str | None = None
    """The deck's id where it is known."""


class SerialRecord(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One serial port's capture."""

    port: Name
    driver: str
    file: str


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
    serial: tuple[SerialRecord, ...] = ()
    console: str | None = None
    truth: str | None = None
