"""A table's key is a whole file or none."""

import os
from pathlib import Path

import pytest

from models.errors import OperatorError
from stream.signing import Signer


def test_a_process_killed_while_it_makes_a_key_leaves_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A service that was killed in its first second never started again: half a key was there."""
    key = tmp_path / "report.key"
    child = os.fork()
    if not child:
        # Killed after the bytes, before they are durable.
        monkeypatch.setattr(os, "fsync", lambda _: os._exit(9))
        Signer.create(key)
        os._exit(0)
    _, status = os.waitpid(child, 0)
    assert os.waitstatus_to_exitcode(status) == 9
    assert list(tmp_path.iterdir()) == []
    made = Signer.create(key)
    assert Signer.read(key).public == made.public
    assert key.stat().st_mode & 0o777 == 0o600


def test_a_file_system_without_nameless_files_gets_a_key_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("os.O_TMPFILE", os.O_DIRECTORY | os.O_CREAT)  # EINVAL, as an old kernel
    made = Signer.create(tmp_path / "table.key")
    assert Signer.read(tmp_path / "table.key").public == made.public


def test_a_key_is_never_written_over(tmp_path: Path) -> None:
    key = tmp_path / "table.key"
    first = Signer.create(key)
    with pytest.raises(OperatorError, match="cannot be written"):
        Signer.create(key)
    assert Signer.read(key).public == first.public
