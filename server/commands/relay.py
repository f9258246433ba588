"""``pitwatch relay``: run it, try a destination, and handle undelivered messages."""

import asyncio
import logging
from collections.abc import Collection
from contextlib import suppress
from pathlib import Path
from typing import Annotated

import typer
from prometheus_client import CollectorRegistry
from rich.text import Text

from models.errors import OperatorError
from server.commands.options import Json
from server.house.wording import counted
from server.integration.check import checked_integration
from server.integration.delivery import NotDelivered
from server.integration.message import TRIAL, Message, utc_text
from server.integration.registry import make_deliverer
from server.integration.relay import Relay, opened
from server.integration.store import Letter, RelayStore
from server.process.exit_status import Exit
from server.process.signals import stop_signals
from server.process.terminal import print_json, screen
from server.readmodel.floor import Floor
from server.service.json_log import log_as_json
from stream.clock import HostClock

app = typer.Typer(no_args_is_help=True)

Config = Annotated[Path, typer.Argument(metavar="INTEGRATION.toml", help="The configuration.")]

State = Annotated[
    Path, typer.Option("--state", help="The service's state folder, which holds relay.sqlite.")
]


@app.command(epilog="[dim]pitwatch relay run journals/ integration.toml --state state/[/dim]")
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
    run_relay(folder, config, state)


@app.command("try", epilog="[dim]pitwatch relay try integration.toml siem[/dim]")
def try_one(
    config: Config,
    destination: Annotated[str, typer.Argument(help="The destination's name.")],
) -> None:
    """Send one message of kind `trial`; print the result. Exit 3 if it was not accepted."""
    raise typer.Exit(try_destination(config, destination))


@app.command("letters", epilog="[dim]pitwatch relay letters --state state/[/dim]")
def list_letters(
    *,
    state: State,
    sent: Annotated[
        bool, typer.Option("--sent", help="Include letters that were sent later.")
    ] = False,
    as_json: Json = False,
) -> None:
    """List the dead letters: messages that could not be delivered, and why. Exit 3 if any."""
    raise typer.Exit(show_letters(state, with_sent=sent, as_json=as_json))


@app.command(epilog="[dim]pitwatch relay resend --state state/ --destination siem[/dim]")
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
    ask_again(state, destination, numbers or ())


def run_relay(folder: Path, config: Path, state: Path) -> None:
    """Relay until SIGINT, SIGTERM or SIGHUP.

    Raises:
        OperatorError: there is no such folder, or another relay uses this state folder.
        InputRefused: the configuration is not what it must be.
        InstallerError: a secret or a package is missing.
    """
    if not folder.is_dir():
        raise OperatorError(
            "there is no such folder", where=str(folder), way_out="Name the journals' folder"
        )
    from server.readmodel.folder_floor import FolderFloor

    configured, clock = checked_integration(config), HostClock()
    log_as_json(clock)
    floor = FolderFloor(folder)
    with opened(configured, state, floor, clock, CollectorRegistry()) as relay:
        asyncio.run(_until_stopped(relay, floor))


def try_destination(config: Path, name: str) -> Exit:
    """Send one trial message; print its result.

    Raises:
        OperatorError: there is no such destination.
        InputRefused: the configuration is invalid.
    """
    configured = checked_integration(config)
    found = {one.name: one for one in configured.config.destinations}
    if name not in found:
        raise OperatorError(
            f"there is no destination {name!r}",
            where=str(config),
            way_out=f"Choose one of {', '.join(found)}",
        )
    deliverer = make_deliverer(found[name], configured.site)
    try:
        deliverer.deliver(trial(HostClock().now_ns()))
    except NotDelivered as failed:
        screen().print(Text(f"not accepted  {name}: {failed.why}", style="bold red"))
        return Exit.FINDINGS
    finally:
        deliverer.close()
    screen().print(Text(f"accepted  {name}", style="bold green"))
    return Exit.CLEAN


def show_letters(state: Path, *, with_sent: bool, as_json: bool) -> Exit:
    """Print the dead letters, a line each.

    Raises:
        OperatorError: nothing was ever sent from that folder.
    """
    letters = _letters(state, with_sent=with_sent)
    if as_json:
        print_json(letters)
    for letter in () if as_json else letters:
        screen().print(_line(letter))
    return Exit.FINDINGS if any(one.state != "sent" for one in letters) else Exit.CLEAN


def ask_again(state: Path, destination: str | None, numbers: Collection[int]) -> None:
    """Request that letters be sent again; print their number.

    Raises:
        OperatorError: nothing was ever sent from that folder.
    """
    store = RelayStore.open(state, is_made=False)
    try:
        asked = store.ask_again(destination, numbers)
    finally:
        store.close()
    screen().print(f"{counted(asked, 'letter')} queued again")


async def _until_stopped(relay: Relay, floor: Floor) -> None:
    loop, this = asyncio.get_running_loop(), asyncio.current_task()
    for stop in stop_signals():
        loop.add_signal_handler(stop, this.cancel if this is not None else loop.stop)
    logging.getLogger("pitwatch.relay").info("started")
    with suppress(asyncio.CancelledError):
        async with asyncio.TaskGroup() as group:
            group.create_task(floor.run())
            group.create_task(relay.run())


def trial(now_ns: int) -> Message:
    """Return a message without content."""
    return Message(
        id=f"{TRIAL}:{now_ns}",
        kind=TRIAL,
        session=TRIAL,
        seq=0,
        table=TRIAL,
        at=now_ns,
        round=None,
        text="A trial message: nothing happened at any table",
        data={},
    )


def _letters(state: Path, *, with_sent: bool) -> tuple[Letter, ...]:
    store = RelayStore.open(state, is_made=False)
    try:
        return store.letters("dead", "again", *(("sent",) if with_sent else ()))
    finally:
        store.close()


def _line(letter: Letter) -> Text:
    line = Text(f"{letter.number:>5}  {letter.state:<5}  ", style="bold")
    line.append(f"{letter.destination}  {utc_text(letter.at_ns, 0).replace('.Z', 'Z')}  ")
    line.append(f"{letter.message.text}  ")
    return line.append(f"{letter.why}, {counted(letter.tries, 'try')}", style="yellow")
