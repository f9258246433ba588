"""Random access to a camera's recorded video, without decoding what lies before."""

import io
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import BinaryIO, Final

import av
import cv2
import numpy as np
from av.video.reformatter import ColorRange, Colorspace
from numpy.typing import NDArray

from devices.cameras.file import presentation_ns
from devices.cameras.frame import Frame
from models.errors import OperatorError, TechnicianError
from stream.clock import utc

STALE_NS: Final = 2_000_000_000
"""Age in nanoseconds beyond which a picture no longer shows the state of the table. Not measured:
shorter fails at gaps between pictures, longer may show cards that are gone."""
_MICROSECOND: Final = Fraction(1, 1_000_000)
_CODING: Final = {"crf": "20", "bf": "0", "preset": "veryfast"}
_FONT: Final = cv2.FONT_HERSHEY_SIMPLEX
_NEVER_NS: Final = 2**63 - 1


@dataclass(frozen=True, slots=True)
class Span:
    """The table's time at the start and end of a piece of video."""

    begin_ns: int
    """Time of its first picture: a player's 0 s."""
    end_ns: int
    """Time of its last picture."""


class Footage:
    """One camera's video. Opens no file before the first request.

    Args:
        files: the video's segments, in order.
        start_ns: the session's start, the origin of their time stamps.
        closed: whether the recording was closed in order; if not, the last may be empty.
    """

    def __init__(self, files: Sequence[Path], start_ns: int, *, closed: bool = True) -> None:
        self._files, self._start_ns, self._closed = tuple(files), start_ns, closed
        self._begins_ns: dict[int, int] = {}

    def frame_at(self, at_ns: int) -> Frame:
        """Return the latest picture at an instant, at most two seconds old.

        Raises:
            OperatorError: the camera gave no picture then.
            TechnicianError: the video cannot be read.
        """
        latest = None
        for latest in self.frames(at_ns - STALE_NS, at_ns):  # noqa: B007
            pass
        if latest is None:
            raise self._nothing(at_ns, at_ns)
        return latest

    def place_of(self, at_ns: int) -> tuple[Path, int]:
        """Return the file and the number of the picture taken at exactly that time.

        Pictures of a file are numbered from 0 in the order of time; none of them is decoded.

        Raises:
            OperatorError: there is no such picture.
            TechnicianError: the video cannot be read.
        """
        for number in reversed(self._between(at_ns, at_ns)):
            file = self._files[number]
            with self._opened(file) as (source, stream):
                stamps = sorted(
                    one.pts for one in source.demux(stream) if one.size and one.pts is not None
                )
                times = [self._taken_ns(stamp, stream) for stamp in stamps]
            if at_ns in times:
                return file, times.index(at_ns)
        raise self._nothing(at_ns, at_ns)

    def frames(self, from_ns: int, to_ns: int) -> Iterator[Frame]:
        """Yield the pictures from one instant to another, both included, numbered from 0.

        Raises:
            TechnicianError: the video cannot be read.
        """
        index = 0
        for number in self._between(from_ns, to_ns):
            for at_ns, decoded in self._decoded(self._files[number], from_ns):
                if at_ns > to_ns:
                    return
                if at_ns >= from_ns:
                    yield Frame(index, at_ns, decoded)
                    index += 1

    def copy(self, from_ns: int, to_ns: int, target: BinaryIO) -> Span:
        """Write an MP4 of the recorded pictures, without decoding any.

        It begins with the last key frame at or before ``from_ns``, up to some seconds earlier, and
        ends with the packets that the last picture needs. Where the camera was lost in between, the
        time stamps jump.

        Raises:
            OperatorError: the camera gave no picture then, or its encoding changed.
            TechnicianError: the video cannot be read.
        """
        with av.open(target, "w", format="mp4") as container:
            copying = _Copying(container, to_ns)
            for number in self._between(from_ns, to_ns):
                with self._opened(self._files[number]) as (source, stream):
                    if not copying.fits(stream):
                        raise _reformed(self._files[number])
                    _seek(source, stream, from_ns - self._start_ns)
                    copying.take(source.demux(stream), self._start_ns)
            if copying.span is None:
                raise self._nothing(from_ns, to_ns)
            return copying.span

    def stamped(self, from_ns: int, to_ns: int, name: str, target: BinaryIO) -> Span:
        """Encode an MP4 with a name and the time burned into every picture.

        Raises:
            OperatorError: the camera gave no picture then.
            TechnicianError: the video cannot be read.
        """
        with av.open(target, "w", format="mp4") as container:
            stream = container.add_stream("libx264", options=_CODING)
            stream.pix_fmt = "yuv420p"
            stream.time_base = stream.codec_context.time_base = _MICROSECOND
            stream.codec_context.colorspace = Colorspace.ITU601
            stream.codec_context.color_range = ColorRange.MPEG
            span = None
            for frame in self.frames(from_ns, to_ns):
                if span is None:
                    stream.width, stream.height = frame.size_px
                span = Span(frame.at_ns if span is None else span.begin_ns, frame.at_ns)
                picture = captioned(frame.image, f"{name}  {utc(frame.at_ns)}")
                sized = np.asarray(cv2.resize(picture, (stream.width, stream.height)), np.uint8)
                container.mux(stream.encode(_encodable(sized, frame.at_ns - span.begin_ns)))
            if span is None:
                raise self._nothing(from_ns, to_ns)
            container.mux(stream.encode(None))
        return span

    def _between(self, from_ns: int, to_ns: int) -> range:
        """The segments that may hold pictures of a time span."""
        first = bisect_right(range(len(self._files)), from_ns, key=self._begin_ns) - 1
        beyond = bisect_right(range(len(self._files)), to_ns, key=self._begin_ns)
        return range(max(0, first), beyond)

    def _begin_ns(self, number: int) -> int:
        """Return the time of a segment's first picture."""
        if number not in self._begins_ns:
            try:
                with self._opened(self._files[number]) as (_, stream):
                    self._begins_ns[number] = self._taken_ns(stream.start_time or 0, stream)
            except TechnicianError:
                if self._closed or number != len(self._files) - 1:
                    raise
                return _NEVER_NS
        return self._begins_ns[number]

    def _decoded(self, file: Path, from_ns: int) -> Iterator[tuple[int, av.VideoFrame]]:
        with self._opened(file) as (source, stream):
            stream.thread_type = "AUTO"
            _seek(source, stream, from_ns - self._start_ns)
            for decoded in source.decode(stream):
                if decoded.pts is not None and not decoded.is_corrupt:
                    yield self._taken_ns(decoded.pts, stream), decoded

    def _taken_ns(self, stamp: int, stream: av.VideoStream) -> int:
        return self._start_ns + presentation_ns(stamp, _base(stream))

    @contextmanager
    def _opened(self, file: Path) -> Iterator[tuple[av.container.InputContainer, av.VideoStream]]:
        try:
            with av.open(str(file)) as container:
                yield container, container.streams.video[0]
        except (OSError, av.error.FFmpegError, IndexError) as fault:
            why = (getattr(fault, "strerror", None) or str(fault)).lower()
            raise TechnicianError(
                f"the video cannot be read: {why}",
                where=str(file),
                way_out="Copy the recording again; the rest can still be viewed",
            ) from fault

    def _nothing(self, from_ns: int, to_ns: int) -> OperatorError:
        return OperatorError(
            f"there is no picture of {utc(from_ns)} to {utc(to_ns)}",
            where=str(self._files[0]),
            way_out="Ask for a time while the camera was recorded",
        )


class _Copying:
    """Copies packets into another file, with time stamps from its own start."""

    def __init__(self, container: av.container.OutputContainer, to_ns: int) -> None:
        self._container, self._to_ns = container, to_ns
        self._stream: av.VideoStream | None = None
        self._form: bytes | None = None
        self.span: Span | None = None

    def fits(self, stream: av.VideoStream) -> bool:
        """Whether a source has the same encoding as those before."""
        if self._stream is None:
            self._stream = self._container.add_stream_from_template(stream)
            self._form = stream.codec_context.extradata
        return stream.codec_context.extradata == self._form

    def take(self, packets: Iterable["av.Packet[av.VideoStream]"], start_ns: int) -> None:
        """Copy the packets up to the end."""
        assert self._stream is not None
        for packet in packets:
            if not packet.size or packet.is_corrupt or packet.pts is None or packet.dts is None:
                return
            base = packet.time_base
            if start_ns + presentation_ns(packet.dts, base) > self._to_ns:
                return
            at_ns = start_ns + presentation_ns(packet.pts, base)
            begin_ns = at_ns if self.span is None else self.span.begin_ns
            end_ns = at_ns if self.span is None else max(at_ns, self.span.end_ns)
            self.span = Span(begin_ns, end_ns)
            shift = round(Fraction(begin_ns - start_ns, 1_000_000_000) / base)
            packet.pts, packet.dts = packet.pts - shift, packet.dts - shift
            packet.stream = self._stream
            self._container.mux(packet)


def picture_times(mp4: bytes) -> tuple[int, ...]:
    """Return the presentation time of each picture of an MP4, nanoseconds from its start, in order.

    Raises:
        TechnicianError: it is no video.
    """
    try:
        with av.open(io.BytesIO(mp4), "r") as container:
            stream = container.streams.video[0]
            base = _base(stream)
            stamps = sorted(
                one.pts for one in container.demux(stream) if one.size and one.pts is not None
            )
    except (av.error.FFmpegError, IndexError) as fault:
        raise TechnicianError(
            "the clip cannot be read", where="a clip", way_out="Ask for it again"
        ) from fault
    return tuple(presentation_ns(stamp, base) for stamp in stamps)


def captioned(image: NDArray[np.uint8], text: str) -> NDArray[np.uint8]:
    """Return a BGR picture with a line of text burned into its lower left corner."""
    picture = image.copy()
    scale = max(0.4, picture.shape[0] / 900)
    thick = max(1, round(scale * 1.6))
    (width, height), below = cv2.getTextSize(text, _FONT, scale, thick)
    bottom = picture.shape[0] - 1
    band = height + below + 2 * thick
    cv2.rectangle(picture, (0, bottom - band), (width + 4 * thick, bottom), (0, 0, 0), -1)
    place = (2 * thick, bottom - below - thick)
    cv2.putText(picture, text, place, _FONT, scale, (255, 255, 255), thick, cv2.LINE_AA)
    return picture


def _encodable(image: NDArray[np.uint8], since_ns: int) -> av.VideoFrame:
    frame = av.VideoFrame.from_ndarray(image, format="bgr24")
    frame.pts, frame.time_base = since_ns // 1000, _MICROSECOND
    return frame


def _seek(source: av.container.InputContainer, stream: av.VideoStream, since_ns: int) -> None:
    """Seek to the last key frame at or before an instant, or to the first one."""
    stamp = max(0, since_ns) * _base(stream).denominator
    stamp //= 1_000_000_000 * _base(stream).numerator
    if stream.start_time is not None and stamp > stream.start_time:
        source.seek(stamp, stream=stream)


def _base(stream: av.VideoStream) -> Fraction:
    assert stream.time_base is not None
    return stream.time_base


def _reformed(file: Path) -> OperatorError:
    return OperatorError(
        "the camera's picture format changed within that time",
        where=str(file),
        way_out="Ask for the time before or after, or for a clip with its time burned in",
    )
