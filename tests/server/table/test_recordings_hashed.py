"""What is recorded is hashed as it is written, so that the journal proves a copy of it."""

import hashlib
import io
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

import av
import pytest

from server.table.recorder import Film
from stream.journal import Journal
from stream.recorded import Hashing, Piece, RecordingHashed, hashed_in, recording_hashed, whole
from tests.server.filmed import START_NS, at, described, film, session


def is_of(piece: Piece, folder: Path) -> bool:
    data = (folder / piece.file).read_bytes()[piece.from_byte : piece.to_byte]
    return (hashlib.sha256(data).hexdigest() if data else "") == piece.sha256


@pytest.fixture
def filming(tmp_path: Path) -> tuple[Path, Film]:
    folder = tmp_path / "BJ-01-1"
    described(folder, session())
    return folder, film(folder, range(105), segment_s=6)


def test_the_pieces_of_a_video_are_all_of_its_bytes_in_order(filming: tuple[Path, Film]) -> None:
    folder, recorded = filming
    pieces = tuple(recorded.pieces)
    assert all(is_of(piece, folder) for piece in pieces)
    for name in ("overhead.mp4", "overhead+0001.mp4"):
        own = [piece for piece in pieces if piece.file == name]
        assert own[0].from_byte == 0
        assert all(one.to_byte == other.from_byte for one, other in pairwise(own))
        assert own[-1].to_byte == (folder / name).stat().st_size
        assert [piece.closed for piece in own] == [*[False] * (len(own) - 1), True]


def test_header_and_any_run_of_pieces_are_a_video_with_the_sessions_own_times(
    filming: tuple[Path, Film],
) -> None:
    folder, recorded = filming
    header, *pieces = [one for one in recorded.pieces if one.file == "overhead.mp4"]
    data = (folder / "overhead.mp4").read_bytes()
    assert (header.from_ns, len(pieces)) == (None, 3)
    for piece in pieces:
        shown = times(data[: header.to_byte] + data[piece.from_byte : piece.to_byte])
        assert (shown[0], shown[-1]) == (piece.from_ns, piece.to_ns)
    taken = [n for piece in pieces for n in range(105) if inside(piece, at(n))]
    assert taken == list(range(len(taken)))


def inside(piece: Piece, at_ns: int) -> bool:
    assert piece.from_ns is not None
    assert piece.to_ns is not None
    return piece.from_ns <= at_ns <= piece.to_ns


def times(mp4: bytes) -> Sequence[int]:
    with av.open(io.BytesIO(mp4), "r") as container:
        stream = container.streams.video[0]
        base = stream.time_base
        assert base is not None
        return [
            START_NS + int(one.pts * base * 1_000_000_000)
            for one in container.decode(stream)
            if one.pts is not None
        ]


def test_a_file_that_did_not_grow_is_listed_too() -> None:
    hashing = Hashing("shoe.cap", "shoe")
    hashing.add(b"1 38\n")
    hashing.note(7)
    first, second = hashing.cut(), hashing.cut(closed=True)
    assert (first.from_ns, first.to_ns, first.to_byte) == (7, 7, 5)
    assert second == Piece(file="shoe.cap", device="shoe", from_byte=5, to_byte=5, closed=True)


def test_a_journal_gives_its_hashes_and_nothing_else(tmp_path: Path) -> None:
    file = tmp_path / "layout.toml"
    file.write_text("x")
    hashed = RecordingHashed(at=1, table="BJ-01", folder="BJ-01-1", pieces=(whole(file),))
    with Journal.create(tmp_path / "t.journal") as writing:
        writing.append(hashed)
    (found,) = hashed_in(tmp_path / "t.journal")
    assert (found.seq, found.pieces) == (1, hashed.pieces)
    assert recording_hashed(b'{"type":"round_closed"}') is None
