"""A camera that is a video file."""

from collections.abc import Iterator
from pathlib import Path

import av

from devices.cameras.frame import Frame
from models.errors import TechnicianError

_NS = 1_000_000_000


class FileCamera:
    """Play back a recording: every frame, at its own exact moment.

    Args:
        path: the video.
        start_ns: the session's start; a frame's time is this plus its presentation time.

    Raises:
        TechnicianError: at once where the file is missing, is no video, holds no frame or
            ends before its own header says.
    """

    def __init__(self, path: Path, start_ns: int) -> None:
        self._path, self._start_ns = path, start_ns
        self.frame_count = self._inspect()
        """How many frames the recording holds."""

    def frames(self) -> Iterator[Frame]:
        """Yield every frame in the order of its time.

        Raises:
            TechnicianError: where a frame is damaged or missing; what was yielded before it
                is sound, and nothing is yielded after it.
        """
        index = 0
        for decoded in self._decoded():
            yield Frame(index, self._start_ns + self._since_start_ns(decoded, index), decoded)
            index += 1
        if index != self.frame_count:
            raise self._damaged(f"it gave {index} frames of {self.frame_count}")

    def _inspect(self) -> int:
        """Count the packets without decoding them, and hold them against the header."""
        try:
            with av.open(str(self._path)) as container:
                stream = _video_stream(container)
                if stream is None:
                    raise self._unreadable("it holds no picture")
                packets = [packet for packet in container.demux(stream) if packet.size]
                promised = stream.frames
        except (OSError, av.error.FFmpegError) as error:
            raise self._unreadable(_reason(error)) from error
        if not packets:
            raise self._unreadable("it holds no frame")
        broken = sum(packet.is_corrupt for packet in packets)
        if broken or (promised and len(packets) != promised):
            raise self._damaged(f"{len(packets) - broken} of {promised} frames are there")
        return len(packets)

    def _decoded(self) -> Iterator[av.VideoFrame]:
        index = -1
        try:
            with av.open(str(self._path), options={"err_detect": "explode"}) as container:
                stream = container.streams.video[0]
                stream.thread_type = "AUTO"
                stream.codec_context.options = {"err_detect": "explode"}
                for index, decoded in enumerate(container.decode(stream)):
                    if decoded.is_corrupt:
                        raise self._damaged(f"frame {index} cannot be decoded")
                    yield decoded
        except (OSError, av.error.FFmpegError) as error:
            raise self._damaged(f"frame {index + 1} cannot be decoded") from error

    def _since_start_ns(self, decoded: av.VideoFrame, index: int) -> int:
        if decoded.pts is None or decoded.time_base is None:
            raise self._damaged(f"frame {index} has no time stamp")
        base = decoded.time_base
        return (decoded.pts * base.numerator * _NS + base.denominator // 2) // base.denominator

    def _unreadable(self, why: str) -> TechnicianError:
        return TechnicianError(
            f"the video cannot be read: {why}",
            where=str(self._path),
            way_out="Copy the recording again, or name the right file in session.toml",
        )

    def _damaged(self, why: str) -> TechnicianError:
        return TechnicianError(
            f"the video is cut short or damaged: {why}",
            where=str(self._path),
            way_out="Copy the recording again; a part of it is not replayed",
        )


def _video_stream(container: av.container.InputContainer) -> av.VideoStream | None:
    streams = container.streams.video
    return streams[0] if streams else None


def _reason(error: Exception) -> str:
    if isinstance(error, av.error.InvalidDataError):
        return "it is no video, or its header is cut off"
    if isinstance(error, FileNotFoundError):
        return "there is no such file"
    return (getattr(error, "strerror", None) or str(error)).lower()
