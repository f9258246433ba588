"""``pitwatch config``: check a configuration, and print its schema."""

import sys
from pathlib import Path
from typing import Annotated

import typer
from rich.text import Text

from models.errors import InputRefused, PitwatchError
from server.commands.options import Json
from server.house.wording import counted
from server.integration.check import integration_faults, is_integration
from server.integration.config import read_integration
from server.integration.schema import integration_schema
from server.process.exit_status import Exit
from server.process.terminal import print_json, screen
from server.table.check import config_faults
from server.table.config import read_config
from server.table.schema import table_schema

app = typer.Typer(no_args_is_help=True)


@app.command("check", epilog="[dim]pitwatch config check table.toml[/dim]")
def check_config(
    file: Annotated[Path, typer.Argument(metavar="TABLE.toml", help="The configuration.")],
    *,
    at_rest: Annotated[
        bool, typer.Option("--at-rest", help="Do not check this machine's devices.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Check a configuration and print one line for each fault: a table's, or integration.toml."""
    raise typer.Exit(print_faults(file, at_rest=at_rest, as_json=as_json))


@app.command("schema", epilog="[dim]pitwatch config schema > table.schema.json[/dim]")
def show_config_schema(
    *,
    of_integration: Annotated[
        bool, typer.Option("--integration", help="The schema of integration.toml.")
    ] = False,
) -> None:
    """Print the JSON Schema of table.toml with a description of every field."""
    show_schema(of_integration=of_integration)


def print_faults(file: Path, *, at_rest: bool, as_json: bool) -> Exit:
    """Print every fault of a configuration, one a line; raises where it cannot be read."""
    is_of_relay = is_integration(file)
    checked = integration_faults if is_of_relay else config_faults
    faults = checked(file, at_rest=at_rest)
    if as_json:
        print_json({"file": str(file), "faults": [_as_json(fault) for fault in faults]})
    else:
        for fault in faults:
            print(f"pitwatch: {fault}", file=sys.stderr)
        if not faults:
            screen().print(_sound_relay(file) if is_of_relay else _sound(file))
    return Exit.REFUSED if faults else Exit.CLEAN


def show_schema(*, of_integration: bool = False) -> None:
    """Print the JSON Schema of ``table.toml``, or of ``integration.toml``."""
    print_json(integration_schema() if of_integration else table_schema())


def _sound(file: Path) -> Text:
    config = read_config(file).config
    line = Text("valid", style="bold green")
    line.append(f"  {file}: table {config.table}, {counted(len(config.cameras), 'camera')}, ")
    return line.append(counted(len(config.ports), "port"))


def _sound_relay(file: Path) -> Text:
    destinations = read_integration(file).config.destinations
    line = Text("valid", style="bold green")
    return line.append(f"  {file}: {counted(len(destinations), 'destination')}")


def _as_json(fault: PitwatchError) -> dict[str, object]:
    fields: dict[str, object] = {
        "where": fault.where,
        "what": fault.what,
        "way_out": fault.way_out,
    }
    if isinstance(fault, InputRefused):
        fields |= {"field": fault.field, "expected": fault.expected, "found": fault.found}
    return fields
