"""What docs/python.md shows works as it stands there."""

import re
import zipfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import pitwatch
from simulation.session import simulate
from stream.journal import Journal
from tests.golden.sessions import SESSIONS, heard
from tests.server.doubted import table

PAGE = (Path(__file__).parents[2] / "docs" / "python.md").read_text("utf-8")


@pytest.fixture
def evening(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with the journal that the page reads."""
    with Journal.create(tmp_path / "evening.journal") as journal:
        live = table(journal, "BJ-01")
        for one in heard("plain"):
            live.observe((one.observation,), one.now_ns)
    monkeypatch.chdir(tmp_path)
    return tmp_path / "evening.journal"


def test_its_notebook_has_a_row_a_hand(evening: Path) -> None:
    found = re.search(r"```python notebook\n(.*?)```", PAGE, re.DOTALL)
    assert found is not None
    names: dict[str, Any] = {}
    exec(found[1], names)
    hands = names["hands"]
    settled = [one.result for one in pitwatch.settle(evening, "kansas-shoe")]
    assert len(hands) == sum(len(spot.hands) for one in settled for spot in one.spots) > 0
    assert list(hands["net"]) == [
        h.net for one in settled for spot in one.spots for h in spot.hands
    ]


def test_its_table_names_what_there_is() -> None:
    named = set(re.findall(r"^\| `pitwatch\.(\w+)", PAGE, re.MULTILINE))
    assert all(hasattr(pitwatch, name) or __import__(f"pitwatch.{name}") for name in named)
    assert set(pitwatch.__all__) - named == {"Replayed", "Settled", "main"}


def test_reading_a_journal_gives_its_events_in_order(evening: Path) -> None:
    events = list(pitwatch.read(evening))
    assert [one.seq for one in events] == list(range(1, len(events) + 1))
    assert any(type(one) is pitwatch.events.RoundOpened for one in events)


def test_a_missing_journal_is_refused_with_its_name(tmp_path: Path) -> None:
    with pytest.raises(pitwatch.PitwatchError, match=r"missing\.journal"):
        list(pitwatch.read(tmp_path / "missing.journal"))
    with pytest.raises(pitwatch.PitwatchError, match=r"missing\.journal"):
        list(pitwatch.settle(tmp_path / "missing.journal", "kansas-shoe"))


def test_a_member_of_an_archive_that_would_be_passed_over_is_refused(
    evening: Path, tmp_path: Path
) -> None:
    with zipfile.ZipFile(tmp_path / "all.zip", "w") as archive:
        archive.write(evening, "../evening.journal")
        archive.write(evening, "evening.journal")
    with pytest.raises(pitwatch.PitwatchError, match="leads out of the archive"):
        list(pitwatch.settle(tmp_path / "all.zip", "kansas-shoe"))


@pytest.mark.slow
def test_a_replay_settles_what_its_kept_journal_settles(tmp_path: Path) -> None:
    simulate(replace(SESSIONS["plain"], spots=(1, 3), video=False), tmp_path / "evening")
    kept = tmp_path / "evening.journal"
    replayed = pitwatch.replay(tmp_path / "evening", journal=kept)
    again = [one.result for one in pitwatch.settle(kept, replayed.rounds[0].rulebook)]
    assert again
    assert [(one.round, one.status, one.net) for one in again] == [
        (one.round, one.status, one.net) for one in replayed.rounds
    ]
    (stated,) = (one for one in pitwatch.read(kept) if type(one) is pitwatch.events.ProgramStated)
    assert stated.version
