"""A camera's video followed while its recorder writes it."""

import io
from collections.abc import Iterator
from pathlib import Path

import av
import numpy as np
import pytest
from msgspec.structs import replace

from devices.cameras.broadcast import Broadcast
from models.errors import TechnicianError
from models.session import CameraRecord
from server.table.config import Recorder
from server.table.recorder import Film
from stream.recording import video_files
from tests.server.filmed import FPS, START_NS, at, described, number_in, session, shot

CAMERA: CameraRecord = session().cameras[0]


def filming(folder: Path, segment_s: float = 600) -> Film:
    described(folder, session())
    return Film(folder, CAMERA, START_NS, Recorder(folder="", segment_minutes=segment_s / 60))


def followed(folder: Path) -> Broadcast:
    return Broadcast(lambda: video_files(folder, CAMERA))


def parts(pieces: list[bytes]) -> Iterator[bytes]:
    """Put together what belongs to one opening."""
    whole = b""
    for piece in pieces:
        if piece[4:8] == b"ftyp" and whole:
            yield whole
            whole = b""
        whole += piece
    yield whole


def shown(pieces: list[bytes]) -> list[tuple[int, int]]:
    """Return each picture's number, and its time from the session's start in milliseconds."""
    found = []
    for part in parts(pieces):
        with av.open(io.BytesIO(part), "r") as container:
            for frame in container.decode(video=0):
                assert frame.time is not None
                number = number_in(np.asarray(frame.to_ndarray(format="bgr24"), np.uint8))
                found.append((number, round(frame.time * 1000)))
    return found


def timed(number: int) -> tuple[int, int]:
    return number, (at(number) - START_NS) // 1_000_000


def test_a_follower_sees_every_picture_from_the_newest_fragment_on(tmp_path: Path) -> None:
    film = filming(tmp_path)
    for number in range(5 * FPS):
        film.add(shot(number, at(number)))
    follower = followed(tmp_path)
    pieces = [follower.news()]
    assert follower.news() == b""
    for number in range(5 * FPS, 11 * FPS):
        film.add(shot(number, at(number)))
        pieces.append(follower.news())
    film.close()
    pieces.append(follower.news())
    found = shown([piece for piece in pieces if piece])
    assert found == [timed(number) for number in range(found[0][0], 11 * FPS)]
    assert 2 * FPS <= found[0][0] < 5 * FPS


def test_it_goes_on_in_the_next_segment_in_the_same_time(tmp_path: Path) -> None:
    film, follower = filming(tmp_path, segment_s=4), followed(tmp_path)
    assert follower.news() == b""
    pieces = []
    for number in range(10 * FPS):
        film.add(shot(number, at(number)))
        pieces.append(follower.news())
    film.close()
    pieces += [follower.news(), follower.news()]
    assert film.segments == 3
    assert sum(piece[4:8] == b"ftyp" for piece in pieces) == 3
    assert shown([piece for piece in pieces if piece]) == [timed(n) for n in range(10 * FPS)]


def test_nothing_is_sent_before_there_is_a_whole_fragment(tmp_path: Path) -> None:
    film, follower = filming(tmp_path), followed(tmp_path)
    film.add(shot(0, at(0)))
    assert follower.news() == b""
    described(tmp_path, replace(session(), cameras=()))
    film.close()


def test_a_file_that_is_no_video_is_refused(tmp_path: Path) -> None:
    described(tmp_path, session())
    (tmp_path / "overhead.mp4").write_bytes(b"\0\0\0\1moov" + bytes(40))
    with pytest.raises(TechnicianError, match="cannot be followed"):
        followed(tmp_path).news()


def test_a_video_that_is_removed_meanwhile_is_reported(tmp_path: Path) -> None:
    film, follower = filming(tmp_path), followed(tmp_path)
    for number in range(3 * FPS):
        film.add(shot(number, at(number)))
    film.close()
    assert follower.news()
    (tmp_path / "overhead.mp4").unlink()
    with pytest.raises(TechnicianError, match=r"overhead\.mp4: .*no such file"):
        follower.news()
