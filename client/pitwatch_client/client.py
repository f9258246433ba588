"""The client: one connection pool, requests, and the event stream."""

import ssl
import time
from collections.abc import Generator, Iterator, Mapping
from types import TracebackType
from typing import Final, Self, TypeVar
from urllib.parse import quote, urlencode

import httpx
import msgspec

from pitwatch_client.errors import Refused, Unreachable
from pitwatch_client.rows import (
    HandRow,
    IncidentRow,
    IncidentView,
    LedgerRow,
    Me,
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
from pitwatch_client.watching import StreamEvent, events

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
"""The path of the list of each kind of row."""
STREAM: Final = "/api/stream"
_TIMEOUT_S: Final = 20
_SILENCE_S: Final = 45
"""Seconds. The service sends a keep-alive every 15 s; after three missing ones the stream is
lost."""
_SHORTEST_PAUSE_S: Final = 0.1
_LONGEST_PAUSE_S: Final = 30.0
_REFUSED_FOR_GOOD: Final = frozenset({401, 403, 404, 422})


class Client:
    """A connection to a service, for use by one thread.

    Args:
        url: of the service, such as ``https://pit:8443``.
        token: an API token; its rights limit what the answers contain.
        tls: the certificates to trust; by default, the machine's own authorities.

    Raises:
        Unreachable: ``url`` is not the address of a service.
    """

    def __init__(self, url: str, token: str, tls: ssl.SSLContext | None = None) -> None:
        self._url = url.rstrip("/")
        _check_address(url)
        self._http = httpx.Client(
            base_url=self._url,
            headers={"Authorization": f"Bearer {token}", "Accept-Encoding": "identity"},
            timeout=_TIMEOUT_S,
            verify=tls or ssl.create_default_context(),
            trust_env=False,  # the house's network needs no proxy from the environment
        )

    def close(self) -> None:
        """Close the connections."""
        self._http.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        fault: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    # --- requests -------------------------------------------------------------------------

    def me(self) -> Me:
        """Return the account and rights behind the token; raises as :meth:`get`."""
        return self.get("/api/me", Me)

    def tables(self) -> tuple[TableView, ...]:
        """Return the current state of every table; raises as :meth:`get`."""
        return self.get("/api/tables", tuple[TableView, ...])

    def sessions(self) -> tuple[SessionView, ...]:
        """Return the current state of every journal; raises as :meth:`get`."""
        return self.get("/api/sessions", tuple[SessionView, ...])

    def round(self, session: str, number: int) -> RoundRow:
        """Return one round; raises as :meth:`get`."""
        return self.get(f"/api/sessions/{quote(session, '')}/rounds/{number}", RoundRow)

    def round_at(self, table: str, at_ns: int) -> Moment:
        """Return what was on a table at a time; raises as :meth:`get`."""
        return self.get(f"/api/tables/{quote(table, '')}/rounds/at/{at_ns}", Moment)

    def incident(self, incident: str) -> IncidentView:
        """Return an incident with all its details; raises as :meth:`get`."""
        return self.get(f"/api/incidents/{quote(incident, '')}", IncidentView)

    def each(self, kind: type[R], **asked: str | int) -> Iterator[R]:
        """Yield the rows of a list, the newest first, page by page.

        Args:
            kind: one of :data:`PATHS`.
            asked: filters, such as ``table``, ``session``, ``from_ns``, ``to_ns`` and ``round``.

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
        """Return the answer of the service at ``path``.

        Raises:
            Refused: the thing does not exist, the right is missing, or requests come too often.
            Unreachable: the service does not answer, or this version cannot read the answer.
        """
        answer = self._asked(path)
        if answer.status_code != httpx.codes.OK:
            raise Refused(self._url + path, answer.status_code, answer.content)
        try:
            return msgspec.json.decode(answer.content, type=kind)
        except msgspec.DecodeError as fault:
            raise Unreachable(self._url + path, f"its answer cannot be decoded: {fault}") from fault

    def _asked(self, path: str) -> httpx.Response:
        """Send the request; send it once more where the server had closed the connection."""
        try:
            try:
                return self._http.get(path)
            except (httpx.NetworkError, httpx.RemoteProtocolError):
                return self._http.get(path)
        except httpx.RequestError as fault:
            raise Unreachable(self._url + path, fault) from fault

    # --- the stream -----------------------------------------------------------------------

    def watch(self, places: Mapping[str, int]) -> Generator[StreamEvent, None, None]:
        """Yield the events of journals after each given ``seq``, then new ones, without end.

        After a lost connection the client reconnects and goes on from the last event. No event is
        lost and none comes twice. The pause between attempts grows to at most half a minute.

        Args:
            places: the journals, each with the ``seq`` after which to begin; where empty, all
                journals from now on.

        Raises:
            Refused: the right is missing, or was revoked.
            Unreachable: this version cannot read an event.
        """
        reached, pause_s = dict(places), 0.0
        while True:
            time.sleep(pause_s)
            try:
                for event in self._streamed(reached):
                    reached[event.session], pause_s = event.seq, 0.0
                    yield event
            except httpx.RequestError:
                pass
            except msgspec.DecodeError as fault:
                where = self._url + STREAM
                raise Unreachable(where, f"its event cannot be decoded: {fault}") from fault
            pause_s = min(max(2 * pause_s, _SHORTEST_PAUSE_S), _LONGEST_PAUSE_S)

    def _streamed(self, places: Mapping[str, int]) -> Iterator[StreamEvent]:
        named = urlencode([("from", f"{name}:{seq}") for name, seq in places.items()])
        patience = httpx.Timeout(_TIMEOUT_S, read=_SILENCE_S)
        with self._http.stream("GET", f"{STREAM}?{named}", timeout=patience) as answer:
            if answer.status_code == httpx.codes.OK:
                yield from events(answer.iter_bytes())
            elif answer.status_code in _REFUSED_FOR_GOOD:
                raise Refused(self._url + STREAM, answer.status_code, answer.read())


def _check_address(url: str) -> None:
    try:
        parts = httpx.URL(url)
    except httpx.InvalidURL as fault:
        raise Unreachable(url, fault) from fault
    if parts.scheme not in {"http", "https"} or not parts.host:
        raise Unreachable(url, "the address must be http://HOST:PORT or https://HOST:PORT")
