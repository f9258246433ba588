"""A live table and its configuration."""

from pathlib import Path
from typing import Annotated

import typer

from server.cli.options import HouseFile, Json

commands = typer.Typer()
configs = typer.Typer(help="The configuration of a live table.")


@commands.command(
    "run",
    epilog="[dim]pitwatch run table.toml[/dim]\n\n"
    "[dim]pitwatch run table.toml --for 3600 --json > rounds.jsonl[/dim]",
)
def run_live(
    file: Annotated[Path, typer.Argument(metavar="TABLE.toml", help="The configuration.")],
    *,
    for_s: Annotated[
        float | None,
        typer.Option("--for", metavar="SECONDS", min=0, help="Stop after this time."),
    ] = None,
    house: HouseFile = None,
    as_json: Json = False,
) -> None:
    """Run a live table: read the sensors, settle and record until SIGINT, SIGTERM or SIGHUP.

    Started again with the same journal, the table continues where it stopped, even within a round.
    """
    from server.commands.run import run_table

    raise typer.Exit(run_table(file, for_s, house=house, as_json=as_json))


@configs.command("check", epilog="[dim]pitwatch config check table.toml[/dim]")
def check_config(
    file: Annotated[Path, typer.Argument(metavar="TABLE.toml", help="The configuration.")],
    *,
    at_rest: Annotated[
        bool, typer.Option("--at-rest", help="Do not check this machine's devices.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Check a configuration and print one line for each fault: a table's, or integration.toml."""
    from server.commands import config as config_command

    raise typer.Exit(config_command.check_config(file, at_rest=at_rest, as_json=as_json))


@configs.command("schema", epilog="[dim]pitwatch config schema > table.schema.json[/dim]")
def show_config_schema(
    *,
    of_integration: Annotated[
        bool, typer.Option("--integration", help="The schema of integration.toml.")
    ] = False,
) -> None:
    """Print the JSON Schema of table.toml with a description of every field."""
    from server.commands import config as config_command

    config_command.show_schema(of_integration=of_integration)
