"""Moments and spans found in a recording: right picture, right time, no play from the beginning."""

import io
import os
import signal
import time
from pathlib import Path

import av
import cv2
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace
from numpy.typing import NDArray

from devices.cameras.file import FileCamera
from devices.cameras.footage import captioned
from models.errors import OperatorError, TechnicianError
from server.archive.clips import Clip, Clips
from server.table.config import Recorder
from server.table.recorder import Film
from stream.clock import utc
from stream.recording import read_description, video_files
from tests.server.filmed import FPS, SIZE, START_NS, at, described, film, number_in, session, shot
from tests.thoroughness import examples

PICTURES = 130
SEGMENT_S = 4.0
"""Four segments: 0 to 39, 40 to 79, 80 to 119, 120 to 129."""
S = 1_000_000_000


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("filmed")
    described(place, session())
    film(place, range(PICTURES), segment_s=SEGMENT_S)
    return place


def pictures(clip: Clip) -> list[tuple[int, int]]:
    """The number that each picture of a clip bears, and the table's time it is shown for."""
    return [
        (number_in(bgr(frame)), clip.span.begin_ns + round(1_000_000_000 * (frame.time or 0)))
        for frame in decoded(clip)
    ]


def decoded(clip: Clip) -> list[av.VideoFrame]:
    with av.open(io.BytesIO(clip.mp4), "r") as container:
        return [*container.decode(video=0)]


def bgr(frame: av.VideoFrame) -> NDArray[np.uint8]:
    return np.asarray(frame.to_ndarray(format="bgr24"), np.uint8)


def jpeg_image(data: bytes) -> NDArray[np.uint8]:
    return np.asarray(cv2.imdecode(np.frombuffer(data, np.uint8), cv2.IMREAD_COLOR), np.uint8)


def test_a_recording_lies_in_segments_and_is_played_as_one(folder: Path) -> None:
    (camera,) = read_description(folder).cameras
    files = video_files(folder, camera)
    assert [file.name for file in files] == [
        "overhead.mp4",
        "overhead+0001.mp4",
        "overhead+0002.mp4",
        "overhead+0003.mp4",
    ]
    first, *later = files
    played = [
        (frame.index, number_in(frame.image), frame.at_ns)
        for frame in FileCamera(first, START_NS, later).frames()
    ]
    assert played == [(number, number, at(number)) for number in range(PICTURES)]


@settings(max_examples=examples(40), deadline=None)
@given(since_ms=st.integers(500, 500 + PICTURES * 1000 // FPS - 1))
def test_the_picture_of_a_moment_is_the_latest_that_was_taken(folder: Path, since_ms: int) -> None:
    frame = Clips(folder).frame_at(START_NS + since_ms * 1_000_000)
    due = (since_ms - 500) * FPS // 1000
    assert (number_in(frame.image), frame.at_ns) == (due, at(due))


@pytest.mark.parametrize("number", [0, 39, 40, 79, 80, 119, 120, 129])
def test_at_the_seams_of_segments_no_picture_is_missed(folder: Path, number: int) -> None:
    assert number_in(Clips(folder).frame_at(at(number)).image) == number


@pytest.mark.parametrize("when_ns", [START_NS, at(0) - 1, at(PICTURES) + 2 * S])
def test_a_moment_without_a_picture_is_refused(folder: Path, when_ns: int) -> None:
    with pytest.raises(OperatorError, match="there is no picture of"):
        Clips(folder).frame_at(when_ns)


@pytest.mark.parametrize(("first", "last"), [(25, 31), (35, 45), (0, 129), (60, 125)])
def test_a_clip_holds_every_picture_of_its_span_at_its_own_time(
    folder: Path, first: int, last: int
) -> None:
    shown = pictures(Clips(folder).clip(at(first), at(last)))
    numbers = [number for number, _ in shown]
    assert numbers == list(range(numbers[0], last + 1))
    assert first - 2 * FPS <= numbers[0] <= first
    assert [when for _, when in shown] == [at(number) for number in numbers]


def test_a_stamped_clip_holds_just_its_span_and_bears_table_and_time(folder: Path) -> None:
    clip = Clips(folder).stamped_clip(at(35), at(45))
    assert pictures(clip) == [(number, at(number)) for number in range(35, 46)]
    plain, stamped = Clips(folder).frame_at(at(35)).image, bgr(decoded(clip)[0])
    due = captioned(plain, f"BJ-01 overhead  {utc(at(35))}")
    corner = np.s_[-14:, :200]
    assert cv2.absdiff(stamped[corner], due[corner]).mean() < 10
    assert cv2.absdiff(stamped[corner], plain[corner]).mean() > 50


def test_a_time_is_told_to_the_millisecond() -> None:
    assert utc(1_800_000_000_123_999_999) == "2027-01-15 08:00:00.123 UTC"


def test_a_span_without_pictures_and_an_unknown_camera_are_refused(folder: Path) -> None:
    clips = Clips(folder)
    with pytest.raises(OperatorError, match="there is no picture of"):
        clips.clip(START_NS - 9 * S, START_NS - 5 * S)
    with pytest.raises(OperatorError, match=r"no camera 'side'.*overhead"):
        clips.frame_at(at(3), "side")


def test_a_card_is_cut_out_by_its_rectangle_and_turned_upright_by_its_corners(
    folder: Path,
) -> None:
    cell = jpeg_image(Clips(folder).crop(at(1), (0, 0, 32, 32), 64))
    assert cell.shape == (64, 64, 3)
    assert cell.mean() > 200, "the first cell of picture 1 is white"
    # On its side: what lies to the right in the picture is the card's foot.
    corners = [(64.0, 0.0), (64.0, 32.0), (0.0, 32.0), (0.0, 0.0)]
    card = jpeg_image(Clips(folder).card(at(1), corners, 63))
    assert card.shape == (88, 63, 3)
    assert card[:30].mean() < 60 < 200 < card[-30:].mean()


def test_a_recording_that_is_still_written_is_looked_into(tmp_path: Path) -> None:
    described(tmp_path, session())
    filming = film(tmp_path, range(70), segment_s=SEGMENT_S, close=False)
    assert number_in(Clips(tmp_path).frame_at(at(35)).image) == 35
    filming.close()


def test_what_a_killed_recorder_leaves_is_played_up_to_its_last_seconds(tmp_path: Path) -> None:
    described(tmp_path, session())
    child = os.fork()
    if not child:
        film(tmp_path, range(70), segment_s=SEGMENT_S, close=False)
        os.kill(os.getpid(), signal.SIGKILL)
    os.waitpid(child, 0)
    (camera,) = session().cameras
    first, *later = video_files(tmp_path, camera)
    played = FileCamera(first, START_NS, later, closed=False)
    numbers = [number_in(frame.image) for frame in played.frames()]
    assert played.cut
    assert numbers == list(range(len(numbers)))
    assert 40 <= len(numbers) <= 70
    assert number_in(Clips(tmp_path).frame_at(at(len(numbers) - 1)).image) == numbers[-1]


def test_a_segment_that_is_gone_is_said(folder: Path, tmp_path: Path) -> None:
    described(tmp_path, read_description(folder))
    for name in ("overhead.mp4", "overhead+0001.mp4", "overhead+0003.mp4"):
        (tmp_path / name).write_bytes((folder / name).read_bytes())
    with pytest.raises(TechnicianError, match=r"overhead\+0002.mp4: .*no such file"):
        Clips(tmp_path).frame_at(at(90))


def test_a_picture_of_another_size_begins_a_segment_and_no_copied_clip_spans_it(
    tmp_path: Path,
) -> None:
    described(tmp_path, session())
    (camera,) = session().cameras
    filming = Film(tmp_path, camera, START_NS, Recorder(folder=""))
    for number in range(20):
        filming.add(shot(number, at(number), SIZE if number < 10 else (256, 128)))
    filming.close()
    assert filming.segments == 2
    clips = Clips(tmp_path)
    assert clips.frame_at(at(12)).size_px == (256, 128)
    with pytest.raises(OperatorError, match="picture format changed"):
        clips.clip(at(5), at(15))
    assert len(pictures(clips.stamped_clip(at(5), at(15)))) == 11


@pytest.mark.slow
def test_a_late_moment_costs_no_more_than_an_early_one(tmp_path: Path) -> None:
    """Looking into a segment 30 times as long takes no more than a few times as long."""
    spent = []
    for pictures_of, name in ((100, "short"), (3000, "long")):
        place = tmp_path / name
        described(place, session())
        film(place, range(pictures_of), segment_s=3600)
        clips, begun = Clips(place), time.process_time()
        for _ in range(5):
            clips.frame_at(at(pictures_of - 1))
        spent.append(time.process_time() - begun)
    assert spent[1] < 6 * spent[0]


def test_a_session_without_cameras_says_so(tmp_path: Path) -> None:
    described(tmp_path, replace(session(), cameras=()))
    with pytest.raises(OperatorError, match="the session has no camera"):
        Clips(tmp_path).frame_at(START_NS)
