"""``pitwatch resettle``: settle an archive again under other rules and print the changes."""

import sys
from collections.abc import Callable, Sequence
from contextlib import ExitStack, closing
from dataclasses import asdict, dataclass, fields
from functools import partial
from pathlib import Path
from typing import Annotated, Any, Final, TextIO

import msgspec
import typer

from models.errors import OperatorError
from models.house import House
from models.rulebook import Rulebook
from server.archive.archives import Feed, Source, is_archive, sources
from server.archive.audit import changed_hands
from server.archive.copies import without_copies
from server.archive.parts import Plan
from server.archive.resettling import (
    Changes,
    Fate,
    Resettled,
    resettled,
)
from server.archive.settling import checked
from server.archive.work import AddRows, FileReport
from server.archive.worker_pool import Shares, cores, settle_share, work_through
from server.commands import changes as changes_page
from server.commands.audit_report import HANDS_FILE, write_page
from server.commands.options import (
    RULEBOOK_HELP,
    Facts,
    Force,
    HouseFile,
    Jobs,
    Json,
    Knobs,
)
from server.commands.settle import report_unsettled
from server.commands.tables import Page
from server.house.formatting import Formats
from server.house.house_file import folders_of, house_for
from server.house.rulebooks import rules_for
from server.house.rules_in_force import name_of
from server.house.wording import counted
from server.process.atomic_file import check_tables
from server.process.exit_status import Exit
from server.process.progress import files_bar
from server.process.terminal import print_json
from stream.clock import HostClock
from stream.signing import Signer

app = typer.Typer()


@app.command(
    epilog="[dim]pitwatch resettle BJ-07.journal --rulebook kansas-shoe[/dim]\n\n"
    "[dim]pitwatch resettle facts/ -r kansas-shoe --was home --summary --json[/dim]\n\n"
    "[dim]pitwatch resettle history/ -r new.toml --report audit/ --key report.key[/dim]\n\n"
    "[dim]pitwatch resettle history/ -r new.toml --parts shared/ --part 2/8[/dim]"
)
def resettle(
    archive: Facts,
    *,
    rulebook: Annotated[str, typer.Option("--rulebook", "-r", help=RULEBOOK_HELP)],
    knobs: Knobs = None,
    was: Annotated[
        str | None,
        typer.Option("--was", help="The earlier rules. Default: the archive's own settlements."),
    ] = None,
    summary: Annotated[bool, typer.Option("--summary", help="Print only the totals.")] = False,
    out: Annotated[
        Path | None,
        typer.Option("--out", metavar="PLACE", help="Write Parquet: a .parquet file or a folder."),
    ] = None,
    report: Annotated[
        Path | None,
        typer.Option(
            "--report", metavar="FOLDER", help="Write the auditor's report there; print the totals."
        ),
    ] = None,
    key: Annotated[
        Path | None, typer.Option("--key", help="The private key that signs the report.")
    ] = None,
    cluster: Annotated[
        str | None,
        typer.Option(
            "--cluster",
            metavar="tcp://HOST:8786",
            help="Share the parts out on a Dask cluster; --parts names the folder.",
        ),
    ] = None,
    parts: Annotated[
        Path | None,
        typer.Option(
            "--parts",
            metavar="FOLDER",
            help="A folder that several machines share: they leave the results of their parts "
            "there, and the command without --part merges the parts.",
        ),
    ] = None,
    part: Annotated[
        str | None,
        typer.Option("--part", metavar="I/N", help="Settle only this part of N, into --parts."),
    ] = None,
    jobs: Jobs = None,
    force: Force = False,
    house: HouseFile = None,
    as_json: Json = False,
) -> None:
    """Settle an archive again under other rules; report what changes.

    Input: the same as for `settle`. Journals and session truths hold the earlier settlements. For
    files of facts, name the earlier rules with --was. If the new rules require a card that was
    not drawn, a person must decide the hand. Exit 0 if nothing changes.
    """
    resettled = run_resettle(
        archive,
        rules_for(rulebook, knobs or ()),
        None if was is None else rules_for(was),
        summary=summary,
        jobs=jobs or cores(),
        out=out,
        force=force,
        formats=Formats(house_for(house, *folders_of(archive))),
        as_json=as_json,
        shared=Shared(parts, cluster, None if part is None else _numbers_of(part)),
        report=report,
        key=key,
    )
    raise typer.Exit(resettled)


def _numbers_of(part: str) -> tuple[int, int]:
    """Return the numbers of ``2/8``."""
    number, _, many = part.partition("/")
    if number.isdecimal() and many.isdecimal() and 1 <= int(number) <= int(many):
        return int(number), int(many)
    raise OperatorError(
        f"{part!r} is no part", where="--part", way_out="Write the second of eight parts as 2/8"
    )


@dataclass(frozen=True, slots=True)
class Shared:
    """The options of work that several machines share."""

    folder: Path | None = None
    cluster: str | None = None
    part: tuple[int, int] | None = None
    """Its number, and how many there are."""

    def among(self, options: object, found: Sequence[Source]) -> Shares | None:
        """Return how the work is shared out; ``None`` where this machine does it alone.

        Raises:
            OperatorError: the options exclude each other.
        """
        if self.folder is not None and self.cluster is not None and self.part is not None:
            raise OperatorError(
                "a cluster settles every part",
                where="--part",
                way_out="Leave out --part, or leave out --cluster",
            )
        if self.folder is not None:
            return Shares(self.folder, Plan.of(options, found), self.cluster)
        if self.cluster is None and self.part is None:
            return None
        raise OperatorError(
            "the results of the parts need a folder",
            where="--part" if self.cluster is None else "--cluster",
            way_out="Name a folder that every machine can write: --parts FOLDER",
        )


ALONE: Final = Shared()
"""The options of work that this machine does alone."""


@dataclass(frozen=True, slots=True)
class ResettleWork:
    """The work of ``resettle`` on each file."""

    rules: Rulebook
    was: Rulebook | None
    as_json: bool
    silent: bool
    """Whether only the totals are wanted."""
    several: bool
    page: Page
    auditor: House | None = None
    """Where the changed hands are wanted as lines, and nothing else: the house of the report."""

    def totals(self) -> Changes:
        """Return empty totals."""
        return Changes()

    def rounds(self, totals: Changes) -> int:
        """Return the number of counted rounds."""
        return totals.rounds

    def schemas(self) -> Any:
        """Return the tables of ``--out``."""
        from server.archive import columns

        return columns.CHANGES

    def settle(
        self, feed: Feed, totals: Changes, text: TextIO, rows: AddRows, count: Callable[[], None]
    ) -> None:
        """Settle one file again; raises ``PitwatchError`` where it is refused."""
        found = checked(feed, timed=rows is not None)
        if self.was is None and not feed.once and not found.settled_then:
            raise _nothing_then(feed.name)
        show = self._shower(feed, text)
        add_rows = _rows_adder(feed.name, rows)
        for one in resettled(found, self.rules, self.was):
            totals.add(one)
            count()
            if show is not None and one.changed:
                show(one)
            if add_rows is not None:
                add_rows(one)

    def _shower(self, feed: Feed, text: TextIO) -> Callable[[Resettled], None] | None:
        if self.auditor is not None:
            return partial(_write_hands, feed.name, self.auditor, text)
        if self.silent:
            return None
        name = feed.name if self.several else None
        if self.as_json:
            return lambda one: _print_line(one, name, text)
        return changes_page.ChangePages(self.page, text, name).show


def _write_hands(name: str, house: House, text: TextIO, one: Resettled) -> None:
    lines = map(msgspec.json.encode, changed_hands(name, one, house))
    text.writelines(f"{line.decode()}\n" for line in lines)


def _nothing_then(name: str) -> OperatorError:
    return OperatorError(
        "it holds no earlier settlements to compare with",
        where=name,
        way_out="Say by --was RULEBOOK under which rules its rounds were settled",
    )


def _print_line(one: Resettled, name: str | None, text: TextIO) -> None:
    line = {
        **({} if name is None else {"file": name}),
        "table": one.table,
        "round": one.round,
        "then": one.then,
        "now": None if one.now is None else one.now.result,
        "paid": [
            {"spot": spot, "hand": hand, "kind": kind, "amount": amount}
            for (spot, hand, kind), amount in (one.now.paid() if one.now else {}).items()
        ],
        "changes": _changes(one),
        "appeared": one.appeared(),
        "gone": one.gone(),
    }
    text.write(msgspec.json.encode(line).decode() + "\n")


def _changes(one: Resettled) -> list[dict[str, Any]]:
    clauses = one.clauses_of_change()
    return [
        {
            **dict(zip(("spot", "hand", "kind"), account, strict=True)),
            "then": _fate(then),
            "now": _fate(now),
            "clauses": clauses[account],
        }
        for account, (then, now) in one.fates_changed().items()
    ]


def _fate(fate: Fate | None) -> dict[str, Any] | None:
    return None if fate is None else {"outcome": fate[0], "net": fate[1]}


def _rows_adder(name: str, rows: AddRows) -> Callable[[Resettled], None] | None:
    if rows is None:
        return None
    from server.archive.parquet import rows_of_change

    return lambda one: rows(rows_of_change(name, one))


def run_resettle(
    names: Sequence[str],
    rules: Rulebook,
    was: Rulebook | None,
    *,
    summary: bool,
    jobs: int,
    out: Path | None,
    force: bool = False,
    formats: Formats,
    as_json: bool,
    shared: Shared = ALONE,
    report: Path | None = None,
    key: Path | None = None,
) -> Exit:
    """Settle all files of ``names`` again, print the changes, and return the exit status.

    Clean means that nothing changes.

    With ``report`` it writes the auditor's report there, signed with ``key``, and prints only the
    totals. Of one part it leaves the results in the shared folder, and prints nothing on stdout.

    Raises:
        InstallerError: the cluster or the key cannot be used.
        OperatorError: a file is missing, ``out`` or ``report`` cannot be written, or the options
            exclude each other.
    """
    if out is not None and report is not None:
        raise OperatorError(
            "Parquet is not written with --report",
            where="--out",
            way_out="Leave out --out, or run the command twice",
        )
    signer = None if key is None else Signer.read(key)
    summary = summary or report is not None
    found, copies = without_copies(sources(names))
    several = len(names) > 1 or is_archive(names[0])
    auditor = None if report is None else formats.house
    work = ResettleWork(rules, was, as_json, summary, several, Page.of_stdout(formats), auditor)
    options = [name_of(rules), was and name_of(was), as_json, summary, several, auditor]
    shares = shared.among([*options, out is not None], found)
    if shares is not None and shared.part is not None:
        return _one_part(work, found, jobs, shares, shared.part, has_rows=out is not None)
    check_tables(out, force=force)
    size, hidden = sum(source.size for source in found), not summary and sys.stdout.isatty()
    reports: list[FileReport[Changes]] = []
    totals = Changes()
    with ExitStack() as stack:
        progress = stack.enter_context(files_bar("settling again", size, hidden=hidden))
        text = None if report is None else stack.enter_context(_hands_file(report, force=force))
        done = work_through(work, found, jobs, out, progress, text=text, shares=shares)
        for one in stack.enter_context(closing(done)):
            totals.merge(one.totals)
            reports.append(one)
    if report is not None:
        signed = None if signer is None else (signer, HostClock().now_ns())
        write_page(report, totals, rules, was, formats, signed=signed)
    if as_json:
        print_json({"summary": _as_json(totals, rules)})
    elif any(one.settled for one in reports):
        changes_page.print_totals(totals, rules, was, formats)
    return report_unsettled(reports, copies) or (Exit.FINDINGS if totals.changed else Exit.CLEAN)


def _one_part(
    work: ResettleWork,
    found: Sequence[Source],
    jobs: int,
    shares: Shares,
    part: tuple[int, int],
    *,
    has_rows: bool,
) -> Exit:
    """Settle one part again; the findings are for the command that merges the parts."""
    number, many = part
    mine = shares.parts(work, found, many, has_rows=has_rows)[number - 1]
    with files_bar(f"settling part {number} of {many}", mine.size, hidden=False) as progress:
        settle_share(mine, jobs, progress)
    files = counted(len(mine.sources), "file")
    print(f"pitwatch: {mine.folder}: part {number} of {many}, {files}", file=sys.stderr)
    return Exit.CLEAN


def _hands_file(folder: Path, *, force: bool) -> TextIO:
    """Open the file of changed hands in the report's folder."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        return (folder / HANDS_FILE).open("w" if force else "x", encoding="utf-8", newline="")
    except OSError as fault:
        raise OperatorError(
            f"the report cannot be written there ({fault.strerror})",
            where=str(folder),
            way_out="Name a new folder, or pass --force to write over an earlier report",
        ) from fault


def _as_json(totals: Changes, rules: Rulebook) -> dict[str, Any]:
    """Return the totals; money in cents, a spot's ``then`` and ``now`` the player's gain."""
    plain = {one.name: getattr(totals, one.name) for one in fields(totals)}
    then = list(plain.pop("rules_then").values())
    plain["rules"] = {"then": then, "now": name_of(rules)}
    plain["house_difference"] = totals.house_now - totals.house_then
    plain["spots"] = [
        {"table": table, "spot": spot, **asdict(change)}
        for (table, spot), change in sorted(totals.spots.items(), key=changes_page.by_place)
    ]
    return plain
