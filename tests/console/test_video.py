"""Footage, clips and pictures of a session, asked for as a browser asks."""

import io
from pathlib import Path

import av
import cv2
import httpx
import numpy as np
import pytest

from models.events import ForeignCardSighted, RoundOpened
from server.service.evidence.video import mark_mm
from stream.journal import Journal
from tests.server.filmed import SIZE, START_NS, at, number_in, recording, shot
from tests.server.service.house import House, house, write
from vision.felt import Pose

pytestmark = pytest.mark.slow

CLIP = "/api/sessions/bj-07/rounds/1/clips/overhead"


def test_the_footage_of_a_round_gives_its_clip_and_the_felts_place(
    at_work: House,
) -> None:
    with at_work.signed_in("pit") as pit:
        found = at_work.get(pit, "/api/sessions/bj-07/rounds/1/footage")
        row = at_work.get(pit, "/api/sessions/bj-07/rounds/1")
    (camera,) = found["cameras"]
    assert found["is_own_layout"] is True
    assert (camera["width_px"], camera["height_px"]) == (640, 360)
    assert camera["clip"]["url"] == CLIP
    assert camera["clip"]["from_ns"] <= row["at"] < row["closed_at"] <= camera["clip"]["to_ns"]


def test_a_session_without_recording_has_a_felt_and_no_camera(at_work: House) -> None:
    with at_work.signed_in("pit") as pit:
        found = at_work.get(pit, "/api/sessions/bj-08/footage")
    assert found["cameras"] == []
    assert found["is_own_layout"] is False
    assert {spot["spot"] for spot in found["layout"]["spots"]} >= {1, 3, 4}


def test_a_clip_is_a_video_and_any_part_of_it_can_be_asked_for(at_work: House) -> None:
    with at_work.signed_in("pit") as pit:
        whole = pit.get(CLIP)
        middle = pit.get(CLIP, headers={"Range": "bytes=100-299"})
        end = pit.get(CLIP, headers={"Range": "bytes=-50"})
    assert whole.status_code == 200
    with av.open(io.BytesIO(whole.content)) as video:
        assert video.streams.video[0].codec_context.name == "h264"
    size = len(whole.content)
    assert middle.status_code == end.status_code == 206
    assert middle.content == whole.content[100:300]
    assert middle.headers["Content-Range"] == f"bytes 100-299/{size}"
    assert end.content == whole.content[-50:]


@pytest.mark.parametrize("asked", ["bytes=99999999-", "bytes=20-10", "bytes=-0"])
def test_a_part_that_is_not_there_is_refused(at_work: House, asked: str) -> None:
    with at_work.signed_in("pit") as pit:
        answer = pit.get(CLIP, headers={"Range": asked})
    assert answer.status_code == 416
    assert answer.headers["Content-Range"].startswith("bytes */")


def test_a_picture_of_a_time_is_the_one_of_that_time(at_work: House) -> None:
    with at_work.signed_in("pit") as pit:
        row = at_work.get(pit, "/api/sessions/bj-07/rounds/1")
        path = "/api/sessions/bj-07/pictures/overhead"
        shown = pit.get(path, params={"at": row["at"]})
        long_before = pit.get(path, params={"at": row["at"] - 10**13})
    assert shown.headers["Content-Type"] == "image/jpeg"
    assert shown.content.startswith(b"\xff\xd8")
    assert long_before.status_code == 404


@pytest.mark.parametrize(
    "path",
    [
        "/api/sessions/bj-07/rounds/99/footage",
        "/api/sessions/bj-07/rounds/1/clips/under-the-table",
        "/api/sessions/bj-07/pictures/overhead?at=0",
        "/api/sessions/bj-08/pictures/overhead?at=1767297610000000000",
        "/api/sessions/bj-07/cards/1",
        "/api/sessions/bj-07/cards/99999",
        "/page/../app.py",
        "/page/none.js",
    ],
)
def test_what_is_not_there_is_not_found(at_work: House, path: str) -> None:
    with at_work.signed_in("pit") as pit:
        assert pit.get(path).status_code == 404


@pytest.mark.parametrize(
    "path", [CLIP, "/api/sessions/bj-07/footage", "/api/sessions/bj-07/pictures/overhead?at=1"]
)
def test_no_picture_without_the_right_to_see_rounds(at_work: House, path: str) -> None:
    with at_work.anyone() as nobody, at_work.signed_in("engineer") as engineer:
        assert nobody.get(path).status_code == 401
        assert engineer.get(path).status_code == 403


def test_one_look_a_minute_is_written_down_however_many_pictures_it_asks_for(
    at_work: House,
) -> None:
    def looks(auditor: httpx.Client) -> int:
        done = at_work.get(auditor, "/api/activity", limit=500)["items"]
        return sum(
            one["person"] == "audit" and "/pictures/" in one.get("target", "") for one in done
        )

    with at_work.signed_in("audit") as auditor:
        row = at_work.get(auditor, "/api/sessions/bj-07/rounds/2")
        for moment in range(3):
            at_ns = row["at"] + moment * 10**9
            assert auditor.get("/api/sessions/bj-07/pictures/overhead", params={"at": at_ns})
        assert looks(auditor) == 1


def test_the_page_is_kept_by_the_browser_until_it_changes(at_work: House) -> None:
    with at_work.anyone() as nobody:
        first = nobody.get("/page/main.js")
        again = nobody.get("/page/main.js", headers={"If-None-Match": first.headers["ETag"]})
    assert first.headers["Content-Type"].startswith("text/javascript")
    assert (again.status_code, again.content) == (304, b"")


def test_the_page_names_nothing_outside_the_service(at_work: House) -> None:
    with at_work.anyone() as nobody:
        page = nobody.get("/")
    assert "http" not in page.text
    assert "default-src 'self'" in page.headers["Content-Security-Policy"]


def test_a_table_at_work_shows_the_picture_of_its_last_moment(tmp_path: Path) -> None:
    """Its recording is not closed yet: the last segment is still being written."""
    filming = recording(tmp_path / "bj-01", range(40), segment_s=1.0)
    write(tmp_path / "bj-01.journal", RoundOpened(at=at(12), table="BJ-01", round=1))
    with house(tmp_path, tmp_path / "state") as own:
        own.staff()
        with own.signed_in("pit") as pit:
            (camera,) = own.get(pit, "/api/sessions/bj-01/footage")["cameras"]
            shown = pit.get(camera["pictures"], params={"at": at(12)})
    filming.close()
    assert (camera["width_px"], camera["height_px"]) == SIZE
    picture = cv2.imdecode(np.frombuffer(shown.content, np.uint8), cv2.IMREAD_COLOR)
    assert picture is not None
    assert number_in(np.asarray(picture, np.uint8)) == 12


def test_a_camera_is_followed_while_its_table_is_recorded(tmp_path: Path) -> None:
    filming = recording(tmp_path / "bj-01", range(45), segment_s=600)
    with (
        Journal.create(tmp_path / "bj-01.journal") as journal,
        house(tmp_path, tmp_path / "state") as own,
    ):
        journal.append(RoundOpened(at=at(40), table="BJ-01", round=1))
        own.staff()
        with own.signed_in("pit") as pit:
            (camera,) = own.get(pit, "/api/sessions/bj-01/footage")["cameras"]
            seen = b""
            with pit.stream("GET", camera["live"]) as stream:
                for piece in stream.iter_bytes():
                    if not seen:
                        for number in range(45, 70):
                            filming.add(shot(number, at(number)))
                    seen += piece
                    if seen.count(b"moof") == 2:
                        break
    filming.close()
    assert camera["start_ns"] == START_NS
    assert stream.headers["Content-Type"] == "video/mp4"
    with av.open(io.BytesIO(seen), "r") as video:
        pictures = [frame.to_ndarray(format="bgr24") for frame in video.decode(video=0)]
    numbers = [number_in(np.asarray(picture, np.uint8)) for picture in pictures]
    assert numbers == list(range(20, 60))


def test_a_closed_recording_has_no_live_video(at_work: House) -> None:
    with at_work.signed_in("pit") as pit:
        (camera,) = at_work.get(pit, "/api/sessions/bj-07/footage")["cameras"]
        answer = pit.get("/api/sessions/bj-07/live/overhead")
    assert camera["live"] is None
    assert answer.status_code == 404


def test_the_picture_to_decide_by_shows_the_card_whole_and_marked(at_work: House) -> None:
    """A card's reading piece ends at the card's edge; to decide, one must see what lies around."""
    with at_work.signed_in("pit") as pit:
        events = at_work.get(pit, "/api/sessions/bj-07/events", type="card_sighted", limit=20)
        seen = [one for one in events["events"] if one["face"] == "up"][:4]
        for one in seen:
            path = f"/api/sessions/bj-07/cards/{one['seq']}"
            whole = pit.get(path, params={"whole": True})
            assert whole.status_code == 200
            assert whole.content != pit.get(path).content
            _check_marked(whole.content)


def _check_marked(jpeg: bytes) -> None:
    """The mark is a closed line around the card, with picture on all of its sides."""
    picture = cv2.imdecode(np.frombuffer(jpeg, np.uint8), cv2.IMREAD_COLOR)
    assert picture is not None
    hsv = cv2.cvtColor(picture, cv2.COLOR_BGR2HSV)
    mark = cv2.inRange(hsv, (18, 120, 150), (34, 255, 255))
    outlines, _ = cv2.findContours(mark, cv2.RETR_EXTERNAL, cv2.CHAIN_APPROX_SIMPLE)
    left, top, width, height = cv2.boundingRect(max(outlines, key=cv2.contourArea))
    high, wide = picture.shape[:2]
    assert min(left, top, wide - left - width, high - top - height) > 0.15 * min(width, height)
    assert min(width / wide, height / high) > 0.2


def test_a_foreign_card_is_marked_whole_though_its_angle_is_not_known() -> None:
    foreign = ForeignCardSighted(
        source="camera:overhead",
        at=1,
        track=3,
        face="up",
        card=None,
        deck_fit=0.1,
        x_mm=100.0,
        y_mm=200.0,
        frame=1,
        crop=(0, 0, 9, 9),
    )
    mark = mark_mm(foreign) - (100.0, 200.0)
    for angle_deg in (0, 30, 90):
        corner = Pose(0.0, 0.0, angle_deg).corners_mm
        assert np.hypot(*mark.T).min() > np.hypot(*corner.T).max()
