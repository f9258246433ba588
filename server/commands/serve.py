"""``pitwatch serve``: serve the tables whose journals lie in a folder."""

import signal
import socket
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from enum import StrEnum
from ipaddress import ip_address
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final, TypeVar

import typer
from uvicorn.config import STARTUP_FAILURE

from models.errors import InstallerError, OperatorError
from server.commands.options import HouseFile
from server.house.house_file import house_for
from server.integration.check import checked_integration
from server.report.certificate import Identity, read_identity
from server.service.access.people import Role
from server.service.http.listening import Server, bound_to, configured
from server.service.json_log import log_as_json
from server.table.sending import Target, target_at
from stream.clock import HostClock

if TYPE_CHECKING:
    from fastapi import FastAPI

    from server.service.access.passwords import PasswordRules
    from server.service.store import Store

app = typer.Typer()

_REMEMBERED: Final = 5
"""Former passwords of an account that it cannot use again, by default."""


@app.command(
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
    ] = _REMEMBERED,
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


E = TypeVar("E", bound=StrEnum)
_STOPPING: Final = (signal.SIGINT, signal.SIGTERM)


@dataclass(frozen=True, slots=True)
class Address:
    """The service's network address."""

    host: str
    port: int
    certificate: Path | None = None
    key: Path | None = None
    proxy: str | None = None
    """The address of a TLS proxy, trusted for the client's address."""


@dataclass(frozen=True, slots=True)
class People:
    """The house's requirements for its people, as given on the command line."""

    guarded_roles: Sequence[str] = ()
    """Roles that require a second factor."""
    password_history: int = _REMEMBERED
    password_days: int | None = None


def run_serve(
    folder: Path | None,
    state: Path | None,
    address: Address,
    *,
    floor: str | None = None,
    people: People | None = None,
    integration: Path | None = None,
    recordings: Path | None = None,
    house: Path | None = None,
    identity: tuple[Path | None, Path | None] = (None, None),
    checkpoints: Sequence[str] = (),
) -> None:
    """Serve a folder of journals, or the tables of the floor record, until stopped.

    The log goes to stderr, one JSON object a line; on a terminal it is without the requests.

    Messages go to the destinations of ``integration``. Pictures come from the session folders in
    ``recordings``, or from those beside the journals. Times and amounts have the format of
    ``house``, or of the file that :func:`server.house.house_file.house_for` finds. ``identity``, a
    certificate and its key, or a pair of the state folder signs PDF reports. Checkpoints of the
    service's own journals go to ``checkpoints``.

    Raises:
        InputRefused: a configuration is invalid.
        InstallerError: a destination cannot be built as configured, or the certificate of reports
            is invalid.
        OperatorError: there is no such folder or role, a certificate has no key, or the port is
            taken.
        TechnicianError: the journal of people's actions is damaged.
    """
    from server.service.app import Setup, make_app

    journals, kept, store = _placed(folder, state, floor, integration, recordings)
    _check_pair(address.certificate, address.key, "--tls-certificate", "--tls-key")
    _check_pair(*identity, "--report-certificate", "--report-key")
    clock, asked = HostClock(), people or People()
    setup = Setup(
        journals,
        kept,
        is_secure=address.certificate is not None or address.proxy is not None,
        guarded_roles=frozenset(
            _named(Role, name, "role", "--second-factor") for name in asked.guarded_roles
        ),
        passwords=_password_rules(asked),
        integration=None if integration is None else checked_integration(integration),
        recordings=recordings,
        house=house_for(house, journals),
        identity=_identity(*identity),
        checkpoints=tuple(map(_target, checkpoints)),
        store=store,
    )
    listening = bound_to(address.host, address.port)
    app = make_app(setup, clock)
    log_as_json(clock, requests=not sys.stderr.isatty())
    listen(app, address, listening, lambda: _print_addresses(kept, address))


def _placed(
    folder: Path | None,
    state: Path | None,
    floor: str | None,
    integration: Path | None,
    recordings: Path | None,
) -> "tuple[Path, Path, Store | None]":
    """Return the folder of journals and recordings, that of the state, and a shared store."""
    if floor is None:
        if folder is None:
            raise OperatorError(
                "nothing to serve is named",
                where="serve",
                way_out="Name the journals' folder, or the floor record with --floor",
            )
        if not folder.is_dir():
            raise OperatorError(
                "there is no such folder", where=str(folder), way_out="Name the journals' folder"
            )
        return folder, state or folder / ".service", None
    if folder is not None or state is None:
        raise OperatorError(
            "the tables of the floor record are in no folder"
            if folder is not None
            else "a service on the floor record needs a folder for its key",
            where="--floor",
            way_out="Name no folder of journals, and the state folder with --state",
        )
    if integration is not None:
        raise OperatorError(
            "several services on one floor record would each send every message",
            where="--integration",
            way_out="Run `pitwatch relay` where the journals are",
        )
    return state, state, _record_store(floor, has_recordings=recordings is not None)


def _record_store(url: str, *, has_recordings: bool) -> "Store":
    try:
        from server.floor_record.store import RecordStore
    except ImportError as fault:
        raise InstallerError(
            "psycopg or alembic is not installed, which the floor record needs",
            where="--floor",
            way_out="Install them: pip install 'pitwatch[floor]'",
        ) from fault
    return RecordStore(url, has_recordings=has_recordings)


def _check_pair(certificate: Path | None, key: Path | None, named: str, other: str) -> None:
    if (certificate is None) != (key is None):
        raise OperatorError(
            "a certificate and its key go together",
            where=named if key is None else other,
            way_out=f"Give {other if key is None else named} too",
        )


def _target(address: str) -> Target:
    try:
        return target_at(address, Path())
    except ValueError as expected:
        raise OperatorError(
            f"checkpoints cannot be sent to {address!r}",
            where="--checkpoints",
            way_out=f"Name {expected}",
        ) from None


def _identity(certificate: Path | None, key: Path | None) -> Identity | None:
    return None if certificate is None or key is None else read_identity(certificate, key)


def listen(
    app: "FastAPI",
    address: Address,
    listening: Sequence[socket.socket],
    ready: Callable[[], None],
) -> None:
    """Answer requests on the sockets of ``address`` until stopped.

    Args:
        app: the service.
        address: how clients reach it.
        listening: the sockets, bound already.
        ready: called once requests are answered.

    Raises:
        PitwatchError: the service cannot start.
    """
    from server.service.request.services import services_in

    try:
        _listen(app, address, listening, ready)
    except SystemExit:
        refused = services_in(app).refused
        if refused is None:
            raise
        raise refused from None


@contextmanager
def _stopped_by_signals(server: Server) -> Iterator[None]:
    """Stop the server in order on a signal, even during its start.

    uvicorn handles signals once it has started, and raises them again at its end; both arrive here.
    """
    before = {number: signal.signal(number, server.handle_exit) for number in _STOPPING}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _listen(
    app: "FastAPI",
    address: Address,
    listening: Sequence[socket.socket],
    ready: Callable[[], None],
) -> None:
    from server.service.request.services import services_in

    config = configured(
        app,
        proxy_headers=address.proxy is not None,
        forwarded_allow_ips=address.proxy,
        ssl_certfile=address.certificate,
        ssl_keyfile=address.key,
        timeout_graceful_shutdown=5,
    )
    server = Server(config, services_in(app).meters, ready)
    with _stopped_by_signals(server):
        server.run(list(listening))
    if not server.started:
        sys.exit(STARTUP_FAILURE)


def _named(kind: type[E], name: str, what: str, option: str) -> E:
    try:
        return kind(name)
    except ValueError:
        raise OperatorError(
            f"there is no {what} {name!r}",
            where=option,
            way_out=f"Choose one of {', '.join(kind)}",
        ) from None


def _password_rules(asked: People) -> "PasswordRules":
    from server.service.access.passwords import PasswordRules
    from server.service.routes.tokens import DAY_NS

    days = asked.password_days
    return PasswordRules(asked.password_history, None if days is None else days * DAY_NS)


def network_warnings(address: Address) -> tuple[str, ...]:
    """Return what is missing where other machines reach the service itself, without a proxy."""
    if address.proxy is not None or _is_loopback(address.host):
        return ()
    held = (
        f"whoever reaches {address.host} can hold connections until nobody else gets one. Put "
        "nginx in front as docs/deploy.md shows, and give --behind-proxy"
    )
    if address.certificate is not None:
        return (held,)
    plain = (
        f"plain HTTP on {address.host}: passwords and cookies cross the network in the clear. "
        "Give --tls-certificate and --tls-key, or --behind-proxy"
    )
    return plain, held


def _is_loopback(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _print_addresses(kept: Path, address: Address) -> None:
    from server.service.access.records import FIRST_ACCOUNT, PASSWORD_FILE

    scheme = "http" if address.certificate is None else "https"
    print(f"{scheme}://{address.host}:{address.port}  Ctrl-C stops it", file=sys.stderr)
    for warning in network_warnings(address):
        print(f"WARNING: {warning}", file=sys.stderr)
    file = kept / PASSWORD_FILE
    if file.exists():
        text = f"sign in as {FIRST_ACCOUNT} with the password in {file}, then change it"
        print(text, file=sys.stderr)
