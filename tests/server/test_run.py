"""A live table whole: real ports, a real HTTP camera, and what was recorded replayed."""

import asyncio
from pathlib import Path

import pytest

from server.comparison import compare_sessions, tally
from server.live.playing import played
from simulation.session import simulate
from tests.server.live_tables import SETTINGS, Run


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return simulate(SETTINGS, tmp_path_factory.mktemp("dealt") / "session")


def test_a_live_round_settles_as_it_happened(session: Path, tmp_path: Path) -> None:
    with played(session, tmp_path) as playing:
        run = Run(playing, SETTINGS, tmp_path / "table.journal")
        asyncio.run(run.until(lambda found: len(found.settled) == SETTINGS.rounds))
        truth = playing.recording.truth
        assert truth is not None
        comparisons = compare_sessions(truth, run.settled)
        assert [one.differences for one in comparisons] == [()]
        assert tally(comparisons).exact == SETTINGS.rounds
        assert "1 round settled" in run.line
