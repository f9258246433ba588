"""``pitwatch archive``: write closed days as Parquet, and verify them."""

from collections.abc import Sequence
from itertools import groupby
from operator import attrgetter
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from models.errors import OperatorError
from models.house import House
from server.archive.archives import is_journal, sources
from server.archive.copies import say, without_copies
from server.archive.days import Begun, begun
from server.archive.unreadable import without_parquet
from server.commands.options import HouseFile, Json
from server.commands.verify import asked_for, bundles_in, print_verified
from server.house.house_file import folders_of, house_for
from server.house.wording import counted
from server.process.terminal import print_json, screen
from stream.signing import Signer

if TYPE_CHECKING:
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
    key: Annotated[
        Path | None, typer.Option("--key", help="Sign the days with this private key.")
    ] = None,
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
        signer=None if key is None else Signer.read(key),
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
    """Verify archived days, as `pitwatch verify --allow-unsigned` does."""
    places = [place for folder in folders for place in bundles_in((folder,))]
    asked = asked_for(journals=journals)
    raise typer.Exit(print_verified(places, asked, "day", allow_unsigned=True, as_json=as_json))


def write_days(
    names: Sequence[str],
    history: Path,
    day: str | None,
    house: House,
    *,
    signer: Signer | None,
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
        written = write_day(list[Begun](group), house, history, signer, force=force)
        _print_written(written, history, as_json=as_json)


def _print_written(written: "Written", history: Path, *, as_json: bool) -> None:
    about, new = written.about, written.is_new
    facts, rounds = (sum(getattr(one, of) for one in about.parts) for of in ("facts", "rounds"))
    if as_json:
        counts = {"journals": len(about.parts), "facts": facts, "rounds": rounds}
        print_json({"day": about.day, **counts, "bytes": written.size, "written": new})
        return
    screen().print(
        f"{history / about.day}: {counted(len(about.parts), 'journal')}, "
        f"{counted(rounds, 'round')}, {counted(facts, 'fact')}, {written.size:,} bytes"
        + ("" if new else "; it was archived already"),
        soft_wrap=True,
    )
