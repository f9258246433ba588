"""What somebody tries who has an incident's file but not the keys that signed it."""

import io
import zipfile
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest
from msgspec.structs import replace

from models.errors import TechnicianError
from server.archive.incident import packed, round_asked, subject_of
from server.bundle.manifest import MANIFEST, Manifest
from server.commands.app import run
from server.process.exit_status import Exit
from stream.clock import SimulatedClock
from stream.journal import Checkpoints, Journal
from stream.signing import Signer
from tests.server.archive.test_incident import (
    Recorded,
    S,
    checked,
    facts_of,
    files_of,
    happened,
    recorded,
    relisted,
    resealed,
    with_facts,
)
from tests.server.filmed import START_NS

__all__ = ["recorded"]
VIDEO, CAPTURE = "clips/overhead.mp4", "serial/shoe.cap"
Files = dict[str, bytes]
Attack = Callable[[Files], bytes]


def with_manifest(files: Files, **changes: object) -> bytes:
    """The file with another word in its manifest, and everything else made to fit."""
    facts = replace(facts_of(files), **changes)
    return relisted(with_facts(files, facts, subject=subject_of(facts)))


def stating(files: Files, **changes: object) -> bytes:
    """The file with another word in what every bundle's manifest has."""
    return relisted(with_facts(files, facts_of(files), **changes))


def less(files: Files, name: str) -> bytes:
    return relisted({other: data for other, data in files.items() if other != name})


def flipped(data: bytes) -> bytes:
    middle = len(data) // 2
    return data[:middle] + bytes([data[middle] ^ 1]) + data[middle + 1 :]


def sized(files: Files) -> bytes:
    manifest = msgspec.json.decode(files[MANIFEST], type=Manifest)
    listed = tuple(replace(one, size=one.size + 1) for one in manifest.files)
    return resealed(files | {MANIFEST: msgspec.json.encode(replace(manifest, files=listed))})


def twice(files: Files) -> bytes:
    """A second file of a name: which of them a program shows is its own affair."""
    return rezipped(files, lambda archive: archive.writestr(VIDEO, b"another film"))


def hidden(files: Files) -> bytes:
    """Bytes between the last file and the directory, which no program shows."""
    plain = resealed(files)
    with zipfile.ZipFile(io.BytesIO(plain)) as archive:
        begin = archive.start_dir
    end = plain.rindex(b"PK\x05\x06")
    moved = (begin + 4).to_bytes(4, "little")
    return plain[:begin] + b"more" + plain[begin : end + 16] + moved + plain[end + 20 :]


def rezipped(files: Files, more: Callable[[zipfile.ZipFile], None]) -> bytes:
    target = io.BytesIO(resealed(files))
    with zipfile.ZipFile(target, "a") as archive:
        more(archive)
    return target.getvalue()


@pytest.mark.filterwarnings("ignore:Duplicate name")
@pytest.mark.parametrize(
    ("attack", "why"),
    [
        pytest.param(lambda f: with_manifest(f, table="BJ-99"), "names table BJ-99", id="table"),
        pytest.param(lambda f: with_manifest(f, round=3), "names round 3", id="round"),
        pytest.param(lambda f: with_manifest(f, from_ns=1, to_ns=2), "another time", id="time"),
        pytest.param(
            lambda f: with_manifest(f, from_ns=START_NS + 5 * S),
            "names round 2",
            id="earlier-begin",
        ),
        pytest.param(
            lambda f: with_manifest(f, to_ns=START_NS + 9 * S - 1), "names round 2", id="later-end"
        ),
        pytest.param(lambda f: with_manifest(f, currency="EUR"), "currency", id="currency"),
        pytest.param(lambda f: with_manifest(f, clips={}), "other cameras", id="camera-denied"),
        pytest.param(lambda f: less(f, VIDEO), "clips/overhead.mp4 is missing", id="video-dropped"),
        pytest.param(lambda f: less(f, CAPTURE), "shoe.cap is missing", id="capture-dropped"),
        pytest.param(
            lambda f: relisted(f | {"clips/other.mp4": b"x"}), "belongs to no", id="file-added"
        ),
        pytest.param(
            lambda f: relisted(f | {VIDEO: b"not a film"}), "another time than clips", id="no-film"
        ),
        pytest.param(lambda f: stating(f, subject="table BJ-99"), "table and time", id="subject"),
        pytest.param(lambda f: stating(f, journals=()), "rests on", id="journals"),
        pytest.param(lambda f: stating(f, kind="report"), "kind report", id="kind"),
        pytest.param(sized, "changed after it was made", id="size"),
        pytest.param(twice, "twice", id="name-twice"),
        pytest.param(hidden, "bytes", id="hidden-bytes"),
    ],
)
def test_a_file_that_says_anything_else_than_the_journal_is_refused(
    recorded: Recorded, tmp_path: Path, attack: Attack, why: str
) -> None:
    files = files_of(recorded.export(), tmp_path / "i.zip")
    with pytest.raises(TechnicianError, match=why):
        checked(attack(files), Path("forged"))


@pytest.mark.parametrize(
    "attack",
    [
        pytest.param(relisted, id="signature-removed"),
        pytest.param(lambda f: relisted(f | {VIDEO: flipped(f[VIDEO])}), id="video"),
        pytest.param(
            lambda f: relisted(f | {CAPTURE: f[CAPTURE].replace(b"0238", b"0239")}), id="capture"
        ),
    ],
)
def test_recordings_that_were_changed_never_count_as_proven(
    recorded: Recorded, tmp_path: Path, attack: Attack
) -> None:
    exporter = Signer.create(tmp_path / "exporter.key")
    files = files_of(recorded.export(signer=exporter), tmp_path / "i.zip")
    forged = tmp_path / "forged.zip"
    forged.write_bytes(attack(files))
    verify = ["incident", "verify", str(forged), "--key", recorded.fingerprint]
    assert run(verify) in (Exit.UNPROVEN, Exit.REFUSED)
    named = ["--exporter", exporter.fingerprint]
    assert run([*verify, *named, "--allow-unsigned"]) == Exit.REFUSED


def test_the_film_of_another_round_is_not_proven_or_refused(
    recorded: Recorded, tmp_path: Path
) -> None:
    files = files_of(recorded.export(), tmp_path / "i.zip")
    other = files_of(recorded.export(3), tmp_path / "o.zip")
    forged = tmp_path / "forged.zip"
    forged.write_bytes(relisted(files | {VIDEO: other[VIDEO]}))
    verify = ["incident", "verify", str(forged), "--key", recorded.fingerprint]
    assert run(verify) in (Exit.UNPROVEN, Exit.REFUSED)


def test_what_is_proven_is_said_and_by_whose_key(
    recorded: Recorded, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    exporter = Signer.create(tmp_path / "exporter.key")
    file = tmp_path / "i.zip"
    file.write_bytes(recorded.export(signer=exporter))
    verify = ["incident", "verify", str(file), "--json"]
    keys = ["--key", recorded.fingerprint, "--exporter", exporter.fingerprint]
    wanted: tuple[tuple[list[str], Exit, int, int], ...] = (
        ([], Exit.UNPROVEN, 0, 3),
        (keys[:2], Exit.UNPROVEN, 2, 2),
        (keys[2:], Exit.UNPROVEN, 1, 2),
        (keys, Exit.UNPROVEN, 3, 1),
        ([*keys[:2], "--allow-unsigned"], Exit.CLEAN, 2, 2),
        (["--allow-unsigned"], Exit.UNPROVEN, 0, 3),
    )
    for given, status, proven, open_ in wanted:
        assert run([*verify, *given]) == status
        told = msgspec.json.decode(capsys.readouterr().out)
        assert (len(told["proven"]), len(told["not_proven"])) == (proven, open_), given
    assert run([*verify, "--key", exporter.fingerprint]) == Exit.REFUSED
    assert run([*verify, "--exporter", recorded.fingerprint]) == Exit.REFUSED


def test_a_restart_within_the_span_is_not_proven_and_named(
    recorded: Recorded, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    journal, events = tmp_path / "within.journal", happened(2)
    with Journal.create(journal) as writing:  # killed in the round, before it signed
        writing.append_all(events[:2])
    with Journal.open(
        journal, Checkpoints(recorded.signer, SimulatedClock(START_NS + 7 * S))
    ) as writing:
        writing.append_all(events[2:])
    file = tmp_path / "i.zip"
    file.write_bytes(packed(recorded.folder, journal, round_asked(journal, 2, 0), 1))
    verify = ["incident", "verify", str(file), "--key", recorded.fingerprint, "--allow-unsigned"]
    assert run([*verify, "--json"]) == Exit.UNPROVEN
    told = msgspec.json.decode(capsys.readouterr().out)
    assert any("entries 1 to 2" in one for one in told["not_proven"])
    assert run([*verify[:-1], "--json"]) == Exit.UNPROVEN


def test_entries_that_a_restart_found_unsigned_are_named(
    recorded: Recorded, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    journal, signer = tmp_path / "tail.journal", recorded.signer
    with Journal.create(journal) as writing:  # its writer was killed before it signed
        writing.append_all(happened(2))
    with Journal.open(journal, Checkpoints(signer, SimulatedClock(START_NS + 20 * S))) as writing:
        writing.append_all(happened(3))
    file = tmp_path / "i.zip"
    file.write_bytes(packed(recorded.folder, journal, round_asked(journal, 2, 0), 1))
    verify = ["incident", "verify", str(file), "--key", recorded.fingerprint, "--allow-unsigned"]
    assert run([*verify, "--json"]) == Exit.UNPROVEN
    told = msgspec.json.decode(capsys.readouterr().out)
    assert any("entries 1 to 4" in one for one in told["not_proven"])
    file.write_bytes(packed(recorded.folder, journal, round_asked(journal, 3, 0), 1))
    assert run(verify) == Exit.CLEAN
