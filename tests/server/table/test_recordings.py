"""A table that runs for months: one session folder after the other, each whole by itself."""

from pathlib import Path

import pytest

from devices.cameras.file import FileCamera
from devices.cameras.frame import Frame
from models.events import CardSighted, RoundOpened, ShoeCutCard
from server.archive.clips import Clips
from server.table.config import Recorder, layout_of, read_config
from server.table.recorder import SessionRecorder
from server.table.recordings import IN_FLIGHT_NS, Recordings, may_turn_over
from server.table.status import Standing
from stream.recording import read_capture, read_description, video_files
from tests.devices.test_cameras import disk_with_room_for
from tests.server.filmed import FPS, START_NS, number_in, shot
from tests.server.table.test_run_config import EXAMPLE

S = 1_000_000_000
HOUR_NS = 3600 * S
OVER_NS = START_NS + 20 * S


def recordings(folder: Path) -> Recordings:
    placed = read_config(EXAMPLE)
    recorder = Recorder(folder=str(folder), segment_minutes=0.1)
    layout = layout_of(placed)
    return Recordings(
        lambda start_ns: SessionRecorder(placed, recorder, layout, start_ns), START_NS
    )


def taken_ns(number: int) -> int:
    """When picture ``number`` was taken."""
    return START_NS + number * S // FPS


def picture(number: int) -> Frame:
    return shot(number, taken_ns(number))


CARD = bytes.fromhex("0253303135380d")
"""Recordings take bytes as they come."""


def fill(kept: Recordings) -> None:
    """Twice twenty seconds; as the folder is turned over, five pictures are still to come."""
    for number in range(400):
        if number == 200 - 5:
            kept.turn_over(OVER_NS)
        if number % 50 == 0:
            kept.received("shoe", taken_ns(number), CARD)
        kept.filmed("overhead", picture(number))


def test_every_picture_and_byte_goes_to_the_folder_of_its_own_time(tmp_path: Path) -> None:
    kept = recordings(tmp_path)
    fill(kept)
    kept.close()
    first, second = sorted(tmp_path.iterdir())
    assert (first.name, second.name) == (f"BJ-07-{START_NS}", f"BJ-07-{OVER_NS}")
    for folder, start_ns, numbers in (
        (first, START_NS, range(200)),
        (second, OVER_NS, range(200, 400)),
    ):
        session = read_description(folder)
        (record,) = session.cameras
        film, *later = video_files(folder, record)
        camera = FileCamera(film, session.at, later)
        found = [(number_in(frame.image), frame.at_ns) for frame in camera.frames()]
        assert found == [(number, taken_ns(number)) for number in numbers]
        times_ns = [
            start_ns + chunk.offset_ns for chunk in read_capture(folder / "shoe.cap").chunks
        ]
        assert times_ns == [taken_ns(number) for number in numbers if number % 50 == 0]
        assert len([*folder.glob("overhead*.mp4")]) == 4, "twenty seconds in segments of six"


def test_the_old_folder_is_closed_once_nothing_can_come_to_it(tmp_path: Path) -> None:
    kept = recordings(tmp_path)
    fill(kept)
    old = tmp_path / f"BJ-07-{START_NS}"
    kept.look_after(OVER_NS + IN_FLIGHT_NS)
    assert Clips(old).session.cameras[0].segments is None
    kept.look_after(OVER_NS + IN_FLIGHT_NS + 1)
    assert Clips(old).session.cameras[0].segments == 4
    kept.close()


def test_a_recording_that_broke_off_is_reported_and_begun_anew(tmp_path: Path) -> None:
    kept = recordings(tmp_path / "disk")
    kept.filmed("overhead", picture(0))
    with disk_with_room_for(0):
        for number in range(1, 300):
            kept.filmed("overhead", picture(number))
        assert "the video cannot be written (file too large)" in (kept.broken or "")
        kept.look_after(OVER_NS)
        assert kept.broken, "the disk is still full"
    kept.look_after(OVER_NS + 1)
    assert not kept.broken
    kept.filmed("overhead", picture(201))
    kept.close()
    assert number_in(Clips(kept.current.folder).frame_at(taken_ns(201)).image) == 201


CUT = ShoeCutCard(source="shoe", at=1, raw="")
RECORDER = Recorder(folder="", session_hours=8)


@pytest.mark.parametrize(
    ("hours", "events", "dealing", "due"),
    [
        pytest.param(8, [CUT], "shoe", True, id="old-and-the-shoe-is-out"),
        pytest.param(7.9, [CUT], "shoe", False, id="young"),
        pytest.param(8, [], "shoe", False, id="in-the-middle-of-a-shoe"),
        pytest.param(16, [], "shoe", True, id="no-shoe-ever-ends"),
        pytest.param(8, [], "pitch", True, id="pitch"),
        pytest.param(99, [CUT, RoundOpened(round=3)], "shoe", False, id="a-round-in-play"),
    ],
)
def test_a_folder_is_turned_over_between_two_shoes(
    hours: float, events: list[ShoeCutCard | RoundOpened], dealing: str, due: bool
) -> None:
    standing = Standing(())
    for event in events:
        standing.take(event)
    assert may_turn_over(round(hours * HOUR_NS), RECORDER, standing, dealing) is due


def test_a_folder_is_not_turned_over_while_cards_lie_on_the_felt() -> None:
    standing = Standing(())
    standing.take(CUT)
    standing.take(
        CardSighted(
            source="camera:overhead",
            at=2,
            track=5,
            change="new",
            face="up",
            card=None,
            x_mm=0.0,
            y_mm=0.0,
            angle_deg=0.0,
            frame=0,
            crop=(0, 0, 1, 1),
        )
    )
    assert not may_turn_over(9 * HOUR_NS, RECORDER, standing, "shoe")
