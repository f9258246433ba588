"""``pitwatch journal keys``, ``backup`` and ``verify --key``, as they are typed."""

import json
import stat
from pathlib import Path

import pytest

from models.events import RoundOpened
from server.commands.app import run
from stream.clock import SimulatedClock
from stream.journal import Checkpoints, Journal
from stream.signing import Signer

Capture = pytest.CaptureFixture[str]


@pytest.fixture
def folder(tmp_path: Path, capsys: Capture) -> Path:
    """A folder with a table's keys and its journal, signed and closed."""
    assert run(["journal", "keys", str(tmp_path / "07.key")]) == 0
    capsys.readouterr()
    signer = Signer.read(tmp_path / "07.key")
    with Journal.create(
        tmp_path / "07.journal", Checkpoints(signer, SimulatedClock(5), entries=4)
    ) as journal:
        journal.append_all(RoundOpened(round=number) for number in range(1, 4))
    return tmp_path


def test_keys_are_made_once_and_exported_again(tmp_path: Path, capsys: Capture) -> None:
    printed = []
    for _ in range(2):
        assert run(["journal", "keys", str(tmp_path / "07.key"), "--json"]) == 0
        printed.append(json.loads(capsys.readouterr().out))
    assert [each["made"] for each in printed] == [True, False]
    assert printed[0]["fingerprint"] == printed[1]["fingerprint"]
    assert printed[0]["public"] == str(tmp_path / "07.key.pub.pem")
    assert stat.S_IMODE((tmp_path / "07.key").stat().st_mode) == 0o600
    assert b"PRIVATE" not in (tmp_path / "07.key.pub.pem").read_bytes()


def test_another_public_key_is_not_written_over(folder: Path, capsys: Capture) -> None:
    other = ["journal", "keys", str(folder / "08.key"), "--public", str(folder / "07.key.pub.pem")]
    assert run(other) == 2
    assert "07.key.pub.pem: the file exists already" in capsys.readouterr().err
    assert not (folder / "08.key").exists()


def test_a_journal_is_proved_by_the_tables_public_key(folder: Path, capsys: Capture) -> None:
    command = ["journal", "verify", str(folder / "07.journal"), "--key"]
    assert run([*command, str(folder / "07.key.pub.pem"), "--json"]) == 0
    printed = json.loads(capsys.readouterr().out)
    assert (printed["entries"], printed["signed"], printed["sealed"]) == (3, 3, True)
    assert printed["keys"] == printed["keys_given"]


def test_a_key_has_one_form_where_it_is_shown_and_named(folder: Path, capsys: Capture) -> None:
    raw = Signer.read(folder / "07.key").public.hex()
    verify = ["journal", "verify", str(folder / "07.journal")]
    assert run(["journal", "keys", str(folder / "07.key"), "--json"]) == 0
    shown = capsys.readouterr().out
    own = json.loads(shown)["fingerprint"]
    for typed in (own, own.upper(), " ".join(own[at : at + 4] for at in range(0, 64, 4))):
        assert run([*verify, "--key", typed, "--json"]) == 0
        printed = capsys.readouterr().out
        assert json.loads(printed)["keys"] == json.loads(printed)["keys_given"] == [own]
        shown += printed
    run(["journal", "keys", str(folder / "07.key")])
    run(verify)
    printed = capsys.readouterr().out
    assert "".join(printed.split()).count(own) == 2, "both say it"
    assert raw not in shown + "".join(printed.split())


@pytest.mark.parametrize("named", ["5f3a", "no-such-file.pem"])
def test_what_is_no_key_is_named(folder: Path, capsys: Capture, named: str) -> None:
    assert run(["journal", "verify", str(folder / "07.journal"), "--key", named]) == 2
    error = capsys.readouterr().err
    assert f"--key: expected 64 hex digits or a file, found '{named}'" in error


def test_another_tables_key_proves_nothing(folder: Path, capsys: Capture) -> None:
    run(["journal", "keys", str(folder / "08.key")])
    capsys.readouterr()
    public = str(folder / "08.key.pub.pem")
    assert run(["journal", "verify", str(folder / "07.journal"), "--key", public]) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert "signed by another key" in printed.err


def test_without_a_key_a_warning_states_that_anyone_may_have_signed(
    folder: Path, capsys: Capture
) -> None:
    assert run(["journal", "verify", str(folder / "07.journal")]) == 0
    out = " ".join(capsys.readouterr().out.split())
    assert "signed up to entry 3" in out
    assert "only --key PUBLIC.pem proves" in out


def test_a_backup_verifies_as_the_journal_does(folder: Path, capsys: Capture) -> None:
    copy = folder / "backup" / "07.journal"
    copy.parent.mkdir()
    assert run(["journal", "backup", str(folder / "07.journal"), str(copy), "--json"]) == 0
    printed = json.loads(capsys.readouterr().out)
    assert (printed["file"], printed["entries"], printed["sealed"]) == (str(copy), 3, True)
    assert run(["journal", "verify", str(copy), "--key", str(folder / "07.key.pub.pem")]) == 0


def test_a_backup_of_nothing_is_refused_in_one_line(tmp_path: Path, capsys: Capture) -> None:
    assert run(["journal", "backup", str(tmp_path / "no"), str(tmp_path / "copy")]) == 2
    assert "no: there is no journal" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []
