"""Recorded video and bytes in an incident, held to what the table's journal has of them."""

from collections.abc import Callable, Iterator
from pathlib import Path

import msgspec
import pytest
from msgspec.structs import replace

from models.errors import TechnicianError
from models.session import SerialRecord
from server.archive.incident import EVENTS, PROOF, Facts, packed, round_asked
from server.archive.incident_recorded import HASHES, Proven
from server.bundle.manifest import MANIFEST
from server.commands.app import run
from server.process.exit_status import Exit
from server.table.config import Recorder
from server.table.recorder import Film
from stream.clock import ReplayClock
from stream.journal import Checkpoints, Journal
from stream.recorded import Hashing, RecordingHashed, whole
from stream.recording import CaptureWriter, Chunk
from stream.signing import Signer
from tests.server.archive.test_incident import (
    ROUND_S,
    ROUNDS,
    Recorded,
    S,
    checked,
    facts_of,
    files_of,
    happened,
    relisted,
    resealed,
    with_facts,
)
from tests.server.archive.test_incident_attacks import flipped
from tests.server.filmed import FPS, START_NS, at, described, session, shot

VIDEO, CAPTURE, COPY = "recorded/overhead+0001.mp4", "recorded/shoe.cap", "serial/shoe.cap"
PICTURES = 150
HASHED_EVERY = 40
Files = dict[str, bytes]


class Table:
    """A table that records, hashes what it records, and plays rounds."""

    def __init__(self, place: Path, journal: Journal) -> None:
        self.folder = place / "recordings" / f"BJ-01-{START_NS}"
        self.folder.parent.mkdir()
        port = SerialRecord(port="shoe", driver="angel-eye", file="shoe.cap")
        described(self.folder, replace(session(), serial=(port,)))
        (self.folder / "layout.toml").write_text("# the felt\n")
        (camera,) = session().cameras
        recorder = Recorder(folder="", segment_minutes=4 / 60)
        self._film = Film(self.folder, camera, START_NS, recorder)
        self._capture, self._hashing = (
            CaptureWriter(self.folder / "shoe.cap"),
            Hashing("shoe.cap", "shoe"),
        )
        self._journal = journal
        self._described = [whole(file) for file in self.folder.glob("*.toml")]

    def play(self, clock: ReplayClock, *, killed: bool = False) -> None:
        for number in range(PICTURES):
            clock.wait_until(at(number))
            self._film.add(shot(number, at(number)))
            opened, rest = divmod(number, ROUND_S * FPS)
            if rest == FPS // 2 and 0 < opened <= ROUNDS:
                self._hear(opened)
            if rest == ROUND_S * FPS - 6 and 0 < opened <= ROUNDS:
                self._journal.append_all(happened(opened))
                self._journal.checkpoint()
            if number % HASHED_EVERY == 0:
                self.hash(at(number))
        self._film.close()
        self._capture.close()
        if killed:
            return
        self.hash(at(PICTURES), closed=True)

    def _hear(self, number: int) -> None:
        offset_ns = (ROUND_S * number + 1) * S
        self._hashing.add(self._capture.add(Chunk(offset_ns, bytes([number, 0x38]))))
        self._hashing.note(START_NS + offset_ns)

    def hash(self, at_ns: int, *, closed: bool = False) -> None:
        pieces = (*self._described, self._hashing.cut(closed=closed), *self._film.pieces)
        self._described = []
        self._film.pieces.clear()
        said = RecordingHashed(at=at_ns, table="BJ-01", folder=self.folder.name, pieces=pieces)
        self._journal.append(said)
        self._journal.checkpoint()


@pytest.fixture(scope="module")
def hashed(tmp_path_factory: pytest.TempPathFactory) -> Recorded:
    place = tmp_path_factory.mktemp("hashed")
    signer, clock = Signer.create(place / "table.key"), ReplayClock(START_NS)
    journal = place / "BJ-01.journal"
    with Journal.create(journal, Checkpoints(signer, clock), "BJ-01") as writing:
        table = Table(place, writing)
        table.play(clock)
    return Recorded(table.folder, journal, signer)


@pytest.fixture
def files(hashed: Recorded, tmp_path: Path) -> Files:
    return files_of(hashed.export(), tmp_path / "i.zip")


def test_all_is_proven_with_the_keys_of_table_and_exporter(
    hashed: Recorded, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    exporter = Signer.create(tmp_path / "exporter.key")
    file = tmp_path / "i.zip"
    file.write_bytes(hashed.export(signer=exporter))
    verify = ["incident", "verify", str(file)]
    keys = ["--key", hashed.fingerprint, "--exporter", exporter.fingerprint]
    assert run([*verify, *keys]) == Exit.CLEAN, capsys.readouterr().out
    assert "all video and bytes of that time" in capsys.readouterr().out
    assert run([*verify, *keys[:2]]) == Exit.UNPROVEN
    assert run([*verify, *keys[:2], "--allow-unsigned"]) == Exit.CLEAN
    assert run(verify) == Exit.UNPROVEN


def test_every_round_is_proven_with_and_without_time_around_it(hashed: Recorded) -> None:
    for number in range(1, ROUNDS + 1):
        for margin_s in (0, 1):
            found = checked(hashed.export(number, margin_s), Path("sound"))
            assert found.recordings == (), (number, margin_s)


def with_recorded(files: Files, change: Callable[[Facts], Facts]) -> Files:
    return with_facts(files, change(facts_of(files)))


def shifted(facts: Facts) -> Facts:
    recorded = tuple(
        replace(one, ranges=tuple((begin + 1, end + 1) for begin, end in one.ranges))
        for one in facts.recorded
    )
    return replace(facts, recorded=recorded)


def renamed(facts: Facts) -> Facts:
    recorded = tuple(replace(one, folder="BJ-01-7") for one in facts.recorded)
    return replace(facts, recorded=recorded)


@pytest.mark.parametrize(
    ("change", "why"),
    [
        pytest.param(lambda f: f | {VIDEO: flipped(f[VIDEO])}, "not what was recorded", id="video"),
        pytest.param(lambda f: f | {VIDEO: f[VIDEO] + b"x"}, "more bytes", id="video-longer"),
        pytest.param(
            lambda f: f | {CAPTURE: f[CAPTURE].replace(b"0238", b"0239")},
            "not what was recorded",
            id="capture",
        ),
        pytest.param(
            lambda f: f | {COPY: f[COPY].replace(b"0238", b"0239")},
            "serial/shoe.cap is not what was recorded",
            id="copy-of-the-capture",
        ),
        pytest.param(lambda f: with_recorded(f, shifted), "not what was|no hash", id="ranges"),
        pytest.param(lambda f: with_recorded(f, renamed), "another recording", id="folder"),
        pytest.param(lambda f: f | {HASHES: b"[]"}, "no hash of it|no hash", id="no-entries"),
    ],
)
def test_recorded_bytes_that_were_changed_are_refused_or_not_proven(
    files: Files, change: Callable[[Files], Files], why: str
) -> None:
    assert any(one in standing(relisted(change(files))) for one in why.split("|"))


def test_no_entry_with_hashes_can_be_left_out_unnoticed(files: Files) -> None:
    entries = msgspec.json.decode(files[HASHES], type=list[Proven])
    assert len(entries) > 2
    for left_out in range(len(entries)):
        kept = entries[:left_out] + entries[left_out + 1 :]
        forged = relisted(files | {HASHES: msgspec.json.encode(kept)})
        assert standing(forged), left_out


def test_no_recorded_file_can_be_left_out_unnoticed(files: Files) -> None:
    recorded = facts_of(files).recorded
    assert {one.name for one in recorded} >= {VIDEO, CAPTURE}
    for one in recorded:
        rest = tuple(other for other in recorded if other != one)
        kept = {name: data for name, data in files.items() if name != one.name}
        lessened = with_facts(kept, replace(facts_of(files), recorded=rest))
        assert standing(relisted(lessened)), one.name


def standing(data: bytes) -> str:
    """Why a file is refused, or what of its recordings is not proven."""
    try:
        return "; ".join(checked(data, Path("forged")).recordings)
    except TechnicianError as refused:
        return str(refused)


def test_hashes_that_another_table_signed_prove_nothing(
    hashed: Recorded, files: Files, tmp_path: Path
) -> None:
    """Who makes video, hashes and their journal anew cannot put them beside the true entries."""
    forger, clock = Signer.create(tmp_path / "forger.key"), ReplayClock(START_NS)
    journal = tmp_path / "BJ-01.journal"
    with Journal.create(journal, Checkpoints(forger, clock), "BJ-01") as writing:
        table = Table(tmp_path, writing)
        table.play(clock)
    own = files_of(packed(table.folder, journal, round_asked(journal, 2, 0), 1), tmp_path / "o.zip")
    kept = [HASHES, *(one.name for one in facts_of(own).recorded)]
    forged = relisted(files | {name: own[name] for name in kept})
    with pytest.raises(TechnicianError, match="another journal's"):
        checked(forged, Path("forged"))


def test_what_a_killed_table_had_not_hashed_yet_is_not_proven(tmp_path: Path) -> None:
    signer, clock = Signer.create(tmp_path / "table.key"), ReplayClock(START_NS)
    journal = tmp_path / "BJ-01.journal"
    with Journal.create(journal, Checkpoints(signer, clock), "BJ-01") as writing:
        table = Table(tmp_path, writing)
        table.play(clock, killed=True)
    cut = Recorded(table.folder, journal, signer)
    assert checked(cut.export(2), Path("before")).recordings == ()
    left = checked(cut.export(4), Path("last")).recordings
    assert [one for one in left if one.startswith("overhead: ") and "end" in one]


def test_hashes_that_a_later_start_found_unsigned_are_named(tmp_path: Path) -> None:
    clock = ReplayClock(START_NS)
    journal = tmp_path / "BJ-01.journal"
    with Journal.create(journal, table="BJ-01") as writing:
        table = Table(tmp_path, writing)
        table.play(clock)
    signer = Signer.create(tmp_path / "table.key")
    with Journal.open(journal, Checkpoints(signer, clock)):
        pass
    found = checked(Recorded(table.folder, journal, signer).export(2), Path("found"))
    assert any("found them unsigned" in one.what for one in found.verdict.left)
    assert any("found it unsigned" in one for one in found.recordings)


def without_hashes(files: Files) -> bytes:
    recorded = {one.name for one in facts_of(files).recorded} | {HASHES}
    kept = {name: data for name, data in files.items() if name not in recorded}
    return relisted(with_recorded(kept, lambda facts: replace(facts, recorded=())))


def test_an_export_without_the_hashes_is_not_proven(files: Files) -> None:
    """No entry with hashes lies within the round, so nothing tells whether the journal has any."""
    assert "the file has no hashes of them" in standing(without_hashes(files))


def test_hashes_among_the_entries_show_that_their_file_is_missing(
    hashed: Recorded, tmp_path: Path
) -> None:
    whole_files = files_of(hashed.export(2, margin_s=4), tmp_path / "w.zip")
    assert whole_files[EVENTS].count(b"recording_hashed") > 1
    assert "hashes.json is missing: the entries have hashes" in standing(
        without_hashes(whole_files)
    )
    kept = {name: data for name, data in whole_files.items() if name != HASHES}
    zeroed = kept | {VIDEO: kept[VIDEO][:2000] + bytes(20_000) + kept[VIDEO][22_000:]}
    assert "hashes.json is missing" in standing(relisted(zeroed))


# --- each piece removed, emptied, cut or changed ----------------------------------------------


def removed(files: Files, name: str) -> Iterator[Files]:
    """Without a file, also where a forger takes its traces from the manifest."""
    kept = {other: data for other, data in files.items() if other != name}
    yield kept
    facts = facts_of(files)
    clips = {
        camera: None if name == f"clips/{camera}.mp4" else span
        for camera, span in facts.clips.items()
    }
    recorded = tuple(one for one in facts.recorded if one.name != name)
    if name != MANIFEST:
        yield with_facts(kept, replace(facts, clips=clips, recorded=recorded))


def emptied(files: Files, name: str) -> Iterator[Files]:
    yield files | {name: b""}


def truncated(files: Files, name: str) -> Iterator[Files]:
    data = files[name]
    for length in (1, len(data) // 2, len(data) - 1):
        yield files | {name: data[:length]}


def changed(files: Files, name: str) -> Iterator[Files]:
    data = files[name]
    for place in {*range(0, len(data), max(1, len(data) // 97)), len(data) - 1}:
        for bit in (0, 5, 7):
            yield files | {name: data[:place] + bytes([data[place] ^ 1 << bit]) + data[place + 1 :]}


PIECES = [MANIFEST, EVENTS, PROOF, HASHES, VIDEO, CAPTURE, COPY, "session.toml", "layout.toml"]
CLIP = "clips/overhead.mp4"
"""Only the exporter's signature proves it; that it is there, the journal does."""


def test_these_are_the_pieces(files: Files) -> None:
    assert {*PIECES, CLIP} == {name for name in files if not name.startswith("recorded/overhead.")}


@pytest.mark.parametrize("harm", [removed, emptied, truncated, changed])
@pytest.mark.parametrize("margin_s", [0, 4], ids=["no-hashes-in-the-span", "hashes-in-the-span"])
@pytest.mark.parametrize("name", [*PIECES, CLIP])
def test_no_piece_can_be_harmed_unnoticed(
    hashed: Recorded,
    tmp_path: Path,
    name: str,
    margin_s: int,
    harm: Callable[[Files, str], Iterator[Files]],
) -> None:
    whole_files = files_of(hashed.export(2, margin_s), tmp_path / "w.zip")
    assert standing(relisted(whole_files)) == ""
    for harmed in harm(whole_files, name):
        if harmed == whole_files or (name == CLIP and harm in {truncated, changed}):
            continue
        forged = relisted(harmed) if name != MANIFEST else resealed(harmed)
        why = standing(forged)
        assert why or without_claims(harmed) == without_claims(whole_files), (name, harm)
        assert "not journal" not in why
        assert "no picture" not in why


def without_claims(files: Files) -> Facts:
    """The facts without what only the exporter proves: a clip's time, within 1 ms."""
    facts = facts_of(files)
    return replace(facts, clips=dict.fromkeys(facts.clips))


def test_a_file_without_any_recording_proves_none(files: Files) -> None:
    kept = {name: files[name] for name in (EVENTS, PROOF, HASHES, MANIFEST)}
    bare = with_recorded(kept, lambda facts: replace(facts, recorded=(), clips={}))
    assert "session.toml is missing" in standing(relisted(bare))
    assert f"BJ-01-{START_NS}: the recording is missing" in standing(relisted(bare))
