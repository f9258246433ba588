"""``pitwatch serve``: show the tables whose journals lie in a folder."""

import sys
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path

from fastapi import FastAPI
from uvicorn.config import STARTUP_FAILURE

from models.errors import OperatorError, PitwatchError
from server.integration.check import checked_integration
from server.json_log import log_as_json
from server.service.app import Setup, make_app
from server.service.listening import Server, bound_to, bounds_here, configured
from server.service.people import Role
from server.service.records import FIRST_ACCOUNT, PASSWORD_FILE
from stream.clock import HostClock


@dataclass(frozen=True, slots=True)
class Address:
    """Where the service is reached."""

    host: str
    port: int
    certificate: Path | None = None
    key: Path | None = None
    proxy: str | None = None
    """The address of a proxy that speaks TLS, and whose word on who asks is taken."""


def run_serve(
    folder: Path,
    state: Path | None,
    address: Address,
    *,
    guarded_roles: Collection[str] = (),
    integration: Path | None = None,
    recordings: Path | None = None,
) -> None:
    """Serve until stopped; the log goes to stderr, a JSON object a line.

    Accounts of ``guarded_roles`` must have a second factor; what happens is told to the
    destinations of ``integration``. Pictures come from the session folders in ``recordings``, or
    from those beside the journals.

    Raises:
        InputRefused: that configuration is not what it must be.
        InstallerError: a destination cannot be built as it is configured.
        OperatorError: there is no such folder or role, or a certificate without its key.
        TechnicianError: the journal of what people did is damaged.
    """
    if not folder.is_dir():
        raise OperatorError(
            "there is no such folder", where=str(folder), way_out="Name the journals' folder"
        )
    if (address.certificate is None) != (address.key is None):
        raise OperatorError(
            "a certificate and its key go together",
            where="--tls-certificate",
            way_out="Give --tls-key too",
        )
    clock = HostClock()
    kept = state or folder / ".service"
    setup = Setup(
        folder,
        kept,
        is_secure=address.certificate is not None or address.proxy is not None,
        guarded_roles=frozenset(map(_role, guarded_roles)),
        integration=None if integration is None else checked_integration(integration),
        recordings=recordings,
    )
    app = make_app(setup, clock)
    log_as_json(clock)
    _say(kept, address)
    listen(app, address)


def listen(app: FastAPI, address: Address) -> None:
    """Answer until stopped.

    Raises:
        PitwatchError: the service cannot start.
    """
    try:
        _listen(app, address)
    except SystemExit:
        refused: PitwatchError | None = getattr(app.state, "refused", None)
        if refused is None:
            raise
        raise refused from None


def _listen(app: FastAPI, address: Address) -> None:
    config = configured(
        app,
        proxy_headers=address.proxy is not None,
        forwarded_allow_ips=address.proxy,
        ssl_certfile=address.certificate,
        ssl_keyfile=address.key,
        timeout_graceful_shutdown=5,
    )
    bounds = bounds_here(is_behind_proxy=address.proxy is not None)
    server = Server(config, bounds, app.state.meters)
    server.run(list(bound_to(address.host, address.port)))
    if not server.started:
        sys.exit(STARTUP_FAILURE)


def _role(name: str) -> Role:
    try:
        return Role(name)
    except ValueError:
        raise OperatorError(
            f"there is no role {name!r}",
            where="--second-factor",
            way_out=f"Name one of {', '.join(Role)}",
        ) from None


def _say(kept: Path, address: Address) -> None:
    scheme = "http" if address.certificate is None else "https"
    print(f"{scheme}://{address.host}:{address.port}  Ctrl-C stops it", file=sys.stderr)
    file = kept / PASSWORD_FILE
    if file.exists() or not (kept / "accounts.sqlite").exists():
        said = f"sign in as {FIRST_ACCOUNT} with the password in {file}, then change it"
        print(said, file=sys.stderr)
