"""One picture of a camera; its colours are converted on demand."""

from fractions import Fraction
from functools import cached_property

import av
import cv2
import numpy as np
from numpy.typing import NDArray

_PLANAR = ("yuv420p", "yuvj420p")


class Frame:
    """A picture and its time.

    Attributes:
        index: the picture's number in its recording, from 0.
        at_ns: the time it was taken, nanoseconds since the Unix epoch, UTC.
    """

    def __init__(self, index: int, at_ns: int, decoded: av.VideoFrame) -> None:
        self.index, self.at_ns = index, at_ns
        self._decoded = decoded

    def renumbered(self, index: int, at_ns: int) -> "Frame":
        """Return the same picture with another number and time."""
        return Frame(index, at_ns, self._decoded)

    def encodable(self, pts: int, time_base: Fraction) -> av.VideoFrame:
        """Return a copy that an encoder accepts, presented at ``pts`` time bases.

        It is a copy because other readers may still use the picture.
        """
        planes = av.VideoFrame.from_ndarray(self._planar.to_ndarray(), format="yuv420p")
        planes.pts, planes.time_base = pts, time_base
        planes.colorspace, planes.color_range = self._decoded.colorspace, self._decoded.color_range
        return planes

    @property
    def size_px(self) -> tuple[int, int]:
        """Width and height."""
        return self._decoded.width, self._decoded.height

    @cached_property
    def gray(self) -> NDArray[np.uint8]:
        """``(H, W)`` uint8 luma exactly as recorded (16 to 235 in most video), read only.

        It costs nothing: the array is a view of the decoder's own buffer.
        """
        plane = self._planar.planes[0]
        rows = np.frombuffer(memoryview(plane), np.uint8).reshape(-1, plane.line_size)
        luma: NDArray[np.uint8] = rows[: plane.height, : plane.width]
        luma.flags.writeable = False
        return luma

    @cached_property
    def image(self) -> NDArray[np.uint8]:
        """``(H, W, 3)`` uint8 BGR."""
        if self._is_plain:
            planes = self._decoded.to_ndarray()
            return cv2.cvtColor(planes, cv2.COLOR_YUV2BGR_I420).astype(np.uint8, copy=False)
        return self._decoded.to_ndarray(format="bgr24").astype(np.uint8, copy=False)

    @cached_property
    def _planar(self) -> av.VideoFrame:
        if self._decoded.format.name in _PLANAR:
            return self._decoded
        return self._decoded.reformat(format="yuv420p")

    @property
    def _is_plain(self) -> bool:
        """Whether OpenCV's own conversion (BT.601, 16 to 235) fits the picture."""
        frame = self._decoded
        bt709 = int(frame.colorspace) == int(av.video.reformatter.Colorspace.ITU709)
        return frame.format.name == "yuv420p" and not bt709 and frame.height % 2 == 0
