"""Incidents as files."""

from pathlib import Path
from typing import Annotated

import typer

from server.cli.options import Force, HouseFile, Json

incident_files = typer.Typer(help="Incident files: the evidence of a round in one file.")


@incident_files.command(
    "export",
    epilog="[dim]pitwatch incident export recordings/BJ-07-1 --round 12 --out 12.zip[/dim]",
)
def export_incident(
    session: Annotated[Path, typer.Argument(metavar="SESSION", help="A recorded session.")],
    *,
    out: Annotated[Path, typer.Option("--out", help="The file to write.")],
    round_number: Annotated[
        int | None, typer.Option("--round", metavar="N", help="Export this round.")
    ] = None,
    entry: Annotated[
        int | None,
        typer.Option("--entry", metavar="SEQ", help="Export the time around this journal entry."),
    ] = None,
    from_text: Annotated[
        str | None,
        typer.Option(
            "--from", metavar="TIME", help="Start: 2026-11-21T14:23:45 in the house's time zone."
        ),
    ] = None,
    to_text: Annotated[str | None, typer.Option("--to", metavar="TIME", help="End.")] = None,
    journal: Annotated[
        Path | None,
        typer.Option("--journal", help="The table's journal. Default: found beside the session."),
    ] = None,
    margin_s: Annotated[
        float, typer.Option("--margin", min=0, help="Seconds to add before and after.")
    ] = 5.0,
    key: Annotated[
        Path | None, typer.Option("--key", help="Sign the file with this private key.")
    ] = None,
    no_hold: Annotated[
        bool, typer.Option("--no-hold", help="Do not protect the recording from removal.")
    ] = False,
    force: Force = False,
    house: HouseFile = None,
    as_json: Json = False,
) -> None:
    """Write video, events, serial bytes and their proofs into one file.

    The recording is then held: retention does not remove it.
    """
    from server.commands import incident as incident_command

    span = (round_number, entry, from_text, to_text)
    asked = incident_command.Export(
        session,
        out,
        *span,
        journal=journal,
        margin_s=margin_s,
        key=key,
        held=not no_hold,
        force=force,
        house=house,
    )
    incident_command.export_incident(asked, as_json=as_json)


@incident_files.command("verify", epilog="[dim]pitwatch incident verify 12.zip --key 5f3a…[/dim]")
def verify_incident(
    file: Annotated[Path, typer.Argument(help="A file that `incident export` wrote.")],
    key: Annotated[
        str | None,
        typer.Option("--key", help="The table's public key: its fingerprint or its file."),
    ] = None,
    exporter: Annotated[
        str | None,
        typer.Option("--exporter", help="The exporter's public key: its fingerprint or its file."),
    ] = None,
    allow_unsigned: Annotated[
        bool,
        typer.Option("--allow-unsigned", help="Exit 0 even if video and bytes are not proven."),
    ] = False,
    as_json: Json = False,
) -> None:
    """Verify every byte of an incident file; print what is proven and which key signed it.

    Exit 0 if all of it is proven. Exit 5 if a part is not: no key was named, the journal has no
    hashes of the recordings, or the export is not signed. Exit 2 if anything differs from what
    was exported, or if another key signed it.
    """
    from server.commands import incident as incident_command
    from server.process.memory import within_memory

    keys = incident_command.Keys(key, exporter, allow_unsigned)
    with within_memory(file):
        raise typer.Exit(incident_command.verify_incident(file, keys, as_json=as_json))
