"""What an archive holds and nobody read is named, and the exit status says so."""

import io
import json
import tarfile
import zipfile
from pathlib import Path

import pytest

from server.commands.app import run
from server.process.exit_status import Exit
from tests.server.evenings import evening, lines

FACTS = lines(evening(2))
OTHERS = lines(evening(3, 5))
NAMED = {
    "../up.jsonl": "its path leads out of the archive",
    "link.jsonl": "it is a link",
    "inner.zip": "it is an archive in an archive",
}


def tarred(place: Path, *, odd: bool = True) -> Path:
    with tarfile.open(place, "w:gz") as archive:
        _add(archive, "./good.jsonl", FACTS)
        for name in NAMED if odd else ():
            if name == "link.jsonl":
                link = tarfile.TarInfo(name)
                link.type, link.linkname = tarfile.SYMTYPE, "good.jsonl"
                archive.addfile(link)
            else:
                _add(archive, name, FACTS)
    return place


def _add(archive: tarfile.TarFile, name: str, content: bytes) -> None:
    member = tarfile.TarInfo(name)
    member.size = len(content)
    archive.addfile(member, io.BytesIO(content))


def zipped(place: Path, *, odd: bool = True) -> Path:
    with zipfile.ZipFile(place, "w") as archive:
        archive.writestr("./good.jsonl", FACTS)
        for name in NAMED if odd else ():
            member = zipfile.ZipInfo(name)
            if name == "link.jsonl":
                member.external_attr = 0o120777 << 16
            archive.writestr(member, b"good.jsonl" if name == "link.jsonl" else FACTS)
    return place


@pytest.fixture(params=["a.tar.gz", "a.zip"])
def archive(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    place = tmp_path / request.param
    return zipped(place) if place.suffix == ".zip" else tarred(place)


@pytest.mark.parametrize("command", ["settle", "resettle --was home"])
def test_each_member_is_named_with_the_reason(
    archive: Path, command: str, capsys: pytest.CaptureFixture[str]
) -> None:
    asked = [*command.split(), str(archive), "-r", "kansas-shoe", "--json"]
    assert run(asked) == Exit.INCOMPLETE
    told = capsys.readouterr().err.splitlines()
    assert len(told) == len(NAMED)
    for name, why in NAMED.items():
        assert any(line.startswith(f"pitwatch: {archive}/{name}: skipped: {why}.") for line in told)


def test_the_summary_names_them(archive: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run(["settle", str(archive), "-r", "kansas-shoe", "--json", "--summary"])
    printed = json.loads(capsys.readouterr().out)
    assert printed["passed_over"] == {f"{archive}/{name}": why for name, why in NAMED.items()}
    assert (printed["summary"]["files"], printed["summary"]["rounds"]) == (1, 2)


@pytest.mark.parametrize("name", ["a.tar.gz", "a.zip"])
def test_an_archive_that_was_read_whole_is_clean(name: str, tmp_path: Path) -> None:
    place = tmp_path / name
    made = zipped(place, odd=False) if place.suffix == ".zip" else tarred(place, odd=False)
    assert run(["settle", str(made), "-r", "kansas-shoe"]) == Exit.CLEAN


@pytest.mark.filterwarnings("ignore:Duplicate name")
@pytest.mark.parametrize("name", ["a.tar", "a.zip"])
def test_of_two_members_of_a_name_the_last_settles_and_the_first_is_named(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    place = tmp_path / name
    if place.suffix == ".zip":
        with zipfile.ZipFile(place, "w") as archive:
            archive.writestr("day.jsonl", FACTS)
            archive.writestr("day.jsonl", OTHERS)
    else:
        with tarfile.open(place, "w") as tar:
            _add(tar, "day.jsonl", FACTS)
            _add(tar, "day.jsonl", OTHERS)
    assert run(["settle", str(place), "-r", "kansas-shoe", "--json"]) == Exit.INCOMPLETE
    out, err = capsys.readouterr()
    assert len(out.splitlines()) == 3
    assert "day.jsonl: skipped: another member of the same name follows it" in err


def test_a_refused_file_beside_them_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    bad = tmp_path / "bad.jsonl"
    bad.write_text("{}\n", "utf-8")
    asked = ["settle", str(tarred(tmp_path / "a.tar.gz")), str(bad), "-r", "kansas-shoe"]
    assert run(asked) == Exit.REFUSED
    assert "bad.jsonl:1: field 'type'" in capsys.readouterr().err


def test_help_lists_the_exit_status(capsys: pytest.CaptureFixture[str]) -> None:
    run(["--help"])
    printed = " ".join(capsys.readouterr().out.split())
    assert "4 part of an archive skipped" in printed
