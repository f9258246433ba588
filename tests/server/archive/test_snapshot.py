"""A snapshot proves what it shows: its facts, its pixels, its journal and its recording."""

from collections.abc import Iterator
from pathlib import Path

import cv2
import httpx
import numpy as np
import pytest

from models.events import RoundClosed, RoundOpened, ShoeStarted
from server.archive.snapshot import Facts
from server.bundle.bundle import check_bundle
from server.bundle.manifest import Manifest
from server.commands.app import run
from server.process.exit_status import Exit
from stream.clock import HostClock
from stream.journal import Journal
from stream.signing import named_key
from tests.server.filmed import at, number_in, recording
from tests.server.service.house import House, house, write

PICTURE = 14
"""Taken while the round is in play."""
PATH = "/api/sessions/bj-01/rounds/1/snapshots/overhead"


@pytest.fixture(scope="module")
def own(tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    folder = tmp_path_factory.mktemp("house")
    recording(folder / "bj-01", range(40), segment_s=1.0).close()
    write(
        folder / "bj-01.journal",
        ShoeStarted(at=at(2), table="BJ-01", decks=6),
        RoundOpened(at=at(12), table="BJ-01", round=1),
        RoundClosed(at=at(20), table="BJ-01"),
    )
    with house(folder, folder / "state") as found:
        found.staff()
        yield found


@pytest.fixture(scope="module")
def png(own: House) -> bytes:
    with own.signed_in("surveillance") as officer:
        return taken(officer, at(PICTURE) + 1000).content


def taken(client: httpx.Client, at_ns: int, path: str = PATH) -> httpx.Response:
    answer = client.get(path, params={"at": at_ns})
    assert answer.status_code == 200, answer.text
    return answer


def manifest_of(content: bytes) -> Manifest:
    return check_bundle(content, Path("the snapshot")).manifest


def facts_of(content: bytes) -> Facts:
    return manifest_of(content).about_as(Facts, "the snapshot")


def test_a_snapshot_names_the_moment_and_what_it_rests_on(own: House, png: bytes) -> None:
    facts = facts_of(png)
    assert (facts.table, facts.round, facts.entry) == ("BJ-01", 1, 2)
    assert (facts.camera, facts.at, facts.made_by) == ("overhead", at(PICTURE), "surveillance")
    (head,) = manifest_of(png).journals
    assert (head.name, head.entries) == ("bj-01", 3)
    with own.signed_in("pit") as pit:
        assert own.get(pit, "/api/sessions/bj-01")["head"] == head.head


def test_its_frame_is_the_pictures_number_in_its_file(own: House, png: bytes) -> None:
    """Segments of a second hold ten pictures each; the first begins half a second late."""
    facts = facts_of(png)
    assert (facts.file, facts.frame) == ("overhead+0001.mp4", 4)
    assert (own.journals / "bj-01" / facts.file).is_file()


def test_its_picture_is_the_recorded_one(png: bytes) -> None:
    image = cv2.imdecode(np.frombuffer(png, np.uint8), cv2.IMREAD_COLOR)
    assert image is not None
    assert number_in(np.asarray(image, np.uint8)) == PICTURE


def test_it_is_named_after_table_round_and_moment(own: House) -> None:
    with own.signed_in("pit") as pit:
        answer = taken(pit, at(PICTURE))
    assert answer.headers["Content-Type"] == "image/png"
    assert (
        'filename="BJ-01-round-1-overhead-2027-01-15T080001.900Z.png"'
        in (answer.headers["Content-Disposition"])
    )


def verify(png: bytes, tmp_path: Path, *more: str) -> int:
    file = tmp_path / "shot.png"
    file.write_bytes(png)
    return run(["snapshot", "verify", str(file), *more])


def test_it_is_held_against_key_journal_and_recording(
    own: House, png: bytes, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with own.signed_in("pit") as pit:
        (tmp_path / "key.pem").write_bytes(pit.get("/api/report-key").content)
    key = ["--key", str(tmp_path / "key.pem")]
    against = ["--journal", str(own.journals / "bj-01.journal")]
    film = ["--recording", str(own.journals / "bj-01")]
    assert verify(png, tmp_path, *against, *film) == Exit.UNPROVEN
    assert "not proven: who made it" in " ".join(capsys.readouterr().out.split())
    assert verify(png, tmp_path, *key, *against, *film) == Exit.CLEAN
    told = " ".join(capsys.readouterr().out.split())
    assert verify(png, tmp_path, "--key", named_key(key[1], "--key")) == Exit.CLEAN
    assert "round 1, camera overhead, 2027-01-15 08:00:01.900 UTC, picture 4" in told
    assert "that journal bj-01 holds the entry 3" in told
    assert "pixel by pixel" in told


def test_another_journal_or_recording_is_found(png: bytes, tmp_path: Path) -> None:
    with Journal.create(tmp_path / "other.journal") as journal:
        for number in range(1, 5):
            journal.append(RoundOpened(at=HostClock().now_ns(), table="BJ-01", round=number))
    assert verify(png, tmp_path, "--journal", str(tmp_path / "other.journal")) == Exit.REFUSED
    without_it = [number for number in range(40) if number != PICTURE]
    recording(tmp_path / "other", without_it, segment_s=1.0).close()
    assert verify(png, tmp_path, "--recording", str(tmp_path / "other")) == Exit.REFUSED


def test_a_moment_without_a_picture_is_refused(own: House) -> None:
    with own.signed_in("pit") as pit:
        for query in ({"at": at(400)}, {"at": 5}):
            assert pit.get(PATH, params=query).status_code == 404
        beneath = PATH.replace("overhead", "beneath")
        assert pit.get(beneath, params={"at": at(PICTURE)}).status_code == 404
        assert pit.get(PATH.replace("rounds/1", "rounds/9"), params={"at": 1}).status_code == 404


def test_who_may_take_nothing_out_takes_no_snapshot(own: House) -> None:
    with own.signed_in("engineer") as engineer:
        assert engineer.get(PATH, params={"at": at(PICTURE)}).status_code == 403
