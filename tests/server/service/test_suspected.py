"""Suspected is never called a mistake: every reader of one journal counts alike, and asks alike.

The journal is of the demo session whose shoe fell silent in round 4.
"""

import csv
import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pyarrow.parquet as pq
import pytest

from models.events import Observation
from models.judgements import Review, ReviewRaised, RoundResult
from server.commands.app import run
from server.commands.tables import totals_line
from server.house.formatting import Formats
from server.integration.message import VIOLATION, messages_of
from server.readmodel.entries import entry_of
from stream.journal import Journal
from stream.reading import read_journal
from tests.server.doubted import play_between_accounts, play_without_shoe, played_again
from tests.server.papers import Paper
from tests.server.service.conftest import Kept
from tests.server.service.house import House, house, play

SESSION = "bj-07"
RULES = ("--rulebook", "kansas-shoe")
QUESTION = "Was spot 1 paid 10.00 where 15.00 were due?"


@dataclass(frozen=True)
class Counts:
    """What every reader must agree in; ``net`` is the house's gain over final rounds."""

    mistakes: int
    suspected: int
    open_rounds: int
    net: int


@pytest.fixture
def own(tmp_path: Path, kept: Kept) -> Iterator[House]:
    journals = tmp_path / "journals"
    journals.mkdir()
    with Journal.create(journals / f"{SESSION}.journal") as journal:
        play_without_shoe(journal, "BJ-07")
    with kept(journals) as store, house(journals, tmp_path / "state", store=store) as found:
        found.staff()
        yield found


@pytest.mark.slow
@pytest.mark.parametrize(
    ("decision", "after"),
    [
        (None, Counts(mistakes=0, suspected=1, open_rounds=2, net=25200)),
        ("stands", Counts(mistakes=1, suspected=0, open_rounds=0, net=19700)),
        ("void", Counts(mistakes=0, suspected=0, open_rounds=0, net=25200)),
    ],
)
def test_every_reader_counts_alike(
    own: House,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    decision: str | None,
    after: Counts,
) -> None:
    journal = own.journals / f"{SESSION}.journal"
    with own.signed_in("surveillance") as officer:
        if decision is not None:
            decide(own, officer, decision)
        printed = settled(journal, capsys)
        readers: dict[str, Counts] = {
            "settle --summary --json": summed(journal, capsys),
            "settle --summary": printed,
            "replay": replayed(journal),
            "export, CSV": exported(journal, tmp_path, "csv"),
            "export, Parquet": exported(journal, tmp_path, "parquet"),
            "settle --out": archived(journal, tmp_path),
            "service: session": of_session(own, officer),
            "service: lists": of_lists(own, officer),
            "service: CSV": of_exports(officer),
            "report.html": reported(page_of(officer, "html")),
            "report.pdf": reported(page_of(officer, "pdf")),
        }
        assert readers == dict.fromkeys(readers, after)
        check_incidents(own, officer, after)
        check_charts(own, officer, after)
        check_metrics(own, after)
        check_messages(journal, after)


def test_a_suspicion_that_a_person_dismisses_vanishes_everywhere(
    tmp_path: Path, kept: Kept
) -> None:
    journals = tmp_path / "journals"
    journals.mkdir()
    with Journal.create(journals / f"{SESSION}.journal") as journal:
        play_between_accounts(journal, "BJ-07")
    with kept(journals) as store, house(journals, tmp_path / "state", store=store) as found:
        found.staff()
        with found.signed_in("surveillance") as officer:
            check_dismissed(found, officer)


@pytest.mark.parametrize("settles_alike", [False, True])
def test_an_item_raised_after_the_settlement_holds_the_round_unless_all_settles_alike(
    tmp_path: Path, *, settles_alike: bool
) -> None:
    journal = tmp_path / "late.journal"
    play(journal, "mistake", "BJ-07")
    before = exported(journal, tmp_path, "csv")
    assert (before.mistakes, before.suspected, before.open_rounds) == (2, 0, 0)
    (row, *_) = csv_rows(tmp_path / "violations.csv")
    with Journal.open(journal) as more:
        item = Review("a card fits nothing", (), ())
        number = int(row["round"])
        more.append(ReviewRaised(round=number, review=item, settles_alike=settles_alike))
    after = exported(journal, tmp_path, "csv")
    held = (2, 0, 0) if settles_alike else (1, 1, 1)
    assert (after.mistakes, after.suspected, after.open_rounds) == held


def check_dismissed(found: House, officer: httpx.Client) -> None:
    (row,) = found.get(officer, "/api/violations")["items"]
    assert (row["code"], row["suspected"]) == ("payment_missing", True)
    assert row["question"] == "Was spot 1 left without the 5.00 that were due?"
    decide(found, officer, "account", account=1)
    view = found.get(officer, f"/api/sessions/{SESSION}")
    assert (view["violations"], view["suspected"]) == (0, 0)
    assert found.get(officer, "/api/violations")["items"] == []
    (incident,) = found.get(officer, "/api/incidents")["items"]
    assert (incident["codes"], incident["questions"]) == ([], [])
    assert incident["severity"] == "low"


def decide(own: House, officer: httpx.Client, decision: str, **more: int) -> None:
    """Decide every open item; deciding one may answer others."""
    while open_items := [one for one in items(own, officer) if one["decided"] is None]:
        one = open_items[0]
        path = f"/api/incidents/{SESSION}.{one['round']}/reviews/{one['item']}/decision"
        sent = {"decision": decision, "reason": "seen on the film", **more}
        answer = officer.post(path, json=sent)
        assert answer.status_code == 200, answer.text


def items(own: House, officer: httpx.Client) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = own.get(officer, "/api/reviews")["items"]
    return found


# --- commands -----------------------------------------------------------------------------


def summed(journal: Path, capsys: pytest.CaptureFixture[str]) -> Counts:
    run(["settle", str(journal), *RULES, "--summary", "--json"])
    found = json.loads(capsys.readouterr().out)["summary"]
    certain, suspected = (
        sum(one["count"] for one in found[kind].values()) for kind in ("violations", "suspected")
    )
    return Counts(certain, suspected, found["not_final"], found["house"])


def settled(journal: Path, capsys: pytest.CaptureFixture[str]) -> Counts:
    run(["settle", str(journal), *RULES])
    text = " ".join(capsys.readouterr().out.split())
    assert "violation" not in text
    suspected = number(r"(\d+) suspected mistakes? in", text)
    assert text.count(f"? suspected mistake: {QUESTION}") == suspected
    return Counts(
        number(r"went wrong (\d+) mistakes?", text),
        suspected,
        number(r"(\d+) rounds? not final", text),
        cents(r"house \+?(-?[\d,.]+) hold", text),
    )


def replayed(journal: Path) -> Counts:
    """Count as ``replay`` does, which plays the observations and the decisions again."""
    seen = [one for one in read_journal(journal) if isinstance(one, Observation)]
    with Journal.in_memory() as record:
        rounds: tuple[RoundResult, ...] = played_again(record, seen).rounds()
    text = " ".join(totals_line(rounds, Formats()).plain.split())
    return Counts(
        number(r"(\d+) mistakes?\b", text),
        number(r"(\d+) suspected mistakes? to decide", text),
        number(r"(\d+) not final", text),
        cents(r"house \+?(-?[\d,.]+)", text),
    )


def exported(journal: Path, folder: Path, form: str) -> Counts:
    read: Callable[[Path], list[dict[str, Any]]] = {"csv": csv_rows, "parquet": parquet_rows}[form]
    lists = {}
    for kind in ("violations", "rounds"):
        out = folder / f"{kind}.{form}"
        run(["export", str(journal), "--what", kind, "--out", str(out), "--force"])
        lists[kind] = read(out)
    return counted(lists["violations"], lists["rounds"])


def archived(journal: Path, folder: Path) -> Counts:
    out = folder / "settled"
    run(["settle", str(journal), *RULES, "--out", str(out), "--summary", "--force"])
    return counted(*(parquet_rows(out / f"{kind}.parquet") for kind in ("violations", "rounds")))


def counted(violations: list[dict[str, Any]], rounds: list[dict[str, Any]]) -> Counts:
    """Count rows by their flag, and see that the rounds' own counts add up to the same."""
    flags = [str(one["suspected"]).lower() for one in violations]
    found = flags.count("false"), flags.count("true")
    assert found == tuple(
        sum(int(one[name]) for one in rounds) for name in ("violations", "suspected")
    )
    final = [int(one["net"]) for one in rounds if one["status"] == "final"]
    return Counts(*found, len(rounds) - len(final), sum(final))


def csv_rows(path: Path) -> list[dict[str, Any]]:
    return list(csv.DictReader(path.read_text("utf-8").splitlines()))


def parquet_rows(path: Path) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = pq.read_table(path).to_pylist()
    return rows


# --- the service --------------------------------------------------------------------------


def of_session(own: House, officer: httpx.Client) -> Counts:
    view = own.get(officer, f"/api/sessions/{SESSION}")
    assert own.get(officer, "/api/tables/BJ-07")["now"]["suspected"] == view["suspected"]
    rounds = own.get(officer, "/api/rounds")["items"]
    final = [one["net"] for one in rounds if one["status"] == "final"]
    return Counts(view["violations"], view["suspected"], len(rounds) - len(final), sum(final))


def of_lists(own: House, officer: httpx.Client) -> Counts:
    found = own.get(officer, "/api/violations")["items"]
    assert {one["question"] for one in found} <= {QUESTION}
    rounds = own.get(officer, "/api/rounds")["items"]
    in_results = [one for row in rounds for one in row["result"]["violations"]]
    assert sorted(one["suspected"] for one in in_results) == [one["suspected"] for one in found]
    return counted(found, rounds)


def of_exports(officer: httpx.Client) -> Counts:
    lists = (
        list(csv.DictReader(officer.get(f"/api/exports/{kind}.csv").text.splitlines()))
        for kind in ("violations", "rounds")
    )
    return counted(*lists)


def page_of(officer: httpx.Client, form: str) -> str:
    made = officer.get(f"/api/sessions/{SESSION}/report.{form}")
    assert made.status_code == 200, made.text
    return " ".join((Paper(made.content).text() if form == "pdf" else plain(made.text)).split())


def plain(page: str) -> str:
    return re.sub(r"<[^>]+>", " ", page)


def reported(text: str) -> Counts:
    suspected = number(r"(\d+) suspected mistakes? to decide", text)
    assert suspicions(text).count(QUESTION) == suspected
    open_rounds = number(r"(\d+) rounds? open", text)
    final, rounds = (int(one) for one in re.findall(r"Rounds final (\d+) of (\d+)", text)[0])
    assert rounds - final == open_rounds
    return Counts(
        number(r"(\d+) mistakes? found", text),
        suspected,
        open_rounds,
        cents(r"House, final rounds \+?(-?[\d,.]+) USD", text),
    )


def suspicions(text: str) -> str:
    """Return the report's section of suspected mistakes."""
    (section,) = re.findall(r"Suspected mistakes (.*?) Review items", text)
    return str(section)


def check_incidents(own: House, officer: httpx.Client, due: Counts) -> None:
    """An incident's severity, title and report rest on certain mistakes alone."""
    rows = own.get(officer, "/api/incidents")["items"]
    assert sum(one["violations"] for one in rows) == due.mistakes
    assert sum(one["suspected"] for one in rows) == due.suspected
    assert [code for one in rows for code in one["codes"]] == ["wrong_payout"] * due.mistakes
    asked = [question for one in rows if one["suspected"] for question in one["questions"]]
    assert asked == ["Was spot 1 paid wrongly?"] * due.suspected
    assert ("high" in {one["severity"] for one in rows}) == bool(due.mistakes)
    for form in ("html", "pdf"):
        made = officer.get(f"/api/incidents/{SESSION}.5/report.{form}")
        text = Paper(made.content).text() if form == "pdf" else plain(made.text)
        text = " ".join(text.split())
        assert number(r"(\d+) suspected mistakes? to decide", text) == due.suspected
        assert suspicions(text).count(QUESTION) == due.suspected
        assert ("High severity" in text) == bool(due.mistakes)
        assert ("Mistakes Nothing." in text) == (due.mistakes == 0)
        assert ("Suspected mistakes Nothing." in text) == (due.suspected == 0)


def check_charts(own: House, officer: httpx.Client, due: Counts) -> None:
    lines = own.get(officer, "/api/series/violations", piece_ns=3_600_000_000_000)["lines"]
    assert sum(point["value"] for line in lines for point in line["points"]) == due.mistakes


def check_metrics(own: House, due: Counts) -> None:
    with own.signed_in("engineer") as engineer:
        text = engineer.get("/metrics").text
    for name, count in (("violations", due.mistakes), ("suspected", due.suspected)):
        assert f'pitwatch_session_{name}{{session="{SESSION}"}} {float(count)}\n' in text


def check_messages(journal: Path, due: Counts) -> None:
    """Other systems hear of a mistake once it is certain."""
    entries = [entry_of(one, lambda _: frozenset()) for one in read_journal(journal)]
    sent = [one for entry in entries for one in messages_of(SESSION, "BJ-07", entry)]
    assert sum(one.kind == VIOLATION for one in sent) == due.mistakes
    last = [one.text for one in sent if one.kind == "round_settled" and one.round == 5][-1]
    assert last.endswith(f"mistakes: {due.mistakes}, suspected mistakes: {due.suspected}")


# --- reading numbers ----------------------------------------------------------------------


def number(pattern: str, text: str) -> int:
    """Return the number in a text; one that it does not name is none."""
    found = re.search(pattern, text)
    return 0 if found is None else int(found[1])


def cents(pattern: str, text: str) -> int:
    found = re.search(pattern, text)
    assert found is not None, text
    return int(re.sub(r"[,.]", "", found[1]))
