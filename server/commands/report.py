"""``pitwatch report``: verify a report."""

from pathlib import Path
from typing import Annotated

import typer

from server.commands.options import Json
from server.commands.verify import asked_for, print_verified

app = typer.Typer(no_args_is_help=True)


@app.command(
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
    """Verify a report, as `pitwatch verify` does."""
    asked = asked_for((key,) if key else ())
    raise typer.Exit(print_verified((file,), asked, "report", as_json=as_json))
