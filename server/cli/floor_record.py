"""``pitwatch forward`` and ``pitwatch floor``; what they need is imported when they run."""

from pathlib import Path
from typing import Annotated

import typer

from server.cli.options import HouseFile, Json

commands = typer.Typer()
floors = typer.Typer(help="The floor record: every table's entries in one PostgreSQL database.")

Url = Annotated[
    str,
    typer.Option(
        "--floor",
        metavar="postgresql://…",
        envvar="PITWATCH_FLOOR",
        help="The floor's database. Keep its password in a .pgpass file. Default: $PITWATCH_FLOOR.",
        show_default=False,
    ),
]
Day = Annotated[str, typer.Argument(metavar="YYYY-MM-DD", help="The house's day.")]
Table = Annotated[str, typer.Option("--table", help="The table's id.")]
Reason = Annotated[str, typer.Option("--reason", help="Why, for the record.")]


@commands.command(epilog="[dim]pitwatch forward journals/ --floor postgresql://floor/pit[/dim]")
def forward(
    journals: Annotated[
        list[Path], typer.Argument(metavar="JOURNALS…", help="Journals, or folders of journals.")
    ],
    *,
    floor: Url,
    table: Annotated[
        str | None, typer.Option("--table", help="The table of journals that name none.")
    ] = None,
    once: Annotated[
        bool, typer.Option("--once", help="Send what is there now, and end; exit 3 if refused.")
    ] = False,
    decisions: Annotated[
        bool,
        typer.Option(
            "--decisions",
            help="Also hand in decisions made at services on the floor; writes to closed journals.",
        ),
    ] = False,
    house: HouseFile = None,
) -> None:
    """Send tables' entries to the floor record until stopped, in order and each exactly once.

    Without --decisions the forwarder only reads the journals. A floor that is down, slow or full
    never slows a table: the entries wait in the journal. Started again, it continues after the
    floor's last entry. It sends nothing more of a journal that differs from what the floor holds,
    and logs an error.
    """
    from server.commands.floor_record import run_forward
    from server.house.house_file import house_for

    folders = [one if one.is_dir() else one.parent for one in journals]
    found = house_for(house, *folders)
    raise typer.Exit(run_forward(journals, floor, found, table, once=once, decisions=decisions))


@floors.command(
    "migrate", epilog="[dim]pitwatch floor migrate --floor postgresql://owner@floor/pit[/dim]"
)
def migrate(*, floor: Url) -> None:
    """Create the floor record in a database, or bring it to this version."""
    from server.commands.floor_record import run_migrate

    run_migrate(floor)


@floors.command("status", epilog="[dim]pitwatch floor status --floor postgresql://floor/pit[/dim]")
def status(*, floor: Url, as_json: Json = False) -> None:
    """Print how far the floor is behind each table, and what is in quarantine. Exit 3 if any is."""
    from server.commands.floor_record import show_status

    raise typer.Exit(show_status(floor, as_json=as_json))


@floors.command("verify", epilog="[dim]pitwatch floor verify --floor postgresql://floor/pit[/dim]")
def verify(*, floor: Url) -> None:
    """Compute every hash of every chain again, as after a restore. Exit 3 if one is damaged.

    It names the chains with entries that their table's signature does not prove, and how many:
    those since the last checkpoint, and all where no key of the table was named (`floor key`).
    """
    from server.commands.floor_record import run_verify

    raise typer.Exit(run_verify(floor))


@floors.command("key", epilog="[dim]pitwatch floor key --table BJ-07 --key BJ-07.key.pub.pem[/dim]")
def name_key(
    *,
    floor: Url,
    table: Table,
    key: Annotated[str, typer.Option("--key", help="Its public key: its fingerprint or its file.")],
) -> None:
    """Name the key that a table signs with, as the record's owner.

    The floor counts entries as proven up to the last checkpoint that a named key signed. After a
    change of key name the new one too.
    """
    from server.commands.floor_record import name_key as named

    named(floor, table, key)


@floors.command(
    "epoch",
    epilog="[dim]pitwatch floor epoch --table BJ-07 --journal 4bbc… --reason 'new disk'[/dim]",
)
def begin_epoch(
    *,
    floor: Url,
    table: Table,
    journal: Annotated[str, typer.Option("--journal", help="The journal's id.")],
    reason: Reason,
) -> None:
    """Begin a new epoch after a table's journal was restored from a backup.

    The floor takes the journal in again from its first entry. The old epoch stays as it is.
    """
    from server.commands.floor_record import start_epoch

    start_epoch(floor, table, journal, reason)


@floors.command("retire", epilog="[dim]pitwatch floor retire 2026-03-01 history/[/dim]")
def retire_day(
    day: Day,
    history: Annotated[Path, typer.Argument(help="The folder that `archive write` wrote.")],
    *,
    floor: Url,
) -> None:
    """Drop a day from the floor once its Parquet is verified and stands for the same entries."""
    from server.commands.floor_record import retire

    retire(floor, day, history)


@floors.command("hold", epilog="[dim]pitwatch floor hold 2026-03-01 2026-03-07 --reason …[/dim]")
def hold(
    first: Day,
    last: Day,
    *,
    floor: Url,
    reason: Reason,
    table: Annotated[str | None, typer.Option("--table", help="Only this table's days.")] = None,
) -> None:
    """Place a legal hold: these days stay on the floor until it is lifted."""
    from server.commands.floor_record import place_hold

    place_hold(floor, first, last, table, reason)


@floors.command("lift", epilog="[dim]pitwatch floor lift 3[/dim]")
def lift(number: Annotated[int, typer.Argument(help="The hold's number.")], *, floor: Url) -> None:
    """Lift a legal hold."""
    from server.commands.floor_record import lift_hold

    raise typer.Exit(lift_hold(floor, number))
