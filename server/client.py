"""A client of the service for programs: typed answers, every page of a list, a stream that resumes.

::

    with Client("https://pit:8443", token) as service:
        for mistake in service.violations(table="BJ-07"):
            ...
        for told in service.watch({"bj-07": 0}):
            ...
"""

import http.client
import ssl
from collections.abc import Generator, Iterator, Mapping
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Final, Self, TypeVar
from urllib.parse import quote, urlencode, urlsplit

import msgspec
from websockets.exceptions import ConnectionClosed, InvalidStatus, WebSocketException
from websockets.sync.client import ClientConnection, connect

from models.errors import OperatorError, TechnicianError
from server.readmodel.incidents import IncidentRow, IncidentView
from server.readmodel.views import (
    HandRow,
    LedgerRow,
    Moment,
    Page,
    PaymentRow,
    ReviewRow,
    RoundRow,
    Row,
    SessionView,
    TableView,
    ViolationRow,
)
from server.service.http.problems import ProblemDocument
from server.service.request.answers import Me
from stream.clock import Clock, HostClock

T = TypeVar("T")
R = TypeVar("R", bound=Row | IncidentRow)
PATHS: Final[Mapping[type, str]] = {
    RoundRow: "/api/rounds",
    HandRow: "/api/hands",
    ViolationRow: "/api/violations",
    ReviewRow: "/api/reviews",
    PaymentRow: "/api/payments",
    LedgerRow: "/api/ledger",
    IncidentRow: "/api/incidents",
}
"""Where the list of each kind is."""
_TIMEOUT_S: Final = 20
_SHORTEST_PAUSE_NS: Final = 100_000_000
_LONGEST_PAUSE_NS: Final = 30_000_000_000
_REFUSED_FOR_GOOD: Final = frozenset({401, 403, 404, 422})
_POLICY: Final = 1008


class Refused(OperatorError):
    """The service refused a request."""

    def __init__(self, url: str, status: int, detail: str) -> None:
        super().__init__(detail, where=url, way_out="Ask for what this token may see")
        self.status = status
        """The HTTP status; of a stream that was ended, 403."""


class Unreachable(TechnicianError):
    """The service does not answer."""

    def __init__(self, url: str, why: object) -> None:
        super().__init__(
            f"the service does not answer: {why}",
            where=url,
            way_out="Check that it runs, its address and its certificate",
        )


@dataclass(frozen=True, slots=True)
class Told:
    """One event of a stream."""

    session: str
    seq: int
    event: Mapping[str, Any]
    """As the stream's schema has it; what this token may not see is left out or null."""


class _Message(msgspec.Struct):
    session: str
    event: dict[str, Any]


class Client:
    """A connection to a service. Used by one thread.

    Args:
        url: of the service, such as ``https://pit:8443``.
        token: an API token; what it may see is what is told.
        tls: whom to trust; the machine's own authorities where it is left out.
        clock: waits between two tries to watch.
    """

    def __init__(
        self,
        url: str,
        token: str,
        tls: ssl.SSLContext | None = None,
        clock: Clock | None = None,
    ) -> None:
        self._url, self._address = url.rstrip("/"), urlsplit(url)
        self._headers = {"Authorization": f"Bearer {token}"}
        self._tls, self._clock = tls, clock or HostClock()
        self._connection = self._connected()

    def close(self) -> None:
        """Close the connection."""
        self._connection.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        fault: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    # --- questions ------------------------------------------------------------------------

    def me(self) -> Me:
        """Return whose token it is and what it may; raises as :meth:`get`."""
        return self.get("/api/me", Me)

    def tables(self) -> tuple[TableView, ...]:
        """Return every table as it stands; raises as :meth:`get`."""
        return self.get("/api/tables", tuple[TableView, ...])

    def sessions(self) -> tuple[SessionView, ...]:
        """Return every journal as it stands; raises as :meth:`get`."""
        return self.get("/api/sessions", tuple[SessionView, ...])

    def round(self, session: str, number: int) -> RoundRow:
        """Return a round; raises as :meth:`get`."""
        return self.get(f"/api/sessions/{quote(session, '')}/rounds/{number}", RoundRow)

    def round_at(self, table: str, at_ns: int) -> Moment:
        """Return what was on a table at a time; raises as :meth:`get`."""
        return self.get(f"/api/tables/{quote(table, '')}/rounds/at/{at_ns}", Moment)

    def incident(self, incident: str) -> IncidentView:
        """Return an incident with all that belongs to it; raises as :meth:`get`."""
        return self.get(f"/api/incidents/{quote(incident, '')}", IncidentView)

    def each(self, kind: type[R], **asked: str | int) -> Iterator[R]:
        """Yield a list, the newest first, page by page.

        Args:
            kind: one of :data:`PATHS`.
            asked: ``table``, ``session``, ``from_ns``, ``to_ns``, ``round`` and what else the
                list is filtered by.

        Raises:
            Refused: as :meth:`get`.
            Unreachable: as :meth:`get`.
        """
        query = dict(asked)
        while True:
            page: Page[R] = self.get(f"{PATHS[kind]}?{urlencode(query)}", Page[kind])  # type: ignore[valid-type]
            yield from page.items
            if page.next is None:
                return
            query["cursor"] = page.next

    def get(self, path: str, kind: type[T]) -> T:
        """Return what the service answers at ``path``.

        Raises:
            Refused: it refuses: no such thing, no such right, or too often.
            Unreachable: it does not answer, or not what this version knows.
        """
        status, body = self._asked(path)
        if status != http.client.OK:
            raise Refused(self._url + path, status, _detail(body))
        try:
            return msgspec.json.decode(body, type=kind)
        except msgspec.DecodeError as fault:
            raise Unreachable(self._url + path, f"its answer is not understood: {fault}") from fault

    def _asked(self, path: str) -> tuple[int, bytes]:
        """Ask; once more where the connection was closed meanwhile."""
        for is_last in (False, True):
            try:
                self._connection.request("GET", path, headers=self._headers)
                answer = self._connection.getresponse()
                return answer.status, answer.read()
            except (OSError, http.client.HTTPException) as fault:
                self._connection.close()
                if is_last:
                    raise Unreachable(self._url, fault) from fault
        raise AssertionError("not reached")

    def _connected(self) -> http.client.HTTPConnection:
        host, port = self._address.hostname or "", self._address.port
        if self._address.scheme == "http":
            return http.client.HTTPConnection(host, port, timeout=_TIMEOUT_S)
        return http.client.HTTPSConnection(host, port, timeout=_TIMEOUT_S, context=self._tls)

    # --- the stream -----------------------------------------------------------------------

    def watch(self, places: Mapping[str, int]) -> Generator[Told, None, None]:
        """Yield the events of journals after the ``seq`` of each, then as they come, for ever.

        Where the connection breaks it is made again, from the last event on: none is lost and
        none comes twice. Between tries it waits longer each time, half a minute at most.

        Args:
            places: the journals, and after which event of each to begin.

        Raises:
            Refused: the right is not there, or was taken back.
        """
        reached, pause_ns = dict(places), 0
        while True:
            self._clock.wait_until(self._clock.now_ns() + pause_ns)
            try:
                with self._watching(reached) as stream:
                    pause_ns = 0
                    for told in _each(stream):
                        reached[told.session] = told.seq
                        yield told
            except InvalidStatus as refused:
                status = refused.response.status_code
                if status in _REFUSED_FOR_GOOD:
                    raise Refused(self._url, status, "the stream is refused") from refused
            except ConnectionClosed as closed:
                if closed.rcvd is not None and closed.rcvd.code == _POLICY:
                    raise Refused(self._url, 403, closed.rcvd.reason) from closed
            except (OSError, WebSocketException):
                pass
            pause_ns = min(max(2 * pause_ns, _SHORTEST_PAUSE_NS), _LONGEST_PAUSE_NS)

    def _watching(self, places: Mapping[str, int]) -> ClientConnection:
        scheme = "ws" if self._address.scheme == "http" else "wss"
        named = urlencode([("from", f"{name}:{seq}") for name, seq in places.items()])
        return connect(
            f"{scheme}://{self._address.netloc}/stream?{named}",
            additional_headers=self._headers,
            ssl=self._tls if scheme == "wss" else None,
            open_timeout=_TIMEOUT_S,
            compression=None,
            proxy=None,
        )


def _each(stream: ClientConnection) -> Iterator[Told]:
    while True:
        message = msgspec.json.decode(stream.recv(decode=False), type=_Message)
        yield Told(message.session, message.event["seq"], message.event)


def _detail(body: bytes) -> str:
    try:
        return msgspec.json.decode(body, type=ProblemDocument).detail
    except msgspec.DecodeError:
        return "it says no more"
