"""Cameras on real streams: what they show, and what is reported when the stream fails."""

import asyncio
import signal
import threading
import time
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import pytest

from devices.cameras.config import CameraConfig
from devices.cameras.frame import Frame
from devices.cameras.writer import VideoWriter
from models.events import CameraFault, ClockAnchored, Observation
from tests.devices.camera_servers import (
    GAP_S,
    SIZE,
    cable,
    http_camera,
    mjpeg,
    mjpeg_part,
    picture,
    rtsp_camera,
    rtsp_lacks,
    transport_stream,
)
from tests.devices.live import LiveTable, summarised

SECOND = 1_000_000_000
Watch = Callable[[LiveTable], Awaitable[None]]

needs_rtsp = pytest.mark.skipif(rtsp_lacks() is not None, reason=f"no {rtsp_lacks()}")


def watched(
    url: object, watch: Watch, table: LiveTable | None = None, **settings: Any
) -> LiveTable:
    """Watch a camera while ``watch`` runs; return all that was seen and reported."""
    table = table or LiveTable()

    async def run() -> LiveTable:
        table.keep([table.camera(url, **settings)])
        await watch(table)
        await table.leave()
        return table

    return asyncio.run(run())


def seen(count: int) -> Watch:
    """Watch until so many pictures were seen."""

    async def watch(table: LiveTable) -> None:
        await table.until(lambda: len(table.frames) >= count)

    return watch


def until_all(*kinds: str) -> Watch:
    """Watch until all of this was reported, in this order."""

    async def watch(table: LiveTable) -> None:
        await table.until_reported("camera:overhead", *kinds)

    return watch


def faults(observations: list[Observation]) -> list[str]:
    """What was reported, but for clocks that were set."""
    return summarised(each for each in observations if not isinstance(each, ClockAnchored))


def keep_the_contract(frames: list[Frame]) -> None:
    """What every camera gives, whatever it is."""
    instants = [frame.at_ns for frame in frames]
    assert instants == sorted(instants)
    assert [frame.index for frame in frames] == list(range(len(frames)))
    assert all(frame.gray.shape == frame.size_px[::-1] for frame in frames)
    assert all(frame.image.shape == (*frame.size_px[::-1], 3) for frame in frames)


def file_url(folder: Path) -> str:
    path = folder / "table.mp4"
    with VideoWriter(path, fps=30, size_px=SIZE) as writer:
        for number in range(40):
            writer.write(np.asarray(picture(number), np.uint8))
    return str(path)


def test_a_file_is_a_camera_that_ends(tmp_path: Path) -> None:
    begun = time.monotonic()
    table = watched(file_url(tmp_path), seen(40))
    assert 1.0 <= time.monotonic() - begun < 20
    keep_the_contract(table.frames)
    assert table.reported == []
    gaps = {b.at_ns - a.at_ns for a, b in zip(table.frames, table.frames[1:], strict=False)}
    assert max(gaps) - min(gaps) <= 1


def test_mjpeg_over_http_is_timed_by_its_arrival() -> None:
    with http_camera(lambda: mjpeg(30)) as camera:
        begun_ns = time.time_ns()
        table = watched(camera.url, seen(25))
    keep_the_contract(table.frames)
    assert all(begun_ns <= frame.at_ns <= time.time_ns() for frame in table.frames)
    assert cv2.absdiff(table.frames[0].image, np.asarray(picture(0), np.uint8)).mean() < 6
    assert not any(isinstance(each, ClockAnchored) for each in table.reported)


def test_a_transport_stream_over_http_is_timed_by_its_own_stamps(tmp_path: Path) -> None:
    stream = transport_stream(tmp_path / "table.ts", 45)
    with http_camera(lambda: iter([stream]), "video/mp2t") as camera:
        table = watched(camera.url, seen(40))
    keep_the_contract(table.frames)
    anchored = table.reported[0]
    assert isinstance(anchored, ClockAnchored)
    assert anchored.source == "camera:overhead"
    taken_ns = table.frames[39].at_ns - table.frames[4].at_ns
    assert abs(taken_ns - 35 * SECOND / 30) < 0.1 * SECOND


@pytest.mark.slow
@needs_rtsp
def test_rtsp_is_timed_by_its_own_stamps() -> None:
    with rtsp_camera() as camera:
        table = watched(camera.url, seen(60))
    keep_the_contract(table.frames)
    assert table.frames[0].size_px == SIZE
    assert isinstance(table.reported[0], ClockAnchored)
    gaps = [b.at_ns - a.at_ns for a, b in zip(table.frames, table.frames[1:], strict=False)]
    assert abs(float(np.median(gaps)) - SECOND / 30) < 2_000_000


@pytest.mark.slow
@needs_rtsp
def test_an_rtsp_camera_that_freezes_goes_and_comes_back_is_reported(tmp_path: Path) -> None:
    with rtsp_camera() as camera:

        async def watch(table: LiveTable) -> None:
            await seen(10)(table)
            camera.process.send_signal(signal.SIGSTOP)
            await until_all("link_lost")(table)
            camera.process.send_signal(signal.SIGCONT)
            await until_all("link_lost", "returned")(table)
            camera.off()
            await until_all("link_lost", "returned", "link_lost")(table)
            camera.on((160, 120))
            await until_all("link_lost", "returned", "link_lost", "returned", "size_changed")(table)

        table = watched(camera.url, watch, stall_ms=700, open_ms=5000)
    keep_the_contract(table.frames)
    lost = next(each for each in table.reported if isinstance(each, CameraFault))
    assert lost.detail.startswith(camera.url)
    assert table.frames[-1].size_px == (160, 120)


def test_a_stream_that_ends_is_lost_and_tried_again() -> None:
    with http_camera(lambda: mjpeg(5)) as camera:
        table = watched(camera.url, until_all("link_lost", "returned", "link_lost", "returned"))
    keep_the_contract(table.frames)
    lost = next(each for each in table.reported if isinstance(each, CameraFault))
    assert lost.detail.startswith(f"{camera.url}: ")


def test_a_stream_that_stalls_is_lost_in_its_time() -> None:
    def stalling() -> Iterator[bytes]:
        yield from mjpeg(5)
        time.sleep(3)

    with http_camera(stalling) as camera:
        begun = time.monotonic()
        table = watched(camera.url, until_all("link_lost"), stall_ms=400)
    assert time.monotonic() - begun < 3
    (lost,) = (each for each in table.reported if isinstance(each, CameraFault))
    assert lost.kind == "link_lost"
    assert lost.frame == len(table.frames) - 1


class SlowTable(LiveTable):
    """A table that takes long over its third picture: the decoder's time-out comes first."""

    async def see(self, frame: Frame) -> None:
        await super().see(frame)
        if len(self.frames) == 3:
            time.sleep(1.5)


def test_a_stall_is_reported_once_by_the_first_to_notice_it() -> None:
    def stalling() -> Iterator[bytes]:
        yield from mjpeg(5)
        time.sleep(3)

    with http_camera(stalling) as camera:
        table = watched(camera.url, until_all("link_lost"), SlowTable(), stall_ms=400)
    lost = next(each for each in table.reported if isinstance(each, CameraFault))
    assert lost.detail == f"{camera.url}: no picture for 400 ms"


STALL_MS = 600


def cut_and_mended(url: str) -> LiveTable:
    """Watch a camera whose cable is cut silently, and mended when the loss was reported."""
    with cable(url) as (laid, near):

        async def watch(table: LiveTable) -> None:
            await seen(10)(table)
            laid.cut()
            await until_all("link_lost")(table)
            laid.mend()
            shown = len(table.frames)
            await table.until(lambda: len(table.frames) >= shown + 10)

        return watched(near, watch, stall_ms=STALL_MS, open_ms=5000)


def noticed_in_its_time(table: LiveTable) -> None:
    keep_the_contract(table.frames)
    lost = next(each for each in table.reported if isinstance(each, CameraFault))
    assert f"no picture for {STALL_MS} ms" in lost.detail
    silent_ns = (lost.at or 0) - table.frames[lost.frame].at_ns
    assert STALL_MS - 150 <= silent_ns / 1e6 <= STALL_MS + 1500


def test_a_camera_that_vanishes_without_ending_its_connection_is_noticed_in_its_time() -> None:
    with http_camera(lambda: mjpeg(300)) as camera:
        noticed_in_its_time(cut_and_mended(camera.url))


@pytest.mark.slow
@needs_rtsp
def test_an_rtsp_camera_that_vanishes_without_a_word_is_noticed_in_its_time() -> None:
    with rtsp_camera() as camera:
        noticed_in_its_time(cut_and_mended(camera.url))


def test_a_silent_camera_is_reported_and_not_waited_for() -> None:
    def silent() -> Iterator[bytes]:
        time.sleep(5)
        yield b""

    with http_camera(silent) as camera:
        begun = time.monotonic()
        table = watched(camera.url, until_all("link_lost"), open_ms=400)
    assert time.monotonic() - begun < 4
    assert table.frames == []


@pytest.mark.parametrize(
    "url",
    [
        pytest.param("http://127.0.0.1:9/table", id="http-nobody-listens"),
        pytest.param("rtsp://127.0.0.1:9/table", id="rtsp-nobody-listens"),
        pytest.param("/dev/video97", id="usb-not-plugged-in"),
        pytest.param("/no/such/file.mp4", id="no-file"),
    ],
)
def test_a_missing_camera_is_reported_with_its_address(url: str) -> None:
    table = watched(url, until_all("link_lost"))
    lost = table.reported[0]
    assert isinstance(lost, CameraFault)
    assert lost.detail.startswith(f"{url}: ")
    assert (lost.frame, table.frames) == (0, [])


def test_a_page_that_is_no_stream_is_reported() -> None:
    with http_camera(lambda: iter([b"<html>log in</html>" * 50]), "text/html") as camera:
        table = watched(camera.url, until_all("link_lost"))
    assert table.frames == []


def test_a_change_of_size_is_reported_and_the_pictures_go_on() -> None:
    def changing() -> Iterator[bytes]:
        yield from mjpeg(6)
        yield from mjpeg(30, (160, 120))

    with http_camera(changing) as camera:
        table = watched(camera.url, until_all("size_changed"))
    keep_the_contract(table.frames)
    assert {frame.size_px for frame in table.frames} == {SIZE, (160, 120)}
    changed = next(each for each in table.reported if isinstance(each, CameraFault))
    assert changed.detail.startswith("(320, 240) pixels became (160, 120)")


def test_damaged_packets_are_reported_and_no_picture_based_on_them_is_shown(
    tmp_path: Path,
) -> None:
    stream = bytearray(transport_stream(tmp_path / "table.ts", 60))
    sound = watched_frames(bytes(stream))
    for place in range(len(stream) // 2, len(stream) // 2 + 6 * 188, 188):
        stream[place + 20 : place + 180] = bytes(160)
    table = damaged_table(bytes(stream))
    keep_the_contract(table.frames)
    assert "damaged" in faults(table.reported)
    assert 15 < len(table.frames) < 60
    shown = [frame.gray.copy() for frame in table.frames]
    assert all(any(np.array_equal(gray, whole) for whole in sound) for gray in shown)


def watched_frames(stream: bytes) -> "list[np.ndarray[tuple[int, ...], np.dtype[np.uint8]]]":
    return [frame.gray.copy() for frame in damaged_table(stream).frames]


def damaged_table(stream: bytes) -> LiveTable:
    """Watch a stream once, to its end."""
    with http_camera(lambda: iter([stream]), "video/mp2t") as camera:

        async def watch(table: LiveTable) -> None:
            await until_all("link_lost")(table)

        return watched(camera.url, watch)


def test_damaged_jpegs_are_reported_and_the_stream_goes_on() -> None:
    def damaged() -> Iterator[bytes]:
        for number in range(60):
            part = mjpeg_part(number)
            yield part[:300] + bytes(80) + part[380:] if number % 5 == 3 else part
            time.sleep(GAP_S / 4)

    with http_camera(damaged) as camera:
        table = watched(camera.url, seen(30))
    keep_the_contract(table.frames)


@pytest.mark.parametrize("stated", [17, 900, 5_000, 999_999_999])
def test_a_wrong_length_costs_no_picture_and_no_connection(stated: int) -> None:
    """FFmpeg believes the length of a part, and ends where it is wrong."""

    def wrong() -> Iterator[bytes]:
        for number in range(30):
            part = mjpeg_part(number)
            head, _, jpeg = part.partition(b"\r\n\r\n")
            if number % 3 == 1:
                head = head.rpartition(b" ")[0] + f" {stated}".encode()
            yield head + b"\r\n\r\n" + jpeg
            time.sleep(GAP_S)

    with http_camera(wrong) as camera:
        table = watched(camera.url, seen(29))
    keep_the_contract(table.frames)
    assert faults(table.reported) == []
    for number, frame in enumerate(table.frames):
        assert cv2.absdiff(frame.image, np.asarray(picture(number), np.uint8)).mean() < 6


def test_a_camera_that_sends_nothing_but_damage_is_lost() -> None:
    def damaged() -> Iterator[bytes]:
        yield mjpeg_part(0)
        for _ in range(200):
            yield mjpeg_part(1)[:-600] + bytes(598) + b"\r\n"
            time.sleep(GAP_S)

    with http_camera(damaged) as camera:
        table = watched(camera.url, until_all("link_lost"), stall_ms=500)
    assert faults(table.reported)[-1] == "link_lost"
    assert len(table.frames) <= 1


def test_pictures_left_out_by_a_slow_reader_are_reported() -> None:
    async def run() -> LiveTable:
        table = LiveTable()
        table.keep([table.camera(camera.url)])
        await seen(3)(table)
        time.sleep(0.7)
        await until_all("left_out")(table)
        await table.leave()
        return table

    with http_camera(lambda: mjpeg(4_000, gap_s=0.005)) as camera:
        table = asyncio.run(run())
    keep_the_contract(table.frames)


class Crowded(LiveTable):
    """A table that reads ten pictures a second."""

    async def see(self, frame: Frame) -> None:
        await super().see(frame)
        await asyncio.sleep(0.1)


def test_of_a_slow_reader_every_picture_is_read_or_counted() -> None:
    """Those left out have no number: what is read is numbered as it is recorded."""
    sent = 150
    with http_camera(lambda: mjpeg(sent, gap_s=0.02)) as camera:
        table = watched(camera.url, until_all("link_lost"), Crowded())
    keep_the_contract(table.frames)
    left_out = [one for one in table.reported if isinstance(one, CameraFault)]
    counted = sum(one.count for one in left_out if one.kind == "left_out")
    assert counted > 50
    assert len(table.frames) + counted == sent


class Stuck(LiveTable):
    """A table whose machine takes two seconds over its third picture."""

    is_read = False

    async def see(self, frame: Frame) -> None:
        await super().see(frame)
        if len(self.frames) == 3:
            await asyncio.sleep(2.0)
            self.is_read = True


def test_pictures_left_out_are_reported_while_one_is_read() -> None:
    table = Stuck()

    async def watch(_: LiveTable) -> None:
        await until_all("left_out")(table)
        assert not table.is_read

    with http_camera(lambda: mjpeg(400, gap_s=0.01)) as camera:
        watched(camera.url, watch, table)


def test_what_a_camera_is_stands_in_its_address() -> None:
    kinds = {
        "rtsp://10.0.0.7/stream1": "rtsp",
        "RTSPS://cam/1": "rtsp",
        "http://cam/video.mjpg": "http",
        "https://cam/live.m3u8": "http",
        "/dev/video0": "usb",
        "evening/overhead.mp4": "file",
    }
    assert {url: CameraConfig(url=url).kind for url in kinds} == kinds


def test_a_stopped_camera_leaves_no_decoder_behind() -> None:
    """A process that exits beneath a decoder crashes."""

    def silent() -> Iterator[bytes]:
        yield from mjpeg(5)
        time.sleep(2)

    async def run() -> list[threading.Thread]:
        table = LiveTable()
        table.keep([table.camera(camera.url), table.camera(still.url, stall_ms=1000)])
        await seen(10)(table)
        await table.leave()
        return [one for one in threading.enumerate() if one.name in (camera.url, still.url)]

    with http_camera(lambda: mjpeg(1000)) as camera, http_camera(silent) as still:
        left = asyncio.run(run())
        for thread in left:
            # A busy machine may not have run its last lines yet.
            thread.join(1)
        assert not any(thread.is_alive() for thread in left)
