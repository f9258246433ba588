"""``pitwatch forward``: send the entries of tables to the floor record."""

import logging
import signal
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Annotated

import typer

from models.errors import OperatorError
from models.house import House
from server.commands.floor import connected, without_database
from server.commands.options import FloorUrl, HouseFile
from server.house.house_file import house_for
from server.house.wording import counted
from server.process.exit_status import Exit
from server.process.signals import stop_signals
from server.process.terminal import screen
from stream.clock import HostClock

app = typer.Typer()


@app.command(epilog="[dim]pitwatch forward journals/ --floor postgresql://floor/pit[/dim]")
def forward(
    journals: Annotated[
        list[Path], typer.Argument(metavar="JOURNALS…", help="Journals, or folders of journals.")
    ],
    *,
    floor: FloorUrl,
    table: Annotated[
        str | None, typer.Option("--table", help="The table of journals that name none.")
    ] = None,
    once: Annotated[
        bool, typer.Option("--once", help="Send what is there now, and end; exit 3 if refused.")
    ] = False,
    decisions: Annotated[
        bool,
        typer.Option(
            "--decisions",
            help="Also hand in decisions made at services on the floor; writes to closed journals.",
        ),
    ] = False,
    house: HouseFile = None,
) -> None:
    """Send tables' entries to the floor record until stopped, in order and each exactly once.

    Without --decisions the forwarder only reads the journals. A floor that is down, slow or full
    never slows a table: the entries wait in the journal. Started again, it continues after the
    floor's last entry. It sends nothing more of a journal that differs from what the floor holds,
    and logs an error.
    """
    folders = [one if one.is_dir() else one.parent for one in journals]
    found = house_for(house, *folders)
    raise typer.Exit(run_forward(journals, floor, found, table, once=once, decisions=decisions))


def run_forward(
    names: Sequence[Path],
    url: str,
    house: House,
    table: str | None,
    *,
    once: bool,
    decisions: bool = False,
) -> Exit:
    """Forward journals until stopped; with ``once``, until the floor has everything there is now.

    With ``decisions``, also hand in what services on the floor decided on these journals.

    Raises:
        FloorDown: with ``once``, the floor cannot be reached.
        InstallerError: the database is no floor record, or refuses the role.
        OperatorError: a named file or folder is missing.
    """
    with without_database():
        from server.floor_record.decisions import DecisionDelivery
        from server.floor_record.forwarder import Forwarder, journals_in
    from server.service.json_log import log_as_json

    for name in names:
        if not name.exists():
            raise OperatorError(
                "there is no such file or folder",
                where=str(name),
                way_out="Name the tables' journals, or their folder",
            )
    forwarder = Forwarder(tuple(names), house, table)
    delivery = DecisionDelivery(url, lambda: journals_in(tuple(names)), decides=decisions)
    if once:
        with connected(url) as floor:
            sent = forwarder.forward_all(floor)
        with closing(delivery):
            delivery.report_states()
        screen().print(f"{counted(sent, 'entry', 'entries')} forwarded")
        for path, why in forwarder.refused.items():
            screen().print(f"not forwarded  {path}: {why}", soft_wrap=True)
        return Exit.FINDINGS if forwarder.refused else Exit.CLEAN
    log_as_json(HostClock())
    stopped: list[int] = []
    for stop in stop_signals():
        signal.signal(stop, lambda number, _: stopped.append(number))
    logging.getLogger("pitwatch.forward").info("started")
    with delivery:
        forwarder.run(url, lambda: bool(stopped))
    return Exit.CLEAN
