"""A camera in a table's configuration; reading it loads no video library."""

from typing import Annotated, Literal, TypeAlias

import msgspec
from msgspec import Meta

Kind: TypeAlias = Literal["rtsp", "http", "usb", "file"]


class CameraConfig(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The address and settings of one camera."""

    url: str
    """``rtsp://…``, ``http://…``, ``/dev/video0`` or a file."""
    open_ms: Annotated[int, Meta(ge=100, le=120_000)] = 10_000
    """Milliseconds that opening may take, up to the first picture."""
    stall_ms: Annotated[int, Meta(ge=100, le=60_000)] = 2_000
    """Milliseconds without a picture after which the camera counts as lost."""
    transport: Literal["tcp", "udp"] = "tcp"
    """The transport of an RTSP stream."""
    stamps: Literal["auto", "stream", "arrival"] = "auto"
    """The source of a picture's time: the stream's own time stamp or the arrival."""
    size: Annotated[str, Meta(pattern=r"^[1-9][0-9]*x[1-9][0-9]*$")] | None = None
    """Requested picture size of a USB camera: width x height in pixels."""
    fps: Annotated[int, Meta(ge=1, le=240)] | None = None
    """Requested frame rate of a USB camera: pictures a second."""

    @property
    def kind(self) -> Kind:
        """The kind of camera, by its address."""
        scheme = self.url.partition("://")[0].lower() if "://" in self.url else ""
        if scheme in ("rtsp", "rtsps"):
            return "rtsp"
        if scheme in ("http", "https"):
            return "http"
        return "usb" if self.url.startswith("/dev/video") else "file"
