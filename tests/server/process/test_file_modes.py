"""What a command writes, its user alone may read, whatever the umask of who starts it."""

import os
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest

from server.commands.app import run
from server.process.exit_status import Exit
from server.process.file_modes import GROUP_READS, owner_only
from server.process.program import ROOT
from stream.journal import Journal

FACTS = ROOT / "server" / "examples" / "facts.jsonl"
COMMANDS = (
    "simulate {at}/new/dealt --no-video --rounds 1 --spots 1,3 --seed 3",
    "settle {facts} --rulebook kansas-shoe --out {at}/hands.jsonl",
    "journal keys {at}/table.key",
    "journal backup {at}/data/journals/bj.journal {at}/copy.journal",
    "export {at}/copy.journal --what ledger --out {at}/ledger.csv",
    "backup make {at}/data {at}/backups",
)
"""A few; `tests/packaging/test_commands.py` looks at what all of them wrote."""


@pytest.fixture(params=[0o000, 0o022], ids=["umask-000", "umask-022"], autouse=True)
def umask(request: pytest.FixtureRequest) -> Iterator[int]:
    before = os.umask(request.param)
    yield request.param
    os.umask(before)


@pytest.fixture
def written(tmp_path: Path) -> Path:
    """A folder in which commands have written."""
    with owner_only():
        (tmp_path / "data" / "journals").mkdir(parents=True)
        Journal.create(tmp_path / "data" / "journals" / "bj.journal").close()
    for line in COMMANDS:
        status = run([word.format(at=tmp_path, facts=FACTS) for word in line.split()])
        assert status in {Exit.CLEAN, Exit.FINDINGS}, line
    return tmp_path


def modes(folder: Path) -> dict[str, str]:
    return {
        str(one.relative_to(folder)): f"{stat.S_IMODE(one.stat().st_mode):04o}"
        for one in folder.rglob("*")
        if "-shm" not in one.name
    }


def test_files_are_0600_in_folders_0700(written: Path, umask: int) -> None:
    found = modes(written)
    for_prometheus = [name for name in found if name.endswith(".prom")]
    assert for_prometheus == ["backups/pitwatch_backup.prom"]
    del found[for_prometheus[0]]
    assert set(found.values()) == {"0600", "0700"}, found
    assert len(found) > 15
    now = os.umask(umask)
    assert now == umask, "what the caller had is put back"


def test_a_unit_can_let_its_group_read_what_is_no_secret(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> None:
    monkeypatch.setenv(GROUP_READS, "1")
    found = modes(request.getfixturevalue("written"))
    secret = {one for one in found if one == "table.key" or one.startswith(("backups", "data"))}
    assert {found[name] for name in secret} == {"0600", "0700", "0644"}
    assert found["copy.journal"] == "0640"
    assert found["new"] == "0750"
    assert {found[name] for name in found.keys() - secret} == {"0640", "0700", "0750"}


def test_another_value_of_the_setting_is_refused(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv(GROUP_READS, "yes")
    assert run(["rulebooks", "list"]) == Exit.REFUSED
    assert f"{GROUP_READS}: expected 0 or 1, found 'yes'" in capsys.readouterr().err
