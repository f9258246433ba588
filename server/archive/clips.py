"""Pictures and clips from a recorded session, by the table's time; also during recording.

Access is direct: no part before the requested time is decoded, however long the recording.
"""

import io
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from devices.cameras.footage import Footage, Span
from devices.cameras.frame import Frame
from models.errors import OperatorError
from models.session import CameraRecord, Session
from stream.recording import read_description, video_files
from vision.change import Rect
from vision.crops import Corners, encoded, jpeg, upright
from vision.felt import Felt, locate


@dataclass(frozen=True, slots=True)
class Clip:
    """A piece of video as an MP4 (H.264) file."""

    camera: str
    span: Span
    """The table's time of its first and last picture; the first is a player's 0 s."""
    mp4: bytes


@dataclass(frozen=True, slots=True)
class Picture:
    """One picture, and its place in the recording."""

    frame: Frame
    file: Path
    number: int
    """Index in that file, from 0 in the order of time."""


class Clips:
    """One session folder's pictures. ``camera`` is a camera's name; by default the first one.

    Args:
        folder: of the session, as a live table records it and ``replay`` reads it.

    Raises:
        InputRefused: its description does not match the format.
        InstallerError: the folder is no session.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.session: Session = read_description(folder)

    @property
    def cameras(self) -> tuple[str, ...]:
        """The cameras' names."""
        return tuple(camera.name for camera in self.session.cameras)

    def frame_at(self, time_ns: int, camera: str | None = None) -> Frame:
        """Return the latest picture at a time, at most two seconds old.

        Raises:
            OperatorError: there is no such camera, or it gave no picture then.
            TechnicianError: the video cannot be read.
        """
        return self._footage(self._camera(camera)).frame_at(time_ns)

    def picture(self, time_ns: int, camera: str | None = None) -> Picture:
        """Return that picture with its place in the recording; raises as :meth:`frame_at`."""
        footage = self._footage(self._camera(camera))
        frame = footage.frame_at(time_ns)
        return Picture(frame, *footage.place_of(frame.at_ns))

    def still(self, time_ns: int, camera: str | None = None) -> bytes:
        """Return that whole picture as JPEG; raises as :meth:`frame_at`."""
        return encoded(self.frame_at(time_ns, camera).image)

    def frames(self, from_ns: int, to_ns: int, camera: str | None = None) -> Iterator[Frame]:
        """Yield the pictures from one instant to another; raises as :meth:`frame_at`."""
        return self._footage(self._camera(camera)).frames(from_ns, to_ns)

    def felt(self, camera: str | None = None) -> Felt:
        """Return the felt in a camera's picture; raises ``PitwatchError``."""
        found = self._camera(camera)
        return locate(found.view, where=found.name)

    def crop(self, time_ns: int, rect: Rect, width_px: int, camera: str | None = None) -> bytes:
        """Return a rectangle of that picture as JPEG, ``width_px`` wide.

        Args:
            time_ns: when.
            rect: left, top, width, height in pixels, as in ``CardSighted.crop``.
            width_px: of the result.
            camera: which.

        Raises:
            ValueError: ``rect`` lies outside the picture.
            PitwatchError: as :meth:`frame_at`.
        """
        return jpeg(self.frame_at(time_ns, camera).image, rect, width_px)

    def card(
        self, time_ns: int, corners_px: Corners, width_px: int, camera: str | None = None
    ) -> bytes:
        """Return a card of that picture rectified, as JPEG, ``width_px`` wide.

        Args:
            time_ns: when.
            corners_px: the card's four, clockwise from the top left of its face.
            width_px: of the result.
            camera: which.

        Raises:
            ValueError: the corners enclose no area.
            PitwatchError: as :meth:`frame_at`.
        """
        return upright(self.frame_at(time_ns, camera).image, corners_px, width_px)

    def clip(self, from_ns: int, to_ns: int, camera: str | None = None) -> Clip:
        """Return the recorded video of a time span, without encoding it again.

        It begins at a key frame, up to some seconds early.

        Raises:
            OperatorError: there is no such camera, it gave no picture then, or its encoding changed
                in between.
            TechnicianError: the video cannot be read.
        """
        found, target = self._camera(camera), io.BytesIO()
        span = self._footage(found).copy(from_ns, to_ns, target)
        return Clip(found.name, span, target.getvalue())

    def stamped_clip(self, from_ns: int, to_ns: int, camera: str | None = None) -> Clip:
        """Return the video of a time span with the table's name and the time in each picture.

        Raises:
            OperatorError: there is no such camera, or it gave no picture then.
            TechnicianError: the video cannot be read.
        """
        found, target = self._camera(camera), io.BytesIO()
        title = f"{self.session.table} {found.name}"
        span = self._footage(found).stamped(from_ns, to_ns, title, target)
        return Clip(found.name, span, target.getvalue())

    def _camera(self, name: str | None) -> CameraRecord:
        for camera in self.session.cameras:
            if name in (None, camera.name):
                return camera
        raise OperatorError(
            "the session has no camera" if name is None else f"there is no camera {name!r}",
            where=str(self._folder),
            way_out=f"Its cameras are: {', '.join(self.cameras) or 'none'}",
        )

    def _footage(self, camera: CameraRecord) -> Footage:
        files = video_files(self._folder, camera)
        return Footage(files, self.session.at, closed=camera.segments is not None)
