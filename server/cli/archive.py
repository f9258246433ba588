"""The commands of ``pitwatch archive``; what they need is imported when they run."""

from pathlib import Path
from typing import Annotated

import typer

from server.cli.options import HouseFile, Json

archives = typer.Typer(help="Closed days as Parquet, for analysts and for settling them again.")


@archives.command("write", epilog="[dim]pitwatch archive write journals/ history/[/dim]")
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
    from server.commands.archive import write_days
    from server.house.house_file import folders_of, house_for

    write_days(
        journals,
        history,
        day,
        house_for(house, *folders_of(journals)),
        force=force,
        as_json=as_json,
    )


@archives.command(
    "verify", epilog="[dim]pitwatch archive verify history/ --journal BJ-07.journal[/dim]"
)
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
    from server.commands.archive import verify_days

    raise typer.Exit(verify_days(folders, journals or (), as_json=as_json))
