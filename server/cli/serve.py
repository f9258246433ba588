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
    folder: Annotated[Path, typer.Argument(metavar="FOLDER", help="Where *.journal lie.")],
    *,
    host: Annotated[str, typer.Option(help="The address to listen at.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=1, max=65535)] = 8707,
    state: Annotated[
        Path | None,
        typer.Option(help="Where accounts are kept; default FOLDER/.service.", show_default=False),
    ] = None,
    certificate: Annotated[
        Path | None, typer.Option("--tls-certificate", metavar="PEM", help="Serve over TLS.")
    ] = None,
    key: Annotated[Path | None, typer.Option("--tls-key", metavar="PEM")] = None,
    proxy: Annotated[
        str | None,
        typer.Option("--behind-proxy", metavar="ADDRESS", help="A proxy that speaks TLS for us."),
    ] = None,
    guarded: Annotated[
        list[str] | None,
        typer.Option(
            "--second-factor", metavar="ROLE", help="Such accounts must have one; repeatable."
        ),
    ] = None,
    password_history: Annotated[
        int,
        typer.Option(min=0, max=24, help="So many former passwords may not come back."),
    ] = 5,
    password_days: Annotated[
        int | None,
        typer.Option(min=1, metavar="DAYS", help="A password must be changed after so long."),
    ] = None,
    integration: Annotated[
        Path | None,
        typer.Option(
            "--integration", metavar="TOML", help="Tell others; `pitwatch examples` writes one."
        ),
    ] = None,
    recordings: Annotated[
        Path | None,
        typer.Option(metavar="FOLDER", help="Where session folders lie; default FOLDER itself."),
    ] = None,
    checkpoints: Annotated[
        list[str] | None,
        typer.Option(
            metavar="TARGET",
            help="Where checkpoints of the service's own journals go: a file on another machine's "
            "disk, syslog://HOST:514, syslog+tcp://HOST:601; repeatable.",
        ),
    ] = None,
    house: HouseFile = None,
    report_certificate: Annotated[
        Path | None,
        typer.Option(metavar="PEM", help="Sign PDF reports with this X.509 certificate."),
    ] = None,
    report_key: Annotated[
        Path | None, typer.Option(metavar="PEM", help="That certificate's private key.")
    ] = None,
) -> None:
    """Show the tables whose journals lie in a folder: console, REST, WebSocket, metrics."""
    from server.commands.serve import Address, People, run_serve

    address = Address(host, port, certificate, key, proxy)
    run_serve(
        folder,
        state,
        address,
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
        typer.Argument(metavar="SESSION", help="A session folder; the demo's where left out."),
    ] = None,
    *,
    port: Annotated[int, typer.Option(min=1, max=65535)] = 8707,
    state: Annotated[
        Path | None,
        typer.Option(help="Where its journal and account are kept.", show_default=False),
    ] = None,
    house: HouseFile = None,
) -> None:
    """Look at a recorded session in the console, on this machine alone.

    It is replayed first where it has no journal yet; the first start makes one account.
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
        str, typer.Option(help="rounds, hands, violations, reviews, payments, ledger.")
    ],
    out: Annotated[Path, typer.Option(help="A new .csv or .parquet file.")],
    force: Force = False,
    house: HouseFile = None,
) -> None:
    """Write a list out of journals as a table, the newest first. Nothing in it is redacted."""
    from server.commands.export import run_export
    from server.house.house_file import folders_of, house_for

    found = house_for(house, *folders_of([str(file) for file in files]))
    run_export(files, what, out, found, force=force)
