"""An archived day that was made anew with other content: refused by file, row and field."""

import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from msgspec.structs import replace

from server.archive.history import TABLES, Day, DayFacts, heads_of
from server.bundle.bundle import manifest_in, seal_folder
from server.bundle.manifest import about
from server.commands.app import run
from server.process.exit_status import Exit
from tests.server.archive.test_history import history, journals

__all__ = ["history", "journals"]

Rows = list[dict[str, Any]]


def day(history: Path) -> Path:
    return history / "2026-03-01"


def sealed(folder: Path, change: Callable[[DayFacts], DayFacts] = lambda facts: facts) -> None:
    """Make the manifest anew, so that it fits the files."""
    manifest, _ = manifest_in(folder)
    facts = change(manifest.about_as(DayFacts, folder))
    subject, heads = f"day {facts.day}", heads_of(facts.parts)
    anew = replace(manifest, subject=subject, journals=heads, about=about(facts))
    seal_folder(folder, anew, None)


def rewritten(folder: Path, name: str, change: Callable[[Rows], Rows]) -> None:
    """Write a table of a day again with other rows, each journal in its own row group."""
    rows = change(pq.read_table(folder / f"{name}.parquet").to_pylist())
    with pq.ParquetWriter(folder / f"{name}.parquet", TABLES[name], compression="zstd") as writer:
        for part in Day(folder).about.parts:
            own = [row for row in rows if row["journal"] == part.journal]
            writer.write_table(pa.Table.from_pylist(own, TABLES[name]))
    sealed(folder)


def in_event(name: str, value: Any, kind: str = "wager_placed") -> Callable[[Rows], Rows]:
    """Set a field in the JSON of every fact of a type."""

    def change(rows: Rows) -> Rows:
        for row in rows:
            if row["type"] == kind:
                fields = json.loads(row["event"])
                fields[name] = value(fields[name]) if callable(value) else value
                row["event"] = msgspec.json.encode(fields).decode()
        return rows

    return change


def at(number: int, name: str, value: Any) -> Callable[[Rows], Rows]:
    def change(rows: Rows) -> Rows:
        rows[number][name] = value
        return rows

    return change


def swapped(rows: Rows) -> Rows:
    return [*rows[1::-1], *rows[2:]]


@pytest.mark.parametrize(
    ("table", "change", "said"),
    [
        pytest.param("facts", in_event("amount", 10.5), "'event.amount'", id="float"),
        pytest.param("facts", in_event("amount", float), "'event.amount'", id="whole-float"),
        pytest.param("facts", in_event("amount", "10"), "'event.amount'", id="text"),
        pytest.param("facts", in_event("type", "wager_shown"), "'event.type'", id="unknown-type"),
        pytest.param("facts", in_event("spot", 0), "'event.spot'", id="no-spot"),
        pytest.param("facts", at(3, "event", None), "row 4: field 'event'", id="no-event"),
        pytest.param("facts", at(3, "event", "{}"), "row 4: field 'event.type'", id="empty-event"),
        pytest.param("facts", at(3, "event", "no JSON"), "row 4: field 'event", id="no-json"),
        pytest.param(
            "facts",
            at(3, "event", '{"type":"round_closed"}\n{"type":"round_closed"}'),
            "row 4: field 'event",
            id="two-events",
        ),
        pytest.param("facts", at(3, "entry", None), "row 4: field 'entry'", id="no-entry"),
        pytest.param("facts", lambda rows: rows[::-1], "field 'entry'", id="reversed"),
        pytest.param("facts", swapped, "row 2: field 'entry'", id="two-swapped"),
        pytest.param("facts", lambda rows: rows[1:], "field 'rows'", id="one-less"),
        pytest.param("facts", lambda rows: [*rows, rows[-1]], "field 'rows'", id="one-more"),
        pytest.param("judgements", lambda rows: rows[::-1], "field 'entry'", id="judged-reversed"),
        pytest.param("judgements", at(0, "event", None), "row 1: field 'event'", id="no-judgement"),
        pytest.param(
            "judgements", at(0, "type", "review_raised"), "row 1: field 'type'", id="kind"
        ),
        pytest.param(
            "judgements", in_event("type", "round_seen", "round_settled"), "event.type", id="judged"
        ),
    ],
)
def test_rows_that_nobody_wrote_are_refused_by_file_row_and_field(
    history: Path,
    capsys: pytest.CaptureFixture[str],
    table: str,
    change: Callable[[Rows], Rows],
    said: str,
) -> None:
    rewritten(day(history), table, change)
    settle = ["settle", "-r", "kansas-shoe", "--json", str(day(history))]
    resettle = ["resettle", "-r", "kansas-shoe", "--json", str(day(history))]
    for words in (settle, resettle, ["archive", "verify", str(history)]):
        capsys.readouterr()
        assert run(words) == Exit.REFUSED, words
        out, err = capsys.readouterr()
        assert f"{table}.parquet" in err
        assert said in err
        assert "Traceback" not in err
        if words is settle:
            rounds = Counter(json.loads(line)["file"] for line in out.splitlines())
            assert set(rounds.values()) <= {6}, "all rounds of a journal's part, or none"


@pytest.mark.parametrize("table", ["facts", "judgements"])
@pytest.mark.parametrize("column", ["event", "entry", "journal", "type"])
def test_a_column_that_is_missing_or_of_another_type_is_named(
    history: Path, capsys: pytest.CaptureFixture[str], table: str, column: str
) -> None:
    path = day(history) / f"{table}.parquet"
    whole = pq.read_table(path)
    place = whole.column_names.index(column)
    blank = pa.array([1.5] * whole.num_rows)
    for other in (whole.drop_columns([column]), whole.set_column(place, column, blank)):
        pq.write_table(other, path)
        sealed(day(history))
        for words in (
            ["settle", "-r", "kansas-shoe", str(history)],
            ["archive", "verify", str(history)],
        ):
            capsys.readouterr()
            assert run(words) == Exit.REFUSED
            assert f"{table}.parquet: field '{column}'" in capsys.readouterr().err


def test_a_file_that_is_no_parquet_and_groups_of_nobody_are_refused(
    history: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def regrouped(facts: DayFacts) -> DayFacts:
        first, *rest = facts.parts
        return replace(facts, parts=(replace(first, groups=(7,)), *rest))

    sealed(day(history), regrouped)
    assert run(["settle", "-r", "kansas-shoe", str(day(history))]) == Exit.REFUSED
    assert "field 'parts.groups'" in capsys.readouterr().err
    (day(history) / "facts.parquet").write_bytes(b"no Parquet")
    sealed(day(history))
    assert run(["settle", "-r", "kansas-shoe", str(day(history))]) == Exit.REFUSED
    assert "facts.parquet: field 'content'" in capsys.readouterr().err


def times_ten(rows: Rows) -> Rows:
    for row in rows:
        if row["type"] == "wager_placed":
            row["amount"] *= 10
    return in_event("amount", lambda cents: cents * 10)(rows)


def more(name: str) -> Callable[[Rows], Rows]:
    """Change a cell that the table's own type allows."""

    def change(rows: Rows) -> Rows:
        row = next(row for row in rows if row[name] is not None)
        row[name] = row[name] + 1 if isinstance(row[name], int) else f"{row[name]} "
        return rows

    return change


@pytest.mark.parametrize(
    ("table", "change", "field"),
    [
        pytest.param("facts", times_ten, "amount", id="wagers-times-ten"),
        pytest.param("facts", more("spot"), "spot", id="column-alone"),
        pytest.param("facts", in_event("amount", 5), "event", id="event-alone"),
        pytest.param("payments", more("amount"), "amount", id="payment"),
        pytest.param("payments", lambda rows: rows[1:], "journal", id="payment-left-out"),
        pytest.param("rounds", more("net"), "net", id="round"),
        pytest.param("hands", more("cards"), "cards", id="hand"),
        pytest.param("violations", more("detail"), "detail", id="mistake"),
        pytest.param("judgements", more("round"), "round", id="judgement"),
    ],
)
def test_verify_compares_every_cell_with_the_journal(
    journals: Path,
    history: Path,
    capsys: pytest.CaptureFixture[str],
    table: str,
    change: Callable[[Rows], Rows],
    field: str,
) -> None:
    named = [word for path in journals.iterdir() for word in ("--journal", str(path))]
    assert run(["archive", "verify", str(history), *named]) == Exit.CLEAN
    rewritten(day(history), table, change)
    assert run(["archive", "verify", str(history)]) == Exit.CLEAN, "a sound day, but another one"
    capsys.readouterr()
    assert run(["archive", "verify", str(history), *named]) == Exit.REFUSED
    err = capsys.readouterr().err
    assert f"{table}.parquet, row" in err
    assert f"field '{field}'" in err
    assert "as journal" in err


def test_rows_of_a_journal_that_the_manifest_does_not_name_are_refused(
    history: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = day(history) / "payments.parquet"
    rows = pq.read_table(path).to_pylist()
    pq.write_table(
        pa.Table.from_pylist([*rows, rows[0] | {"journal": "another"}], TABLES["payments"]), path
    )
    sealed(day(history))
    assert run(["archive", "verify", str(history)]) == Exit.REFUSED
    assert f"payments.parquet, row {len(rows) + 1}: field 'journal'" in capsys.readouterr().err


@pytest.mark.parametrize("field", ["entries", "facts", "rounds", "first_at", "signed"])
def test_a_manifest_that_counts_otherwise_than_the_journal_is_refused(
    journals: Path, history: Path, capsys: pytest.CaptureFixture[str], field: str
) -> None:
    def changed(facts: DayFacts) -> DayFacts:
        *rest, last = facts.parts
        return replace(facts, parts=(*rest, replace(last, **{field: getattr(last, field) + 1})))

    sealed(day(history), changed)
    named = [word for path in journals.iterdir() for word in ("--journal", str(path))]
    assert run(["archive", "verify", str(history), *named]) == Exit.REFUSED
    err = capsys.readouterr().err
    said = {"facts": "field 'rows'", "entries": "is not the one that"}
    assert said.get(field, f"parts.{field}") in err


def test_a_day_that_names_another_date_or_lacks_a_file_is_refused(
    journals: Path, history: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    named = [word for path in journals.iterdir() for word in ("--journal", str(path))]
    sealed(day(history), lambda facts: replace(facts, day="2026-03-05"))
    assert run(["archive", "verify", str(history), *named]) == Exit.REFUSED
    assert "field 'day'" in capsys.readouterr().err
    sealed(day(history))
    (day(history) / "payments.parquet").unlink()
    sealed(day(history))
    assert run(["settle", "-r", "kansas-shoe", str(day(history))]) == Exit.REFUSED
    assert "field 'files': expected payments.parquet" in capsys.readouterr().err


def test_a_day_of_a_version_before_several_bettors_is_what_its_journals_say(
    journals: Path, history: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = day(history) / "payments.parquet"
    pq.write_table(pq.read_table(path).drop_columns(["bet", "bettor"]), path)
    sealed(day(history))
    named = [word for path in journals.iterdir() for word in ("--journal", str(path))]
    assert run(["archive", "verify", str(history), *named]) == Exit.CLEAN
    pq.write_table(pq.read_table(path).drop_columns(["amount"]), path)
    sealed(day(history))
    assert run(["archive", "verify", str(history), *named]) == Exit.REFUSED
    assert "payments.parquet: field 'amount'" in capsys.readouterr().err
