"""Write video files frame by frame, whole or not at all."""

from fractions import Fraction
from pathlib import Path
from types import TracebackType
from typing import Literal, Self, TypeAlias

import av
import cv2
import numpy as np
from av.video.reformatter import ColorRange, Colorspace
from numpy.typing import NDArray

from models.errors import OperatorError, TechnicianError

Preset: TypeAlias = Literal[
    "ultrafast", "superfast", "veryfast", "faster", "fast", "medium", "slow", "slower", "veryslow"
]
"""libx264's trade of speed for compression."""


class VideoWriter:
    """Writes an H.264 MP4 whose frame *k* is shown at exactly *k* / ``fps`` seconds.

    The file appears under its name only when the ``with`` block ends without error. Until then it
    is a ``.part`` file beside it, removed on failure.

    Args:
        path: the file to write; one already there is replaced.
        fps: frames a second.
        size_px: width and height, both even (the colour planes have half of each).
        crf: libx264's constant quality: 0 lossless, 23 usual, 51 worst.
        preset: libx264's speed: ``ultrafast`` … ``veryslow``.

    Raises:
        OperatorError: for a size that H.264 cannot carry.
        TechnicianError: where the file cannot be written.
    """

    def __init__(
        self,
        path: Path,
        *,
        fps: float | Fraction,
        size_px: tuple[int, int],
        crf: int = 23,
        preset: Preset = "veryfast",
    ) -> None:
        if size_px[0] % 2 or size_px[1] % 2 or min(size_px) < 16:
            raise OperatorError(
                f"a picture of {size_px[0]} x {size_px[1]} cannot be written as H.264 video",
                where=str(path),
                way_out="Choose an even width and height of at least 16 pixels",
            )
        self._path, self._part = path, path.with_name(path.name + ".part")
        self._rate = Fraction(fps).limit_denominator(1001)
        self._size_px, self._options = size_px, {"crf": str(crf), "preset": preset}
        self._written = 0

    def __enter__(self) -> Self:
        self._container = av.open(str(self._part), "w", format="mp4")
        self._stream = self._new_stream()
        try:
            self._container.start_encoding()
        except OSError as error:
            raise self._unwritten(error) from error
        return self

    def write(self, image: NDArray[np.uint8]) -> None:
        """Append one picture, ``(H, W, 3)`` uint8 BGR of the size given at the start."""
        planes = cv2.cvtColor(image, cv2.COLOR_BGR2YUV_I420).astype(np.uint8, copy=False)
        frame = av.VideoFrame.from_ndarray(planes, format="yuv420p")
        if (frame.width, frame.height) != self._size_px:
            raise ValueError(
                f"a frame of {frame.width} x {frame.height} in a {self._size_px} video"
            )
        frame.pts, frame.time_base = self._written, 1 / self._rate
        self._written += 1
        try:
            self._container.mux(self._stream.encode(frame))
        except OSError as error:
            raise self._unwritten(error) from error

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        try:
            if kind is None:
                self._container.mux(self._stream.encode(None))
            self._container.close()
            if kind is None:
                self._part.replace(self._path)
        except OSError as lost:
            raise self._unwritten(lost) from lost
        finally:
            self._part.unlink(missing_ok=True)

    def _unwritten(self, error: OSError) -> TechnicianError:
        return TechnicianError(
            f"the video cannot be written ({(error.strerror or str(error)).lower()})",
            where=str(self._path),
            way_out="Check that the folder exists, may be written and has space",
        )

    def _new_stream(self) -> av.VideoStream:
        stream = self._container.add_stream("libx264", rate=self._rate, options=self._options)
        stream.width, stream.height = self._size_px
        stream.pix_fmt = "yuv420p"
        stream.time_base = stream.codec_context.time_base = 1 / self._rate
        stream.codec_context.thread_type = "AUTO"
        # OpenCV converts by BT.601 at every picture size; the file must state that for players.
        stream.codec_context.colorspace = Colorspace.ITU601
        stream.codec_context.color_range = ColorRange.MPEG
        return stream
