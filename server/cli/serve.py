"""The service, its console, and lists out of journals."""

from pathlib import Path
from typing import Annotated

import typer

from server.cli.options import Force, HouseFile

commands = typer.Typer()


@commands.command(
    epilog="[dim]pitwatch serve journals/ --port 8443 --tls-certificate c --tls-key k[/dim]"
)
def serve(
    folder: Annotated[
        Path | None, typer.Argument(metavar="[FOLDER]", help="The folder of journals.")
    ] = None,
    *,
    floor: Annotated[
        str | None,
        typer.Option(
            "--floor",
            metavar="postgresql://…",
            help="Serve every table of the floor record instead of a folder; needs --state.",
            show_default=False,
        ),
    ] = None,
    host: Annotated[str, typer.Option(help="The address to listen on.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=1, max=65535, help="The port to listen on.")] = 8707,
    state: Annotated[
        Path | None,
        typer.Option(
            help="The service's state folder: accounts, keys. Default: FOLDER/.service.",
            show_default=False,
        ),
    ] = None,
    certificate: Annotated[
        Path | None,
        typer.Option("--tls-certificate", metavar="PEM", help="Serve TLS with this certificate."),
    ] = None,
    key: Annotated[
        Path | None,
        typer.Option("--tls-key", metavar="PEM", help="The certificate's private key."),
    ] = None,
    proxy: Annotated[
        str | None,
        typer.Option(
            "--behind-proxy", metavar="ADDRESS", help="Trust the TLS proxy at this address."
        ),
    ] = None,
    guarded: Annotated[
        list[str] | None,
        typer.Option(
            "--second-factor",
            metavar="ROLE",
            help="Require a second factor of accounts with this role; repeatable.",
        ),
    ] = None,
    password_history: Annotated[
        int,
        typer.Option(min=0, max=24, help="Number of former passwords that cannot be reused."),
    ] = 5,
    password_days: Annotated[
        int | None,
        typer.Option(min=1, metavar="DAYS", help="Passwords expire after this many days."),
    ] = None,
    integration: Annotated[
        Path | None,
        typer.Option(
            "--integration",
            metavar="TOML",
            help="Send messages to other systems. `pitwatch examples` writes an example.",
        ),
    ] = None,
    recordings: Annotated[
        Path | None,
        typer.Option(
            metavar="FOLDER", help="The folder of recorded sessions. Default: the journals' folder."
        ),
    ] = None,
    checkpoints: Annotated[
        list[str] | None,
        typer.Option(
            metavar="TARGET",
            help="Where to send checkpoints of the service's own journals: a file on another "
            "machine's disk, syslog://HOST:514 or syslog+tcp://HOST:601; repeatable.",
        ),
    ] = None,
    house: HouseFile = None,
    report_certificate: Annotated[
        Path | None,
        typer.Option(metavar="PEM", help="Sign PDF reports with this X.509 certificate."),
    ] = None,
    report_key: Annotated[
        Path | None, typer.Option(metavar="PEM", help="The private key of that certificate.")
    ] = None,
) -> None:
    """Serve the tables of a folder, or of the floor: console, REST API, WebSocket and metrics."""
    from server.commands.serve import Address, People, run_serve

    address = Address(host, port, certificate, key, proxy)
    run_serve(
        folder,
        state,
        address,
        floor=floor,
        people=People(guarded or (), password_history, password_days),
        integration=integration,
        recordings=recordings,
        house=house,
        identity=(report_certificate, report_key),
        checkpoints=checkpoints or (),
    )


@commands.command(
    "console", epilog="[dim]pitwatch console[/dim]\n\n[dim]pitwatch console evening/[/dim]"
)
def open_console(
    session: Annotated[
        Path | None,
        typer.Argument(metavar="SESSION", help="A session folder. Default: the demo's."),
    ] = None,
    *,
    port: Annotated[int, typer.Option(min=1, max=65535, help="The port to listen on.")] = 8707,
    state: Annotated[
        Path | None,
        typer.Option(help="The folder for the journal and the account.", show_default=False),
    ] = None,
    house: HouseFile = None,
) -> None:
    """Open a recorded session in the console, for this machine only.

    If the session has no journal yet, the command replays it first. The first start creates one
    account.
    """
    from server.commands.console import run_console

    run_console(session, state, port, house)


@commands.command(
    epilog="[dim]pitwatch export november/*.journal --what ledger --out ledger.parquet[/dim]"
)
def export(
    files: Annotated[list[Path], typer.Argument(metavar="JOURNAL…", help="Tables' journals.")],
    *,
    what: Annotated[
        str,
        typer.Option(help="The list: rounds, hands, violations, reviews, payments or ledger."),
    ],
    out: Annotated[Path, typer.Option(help="A new .csv or .parquet file.")],
    force: Force = False,
    house: HouseFile = None,
) -> None:
    """Export a list from journals as CSV or Parquet, newest first. Nothing is redacted."""
    from server.commands.export import run_export
    from server.house.house_file import folders_of, house_for

    found = house_for(house, *folders_of([str(file) for file in files]))
    run_export(files, what, out, found, force=force)
