import resource
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from fractions import Fraction
from pathlib import Path

import av
import cv2
import numpy as np
import pytest
from numpy.typing import NDArray

from devices.cameras.file import FileCamera
from devices.cameras.frame import Frame
from devices.cameras.writer import VideoWriter
from models.errors import OperatorError, TechnicianError

SIZE = (320, 180)
START = 1_700_000_000_123_456_789


def picture(index: int) -> NDArray[np.uint8]:
    """A picture that no other index has: blocks of colour that wander."""
    blocks = np.random.default_rng(0).integers(30, 220, (9, 16, 3), np.uint8)
    return np.asarray(cv2.resize(np.roll(blocks, index, 1), SIZE), np.uint8)


def written(path: Path, *, count: int = 40, fps: float | Fraction = 15, crf: int = 20) -> Path:
    with VideoWriter(path, fps=fps, size_px=SIZE, crf=crf) as writer:
        for index in range(count):
            writer.write(picture(index))
    return path


def header_first(source: Path, target: Path) -> Path:
    """The same video with its header before its frames, as recorders write it."""
    with av.open(str(source)) as old:
        stream = old.streams.video[0]
        with av.open(str(target), "w", options={"movflags": "faststart"}) as new:
            copy = new.add_stream_from_template(stream)
            for packet in old.demux(stream):
                if packet.dts is not None:
                    packet.stream = copy
                    new.mux(packet)
    return target


def refusal(path: Path) -> str:
    with pytest.raises(TechnicianError) as refused:
        list(FileCamera(path, START).frames())
    line = str(refused.value)
    assert "\n" not in line
    assert str(path) in line
    return line


@pytest.mark.parametrize("fps", [15, 25, 30, 29.97, Fraction(30000, 1001), 12.5])
def test_a_frame_is_taken_at_the_start_plus_its_exact_time(
    tmp_path: Path, fps: float | Fraction
) -> None:
    frames = list(FileCamera(written(tmp_path / "v.mp4", fps=fps), START).frames())
    rate = Fraction(fps).limit_denominator(1001)
    due = [START + round(index * 1_000_000_000 / rate) for index in range(40)]
    assert [frame.at_ns for frame in frames] == due
    assert [frame.index for frame in frames] == list(range(40))


def test_pictures_come_back_in_order_and_look_the_same(tmp_path: Path) -> None:
    for frame in FileCamera(written(tmp_path / "v.mp4", crf=10), START).frames():
        apart = cv2.absdiff(frame.image, picture(frame.index))
        assert frame.image.shape == (180, 320, 3)
        assert apart.mean() < 4


def test_gray_is_the_recorded_luma(tmp_path: Path) -> None:
    frame = first(written(tmp_path / "v.mp4", crf=10))
    due = cv2.cvtColor(picture(0), cv2.COLOR_BGR2YUV_I420)[:180]
    assert frame.gray.shape == (180, 320)
    assert cv2.absdiff(frame.gray, due.astype(np.uint8)).mean() < 2


def test_gray_outlives_the_camera(tmp_path: Path) -> None:
    path = written(tmp_path / "v.mp4")
    grays = [frame.gray for frame in FileCamera(path, START).frames()]
    again = [frame.gray.copy() for frame in FileCamera(path, START).frames()]
    assert all(np.array_equal(one, other) for one, other in zip(grays, again, strict=True))


def first(path: Path) -> Frame:
    return next(iter(FileCamera(path, START).frames()))


def test_a_camera_knows_its_frames_before_it_decodes_any(tmp_path: Path) -> None:
    assert FileCamera(written(tmp_path / "v.mp4", count=23), START).frame_count == 23


@pytest.mark.parametrize(
    ("content", "why"),
    [
        pytest.param(lambda whole: whole[: len(whole) // 2], "header is cut off", id="cut"),
        pytest.param(lambda whole: b"", "header is cut off", id="empty-file"),
        pytest.param(lambda whole: b"no video at all\n" * 99, "it is no video", id="text"),
    ],
)
def test_what_is_no_video_is_refused_at_once(
    tmp_path: Path, content: Callable[[bytes], bytes], why: str
) -> None:
    path = tmp_path / "v.mp4"
    path.write_bytes(content(written(tmp_path / "whole.mp4").read_bytes()))
    assert why in refusal(path)


def test_a_missing_file_is_refused(tmp_path: Path) -> None:
    assert "there is no such file" in refusal(tmp_path / "none.mp4")


def test_a_video_of_no_frames_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "v.mp4"
    with VideoWriter(path, fps=15, size_px=SIZE):
        pass
    assert str(path) in refusal(path)


@pytest.mark.parametrize("share", [0.3, 0.6, 0.9, 0.999])
def test_a_video_shorter_than_its_header_yields_no_frame(tmp_path: Path, share: float) -> None:
    whole = header_first(written(tmp_path / "v.mp4"), tmp_path / "first.mp4").read_bytes()
    path = tmp_path / "cut.mp4"
    path.write_bytes(whole[: int(len(whole) * share)])
    with pytest.raises(TechnicianError, match=r"cut short or damaged: \d+ of 40 frames"):
        FileCamera(path, START)


@pytest.mark.parametrize("seed", range(8))
def test_damage_among_the_frames_is_never_taken_for_a_shorter_video(
    tmp_path: Path, seed: int
) -> None:
    whole = bytearray(header_first(written(tmp_path / "v.mp4"), tmp_path / "f.mp4").read_bytes())
    start = whole.index(b"mdat") + 1500
    for at in np.random.default_rng(seed).integers(start, len(whole) - 40, 3):
        whole[at : at + 40] = bytes(40)
    path = tmp_path / "damaged.mp4"
    path.write_bytes(whole)
    sound = [frame.gray.copy() for frame in FileCamera(tmp_path / "f.mp4", START).frames()]
    seen: list[NDArray[np.uint8]] = []
    with pytest.raises(TechnicianError, match="cut short or damaged"):
        seen.extend(frame.gray.copy() for frame in FileCamera(path, START).frames())
    assert len(seen) < len(sound)


def interrupted(path: Path) -> None:
    with VideoWriter(path, fps=15, size_px=SIZE) as writer:
        writer.write(picture(0))
        raise KeyboardInterrupt


def test_a_video_that_fails_leaves_nothing_behind(tmp_path: Path) -> None:
    with pytest.raises(KeyboardInterrupt):
        interrupted(tmp_path / "v.mp4")
    assert list(tmp_path.iterdir()) == []


@contextmanager
def disk_with_room_for(size: int) -> Iterator[None]:
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def test_a_full_disk_is_reported_and_leaves_nothing_behind(tmp_path: Path) -> None:
    with (
        pytest.raises(TechnicianError, match=r"cannot be written .*has space"),
        disk_with_room_for(20_000),
    ):
        written(tmp_path / "v.mp4", crf=0)
    assert list(tmp_path.iterdir()) == []


def test_a_video_appears_only_when_it_is_whole(tmp_path: Path) -> None:
    path = tmp_path / "v.mp4"
    with VideoWriter(path, fps=15, size_px=SIZE) as writer:
        writer.write(picture(0))
        assert not path.exists()
    assert [entry.name for entry in tmp_path.iterdir()] == ["v.mp4"]


def test_a_frame_of_another_size_is_refused(tmp_path: Path) -> None:
    with (
        pytest.raises(ValueError, match="a frame of 320 x 180"),
        VideoWriter(tmp_path / "v.mp4", fps=15, size_px=(640, 360)) as writer,
    ):
        writer.write(picture(0))


@pytest.mark.parametrize("size", [(321, 180), (320, 181), (8, 8)])
def test_sizes_that_h264_cannot_carry_are_refused(tmp_path: Path, size: tuple[int, int]) -> None:
    with pytest.raises(OperatorError, match="even width and height"):
        VideoWriter(tmp_path / "v.mp4", fps=15, size_px=size)


def test_a_folder_that_is_not_there_is_named(tmp_path: Path) -> None:
    with (
        pytest.raises(TechnicianError, match="cannot be written"),
        VideoWriter(tmp_path / "none" / "v.mp4", fps=15, size_px=SIZE),
    ):
        pytest.fail("the folder does not exist")


def test_the_same_pictures_give_the_same_file(tmp_path: Path) -> None:
    one, other = written(tmp_path / "a.mp4"), written(tmp_path / "b.mp4")
    assert one.read_bytes() == other.read_bytes()
