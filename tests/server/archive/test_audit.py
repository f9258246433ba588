"""The auditor's report: each figure is the sum of the hands behind it."""

from pathlib import Path

import duckdb
import msgspec
import pytest

from server.archive.audit import ChangedHand, figures_of
from tests.server.archive import test_parts
from tests.server.archive.test_parts import resettled

history = test_parts.history


def test_each_figure_is_the_sum_of_the_hands_behind_it(
    history: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    _, summary = resettled(capsys, history, "--report", tmp_path / "a", "--jobs", 1)
    lines = (tmp_path / "a" / "changed_hands.jsonl").read_bytes().splitlines()
    hands = [msgspec.json.decode(line, type=ChangedHand) for line in lines]
    whole = sum(one.house_difference or 0 for one in hands)
    figures = figures_of(lines)
    assert figures.whole.house_difference == whole
    said = msgspec.json.decode(summary)["summary"]
    assert said["opened"] or whole == said["house_difference"]
    with duckdb.connect() as database:
        file = tmp_path / "a" / "changed_hands.jsonl"
        for column, by in (
            ("table", figures.tables),
            ("week", figures.weeks),
            ("shift", figures.shifts),
            ("clauses", figures.clauses),
        ):
            found = database.execute(
                f'SELECT "{column}", sum(house_difference)::BIGINT, count(*), '
                f"count(DISTINCT (file, round)) FROM read_json('{file}') GROUP BY 1"
            ).fetchall()
            mine = {
                key: (one.house_difference if one.open < one.hands else None, one.hands, one.rounds)
                for key, one in by.items()
            }
            assert {key: tuple(rest) for key, *rest in found} == mine
    assert set(figures.weeks) == {"2026-W09", "2026-W10"}
    assert len(figures.tables) > 2
