"""``pitwatch run``: run one live table until stopped."""

import asyncio
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from msgspec.structs import replace
from rich.text import Text

from models.events import (
    CameraFault,
    CameraRecovered,
    Event,
    PaymentMade,
    RoundClosed,
    RoundOpened,
)
from models.judgements import RoundResult, RoundSettled
from server.commands.options import HouseFile, Json
from server.commands.tables import round_view
from server.house.device_faults import OVERLOAD_WAY_OUT
from server.house.formatting import Formats
from server.house.house_file import house_for
from server.house.wording import is_clean
from server.process.exit_status import Exit
from server.process.program import program_stated
from server.process.signals import stop_signals
from server.process.terminal import print_json, screen
from server.table.check import checked
from server.table.host_clock import check_synchronised
from server.table.journal import table_journal
from server.table.sending import Sender
from server.table.status import Standing
from settlement.balance import balance, payments_in
from stream.clock import HostClock, kernel_sync

if TYPE_CHECKING:
    from server.table.live import LiveTable

app = typer.Typer()


@app.command(
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
    raise typer.Exit(run_table(file, for_s, house=house, as_json=as_json))


_STATUS_S = 1.0


def run_table(file: Path, for_s: float | None, *, house: Path | None = None, as_json: bool) -> Exit:
    """Run the table that ``file`` configures, print each round as it settles.

    Args:
        file: the configuration.
        for_s: seconds to run; ``None`` runs until a signal stops it.
        house: the house's file; ``None`` for the one beside the configuration.
        as_json: print rounds as JSON lines.

    Raises:
        PitwatchError: the configuration is not sound, or the table cannot continue.
    """
    from server.house.known_decks import library, taught
    from server.table.live import LiveTable
    from vision.reader import Reader

    placed = checked(file)
    check_synchronised(placed, kernel_sync())
    clock = HostClock()
    reader = taught(Reader.load(), placed.config.decks, [library()], placed.config.letters)
    described = house_for(house, file.parent)
    formats = Formats(replace(described, currency=placed.config.currency))
    printer = _Printer(formats, as_json=as_json)
    with table_journal(placed, clock) as (journal, sender, rests):
        table = LiveTable(
            placed, journal, clock, reader, printer.take, stating=program_stated, rests=rests
        )
        asyncio.run(_run(table, sender, for_s, formats))
        _print_end(table)
    return Exit.CLEAN if printer.clean else Exit.FINDINGS


class _Printer:
    """Prints each round as it settles, and on stderr each overload as it begins and ends."""

    def __init__(self, formats: Formats, *, as_json: bool) -> None:
        self._formats, self._as_json = formats, as_json
        self._paid: list[Event] = []
        """Payments and closes since the last round opened."""
        self.clean = True

    def take(self, event: Event) -> None:
        match event:
            case RoundOpened():
                self._paid.clear()
            case PaymentMade() | RoundClosed():
                self._paid.append(event)
            case RoundSettled():
                self._settled(event.result)
            case CameraFault(kind="overloaded"):
                _print_line(f"OVERLOAD of {event.source}: {event.detail}. {OVERLOAD_WAY_OUT}")
            case CameraRecovered(kind="overloaded"):
                _print_line(f"overload of {event.source} over after {event.lasted_ns / 1e9:.0f} s")

    def _settled(self, result: RoundResult) -> None:
        self.clean = self.clean and is_clean(result)
        if self._as_json:
            print_json(result)
            sys.stdout.flush()
        else:
            found = balance(result, payments_in(self._paid))
            screen().print(round_view(result, self._formats, balance=found))


async def _run(table: "LiveTable", sender: Sender, for_s: float | None, formats: Formats) -> None:
    stop, loop = asyncio.Event(), asyncio.get_running_loop()
    for number in stop_signals():
        loop.add_signal_handler(number, stop.set)
    if for_s is not None:
        loop.call_later(for_s, stop.set)
    status = asyncio.create_task(_show(table.standing, sender, formats))
    try:
        await table.run(stop)
    finally:
        status.cancel()


async def _show(standing: Standing, sender: Sender, formats: Formats) -> None:
    """Keep the status line on a terminal; elsewhere print it when it changes."""
    shown = ""
    while True:
        standing.unsent = sender.fault
        line = standing.line(formats)
        if line != shown:
            _print_line(line, end="" if sys.stderr.isatty() else "\n")
            shown = line
        await asyncio.sleep(_STATUS_S)


def _print_line(text: str, end: str = "\n") -> None:
    """Print a line on stderr; on a terminal, in the place of the status line."""
    start = "\r\x1b[K" if sys.stderr.isatty() else ""
    print(f"{start}{text}", end=end, file=sys.stderr, flush=True)


def _print_end(table: "LiveTable") -> None:
    standing = table.standing
    line = Text("\nstopped", style="bold")
    if standing.in_play is not None:
        line.append(f"; round {standing.in_play} is in play: the next start continues it")
    if standing.overload.left_out:
        line.append(f"; {standing.overload.text}: this machine could not keep up")
    if table.recording is not None:
        line.append(f"; recorded in {table.recording}")
    print(line.plain, file=sys.stderr)
