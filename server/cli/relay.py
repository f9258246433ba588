"""The commands of ``pitwatch relay``; what they need is imported when they run."""

from pathlib import Path
from typing import Annotated

import typer

from server.cli.options import Json

relay = typer.Typer(help="Messages to other systems: webhooks, brokers, video management.")

Config = Annotated[Path, typer.Argument(metavar="INTEGRATION.toml", help="The configuration.")]
State = Annotated[
    Path, typer.Option("--state", help="The service's state folder, which holds relay.sqlite.")
]


@relay.command(epilog="[dim]pitwatch relay run journals/ integration.toml --state state/[/dim]")
def run(
    folder: Annotated[Path, typer.Argument(metavar="FOLDER", help="The folder of journals.")],
    config: Config,
    *,
    state: State,
) -> None:
    """Send messages about the journals' events to every destination until stopped.

    The log goes to stderr. Started again, the relay continues where it stopped.
    `pitwatch serve --integration` runs the same relay within the service.
    """
    from server.commands.relay import run_relay

    run_relay(folder, config, state)


@relay.command("try", epilog="[dim]pitwatch relay try integration.toml siem[/dim]")
def try_one(
    config: Config,
    destination: Annotated[str, typer.Argument(help="The destination's name.")],
) -> None:
    """Send one message of kind `trial`; print the result. Exit 3 if it was not accepted."""
    from server.commands.relay import try_destination

    raise typer.Exit(try_destination(config, destination))


@relay.command("letters", epilog="[dim]pitwatch relay letters --state state/[/dim]")
def list_letters(
    *,
    state: State,
    sent: Annotated[
        bool, typer.Option("--sent", help="Include letters that were sent later.")
    ] = False,
    as_json: Json = False,
) -> None:
    """List the dead letters: messages that could not be delivered, and why. Exit 3 if any."""
    from server.commands.relay import show_letters

    raise typer.Exit(show_letters(state, with_sent=sent, as_json=as_json))


@relay.command(epilog="[dim]pitwatch relay resend --state state/ --destination siem[/dim]")
def resend(
    numbers: Annotated[
        list[int] | None,
        typer.Argument(
            metavar="NUMBER…", help="The letters' numbers. Default: all.", show_default=False
        ),
    ] = None,
    *,
    state: State,
    destination: Annotated[
        str | None, typer.Option("--destination", help="Only letters to this destination.")
    ] = None,
) -> None:
    """Queue dead letters to be sent again, by the running relay or by the next one to start."""
    from server.commands.relay import ask_again

    ask_again(state, destination, numbers or ())
