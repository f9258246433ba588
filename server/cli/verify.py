"""Whether reports, pictures and the installation are what they were."""

from pathlib import Path
from typing import Annotated

import typer

from server.cli.options import Json

commands = typer.Typer()
reports = typer.Typer(help="Reports that the service signed.")
snapshots = typer.Typer(help="Pictures that were taken out of the console.")


@reports.command(
    "verify", epilog="[dim]pitwatch report verify bj-07.12-report.pdf --key service.pem[/dim]"
)
def verify_report(
    file: Annotated[Path, typer.Argument(help="A report, HTML or PDF, as the service made it.")],
    key: Annotated[
        Path | None, typer.Option(metavar="PUBLIC.pem", help="Who must have signed it.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Check a report's signature; one changed byte is found.

    Exit 0 where it is as the key named signed it; 5 where no key was named, so that anybody may
    have signed it; 2 where it was changed, is unsigned, or another key signed it.
    """
    from server.commands import report as report_command

    raise typer.Exit(report_command.verify_report(file, key, as_json=as_json))


@snapshots.command("verify", epilog="[dim]pitwatch snapshot verify BJ-07-round-1.png[/dim]")
def verify_snapshot(
    file: Annotated[Path, typer.Argument(help="A snapshot, PNG, as the console saved it.")],
    key: Annotated[
        Path | None, typer.Option(metavar="PUBLIC.pem", help="Who must have signed it.")
    ] = None,
    journal: Annotated[
        Path | None, typer.Option(help="Hold it against the table's journal.")
    ] = None,
    recording: Annotated[
        Path | None, typer.Option(help="Hold it against the session's folder, pixel by pixel.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Check a picture's signature, and say which table, round and moment it shows.

    One changed byte is found. With --journal the entry that it rests on must stand there; with
    --recording the recorded video must show the same picture at that time.

    Exit 5 where no key was named: anybody may have signed it.
    """
    from server.commands import snapshot as snapshot_command

    proven = snapshot_command.verify_snapshot(file, key, journal, recording, as_json=as_json)
    raise typer.Exit(proven)


@commands.command("verify-install", epilog="[dim]pitwatch verify-install --json[/dim]")
def verify_install(*, as_json: Json = False) -> None:
    """Compare the installed program with the manifest of its wheel; print the program's hash.

    Files that were changed, are missing or were added are named. Every journal states the hash
    among its first entries.

    Exit 0 where nothing differs; 2 where something does; 5 in a checkout, which has no manifest.
    """
    from server.commands import verify_install as install_command

    raise typer.Exit(install_command.verify_install(as_json=as_json))
