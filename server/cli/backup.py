"""The commands of ``pitwatch backup``; what they need is imported when they run."""

from pathlib import Path
from time import time
from typing import Annotated

import typer

commands = typer.Typer()
backups = typer.Typer(help="Copies of a site's journals and service files.")


@backups.command("make", epilog="[dim]pitwatch backup make /var/lib/pitwatch /backups[/dim]")
def make_backup(
    data: Annotated[
        Path, typer.Argument(metavar="DATA", help="The folder that has journals/ and service/.")
    ],
    folder: Annotated[Path, typer.Argument(metavar="BACKUPS", help="The folder of backups.")],
    keep_days: Annotated[
        int,
        typer.Option(
            min=1, envvar="PITWATCH_KEEP_DAYS", help="Remove backups that are older, in days."
        ),
    ] = 35,
    checked_by: Annotated[
        str | None,
        typer.Option(
            "--clock-checked-by",
            metavar="NAME",
            help="Who compared the machine's clock with another one and found it right.",
        ),
    ] = None,
) -> None:
    """Copy every journal and the service's files, and verify the copies.

    Tables and service may run meanwhile. The backup is a new folder, named after the time in UTC.
    It appears only when it is complete. The command prints its path.

    Old backups go only while the clock is synchronised, once it has run for a day without a jump;
    the newest seven never go. The folder's journal, backups.journal, records each removal.
    """
    from server.commands import backup as backup_command
    from server.commands.old_backups import ClockReading
    from stream.clock import HostClock, kernel_sync

    clocks = ClockReading(HostClock().anchor(), kernel_sync(), checked_by)
    backup_command.make(data, folder, keep_days, clocks)


@backups.command("verify", epilog="[dim]pitwatch backup verify /var/backups/pitwatch[/dim]")
def verify_backups(
    place: Annotated[Path, typer.Argument(help="A backup, or a folder of backups.")],
    metrics: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Write for Prometheus what came of it."),
    ] = None,
    remember: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Keep what was verified here. A backup in it is read again only if a file of it "
            "changed, and once in seven days.",
        ),
    ] = None,
    *,
    as_json: Annotated[bool, typer.Option("--json", help="Print only JSON on stdout.")] = False,
) -> None:
    """Verify backups: every file's checksum and every journal's hash chain.

    The command prints one line for each damaged backup, with the file. Exit 2 if any is damaged.
    """
    from server.commands import backup as backup_command

    raise typer.Exit(
        backup_command.verify(place, metrics, time(), as_json=as_json, remember=remember)
    )


@commands.command("restore", epilog="[dim]pitwatch restore /var/backups/pitwatch/NAME DATA[/dim]")
def restore_site(
    backup: Annotated[
        Path, typer.Argument(metavar="BACKUP", help="A folder that `pitwatch backup make` made.")
    ],
    data: Annotated[
        Path, typer.Argument(metavar="DATA", help="The folder for journals/ and service/.")
    ],
) -> None:
    """Restore a backup's journals and service files into DATA: all of them or none.

    Stop tables and service first. The command checks every file's checksum and every journal's
    hash chain before and after it writes. It never overwrites a file. After an interruption, run
    it again: it continues where it stopped.
    """
    from server.commands import restore as restore_command

    restore_command.restore(backup, data)
