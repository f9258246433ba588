"""A round of a simulated table, from its film and its shoe's bytes to what each spot is owed."""

import re
from pathlib import Path

import pytest

from server.commands.app import run
from server.process.exit_status import Exit

FILMED = "simulate filmed --rounds 1 --spots 2 --markers --size 1280x720 --fps 8 --seed 3"


@pytest.mark.slow(shows="a replay of pixels and bytes")
def test_a_filmed_round_is_settled_as_it_was_dealt(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert run(FILMED.split()) == Exit.CLEAN
    status = run(["replay", "filmed", "--journal", "filmed.journal"])
    printed = capsys.readouterr()
    assert status == Exit.CLEAN, printed
    assert re.search(r"Round 1 .* final ", printed.out), printed
