"""Incidents as files."""

from pathlib import Path
from typing import Annotated

import typer

from server.cli.options import Force, HouseFile, Json

incident_files = typer.Typer(help="One file that proves what happened at a table.")


@incident_files.command(
    "export",
    epilog="[dim]pitwatch incident export recordings/BJ-07-1 --round 12 --out 12.zip[/dim]",
)
def export_incident(
    session: Annotated[Path, typer.Argument(metavar="SESSION", help="A recorded session.")],
    *,
    out: Annotated[Path, typer.Option("--out", help="The file to write.")],
    round_number: Annotated[int | None, typer.Option("--round", metavar="N")] = None,
    entry: Annotated[
        int | None,
        typer.Option("--entry", metavar="SEQ", help="The moment that a violation names."),
    ] = None,
    from_text: Annotated[
        str | None,
        typer.Option("--from", metavar="TIME", help="2026-11-21T14:23:45, the house's time."),
    ] = None,
    to_text: Annotated[str | None, typer.Option("--to", metavar="TIME")] = None,
    journal: Annotated[
        Path | None,
        typer.Option("--journal", help="The table's; default the one by the session."),
    ] = None,
    margin_s: Annotated[
        float, typer.Option("--margin", min=0, help="Seconds before and after.")
    ] = 5.0,
    key: Annotated[
        Path | None, typer.Option("--key", help="A private key to sign the whole file with.")
    ] = None,
    no_hold: Annotated[
        bool, typer.Option("--no-hold", help="Do not keep the recording from being removed.")
    ] = False,
    force: Force = False,
    house: HouseFile = None,
    as_json: Json = False,
) -> None:
    """Write clip, events, serial bytes and their proof into one file, and hold the recording."""
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
    file: Annotated[Path, typer.Argument(help="What `incident export` wrote.")],
    key: Annotated[
        str | None,
        typer.Option("--key", help="The fingerprint of the table's key, or its public key's file."),
    ] = None,
    exporter: Annotated[
        str | None,
        typer.Option("--exporter", help="The same of the key that signed the whole file."),
    ] = None,
    allow_unsigned: Annotated[
        bool,
        typer.Option("--allow-unsigned", help="End with 0 though video and bytes are not proven."),
    ] = False,
    as_json: Json = False,
) -> None:
    """Check an incident to its last bit, and say what of it is proven and by whose key.

    Exit 0 where all of it is proven; 5 where something is not: no key was named, the journal has
    no hashes of the recordings, nobody signed the export; 2 where anything differs from what was
    exported or another key signed it.
    """
    from server.commands import incident as incident_command

    keys = incident_command.Keys(key, exporter, allow_unsigned)
    raise typer.Exit(incident_command.verify_incident(file, keys, as_json=as_json))
