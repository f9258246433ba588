"""An incident exported from a recording and verified from the file alone."""

import hashlib
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import msgspec
import pytest
from msgspec.structs import replace

from models.cards import Card
from models.errors import OperatorError, TechnicianError
from models.events import CardDealt, Event, RoundClosed, RoundOpened, ShoeCardRead
from models.session import SerialRecord
from server.archive.incident import (
    EVENTS,
    PROOF,
    Facts,
    packed,
    recordings,
    round_asked,
    span_asked,
)
from server.archive.incident_check import check_incident
from server.bundle.bundle import Asked, Bundle, Verdict, check_bundle
from server.bundle.containers import ZIP
from server.bundle.manifest import MANIFEST, Manifest, Seal, about, listed
from server.commands.app import run
from server.process.exit_status import Exit
from server.table.recorder import HOLD_FILE
from stream.clock import SimulatedClock
from stream.excerpt import Proof
from stream.journal import Checkpoints, Journal
from stream.recording import Chunk, write_capture, write_session
from stream.signing import Signer
from tests.server.filmed import START_NS, described, film, session

S = 1_000_000_000
ROUNDS = 4
ROUND_S = 3


@dataclass(frozen=True)
class Recorded:
    """A recorded session, its table's journal and key."""

    folder: Path
    journal: Path
    signer: Signer

    @property
    def fingerprint(self) -> str:
        return self.signer.fingerprint

    def export(self, number: int = 2, margin_s: int = 0, signer: Signer | None = None) -> bytes:
        asked = round_asked(self.journal, number, margin_s * S)
        return packed(self.folder, self.journal, asked, START_NS + 99 * S, signer)


def happened(number: int) -> list[Event]:
    """A round of three seconds, as a journal has it."""
    begun = START_NS + number * ROUND_S * S
    dealt = begun + S
    return [
        RoundOpened(round=number, at=begun, table="BJ-01"),
        ShoeCardRead(source="shoe", at=dealt, card=Card("8S"), draw=number, raw="4a38"),
        CardDealt(to=1, card=Card("8S"), at=dealt, table="BJ-01"),
        RoundClosed(at=begun + 2 * S, table="BJ-01"),
    ]


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Recorded:
    place = tmp_path_factory.mktemp("table")
    folder = place / "recordings" / "BJ-01-1"
    folder.parent.mkdir()
    port = SerialRecord(port="shoe", driver="angel-eye", file="shoe.cap")
    described(folder, replace(session(), serial=(port,)))
    (folder / "layout.toml").write_text("# the felt\n")
    film(folder, range(150), segment_s=4)
    write_capture(
        folder / "shoe.cap",
        [Chunk((ROUND_S * n + 1) * S, bytes([n, 0x38])) for n in range(1, ROUNDS + 1)],
    )
    signer, clock = Signer.create(place / "table.key"), SimulatedClock(START_NS)
    journal = place / "BJ-01.journal"
    with Journal.create(journal, Checkpoints(signer, clock)) as writing:
        for number in range(1, ROUNDS + 1):
            writing.append_all(happened(number))
            writing.checkpoint()
    return Recorded(folder, journal, signer)


def files_of(data: bytes, place: Path) -> dict[str, bytes]:
    """The files of an incident; its manifest without the seal around it."""
    place.write_bytes(data)
    with zipfile.ZipFile(place) as archive:
        assert archive.testzip() is None
        files = {entry.filename: archive.read(entry) for entry in archive.infolist()}
    return files | {MANIFEST: bytes(msgspec.json.decode(files[MANIFEST], type=Seal).manifest)}


def facts_of(files: dict[str, bytes]) -> Facts:
    return msgspec.json.decode(files[MANIFEST], type=Manifest).about_as(Facts, "the files")


def with_facts(files: dict[str, bytes], facts: Facts, **changes: object) -> dict[str, bytes]:
    """The files as a forger would make them who states other facts."""
    manifest = msgspec.json.decode(files[MANIFEST], type=Manifest)
    forged = replace(manifest, about=about(facts), **changes)
    return files | {MANIFEST: msgspec.json.encode(forged)}


def relisted(files: dict[str, bytes]) -> bytes:
    """The file as a forger would make it, with a manifest that fits."""
    lines = tuple(listed(name, data) for name, data in files.items() if name != MANIFEST)
    manifest = replace(msgspec.json.decode(files[MANIFEST], type=Manifest), files=lines)
    return resealed(files | {MANIFEST: msgspec.json.encode(manifest)})


def resealed(files: dict[str, bytes]) -> bytes:
    """The file with its manifest as it is, and a hash that fits it."""
    text = files.get(MANIFEST, b"{}")
    seal = Seal(manifest=msgspec.Raw(text), sha256=hashlib.sha256(text).hexdigest())
    others = {name: data for name, data in files.items() if name != MANIFEST}
    return ZIP.join(others, msgspec.json.encode(seal) + b"\n")


class Checked(NamedTuple):
    """A sound incident, and what the table's key can prove of it."""

    bundle: Bundle
    verdict: Verdict

    @property
    def facts(self) -> Facts:
        return self.bundle.manifest.about_as(Facts, "the incident")

    @property
    def recordings(self) -> tuple[str, ...]:
        """What of the recordings is not proven."""
        return tuple(one.what for one in self.verdict.left if one.of_maker)


def checked(data: bytes, path: Path) -> Checked:
    bundle = check_bundle(data, path)
    return Checked(bundle, check_incident(bundle, Asked()))


def test_it_holds_clip_events_bytes_and_table_of_its_round_and_no_other(
    recorded: Recorded, tmp_path: Path
) -> None:
    files = files_of(recorded.export(), tmp_path / "i.zip")
    assert sorted(files) == [
        "clips/overhead.mp4",
        EVENTS,
        "layout.toml",
        MANIFEST,
        PROOF,
        "serial/shoe.cap",
        "session.toml",
    ]
    events = [msgspec.json.decode(line) for line in files[EVENTS].splitlines()]
    assert [event["seq"] for event in events] == [5, 6, 7, 8]
    assert {event.get("round") for event in events} == {2, None}
    assert files["serial/shoe.cap"] == b"7000000000 0238\n"
    manifest = facts_of(files)
    span = manifest.clips["overhead"]
    assert span is not None
    assert manifest.from_ns <= span.begin_ns < span.end_ns <= manifest.to_ns
    assert (manifest.round, manifest.first, manifest.last) == (2, 5, 8)


@pytest.mark.slow
def test_it_verifies_on_another_machine_with_the_fingerprint_alone(
    recorded: Recorded, tmp_path: Path
) -> None:
    file = tmp_path / "elsewhere" / "incident.zip"
    file.parent.mkdir()
    file.write_bytes(recorded.export())
    said = subprocess.run(
        [sys.executable, "-m", "server", "incident", "verify", file, "--key", recorded.fingerprint],
        capture_output=True,
        text=True,
        check=False,
    )
    assert said.returncode == Exit.UNPROVEN, said.stderr
    assert "proven: table, times and 4 entries 5 to 8, by the table's key" in said.stdout
    assert "not proven: the recordings" in said.stdout


def test_every_single_bit_that_is_flipped_is_found(recorded: Recorded) -> None:
    # Three pictures, so that there are bits few enough to flip each.
    asked = span_asked(recorded.journal, START_NS + 3 * S, START_NS + 3 * S + S // 5)
    data = bytearray(packed(recorded.folder, recorded.journal, asked, 1, recorded.signer))
    assert checked(bytes(data), Path("sound"))
    for place in range(len(data)):
        for bit in range(8):
            data[place] ^= 1 << bit
            with pytest.raises(TechnicianError):
                checked(bytes(data), Path("flipped"))
            data[place] ^= 1 << bit


@pytest.mark.parametrize(
    ("change", "why"),
    [
        pytest.param(lambda text: text.replace(b'"8S"', b'"9S"', 1), "chain", id="a-card"),
        pytest.param(lambda text: text.split(b"\n", 1)[1], "should hold", id="one-less"),
        pytest.param(lambda text: text + text[-40:], "should hold", id="one-more"),
        pytest.param(
            lambda text: b"\n".join(reversed(text.split(b"\n")[:-1])) + b"\n", "chain", id="order"
        ),
    ],
)
def test_who_makes_the_whole_file_anew_cannot_change_an_event(
    recorded: Recorded, tmp_path: Path, change: Callable[[bytes], bytes], why: str
) -> None:
    files = files_of(recorded.export(), tmp_path / "i.zip")
    files[EVENTS] = change(files[EVENTS])
    with pytest.raises(TechnicianError, match=why):
        checked(relisted(files), Path("forged"))


def test_who_makes_the_chain_anew_lacks_the_key(recorded: Recorded, tmp_path: Path) -> None:
    files = files_of(recorded.export(), tmp_path / "i.zip")
    forger = Signer.create(tmp_path / "forger.key")
    forged = tmp_path / "forged.journal"
    with Journal.create(forged, Checkpoints(forger, SimulatedClock(START_NS))) as writing:
        for number in range(1, ROUNDS + 1):
            writing.append_all(happened(number))
    asked = round_asked(forged, 2, 0)
    data = packed(recorded.folder, forged, asked, 1)
    file = tmp_path / "forged.zip"
    file.write_bytes(data)
    assert run(["incident", "verify", str(file), "--key", recorded.fingerprint]) == Exit.REFUSED
    assert run(["incident", "verify", str(file)]) == Exit.UNPROVEN
    # Putting the true key's name under it does not help either.
    files = files_of(data, tmp_path / "j.zip")
    proof = msgspec.json.decode(files[PROOF], type=Proof)
    named = replace(proof, key=recorded.signer.public.hex())
    files[PROOF] = msgspec.json.encode(named)
    with pytest.raises(TechnicianError, match="does not fit its signature"):
        checked(relisted(files), Path("forged"))


def test_the_exporters_signature_stands_for_the_video_too(
    recorded: Recorded, tmp_path: Path
) -> None:
    exporter = Signer.create(tmp_path / "exporter.key")
    found = checked(recorded.export(signer=exporter), Path("signed"))
    assert found.bundle.signer == exporter.fingerprint
    assert checked(recorded.export(), Path("unsigned")).bundle.signer is None


def test_the_command_finds_the_journal_and_holds_the_recording(
    recorded: Recorded, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "2.zip"
    round_2 = ["--round", "2", "--margin", "0", "--out", str(out)]
    assert run(["incident", "export", str(recorded.folder), *round_2]) == 0
    assert "4 events, 1 clip" in capsys.readouterr().out
    assert "exported to 2.zip" in (recorded.folder / HOLD_FILE).read_text()
    assert (
        run(["incident", "verify", str(out), "--key", recorded.fingerprint.upper()])
        == Exit.UNPROVEN
    )


def test_a_round_that_went_on_after_a_restart_is_one_file(
    recorded: Recorded, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Round 2 runs from second 6 to 8; at second 7.5 the table started again."""
    place = tmp_path / "table"
    shutil.copytree(recorded.journal.parent, place)
    later = place / "recordings" / "BJ-01-2"
    port = SerialRecord(port="shoe", driver="angel-eye", file="shoe.cap")
    started_ns = START_NS + 7 * S + S // 2
    described(later, replace(session(), at=started_ns, serial=(port,)))
    (later / "layout.toml").write_text("# the felt\n")
    film(later, range(72, 150), segment_s=4)
    write_capture(later / "shoe.cap", [Chunk(S // 4, b"late"), Chunk(5 * S, b"after")])
    out = tmp_path / "2.zip"
    asked = ["--round", "2", "--margin", "0", "--out", str(out)]
    assert run(["incident", "export", str(place / "recordings" / "BJ-01-1"), *asked]) == 0
    assert "4 events, 2 clips" in capsys.readouterr().out
    verify = ["incident", "verify", str(out), "--key", recorded.fingerprint]
    assert run([*verify, "--allow-unsigned"]) == Exit.CLEAN
    files = files_of(out.read_bytes(), tmp_path / "copy.zip")
    assert files["serial/shoe.cap"] == b"7000000000 0238\n"
    assert files["2/serial/shoe.cap"] == b"250000000 6c617465\n"
    clips = checked(out.read_bytes(), out).facts.clips
    before, after = clips["overhead"], clips["2/overhead"]
    assert before is not None
    assert after is not None
    assert START_NS + 6 * S <= before.begin_ns < before.end_ns < started_ns
    assert started_ns < after.begin_ns < after.end_ns <= START_NS + 8 * S
    for folder in ("BJ-01-1", "BJ-01-2"):
        assert "exported to 2.zip" in (place / "recordings" / folder / HOLD_FILE).read_text()


def test_a_recording_that_the_span_does_not_touch_is_neither_taken_nor_held(
    recorded: Recorded, tmp_path: Path
) -> None:
    place = tmp_path / "table"
    shutil.copytree(recorded.journal.parent, place)
    for name, table in (("BJ-01-2", "BJ-01"), ("BJ-02-1", "BJ-02")):
        (place / "recordings" / name).mkdir()
        shifted = replace(session(), table=table, at=START_NS + (10 if table == "BJ-01" else 7) * S)
        write_session(place / "recordings" / name, shifted)
    asked = round_asked(place / "BJ-01.journal", 2, 0)
    found = recordings(place / "recordings" / "BJ-01-1", asked)
    assert [part.folder.name for part in found] == ["BJ-01-1"]


def test_a_span_of_time_is_exported_as_well(recorded: Recorded, tmp_path: Path) -> None:
    out = tmp_path / "span.zip"
    span = ["--from", "2027-01-15T08:00:03Z", "--to", "2027-01-15T08:00:09.5Z", "--no-hold"]
    assert run(["incident", "export", str(recorded.folder), *span, "--out", str(out)]) == 0
    found = checked(out.read_bytes(), out)
    assert (found.facts.first, found.facts.last, found.facts.round) == (1, 9, None)


def test_a_span_without_an_offset_is_the_houses_time(recorded: Recorded, tmp_path: Path) -> None:
    house, out = tmp_path / "house.toml", tmp_path / "span.zip"
    house.write_text('zone = "Europe/Paris"')
    command = ["incident", "export", str(recorded.folder), "--house", str(house), "--no-hold"]
    span = ["--from", "2027-01-15T09:00:03", "--to", "2027-01-15T09:00:09.5"]
    assert run([*command, *span, "--out", str(out)]) == 0
    assert checked(out.read_bytes(), out).facts.from_ns == START_NS + 3 * S


@pytest.mark.parametrize(
    ("moment", "how_often"), [("2026-10-25T02:30:00", "twice"), ("2027-03-28T02:30:00", "never")]
)
def test_a_time_that_the_clocks_showed_twice_or_never_asks_for_its_offset(
    recorded: Recorded,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    moment: str,
    how_often: str,
) -> None:
    house = tmp_path / "house.toml"
    house.write_text('zone = "Europe/Paris"')
    command = ["incident", "export", str(recorded.folder), "--house", str(house)]
    span = ["--from", moment, "--to", "2028-01-15T09:00:00", "--out", str(tmp_path / "none.zip")]
    assert run([*command, *span]) == Exit.REFUSED
    assert f"showed {moment} {how_often}" in capsys.readouterr().err


def test_the_moment_of_an_entry_is_exported_with_what_came_around_it(
    recorded: Recorded, tmp_path: Path
) -> None:
    out = tmp_path / "moment.zip"
    asked = ["--entry", "7", "--margin", "1", "--no-hold", "--out", str(out)]
    assert run(["incident", "export", str(recorded.folder), *asked]) == 0
    manifest = checked(out.read_bytes(), out).facts
    assert (manifest.first, manifest.last) == (5, 8)
    assert (manifest.from_ns, manifest.to_ns) == (START_NS + 6 * S, START_NS + 8 * S)


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        (["--round", "77"], "there is no round 77"),
        (["--from", "2027-01-15T08:00:03Z", "--to", "2027-01-15T08:00:01Z"], "is not after"),
        (["--from", "tomorrow", "--to", "2027-01-15T08:00:01Z"], "'tomorrow' is not a time"),
        (
            ["--from", "2020-01-15T08:00:00Z", "--to", "2020-01-15T08:00:01Z"],
            "no entry of that time",
        ),
        ([], "no round, entry or time"),
        (["--entry", "900"], "there is no entry 900"),
    ],
)
def test_what_cannot_be_exported_is_refused_in_one_line(
    recorded: Recorded,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    arguments: list[str],
    why: str,
) -> None:
    out = tmp_path / "none.zip"
    command = ["incident", "export", str(recorded.folder), *arguments, "--out", str(out)]
    assert run(command) == Exit.REFUSED
    assert why in capsys.readouterr().err
    assert not out.exists()


def test_a_camera_that_gave_no_picture_is_said(recorded: Recorded, tmp_path: Path) -> None:
    far = tmp_path / "far.journal"
    with Journal.create(far) as writing:
        writing.append(RoundOpened(round=1, at=START_NS + 900 * S, table="BJ-01"))
    data = packed(recorded.folder, far, round_asked(far, 1, S), 1)
    found = checked(data, Path("dark"))
    assert found.facts.clips == {"overhead": None}
    assert found.verdict.details["journal_key"] is None


def test_another_tables_journal_is_refused(recorded: Recorded, tmp_path: Path) -> None:
    other = tmp_path / "other.journal"
    with Journal.create(other) as writing:
        writing.append(RoundOpened(round=1, at=START_NS, table="BJ-99"))
    with pytest.raises(OperatorError, match="is of table BJ-99, the recording of BJ-01"):
        packed(recorded.folder, other, round_asked(other, 1, S), 1)
