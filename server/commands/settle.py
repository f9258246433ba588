"""``pitwatch settle``: settle files, print their rounds and totals, write them as Parquet."""

import sys
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal, TextIO, TypeAlias

import msgspec
import typer

from models.rulebook import Rulebook
from server.archive.archives import Feed, is_archive, sources
from server.archive.copies import Copy, say, without_copies
from server.archive.settling import Settled, checked
from server.archive.tally import Tally, as_json
from server.archive.work import AddRows, FileReport
from server.archive.worker_pool import cores, work_through
from server.commands import tables
from server.commands.options import (
    OUT_HELP,
    RULEBOOK_HELP,
    Facts,
    Force,
    HouseFile,
    Jobs,
    Json,
    Knobs,
)
from server.house.formatting import Formats
from server.house.house_file import folders_of, house_for
from server.house.rulebooks import rules_for
from server.house.rules_in_force import RulesName, name_of
from server.house.wording import is_clean
from server.process.atomic_file import check_tables
from server.process.exit_status import Exit
from server.process.progress import files_bar
from server.process.terminal import print_json

app = typer.Typer()


@app.command(
    epilog="[dim]pitwatch settle evening.jsonl --rulebook kansas-shoe[/dim]\n\n"
    "[dim]cat facts.jsonl | pitwatch settle - -r home --set dealer_soft17=hit --json[/dim]\n\n"
    "[dim]pitwatch settle november/ BJ-07.journal -r kansas-shoe --summary[/dim]"
)
def settle(
    facts: Facts,
    *,
    rulebook: Annotated[str, typer.Option("--rulebook", "-r", help=RULEBOOK_HELP)],
    knobs: Knobs = None,
    summary: Annotated[bool, typer.Option("--summary", help="Print only the totals.")] = False,
    findings: Annotated[
        bool, typer.Option("--findings", help="Print only rounds that a person should check.")
    ] = False,
    out: Annotated[Path | None, typer.Option("--out", metavar="PLACE", help=OUT_HELP)] = None,
    jobs: Jobs = None,
    force: Force = False,
    house: HouseFile = None,
    as_json: Json = False,
) -> None:
    """Settle rounds from facts: who wins what, by which clause, and which rules were broken.

    Input: event files (.jsonl, .jsonl.gz), journals, .zip and .tar archives of these, and folders
    of these. From a session's folder the command reads the journal, else the facts, else the
    truth. It checks each file in full before it settles the first round. It refuses an invalid
    file as a whole, names the line and the field, and settles the others. Facts on stdin are
    settled as they arrive, up to the first invalid line. A card_dealt event without `face` is a
    card dealt face up.
    """
    rules = rules_for(rulebook, knobs or ())
    settled = run_settle(
        facts,
        rules,
        show="totals" if summary else "findings" if findings else "rounds",
        jobs=jobs or cores(),
        out=out,
        force=force,
        formats=Formats(house_for(house, *folders_of(facts))),
        as_json=as_json,
    )
    raise typer.Exit(settled)


Show: TypeAlias = Literal["rounds", "findings", "totals"]


@dataclass(frozen=True, slots=True)
class SettleWork:
    """The work of ``settle`` on each file."""

    rules: Rulebook
    show: Show
    as_json: bool
    several: bool
    """Whether a printed round names its file and table."""
    page: tables.Page

    def totals(self) -> Tally:
        """Return empty totals."""
        return Tally()

    def rounds(self, totals: Tally) -> int:
        """Return the number of counted rounds."""
        return totals.rounds

    def schemas(self) -> Any:
        """Return the tables of ``--out``."""
        from server.archive import columns

        return columns.SETTLED

    def settle(
        self, feed: Feed, totals: Tally, text: TextIO, rows: AddRows, count: Callable[[], None]
    ) -> None:
        """Settle one file; raises ``PitwatchError`` where it is refused."""
        found = checked(feed, timed=rows is not None)
        show = self._shower(feed, text, found.tables)
        add_rows = _rows_adder(feed.name, rows)
        for settled in found.rounds(self.rules):
            totals.add(settled)
            count()
            if show is not None and (self.show == "rounds" or not is_clean(settled.result)):
                show(settled)
            if add_rows is not None:
                add_rows(settled)

    def _shower(
        self, feed: Feed, text: TextIO, found: set[str | None]
    ) -> Callable[[Settled], None] | None:
        if self.show == "totals":
            return None
        if self.as_json:
            return _JsonLines(feed, text, found, several=self.several).show
        return tables.RoundPages(self.page, text, feed.name if self.several else None).show


class _JsonLines:
    """Rounds as JSON, one a line."""

    def __init__(self, feed: Feed, text: TextIO, found: set[str | None], *, several: bool) -> None:
        self._encode = msgspec.json.Encoder().encode
        self._text, self._tables, self._at_once = text, found, feed.once
        self._file = {"file": feed.name} if several else {}

    def show(self, settled: Settled) -> None:
        line = self._encode(settled.result).decode()
        self._tables.add(settled.table)
        if self._file or len(self._tables) > 1:
            place = {**self._file, "table": settled.table}
            line = self._encode(place).decode()[:-1] + "," + line[1:]
        self._text.write(line + "\n")
        if self._at_once:
            self._text.flush()


def _rows_adder(name: str, rows: AddRows) -> Callable[[Settled], None] | None:
    if rows is None:
        return None
    from server.archive.parquet import rows_of

    return lambda settled: rows(rows_of(name, settled))


def run_settle(
    names: Sequence[str],
    rules: Rulebook,
    *,
    show: Show = "rounds",
    jobs: int,
    out: Path | None = None,
    force: bool = False,
    formats: Formats,
    as_json: bool = False,
) -> Exit:
    """Settle all files of ``names``, print them, and return the exit status.

    Each refused file is named on stderr at the end; the others are settled.

    Raises:
        OperatorError: a file is missing, or ``out`` cannot be written.
    """
    check_tables(out, force=force)
    found, copies = without_copies(sources(names))
    several = len(names) > 1 or is_archive(names[0])
    work = SettleWork(rules, show, as_json, several, tables.Page.of_stdout(formats))
    size, hidden = sum(source.size for source in found), show != "totals" and sys.stdout.isatty()
    reports: list[FileReport[Tally]] = []
    totals = Tally()
    with (
        files_bar("settling", size, hidden=hidden) as progress,
        closing(work_through(work, found, jobs, out, progress)) as settled_files,
    ):
        for report in settled_files:
            totals.merge(report.totals)
            reports.append(report)
    settled_count = sum(report.settled for report in reports)
    if as_json and show == "totals":
        summary = _summary(totals, reports, name_of(rules))
        print_json({**summary, "copies": {copy.name: copy.of for copy in copies}})
    elif not as_json and settled_count:
        tables.print_totals(totals, settled_count, name_of(rules), formats)
    return report_unsettled(reports, copies) or (Exit.FINDINGS if totals.unclean else Exit.CLEAN)


def _summary(
    totals: Tally, reports: Sequence[FileReport[Tally]], rules: RulesName
) -> dict[str, Any]:
    refused = {report.name: report.refusal for report in reports if report.refusal is not None}
    passed_over = {one.name: one.passed_over for one in reports if one.passed_over is not None}
    files = sum(report.settled for report in reports)
    named = msgspec.to_builtins(rules)
    summary = {**named, "files": files, **as_json(totals)}
    return {"summary": summary, "refused": refused, "passed_over": passed_over}


def report_unsettled(reports: Sequence[FileReport[Any]], copies: Sequence[Copy]) -> Exit | None:
    """Name on stderr every copy, every refused file and every skipped archive member.

    Returns the exit status that they require; ``None`` where there are none. A copy requires none.
    """
    sys.stdout.flush()
    say(copies)
    passed_over = [report for report in reports if report.passed_over is not None]
    for report in passed_over:
        why = f"skipped: {report.passed_over}. Unpack the archive and name the file"
        print(f"pitwatch: {report.name}: {why}", file=sys.stderr)
    refusals = [report.refusal for report in reports if report.refusal is not None]
    for refusal in refusals:
        print(f"pitwatch: {refusal}", file=sys.stderr)
    if refusals and len(reports) > 1:
        settled = sum(report.settled for report in reports)
        counts = f"{len(refusals)} of {len(reports)} files refused, {settled} settled"
        print(f"pitwatch: {counts}", file=sys.stderr)
    if refusals:
        return Exit.REFUSED
    return Exit.INCOMPLETE if passed_over else None
