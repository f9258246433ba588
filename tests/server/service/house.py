"""A service as it stands in a house: real journals, a real port, people with roles."""

import socket
import ssl
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from time import sleep
from typing import Any, Final

import httpx
from argon2 import PasswordHasher
from msgspec.structs import replace

from models.decode import from_toml
from models.events import Event
from models.house import House as Described
from models.layout import TableLayout
from server.house.rulebooks import rules_for
from server.process.stopwatch import Stopwatch
from server.report.certificate import Identity
from server.service.access.people import RIGHTS, Right, Role, TwoPeople
from server.service.access.records import FIRST_ACCOUNT, PASSWORD_FILE
from server.service.app import Setup, make_app
from server.service.http.limits import Limits, Rate
from server.service.http.listening import Server, configured
from server.service.http.patience import Patience
from server.service.request.services import services_in
from server.service.store import Store
from server.table.pipeline import Pipeline
from server.table.sending import Target
from settlement.engine import Engine
from settlement.reckoning import Reckoning
from stream import library
from stream.clock import Clock, HostClock
from stream.journal import Journal
from tests.golden.sessions import heard

PASSWORD: Final = "a long enough password"
FIRST_PASSWORD: Final = "a first one to be changed"
CHEAP: Final = PasswordHasher(time_cost=1, memory_cost=8, parallelism=1)
"""Tests sign in hundreds of times; what Argon2id costs is not what they ask about."""
_OFTEN: Final = Rate(10_000, 100_000)
IN_THE_CLEAR: Final = False
"""Nothing is verified: a client that verifies reads the certificates of all authorities, 30 ms."""
HELD: Final = (
    b"",
    b"GET /health HTTP/1.1\r\nHost: pit\r\nX-Half: ",
    b"POST /api/sign-in HTTP/1.1\r\nHost: pit\r\nContent-Type: application/json\r\n"
    b"Content-Length: 100\r\n\r\n{",
)
"""What a client sends that never ends its request: nothing, half a head, no body."""
FREELY: Final = Limits(_OFTEN, _OFTEN, _OFTEN)
"""How often one may ask where that is not what is tested."""


def play(path: Path, name: str, table: str) -> None:
    """Write the journal of a recorded session, as a table of that name."""
    rules = rules_for("kansas-shoe")
    with Journal.create(path) as journal:
        layout = from_toml(library.layout_text("five-spots"), TableLayout, "five-spots")
        pipeline = Pipeline(
            table, journal, Reckoning(rules, layout), Engine(rules), Stopwatch(lambda: 0)
        )
        for one in heard(name):
            pipeline.observe((one.observation,), one.now_ns)
        pipeline.finish()


def write(path: Path, *events: Event) -> None:
    """Write a journal of these events."""
    with Journal.create(path) as journal:
        journal.append_all(events)


class Standing:
    """A clock that stands still until it is set."""

    def __init__(self, now_ns: int) -> None:
        self.at_ns = now_ns

    def now_ns(self) -> int:
        return self.at_ns

    def wait_until(self, at_ns: int) -> None:
        raise NotImplementedError

    async def reached(self, at_ns: int) -> None:
        raise NotImplementedError


@dataclass(frozen=True)
class House:
    """A running service."""

    url: str
    journals: Path
    state: Path
    certificate: Path | None = None

    def anyone(self, address: str | None = None) -> httpx.Client:
        """Return a client that nobody signed in with, of this ``address`` of the machine."""
        trusted: ssl.SSLContext | bool = IN_THE_CLEAR
        if self.certificate is not None:
            trusted = ssl.create_default_context(cafile=str(self.certificate))
        transport = httpx.HTTPTransport(verify=trusted, local_address=address)
        return httpx.Client(base_url=self.url, timeout=20, transport=transport)

    @contextmanager
    def signed_in(self, name: str, password: str = PASSWORD) -> Iterator[httpx.Client]:
        """Yield a client with a session."""
        with self.anyone() as client:
            sent = client.post("/api/sign-in", json={"name": name, "password": password})
            assert sent.status_code == 200, sent.text
            client.headers["X-CSRF-Token"] = sent.json()["csrf"]
            yield client

    @contextmanager
    def admin(self) -> Iterator[httpx.Client]:
        """Sign in with the account that was made at the first start, its password changed."""
        first = self.state / PASSWORD_FILE
        if first.exists():
            self.change_password(FIRST_ACCOUNT, first.read_text().strip(), PASSWORD)
        with self.signed_in(FIRST_ACCOUNT) as client:
            yield client

    def change_password(self, name: str, old: str, new: str) -> None:
        """Change somebody's password, as they do it."""
        with self.anyone() as client:
            changed_password(client, name, old, new)

    def hire(self, admin: httpx.Client, name: str, role: str) -> None:
        """Make an account, whose owner then changes its first password."""
        sent = {"name": name, "role": role, "password": FIRST_PASSWORD}
        made = admin.post("/api/accounts", json=sent)
        assert made.status_code == 201, made.text
        self.change_password(name, FIRST_PASSWORD, PASSWORD)

    def staff(self) -> None:
        """Make an account of every role, named after it."""
        with self.admin() as admin:
            for role in Role:
                if role is not Role.ADMIN:
                    self.hire(admin, str(role), str(role))

    def get(self, client: httpx.Client, path: str, **query: Any) -> Any:
        """Return what a route answers, which must be 200."""
        answer = client.get(path, params=query)
        assert answer.status_code == 200, answer.text
        return answer.json()


@contextmanager
def house(
    journals: Path,
    state: Path,
    patience: Patience | None = None,
    *,
    wait: bool = True,
    limits: Limits = FREELY,
    guarded_roles: frozenset[Role] = frozenset(),
    clock: Clock | None = None,
    tls: tuple[Path, Path] | None = None,
    two_people: frozenset[TwoPeople] = frozenset(),
    of: Described | None = None,
    port: int = 0,
    recordings: Path | None = None,
    identity: Identity | None = None,
    checkpoints: tuple[Target, ...] = (),
    store: Store | None = None,
) -> Iterator[House]:
    """Run a service on a port of this machine.

    Args: ``tls`` is its certificate and key, ``of`` the house that it shows. ``port`` 0 is any
        free one, ``store`` where the tables are if not in ``journals``.
    """
    setup = Setup(
        journals,
        state,
        is_secure=tls is not None,
        poll_ns=20_000_000,
        patience=patience or Patience(),
        limits=limits,
        guarded_roles=guarded_roles,
        house=replace(of or Described(), two_people=tuple(sorted(two_people))),
        recordings=recordings,
        identity=identity,
        checkpoints=checkpoints,
        store=store,
    )
    app = make_app(setup, clock or HostClock(), CHEAP)
    certificate, key = tls or (None, None)
    with socket.create_server(("127.0.0.1", port)) as listening:
        port = listening.getsockname()[1]
        config = configured(
            app, timeout_graceful_shutdown=1, ssl_certfile=certificate, ssl_keyfile=key
        )
        server = Server(config, services_in(app).meters)
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
        thread.start()
        try:
            scheme = "http" if tls is None else "https"
            found = House(f"{scheme}://127.0.0.1:{port}", journals, state, certificate)
            until(lambda: server.started)
            if wait:
                until(lambda: _is_ready(found))
            yield found
        finally:
            server.should_exit = True
            thread.join(20)


def _is_ready(found: House) -> bool:
    """Whether the service answers that it is: a loaded machine may drop a request as late."""
    try:
        with found.anyone() as client:
            return client.get("/ready").status_code == 200
    except httpx.TransportError:
        return False


def token_for(url: str, state: Path, role: str) -> str:
    """Make the account of a role at a service of another process, and return a token of it."""
    first = state / PASSWORD_FILE
    with httpx.Client(base_url=url, timeout=20, verify=IN_THE_CLEAR) as client:
        if first.exists():
            changed_password(client, FIRST_ACCOUNT, first.read_text().strip(), PASSWORD)
        _sign_in(client, FIRST_ACCOUNT, PASSWORD)
        if role != Role.ADMIN:
            sent = {"name": role, "role": role, "password": FIRST_PASSWORD}
            client.post("/api/accounts", json=sent).raise_for_status()
            changed_password(client, role, FIRST_PASSWORD, PASSWORD)
            _sign_in(client, role, PASSWORD)
        rights = sorted(RIGHTS[Role(role)] - {Right.KEEP_SELF, Right.KEEP_TOKENS})
        made = client.post("/api/tokens", json={"label": role, "scopes": rights})
        secret: str = made.raise_for_status().json()["secret"]
        return secret


def changed_password(client: httpx.Client, name: str, old: str, new: str) -> None:
    """Change somebody's password, as they do it."""
    _sign_in(client, name, old)
    client.post("/api/me/password", json={"old": old, "new": new}).raise_for_status()


def _sign_in(client: httpx.Client, name: str, password: str) -> None:
    sent = client.post("/api/sign-in", json={"name": name, "password": password})
    client.headers["X-CSRF-Token"] = sent.raise_for_status().json()["csrf"]


def until(is_so: Any, tries: int = 2400) -> None:
    """Wait for something that will be so."""
    for _ in range(tries):
        if is_so():
            return
        sleep(0.025)
    raise AssertionError("it did not come to be")
