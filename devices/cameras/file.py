"""A recorded camera: one video file, or consecutive segments."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import chain, takewhile
from pathlib import Path

import av

from devices.cameras.frame import Frame
from models.errors import TechnicianError

_NS = 1_000_000_000


class FileCamera:
    """Plays a recording: every frame, with its exact time.

    Args:
        path: the video, or its first segment.
        start_ns: the session's start; a frame's time is this plus its presentation time.
        later: the following segments, in order; their times count from the same start.
        closed: whether the recording was closed in order. Where it was not, the last segment may
            end within its last pictures, or before its first.

    Raises:
        TechnicianError: at once where a file is missing, is no video, holds no frame or ends before
            its header's stated end.
    """

    def __init__(
        self, path: Path, start_ns: int, later: Sequence[Path] = (), *, closed: bool = True
    ) -> None:
        self._start_ns = start_ns
        *whole, last = (_Video(one) for one in (path, *later))
        self._segments = [*whole, last]
        self._counts = [video.count() for video in whole]
        count, self.cut = (last.count(), False) if closed else last.count_whole(needed=not whole)
        """Whether it was never closed, so that its last pictures may be missing."""
        self._counts.append(count)
        self.frame_count = sum(self._counts)
        """The number of frames of the recording."""

    def frames(self) -> Iterator[Frame]:
        """Yield every frame in the order of its time.

        Raises:
            TechnicianError: a frame is damaged or missing. The frames before it are sound; nothing
                follows.
        """
        index = 0
        for video, count in zip(self._segments, self._counts, strict=True):
            for at_ns, decoded in video.decoded(count):
                yield Frame(index, self._start_ns + at_ns, decoded)
                index += 1


def presentation_ns(pts: int, base: Fraction) -> int:
    """Return the nearest nanosecond to a presentation time stamp in units of ``base`` seconds."""
    return (pts * base.numerator * _NS + base.denominator // 2) // base.denominator


@dataclass(frozen=True, slots=True)
class _Video:
    path: Path

    def count(self) -> int:
        """Count the packets without decoding them, and compare the count with the header."""
        corrupt, promised = self._packets()
        if not corrupt:
            raise self._unreadable("it holds no frame")
        broken = sum(corrupt)
        if broken or (promised and len(corrupt) != promised):
            raise self._damaged(f"{len(corrupt) - broken} of {promised} frames are there")
        return len(corrupt)

    def count_whole(self, *, needed: bool) -> tuple[int, bool]:
        """Count the whole packets of a file that was not closed.

        Only a fragmented file can end in a cut packet. At least one packet is ``needed`` where no
        segment comes before it.

        Returns:
            the count, and whether the file is such a file, whose end proves nothing.
        """
        try:
            corrupt, promised = self._packets()
        except TechnicianError:
            if needed or not self.path.is_file():
                raise
            return 0, True
        if promised or (needed and not corrupt):
            return self.count(), False
        return corrupt.index(True) if True in corrupt else len(corrupt), True

    def _packets(self) -> tuple[list[bool], int]:
        try:
            with av.open(str(self.path)) as container:
                stream = _video_stream(container)
                if stream is None:
                    raise self._unreadable("it holds no picture")
                corrupt = [packet.is_corrupt for packet in container.demux(stream) if packet.size]
                return corrupt, stream.frames
        except (OSError, av.error.FFmpegError) as error:
            raise self._unreadable(_reason(error)) from error

    def decoded(self, count: int) -> Iterator[tuple[int, av.VideoFrame]]:
        """Yield ``count`` frames, each with its time in nanoseconds since the start."""
        given = 0
        try:
            for decoded, base in self._decode(count):
                if decoded.is_corrupt:
                    raise self._damaged(f"frame {given} cannot be decoded")
                if decoded.pts is None:
                    raise self._damaged(f"frame {given} has no time stamp")
                yield presentation_ns(decoded.pts, base), decoded
                given += 1
        except (OSError, av.error.FFmpegError) as error:
            raise self._damaged(f"frame {given} cannot be decoded") from error
        if given != count:
            raise self._damaged(f"it gave {given} frames of {count}")

    def _decode(self, count: int) -> Iterator[tuple[av.VideoFrame, Fraction]]:
        if not count:
            return
        with av.open(str(self.path), options={"err_detect": "explode"}) as container:
            stream = container.streams.video[0]
            stream.thread_type = "AUTO"
            stream.codec_context.options = {"err_detect": "explode"}
            assert stream.time_base is not None
            whole = takewhile(_whole, container.demux(stream))
            for decoded in chain.from_iterable(map(stream.decode, chain(whole, [None]))):
                yield decoded, stream.time_base

    def _unreadable(self, why: str) -> TechnicianError:
        return TechnicianError(
            f"the video cannot be read: {why}",
            where=str(self.path),
            way_out="Copy the recording again, or name the right file in session.toml",
        )

    def _damaged(self, why: str) -> TechnicianError:
        return TechnicianError(
            f"the video is cut short or damaged: {why}",
            where=str(self.path),
            way_out="Copy the recording again; a part of it is not replayed",
        )


def _video_stream(container: av.container.InputContainer) -> av.VideoStream | None:
    streams = container.streams.video
    return streams[0] if streams else None


def _whole(packet: "av.Packet[av.VideoStream]") -> bool:
    return bool(packet.size) and not packet.is_corrupt


def _reason(error: Exception) -> str:
    if isinstance(error, av.error.InvalidDataError):
        return "it is no video, or its header is cut off"
    if isinstance(error, FileNotFoundError):
        return "there is no such file"
    return (getattr(error, "strerror", None) or str(error)).lower()
