"""``pitwatch archive``: write closed days as Parquet, and verify them."""

from collections.abc import Sequence
from itertools import groupby
from operator import attrgetter
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from models.errors import OperatorError, PitwatchError
from models.house import House
from server.archive.archives import is_journal, sources
from server.archive.copies import say, without_copies
from server.archive.days import Begun, begun
from server.archive.unreadable import without_parquet
from server.commands.options import HouseFile, Json
from server.house.house_file import folders_of, house_for
from server.house.wording import counted
from server.process.exit_status import Exit
from server.process.terminal import print_json, screen
from stream.journal import Verified, verify_journal

if TYPE_CHECKING:
    from server.archive.history import Day, Part
    from server.archive.history_writer import Written

app = typer.Typer(no_args_is_help=True)


@app.command("write", epilog="[dim]pitwatch archive write journals/ history/[/dim]")
def write_archive(
    journals: Annotated[
        list[str], typer.Argument(metavar="JOURNALS…", help="Journals, or folders of journals.")
    ],
    history: Annotated[Path, typer.Argument(help="The folder with a folder for each day.")],
    day: Annotated[
        str | None,
        typer.Option(metavar="YYYY-MM-DD", help="Only this day. Default: every day found."),
    ] = None,
    *,
    force: Annotated[bool, typer.Option("--force", help="Write days that exist again.")] = False,
    house: HouseFile = None,
    as_json: Json = False,
) -> None:
    """Write each closed day: facts, judgements, rounds, hands, mistakes and payments.

    A journal belongs whole to the house's day on which it began. Every journal of a day must be
    closed. manifest.json holds the last hash of each journal and the SHA-256 of each file. A day
    that is archived already stays as it is; one that would stand for other entries is refused.
    `settle`, `resettle`, DuckDB, pandas and polars read the files. docs/archives.md lists the
    columns.
    """
    write_days(
        journals,
        history,
        day,
        house_for(house, *folders_of(journals)),
        force=force,
        as_json=as_json,
    )


@app.command("verify", epilog="[dim]pitwatch archive verify history/ --journal BJ-07.journal[/dim]")
def verify_archive(
    folders: Annotated[
        list[Path], typer.Argument(metavar="HISTORY…", help="A history, or folders of days.")
    ],
    journals: Annotated[
        list[Path] | None,
        typer.Option("--journal", help="A journal to compare the days with; repeatable."),
    ] = None,
    *,
    as_json: Json = False,
) -> None:
    """Compare every file of each day with its manifest. A changed byte is found.

    With --journal, the hash of that journal's last entry must be the manifest's. Exit 5 if some
    journals of a day were not named then. Exit 2 if anything differs.
    """
    raise typer.Exit(verify_days(folders, journals or (), as_json=as_json))


def write_days(
    names: Sequence[str],
    history: Path,
    day: str | None,
    house: House,
    *,
    force: bool,
    as_json: bool,
) -> None:
    """Write every day that the named journals began on, or only ``day``; print each.

    Raises:
        OperatorError: a journal is still being written, or a day stands for other entries.
        TechnicianError: a journal is damaged.
    """
    try:
        from server.archive.history_writer import write_day
    except ImportError as fault:
        raise without_parquet("pitwatch archive") from fault

    journals, copies = without_copies([one for one in sources(names) if is_journal(one.name)])
    say(copies)
    paths = [Path(one.name) for one in journals]
    found = [one for one in (begun(path, house) for path in paths) if one is not None]
    days = [one for one in found if day is None or one.day.isoformat() == day]
    if not days:
        raise OperatorError(
            "no journal began on that day" if found else "there is no journal with a timed entry",
            where=day or ", ".join(names),
            way_out="Name the folder of the tables' journals",
        )
    days.sort(key=attrgetter("day"))
    for _, group in groupby(days, key=attrgetter("day")):
        written = write_day(list[Begun](group), house, history, force=force)
        _print_written(written, history, as_json=as_json)


def verify_days(folders: Sequence[Path], journals: Sequence[Path], *, as_json: bool) -> Exit:
    """Verify every file of every day, and compare the days with the journals where some are named.

    A named journal is compared cell by cell with what the day holds of it. Prints each day. Returns
    ``UNPROVEN`` where a journal of a day was asked for and is not named.

    Raises:
        InputRefused: a day is not what was written.
        OperatorError: there is no day, or one cannot be read.
    """
    try:
        from server.archive.day_against_journal import check_journals
        from server.archive.history import Day, days_in
    except ImportError as fault:
        raise without_parquet("pitwatch archive") from fault

    named = {}
    for path in journals:
        verified = verify_journal(path)
        if verified.identity is not None:
            named[verified.identity.journal] = path, verified
    places = [place for folder in folders for place in days_in(folder)]
    if not places:
        raise OperatorError(
            "there is no archived day",
            where=", ".join(map(str, folders)),
            way_out="Name the folder that `pitwatch archive write` wrote",
        )
    absent = 0
    for place in places:
        one = Day(place)
        one.verify()
        parts = one.manifest.parts
        check_journals(one)
        for part in parts:
            if part.journal in named:
                _compare(one, part, *named[part.journal])
        missing = sum(part.journal not in named for part in parts) if journals else 0
        absent += missing
        if as_json:
            print_json({"day": one.manifest.day, "parts": parts, "not_compared": missing})
        else:
            compared = f", {counted(missing, 'journal')} not compared" if missing else ""
            screen().print(
                f"{place}: {counted(len(parts), 'journal')} as written{compared}", soft_wrap=True
            )
    return Exit.UNPROVEN if absent else Exit.CLEAN


def _compare(day: "Day", part: "Part", path: Path, verified: Verified) -> None:
    from server.archive.day_against_journal import check_part

    if verified.head != part.head:
        raise _another(day.folder, part, verified.head)
    found = begun(path, House())
    if found is not None:
        check_part(day, part, found, verified)


def _another(place: Path, part: "Part", head: str) -> PitwatchError:
    return OperatorError(
        f"journal {part.name} ends with hash {head}, and the day stands for {part.head}",
        where=str(place),
        way_out="Find out which of the two was changed; a checkpoint of the table shows it",
    )


def _print_written(written: "Written", history: Path, *, as_json: bool) -> None:
    manifest, new = written.manifest, written.is_new
    facts, rounds = (sum(getattr(one, of) for one in manifest.parts) for of in ("facts", "rounds"))
    if as_json:
        counts = {"journals": len(manifest.parts), "facts": facts, "rounds": rounds}
        print_json({"day": manifest.day, **counts, "bytes": written.size, "written": new})
        return
    screen().print(
        f"{history / manifest.day}: {counted(len(manifest.parts), 'journal')}, "
        f"{counted(rounds, 'round')}, {counted(facts, 'fact')}, {written.size:,} bytes"
        + ("" if new else "; it was archived already"),
        soft_wrap=True,
    )
