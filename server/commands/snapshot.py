"""``pitwatch snapshot``: verify a saved picture."""

from pathlib import Path
from typing import Annotated

import typer

from server.commands.options import Json
from server.commands.verify import asked_for, print_verified

app = typer.Typer(no_args_is_help=True)


@app.command("verify", epilog="[dim]pitwatch snapshot verify BJ-07-round-1.png[/dim]")
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
    """Verify a picture, as `pitwatch verify` does."""
    journals = (journal,) if journal else ()
    asked = asked_for((key,) if key else (), (), journals, recording)
    raise typer.Exit(print_verified((file,), asked, "snapshot", as_json=as_json))
