"""Live cameras: RTSP, HTTP, USB and files, behind one interface.

Every event of the stream is an observation: lost and returned (by the supervisor), stalled,
damaged, of another size, too fast for its reader, clock reset. Every wait has a time limit.

::

    rtsp://…           RTP time stamps        TCP unless set otherwise
    http://… https://… MJPEG by arrival, anything else by its own time stamps
    /dev/video0        V4L2's time stamps
    any other path     a video file, played at its own pace, its end the end of the camera
"""

import asyncio
import threading
from collections import deque
from collections.abc import Callable, Coroutine, Iterator
from contextlib import AbstractContextManager, nullcontext, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, TypeAlias

import av

from devices.cameras.config import CameraConfig
from devices.cameras.elsewhere import FORMATS, checked_rtsp, http_leads_to
from devices.cameras.file import FileCamera
from devices.cameras.frame import Frame
from devices.cameras.multipart import Parts, is_whole, may_open_multipart
from devices.presence import local_path
from devices.supervisor import SECOND_NS, Report
from models.errors import TechnicianError
from models.events import CameraFault
from stream.clock import Clock
from stream.drift import StreamClock
from stream.replay import Timed, paced

See: TypeAlias = Callable[[Frame], Coroutine[Any, Any, None]]

_NO_CLOCK: Final = frozenset({"mpjpeg", "mjpeg", "image2", "jpeg_pipe"})
"""Formats without time stamps: the demuxer invents them."""
_RAW: Final = "data"
"""The demuxer that gives a stream's bytes as they come."""
_HTTP_OPTIONS: Final = {"max_redirects": "0", "format_whitelist": FORMATS}
_RAW_OPTIONS: Final = {"raw_packet_size": "65536", **_HTTP_OPTIONS}
_MOST_REDIRECTS: Final = 5
"""Redirects of a camera to itself that are followed."""
_WAITING_FRAMES: Final = 30
"""Pictures that may wait for a slow reader; beyond that the oldest are left out. One second at 30
frames per second: well within the time that shoe and plates wait for a camera. Not measured."""
_REPORT_EVERY_NS: Final = SECOND_NS
_LONGEST_PAUSE_NS: Final = SECOND_NS // 5
_LONGEST_END_S: Final = 3.0
"""Seconds that a decoding thread has to end: the default ``stall_ms``, and a second to close."""


class CameraLost(TechnicianError):
    """A camera cannot be opened, or stopped sending pictures."""

    def __init__(self, url: str, cause: str) -> None:
        super().__init__(
            cause,
            where=url,
            way_out="Check the camera, its address and the network; Pitwatch retries",
        )


class _NotOpened(Exception):
    """FFmpeg opened no stream."""

    def __init__(self, cause: Exception) -> None:
        super().__init__(str(cause))
        self.cause = cause


@dataclass(frozen=True, slots=True)
class _Picture:
    decoded: av.VideoFrame
    stamp_ns: int | None
    arrived_ns: int


@dataclass(frozen=True, slots=True)
class _Damage:
    detail: str


@dataclass(frozen=True, slots=True)
class _End:
    cause: str | None
    """Why the camera is lost; ``None`` at the end of a file."""


_Item: TypeAlias = _Picture | Frame | _Damage | _End


class LiveCamera:
    """A camera for the supervisor to keep connected.

    Args:
        source: the source of its observations, such as ``camera:overhead``.
        config: its address and settings.
        clock: the table's time.
        see: receives every picture, numbered from 0 over all of the camera's sessions; while it
            waits, so do the next ones.
    """

    def __init__(self, source: str, config: CameraConfig, clock: Clock, see: See) -> None:
        self.source, self.path = source, local_path(config.url)
        self._config, self._clock, self._see = config, clock, see
        self._frame = 0
        self._size_px: tuple[int, int] | None = None
        self._latest_ns = 0

    def fault(self, kind: str, detail: str, at_ns: int, count: int = 1) -> CameraFault:
        """Return the observation of a fault of the camera itself."""
        return CameraFault(
            source=self.source,
            at=at_ns,
            kind=kind,
            detail=detail,
            frame=max(0, self._frame - 1),
            count=count,
        )

    async def run(self, connected: Callable[[], None], report: Report) -> None:
        """Pass on every picture until a file ends.

        Raises:
            CameraLost: it cannot be opened, stalls, ends, or fails.
        """
        session = _Session(self._config, self._clock, asyncio.get_running_loop())
        stamps = StreamClock(self.source)
        damage = _Damages(session.left_out, self.fault, self._clock, report)
        seen = False
        try:
            while (item := await self._picture(session, damage, seen=seen)) is not None:
                if not seen:
                    seen = True
                    connected()
                await self._show(item, stamps, damage, report)
        finally:
            await session.stop()

    async def _picture(
        self, session: "_Session", damage: "_Damages", *, seen: bool
    ) -> "_Picture | Frame | None":
        """Return the next sound picture, ``None`` at the end of a file.

        Damage is reported and yields no picture: a camera that sends nothing else is lost.
        """
        patience_ms = self._config.stall_ms if seen else self._config.open_ms
        try:
            async with asyncio.timeout(patience_ms / 1000):
                while True:
                    item = await session.next()
                    if isinstance(item, _End):
                        if item.cause is None:
                            return None
                        raise CameraLost(self._config.url, item.cause)
                    if not isinstance(item, _Damage):
                        return item
                    damage.add("damaged", 1, item.detail)
                    damage.report()
        except TimeoutError as late:
            raise _silent(self._config, patience_ms) from late

    async def _show(
        self, item: _Picture | Frame, stamps: StreamClock, damage: "_Damages", report: Report
    ) -> None:
        frame = item if isinstance(item, Frame) else self._timed(item, stamps)
        # After a reconnection the time must not step behind earlier pictures.
        self._latest_ns = at_ns = max(self._latest_ns, frame.at_ns)
        for anchored in stamps.events():
            report(anchored)
        if self._size_px not in (None, frame.size_px):
            detail = f"{self._size_px} pixels became {frame.size_px}: it must be calibrated anew"
            report(self.fault("size_changed", detail, at_ns))
        self._size_px = frame.size_px
        shown = frame.renumbered(self._frame, at_ns)
        self._frame += 1
        seeing = asyncio.create_task(self._see(shown))
        try:
            # Pictures are left out while one takes long: that must not wait for its end.
            while not seeing.done():
                damage.report()
                await asyncio.wait((seeing,), timeout=_REPORT_EVERY_NS / SECOND_NS)
            await seeing
        finally:
            seeing.cancel()

    def _timed(self, picture: _Picture, stamps: StreamClock) -> Frame:
        at_ns = picture.arrived_ns
        if picture.stamp_ns is not None:
            at_ns = stamps.at_ns(picture.stamp_ns, picture.arrived_ns)
        return Frame(self._frame, at_ns, picture.decoded)


class _Damages:
    """Counts damaged and left out pictures; reports each kind at most once a second.

    Args:
        left_out: returns the number of pictures left out since the last call.
        fault: returns the observation of a fault.
        clock: the table's time.
        report: receives the faults.
    """

    def __init__(
        self,
        left_out: Callable[[], int],
        fault: Callable[[str, str, int, int], CameraFault],
        clock: Clock,
        report: Report,
    ) -> None:
        self._left_out, self._fault, self._clock, self._report = left_out, fault, clock, report
        self._waiting: dict[str, tuple[int, str]] = {}
        self._reported_ns: dict[str, int] = {}

    def report(self) -> None:
        """Report the faults that are due."""
        if left_out := self._left_out():
            self.add("left_out", left_out, "pictures arrived faster than they were read")
        now_ns = self._clock.now_ns()
        for kind, (number, detail) in [*self._waiting.items()]:
            if now_ns - self._reported_ns.get(kind, -_REPORT_EVERY_NS) >= _REPORT_EVERY_NS:
                del self._waiting[kind]
                self._reported_ns[kind] = now_ns
                self._report(self._fault(kind, detail, now_ns, number))

    def add(self, kind: str, number: int, detail: str) -> None:
        """Add to the number of a kind."""
        self._waiting[kind] = (self._waiting.get(kind, (0, ""))[0] + number, detail)


class _Session:
    """One opening of a camera: a decoding thread, and a bounded queue."""

    def __init__(self, config: CameraConfig, clock: Clock, loop: asyncio.AbstractEventLoop) -> None:
        self._config, self._clock, self._loop = config, clock, loop
        self._items: deque[_Item] = deque()
        self._left_out = 0
        self._lock = threading.Lock()
        self._news = asyncio.Event()
        self._stopped = threading.Event()
        self._ended = asyncio.Event()
        self._begun_ns: int | None = None
        self._url = config.url
        # A driver may hang in the kernel: such a thread must not block the exit.
        threading.Thread(target=self._read, name=config.url, daemon=True).start()

    async def next(self) -> _Item:
        """Return the next item."""
        while True:
            with self._lock:
                if self._items:
                    return self._items.popleft()
                self._news.clear()
            await self._news.wait()

    def left_out(self) -> int:
        """Return the number of pictures left out since the last call."""
        with self._lock:
            number, self._left_out = self._left_out, 0
        return number

    async def stop(self) -> None:
        """Stop the thread at its next packet or at its own time-out, and wait for its end.

        A process that exits beneath a decoder crashes. A thread that waits for longer, for a silent
        camera or in the kernel, is left: the program ends without Python's teardown then.
        """
        self._stopped.set()
        with suppress(TimeoutError):
            async with asyncio.timeout(_LONGEST_END_S):
                await self._ended.wait()

    def _put(self, item: _Item) -> None:
        if self._stopped.is_set():
            return
        with self._lock:
            if len(self._items) >= _WAITING_FRAMES and not isinstance(item, _End):
                self._items.popleft()
                self._left_out += 1
            self._items.append(item)
        self._notify(self._news)

    def _notify(self, event: asyncio.Event) -> None:
        try:
            self._loop.call_soon_threadsafe(event.set)
        except RuntimeError:  # the table stopped and closed its loop
            self._stopped.set()

    def _read(self) -> None:
        self._put(_End(self._read_to_end()))
        self._notify(self._ended)

    def _read_to_end(self) -> str | None:
        """Read until the source or the session ends; return why, ``None`` at the end of a file."""
        try:
            if self._config.kind == "file":
                self._play()
                return None
            self._receive()
        except TechnicianError as fault:
            return fault.what
        except (OSError, av.error.FFmpegError, ValueError) as fault:
            return (getattr(fault, "strerror", None) or str(fault)).lower()
        return "the stream ended"

    def _play(self) -> None:
        camera = FileCamera(Path(self._config.url), self._clock.now_ns())
        pictures = (Timed(frame.at_ns, self._config.url, frame) for frame in camera.frames())
        for timed in paced(pictures, self._clock):
            if self._stopped.is_set():
                return
            self._put(timed.value)

    def _receive(self) -> None:
        for _ in range(_MOST_REDIRECTS):
            try:
                self._receive_here()
            except _NotOpened as fault:
                leads_to = self._leads_to()
                if leads_to is None:
                    raise fault.cause from fault
                self._url = leads_to
            else:
                return
        raise CameraLost(self._config.url, "it redirects without end")

    def _asked_first(self) -> AbstractContextManager[None]:
        is_rtsp = self._config.kind == "rtsp"
        return checked_rtsp(self._url, self._config.open_ms / 1000) if is_rtsp else nullcontext()

    def _leads_to(self) -> str | None:
        if self._config.kind != "http":
            return None
        return http_leads_to(self._url, self._config.open_ms / 1000)

    def _receive_here(self) -> None:
        if self._config.kind == "http" and self._receive_opened(_RAW, _RAW_OPTIONS, self._parted):
            return
        self._receive_opened(_format(self._config), _options(self._config), self._receive_from)

    def _receive_opened(
        self,
        form: str | None,
        options: dict[str, str],
        receive: Callable[[av.container.InputContainer], bool],
    ) -> bool:
        """Open the camera and receive from it; return what ``receive`` does."""
        config = self._config
        patience_ms = config.open_ms
        timeout_s = (config.open_ms / 1000, config.stall_ms / 1000)
        try:
            try:
                with self._asked_first():
                    container = av.open(self._url, format=form, options=options, timeout=timeout_s)
            except av.error.ExitError:
                raise
            except (OSError, av.error.FFmpegError, ValueError) as fault:
                raise _NotOpened(fault) from fault
            with container:
                patience_ms = config.stall_ms
                return receive(container)
        except av.error.ExitError as late:  # the decoder's own time-out came before the table's
            raise _silent(config, patience_ms) from late

    def _parted(self, container: av.container.InputContainer) -> bool:
        """Receive JPEGs in parts; return ``False``, having shown none, where it is another stream.

        FFmpeg itself believes a part's stated length, and gives up where that is wrong.
        """
        parts, decoder = Parts(), _jpeg_decoder()
        begin: bytes | None = b""
        for packet in container.demux():
            if self._stopped.is_set():
                return True
            if begin is not None:
                begin += bytes(packet)
                is_parted = may_open_multipart(begin)
                if is_parted is False:
                    return False
                if is_parted is None:
                    continue
            data, begin = bytes(packet) if begin is None else begin, None
            for jpeg in parts.feed(data):
                self._put(self._decoded_jpeg(decoder, jpeg))
        return begin is None

    def _decoded_jpeg(self, decoder: av.VideoCodecContext, jpeg: bytes) -> _Item:
        if not is_whole(jpeg):
            return _Damage("a picture is cut short")
        try:
            (decoded,) = decoder.decode(av.Packet(jpeg))
        except (av.error.FFmpegError, ValueError):
            return _Damage("a picture cannot be decoded")
        return _Picture(decoded, None, self._clock.now_ns())

    def _receive_from(self, container: av.container.InputContainer) -> bool:
        if not container.streams.video:
            raise CameraLost(self._config.url, "it holds no picture")
        stream = container.streams.video[0]
        stream.codec_context.options = {"err_detect": "explode"}
        own_clock = _has_clock(self._config, container.format.name)
        for item in _decoded(container, stream):
            if self._stopped.is_set():
                break
            self._put(item if isinstance(item, _Damage) else self._arrived(item, own_clock))
        return True

    def _arrived(self, decoded: av.VideoFrame, own_clock: bool) -> _Picture:
        stamp_ns = _stamp_ns(decoded) if own_clock else None
        if stamp_ns is not None and self._config.kind == "http":
            self._hold(stamp_ns)
        return _Picture(decoded, stamp_ns, self._clock.now_ns())

    def _hold(self, stamp_ns: int) -> None:
        """Read no faster than real time: a server may send as fast as it can."""
        now_ns = self._clock.now_ns()
        if self._begun_ns is None:
            self._begun_ns = now_ns - stamp_ns
        self._clock.wait_until(min(self._begun_ns + stamp_ns, now_ns + _LONGEST_PAUSE_NS))


def _jpeg_decoder() -> av.VideoCodecContext:
    decoder = av.CodecContext.create("mjpeg", "r")
    decoder.options = {"err_detect": "explode"}
    return decoder


def _decoded(
    container: av.container.InputContainer, stream: av.VideoStream
) -> Iterator[av.VideoFrame | _Damage]:
    """Yield sound pictures; after damage, resume at the next key frame."""
    whole = True
    for packet in container.demux(stream):
        try:
            frames = [] if packet.is_corrupt else packet.decode()
            damage = "a packet is damaged" if packet.is_corrupt else None
        except av.error.InvalidDataError:
            frames, damage = [], "a packet cannot be decoded"
        if damage:
            whole = False
            yield _Damage(damage)
        for frame in frames:
            whole = (whole or frame.key_frame) and not frame.is_corrupt
            if whole:
                yield frame
            else:
                yield _Damage("a picture rests on a damaged one")


def _silent(config: CameraConfig, patience_ms: int) -> CameraLost:
    return CameraLost(config.url, f"no picture for {patience_ms} ms")


def _has_clock(config: CameraConfig, form: str) -> bool:
    if config.stamps == "auto":
        return not _NO_CLOCK.intersection(form.split(","))
    return config.stamps == "stream"


def _stamp_ns(decoded: av.VideoFrame) -> int | None:
    if decoded.pts is None or decoded.time_base is None:
        return None
    base = decoded.time_base
    return decoded.pts * base.numerator * SECOND_NS // base.denominator


def _format(config: CameraConfig) -> str | None:
    return "v4l2" if config.kind == "usb" else None


def _options(config: CameraConfig) -> dict[str, str]:
    if config.kind == "rtsp":
        return {
            "rtsp_transport": config.transport,
            "fflags": "nobuffer",
            "format_whitelist": FORMATS,
        }
    if config.kind == "usb":
        asked = {"video_size": config.size, "framerate": config.fps}
        return {name: str(value) for name, value in asked.items() if value is not None}
    return dict(_HTTP_OPTIONS)
