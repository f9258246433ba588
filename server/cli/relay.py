"""The commands of ``pitwatch relay``; what they need is imported when they run."""

from pathlib import Path
from typing import Annotated

import typer

from server.cli.options import Json

relay = typer.Typer(help="What is told to other systems: webhooks, brokers, video management.")

Config = Annotated[Path, typer.Argument(metavar="INTEGRATION.toml", help="The configuration.")]
State = Annotated[
    Path, typer.Option("--state", help="The folder of relay.sqlite: the service's state folder.")
]


@relay.command(epilog="[dim]pitwatch relay run journals/ integration.toml --state state/[/dim]")
def run(
    folder: Annotated[Path, typer.Argument(metavar="FOLDER", help="Where *.journal lie.")],
    config: Config,
    *,
    state: State,
) -> None:
    """Tell every destination what the journals say, until stopped; the log goes to stderr.

    Started again it goes on where it was. `pitwatch serve --integration` does the same within
    the service.
    """
    from server.commands.relay import run_relay

    run_relay(folder, config, state)


@relay.command("try", epilog="[dim]pitwatch relay try integration.toml siem[/dim]")
def try_one(
    config: Config,
    destination: Annotated[str, typer.Argument(help="The destination's name.")],
) -> None:
    """Send one message of kind `trial`, and say what became of it. Exit 3 if it was not taken."""
    from server.commands.relay import try_destination

    raise typer.Exit(try_destination(config, destination))


@relay.command("letters", epilog="[dim]pitwatch relay letters --state state/[/dim]")
def list_letters(
    *,
    state: State,
    sent: Annotated[
        bool, typer.Option("--sent", help="Those too that were sent in the end.")
    ] = False,
    as_json: Json = False,
) -> None:
    """List the dead letters: what could not be delivered, and why. Exit 3 if there are any."""
    from server.commands.relay import show_letters

    raise typer.Exit(show_letters(state, with_sent=sent, as_json=as_json))


@relay.command(epilog="[dim]pitwatch relay resend --state state/ --destination siem[/dim]")
def resend(
    numbers: Annotated[
        list[int] | None,
        typer.Argument(metavar="NUMBER…", help="Letters; default: all.", show_default=False),
    ] = None,
    *,
    state: State,
    destination: Annotated[
        str | None, typer.Option("--destination", help="Of this one alone.")
    ] = None,
) -> None:
    """Ask for dead letters to be sent again. The relay at work does it, or the next to start."""
    from server.commands.relay import ask_again

    ask_again(state, destination, numbers or ())
