"""``pitwatch report``: verify a report's signature."""

from pathlib import Path
from typing import Annotated

import msgspec
import typer
from rich.text import Text

from server.commands.options import Json
from server.process.exit_status import Exit
from server.process.memory import within_memory
from server.process.terminal import print_json, screen
from server.report.signature import read_report
from stream.clock import utc
from stream.signing import named_key

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
    """Verify a report's signature. A single changed byte is detected.

    Exit 0 if the key named signed it and nothing changed. Exit 5 if no key was named: anybody may
    have signed it. Exit 2 if it was changed, is not signed, or another key signed it.
    """
    with within_memory(file):
        raise typer.Exit(print_verified(file, key, as_json=as_json))


def print_verified(file: Path, key: str | None, *, as_json: bool) -> Exit:
    """Check a report and print what is proven: without ``key``, not its signer.

    Raises:
        TechnicianError: it is unsigned, has changed, or another key signed it.
        InstallerError: the key is invalid.
    """
    found = read_report(file, None if key is None else named_key(key, "--key"))
    proven = Exit.UNPROVEN if key is None else Exit.CLEAN
    if as_json:
        print_json(msgspec.to_builtins(found) | {"file": str(file), "key_given": key is not None})
        return proven
    line = Text("unchanged", style="bold green" if key else "bold yellow")
    line.append(f"  {file}: as it was signed at {utc(found.at)}")
    line.append(f"\nsha256 {found.sha256}\nsigned by {found.key}", style="dim")
    if found.certificate is not None:
        line.append("\nPDF signature fits", "green")
        line.append(f": {found.certificate.subject}")
        line.append(f"\ncertificate sha256 {found.certificate.fingerprint}", style="dim")
    if key is None:
        line.append("\nnot proven: who signed it. Anybody can sign a changed report", "yellow")
        line.append(" with their own key; give the service's key with --key", "yellow")
    screen().print(line)
    return proven
