"""The commands of ``pitwatch backup``; what they need is imported when they run."""

from pathlib import Path
from time import time
from typing import Annotated

import typer

commands = typer.Typer()
backups = typer.Typer(help="Copies of a site's journals and service files.")


@backups.command("make", epilog="[dim]pitwatch backup make /var/lib/pitwatch /backups[/dim]")
def make_backup(
    data: Annotated[Path, typer.Argument(help="The folder that has journals/ and service/.")],
    folder: Annotated[Path, typer.Argument(metavar="BACKUPS", help="Where backups lie.")],
    keep_days: Annotated[
        int,
        typer.Option(min=1, envvar="PITWATCH_KEEP_DAYS", help="Older backups are removed."),
    ] = 35,
) -> None:
    """Copy every journal and the service's files, also while they are written, and verify them.

    The backup appears under its name, the time in UTC, only when all of it is whole. Prints that
    folder.
    """
    from server.commands import backup as backup_command

    backup_command.make(data, folder, keep_days, time())


@backups.command("verify", epilog="[dim]pitwatch backup verify /var/backups/pitwatch[/dim]")
def verify_backups(
    place: Annotated[Path, typer.Argument(help="A backup, or the folder of several.")],
    *,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print JSON on stdout and nothing else there.")
    ] = False,
) -> None:
    """Verify backups where they lie: every file's checksum, every journal's chain.

    One line names each backup that is damaged, and the file. Exit 2 where one is.
    """
    from server.commands import backup as backup_command

    raise typer.Exit(backup_command.verify(place, as_json=as_json))


@commands.command("restore", epilog="[dim]pitwatch restore /var/backups/pitwatch/NAME DATA[/dim]")
def restore_site(
    backup: Annotated[Path, typer.Argument(help="A folder that `pitwatch backup make` made.")],
    data: Annotated[Path, typer.Argument(help="Where journals and service stand.")],
) -> None:
    """Put a backup's journals and service files into DATA, all of them or none.

    Every file is held to its checksum and every journal to its chain, before and after it is
    written. No file is written over. Stop tables and service first. Run it again after an
    interruption: it goes on where it stopped.
    """
    from server.commands import restore as restore_command

    restore_command.restore(backup, data)
