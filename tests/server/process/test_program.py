"""Which program writes a journal: hashes that anybody can check, stated first."""

import json
import subprocess
from pathlib import Path

import pytest

from models.events import ProgramStated, RulesStated
from server.commands.app import run
from server.process.exit_status import Exit
from server.process.program import PACKAGES, ROOT, program_files, program_stated, this_program
from stream.reading import read_journal


@pytest.mark.slow
def test_the_hash_is_that_of_the_lines_which_sha256sum_prints() -> None:
    names = program_files()
    lines = subprocess.run(["sha256sum", *names], cwd=ROOT, capture_output=True, check=True).stdout
    whole = subprocess.run(["sha256sum"], input=lines, capture_output=True, check=True).stdout
    assert this_program().program_hash == whole.decode().split()[0]


@pytest.mark.slow
def test_every_tracked_file_of_the_packages_is_hashed() -> None:
    listed = subprocess.run(
        ["git", "ls-files", *PACKAGES], cwd=ROOT, capture_output=True, text=True, check=False
    )
    if listed.returncode != 0:
        pytest.skip("not a git checkout")
    assert sorted(set(listed.stdout.split()) - set(program_files())) == []


def test_every_package_with_code_is_one_of_the_program() -> None:
    assert {path.parent.name for path in ROOT.glob("*/__init__.py")} - {"lab", "tests"} == set(
        PACKAGES
    )


def test_every_network_is_stated() -> None:
    there = {path.name for path in (ROOT / "models" / "networks").glob("*.onnx")}
    assert there
    assert set(program_stated(7).networks) == there


@pytest.mark.slow
def test_a_replayed_journal_states_the_program_first(tmp_path: Path) -> None:
    session, journal = str(tmp_path / "evening"), tmp_path / "evening.journal"
    assert run(["simulate", session, "--rounds", "1", "--spots", "1,3", "--no-video"]) == Exit.CLEAN
    run(["replay", session, "--journal", str(journal)])
    first, second, *_ = read_journal(journal)
    assert isinstance(first, ProgramStated)
    assert first.seq == 1
    assert first.program_hash == this_program().program_hash
    assert isinstance(second, RulesStated)
    assert (first.table, first.at) == (second.table, second.at)


def test_a_checkout_is_reported_with_its_hash(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert run(["verify-install", "--json"]) == Exit.UNPROVEN
    printed = json.loads(capsys.readouterr().out)
    assert (printed["state"], printed["program_hash"]) == ("checkout", this_program().program_hash)
