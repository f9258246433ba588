"""``pitwatch console``: show one recorded session, on this machine only.

The service and the replay are imported after the first line is printed: that takes a second or two.
"""

import hashlib
import os
import secrets
import sys
from pathlib import Path
from typing import Annotated, Final

import typer

from models.errors import OperatorError
from server.commands.options import HouseFile
from server.demo import SESSION
from stream.clock import Clock, HostClock
from stream.recording import read_session

app = typer.Typer()


@app.command(
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
    run_console(session, state, port, house)


ACCOUNT: Final = "officer"
PASSWORD_FILE: Final = "console-password"
LOOPBACK: Final = "127.0.0.1"


def run_console(
    session: Path | None, state: Path | None, port: int, house: Path | None = None
) -> None:
    """Serve the console of a session until stopped.

    At the first start it replays the session while it already serves the console.

    Args:
        session: its folder; ``None`` for the demo's.
        state: the folder for its journal, the account and people's entries; ``None`` for one in the
            user's state folder.
        port: of the loopback address.
        house: its file; ``None`` for the one that :func:`server.house.house_file.house_for` finds.

    Raises:
        PitwatchError: the port is taken, the session is not sound, or the state cannot be written.
    """
    folder = (session or SESSION).resolve()
    _print_line(f"opening {'the demo session' if session is None else folder}")
    table = read_session(folder).table
    kept = state or _state_of(folder)
    kept.mkdir(mode=0o700, parents=True, exist_ok=True)
    _serve(folder, kept / f"{table.lower()}.journal", port, house)


def _serve(folder: Path, journal: Path, port: int, house: Path | None) -> None:
    from server.commands.first_replay import replayed_beside
    from server.commands.serve import Address, listen
    from server.house.house_file import house_for
    from server.service.app import Setup, make_app
    from server.service.http.listening import bound_to
    from server.service.json_log import log_as_json

    listening = bound_to(LOOPBACK, port)
    clock, kept = HostClock(), journal.parent
    described = house_for(house, folder)
    password = account_in(kept, clock)
    setup = Setup(kept, kept, recordings=folder, house=described)
    app = make_app(setup, clock)
    log_as_json(clock, requests=False)
    says = (
        f"kept in {kept}; Ctrl-C stops it\n"
        f"http://{LOOPBACK}:{port}  sign in as {ACCOUNT}, password {password}"
    )
    with replayed_beside(folder, journal, _print_line):
        listen(app, Address(LOOPBACK, port), listening, lambda: _print_line(says))


def account_in(state: Path, clock: Clock) -> str:
    """Return the sign-in name and password; the first start creates the account.

    Raises:
        OperatorError: the password's file is gone, and the password cannot be recovered.
    """
    from argon2 import PasswordHasher

    from server.service.access.accounts import Accounts
    from server.service.access.people import Role

    file = state / PASSWORD_FILE
    accounts = Accounts.open(state / "accounts.sqlite", clock, PasswordHasher())
    try:
        if not accounts.all():
            file.touch(mode=0o600)
            file.write_text(secrets.token_urlsafe(12) + "\n", "utf-8")
            accounts.add(ACCOUNT, Role.SURVEILLANCE, file.read_text("utf-8").strip())
    finally:
        accounts.close()
    if not file.is_file():
        raise OperatorError(
            "the account's password file is missing",
            where=str(file),
            way_out=f"Remove {state} and start again; the session itself is not touched",
        )
    return file.read_text("utf-8").strip()


def _print_line(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def _state_of(session: Path) -> Path:
    """Return the state folder of a session, named after the session's path."""
    home = os.environ.get("XDG_STATE_HOME") or str(Path.home() / ".local" / "state")
    mark = hashlib.sha256(str(session).encode()).hexdigest()[:8]
    return Path(home) / "pitwatch" / "console" / f"{session.name}-{mark}"
