"""Verify reports, pictures and the installation."""

from pathlib import Path
from typing import Annotated

import typer

from server.cli.options import Json

commands = typer.Typer()
reports = typer.Typer(help="Reports that the service signed.")
snapshots = typer.Typer(help="Pictures saved from the console.")


@reports.command(
    "verify", epilog="[dim]pitwatch report verify bj-07.12-report.pdf --key service.pem[/dim]"
)
def verify_report(
    file: Annotated[Path, typer.Argument(help="A report from the service: HTML or PDF.")],
    key: Annotated[
        str | None,
        typer.Option(help="The key that must have signed it: its fingerprint or its file."),
    ] = None,
    as_json: Json = False,
) -> None:
    """Verify a report's signature. A single changed byte is detected.

    Exit 0 if the key named signed it and nothing changed. Exit 5 if no key was named: anybody may
    have signed it. Exit 2 if it was changed, is not signed, or another key signed it.
    """
    from server.commands import report as report_command
    from server.process.memory import within_memory

    with within_memory(file):
        raise typer.Exit(report_command.verify_report(file, key, as_json=as_json))


@snapshots.command("verify", epilog="[dim]pitwatch snapshot verify BJ-07-round-1.png[/dim]")
def verify_snapshot(
    file: Annotated[Path, typer.Argument(help="A snapshot from the console: PNG.")],
    key: Annotated[
        str | None,
        typer.Option(help="The key that must have signed it: its fingerprint or its file."),
    ] = None,
    journal: Annotated[
        Path | None, typer.Option(help="Compare it with the table's journal.")
    ] = None,
    recording: Annotated[
        Path | None, typer.Option(help="Compare its pixels with this session's video.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Verify a picture's signature; print which table, round and time it shows.

    A single changed byte is detected. With --journal, the journal must hold the entry that the
    picture names. With --recording, the video must show the same picture at that time.

    Exit 0 if all of it is proven. Exit 5 if no key was named: anybody may have signed it. Exit 2
    if anything differs.
    """
    from server.commands import snapshot as snapshot_command
    from server.process.memory import within_memory

    with within_memory(file):
        proven = snapshot_command.verify_snapshot(file, key, journal, recording, as_json=as_json)
    raise typer.Exit(proven)


@commands.command("verify-install", epilog="[dim]pitwatch verify-install --json[/dim]")
def verify_install(*, as_json: Json = False) -> None:
    """Compare the installed program with the manifest of its wheel; print the program's hash.

    The command lists files that were changed, removed or added. Every journal records the
    program's hash among its first entries.

    Exit 0 if nothing differs, 2 if something does, 5 in a checkout, which has no manifest.
    """
    from server.commands import verify_install as install_command

    raise typer.Exit(install_command.verify_install(as_json=as_json))
