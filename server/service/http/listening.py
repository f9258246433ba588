"""The service's sockets: uvicorn's protocols behind an accept loop with bounded connections.

uvicorn accepts every connection and waits for a request without limit. At the limit of descriptors
asyncio's own accept loop neither accepts nor pauses. So this module accepts connections, each into
a place of :class:`Connections`, and drops them when they are overdue or must make room.
"""

import asyncio
import errno
import logging
import resource
import socket
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

import h11
import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol

from models.errors import OperatorError
from server.service.http.connections import Bounds, Connections, Place, bounds_for
from server.service.http.limits import limited_as
from server.service.http.meters import Meters
from stream.clock import elapsed_ns

PLACE: Final = "place"
"""The key of a connection's :class:`Held` in a request's ``state``."""
BACKLOG: Final = 4096
"""Connections that may wait in the kernel to be accepted."""
_AT_ONCE: Final = 64
"""Connections accepted before others get a turn."""
_SWEEP_S: Final = 0.5
_NO_DESCRIPTOR_S: Final = 0.2
_PARTING_S: Final = 2.0
_AWAITED: Final = frozenset({h11.IDLE, h11.SEND_BODY})
"""States of a client that owes a request, or the rest of one."""

log: Final = logging.getLogger("pitwatch.listening")


@dataclass(eq=False, slots=True)
class Held:
    """One open connection: its place, and how to drop it."""

    connections: Connections
    place: Place
    drop: Callable[[], object]
    is_beginning: bool = True

    def sign_in(self, account: str) -> bool:
        """Count it as that account's; return whether there was room."""
        return self.connections.sign_in(self.place, account)


class _Accounted(asyncio.Protocol):
    """The connection accounting of both protocols."""

    app_state: dict[str, Any]

    @property
    def _held(self) -> Held:
        held: Held = self.app_state[PLACE]
        return held

    def connection_lost(self, exc: Exception | None) -> None:
        self._held.connections.close(self._held.place)
        super().connection_lost(exc)

    def pause_writing(self) -> None:
        self._held.connections.stall(self._held.place, elapsed_ns())
        super().pause_writing()

    def resume_writing(self) -> None:
        self._held.connections.settle(self._held.place)
        super().resume_writing()


class HttpConnection(_Accounted, H11Protocol):
    """HTTP/1.1 with a time limit for requests."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Begin; the connection may have been dropped during the TLS handshake."""
        assert isinstance(transport, asyncio.Transport)
        self._held.drop, self._held.is_beginning = transport.abort, False
        super().connection_made(transport)
        if not self._held.place.is_open:
            transport.abort()

    def data_received(self, data: bytes) -> None:
        """Process data, and detect a complete request."""
        super().data_received(data)
        self._look()

    def on_response_complete(self) -> None:
        """Finish an answer; wait for the next request."""
        super().on_response_complete()
        self._look()

    def _look(self) -> None:
        held = self._held
        if self.transport.get_protocol() is not self:
            return  # it has become a WebSocket
        if self.conn.their_state in _AWAITED:
            held.connections.await_request(held.place, elapsed_ns())
        else:
            held.connections.settle(held.place)


class SocketConnection(_Accounted, WebSocketsSansIOProtocol):
    """A WebSocket; the stream itself handles slow viewers."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Take over the connection: its request is complete."""
        super().connection_made(transport)
        self._held.connections.settle(self._held.place)


class _Counted:
    """The listener's metrics; looking up a label costs more than the rest of a refusal."""

    def __init__(self, meters: Meters) -> None:
        self.displaced, self.overdue, self.refused = (
            meters.connections_dropped.labels(why) for why in ("displaced", "overdue", "refused")
        )
        self.strangers = meters.connections.labels("stranger")
        self.signed_in = meters.connections.labels("signed_in")


class Listener:
    """Accepts connections on one socket. uvicorn treats it as one of its servers."""

    def __init__(
        self,
        listening: socket.socket,
        connections: Connections,
        protocol: Callable[[Held], asyncio.Protocol],
        config: uvicorn.Config,
        meters: Meters,
    ) -> None:
        self._socket, self._connections = listening, connections
        self._counted = _Counted(meters)
        self._protocol, self._tls = protocol, config.ssl
        self._loop = asyncio.get_running_loop()
        self._beginning: set[asyncio.Task[None]] = set()
        self._held: dict[Place, Held] = {}
        listening.setblocking(False)
        listening.listen(BACKLOG)
        self._loop.add_reader(listening, self._accept)
        self._sweeping = self._loop.create_task(self._sweep())

    def close(self) -> None:
        """Stop accepting; open connections continue to their end."""
        self._loop.remove_reader(self._socket)
        self._socket.close()
        self._sweeping.cancel()
        for held in self._held.values():
            if held.place.is_open and held.is_beginning:
                held.drop()

    async def wait_closed(self) -> None:
        """Wait for connections in the making."""
        with suppress(asyncio.CancelledError):
            await self._sweeping
        await asyncio.gather(*self._beginning, return_exceptions=True)

    def _accept(self) -> None:
        for _ in range(_AT_ONCE):
            try:
                peer, address = self._socket.accept()
            except (BlockingIOError, InterruptedError, ConnectionAbortedError):
                return
            except OSError as refused:
                self._rest(refused)
                return
            self._take(peer, address[0])

    def _rest(self, refused: OSError) -> None:
        """Pause where the system has no descriptor left, instead of retrying at once."""
        log.warning("no connection is accepted: %s", errno.errorcode.get(refused.errno or 0))
        self._loop.remove_reader(self._socket)
        self._loop.call_later(_NO_DESCRIPTOR_S, self._go_on)

    def _go_on(self) -> None:
        if self._socket.fileno() >= 0:
            self._loop.add_reader(self._socket, self._accept)

    def _take(self, peer: socket.socket, address: str) -> None:
        place, gone = self._connections.open(limited_as(address), elapsed_ns())
        if gone is not None:
            self._counted.displaced.inc()
            self._drop(gone)
        if place is None:
            self._counted.refused.inc()
            peer.close()
            return
        held = Held(self._connections, place, partial(_shut, peer))
        self._held[place] = held
        task = self._loop.create_task(self._begin(peer, held))
        self._beginning.add(task)
        task.add_done_callback(self._beginning.discard)

    async def _begin(self, peer: socket.socket, held: Held) -> None:
        timing = {}
        if self._tls is not None:
            timing = {
                "ssl_handshake_timeout": self._connections.bounds.request_ns / 1e9,
                "ssl_shutdown_timeout": _PARTING_S,
            }
        try:
            await self._loop.connect_accepted_socket(
                lambda: self._protocol(held), peer, ssl=self._tls, **timing
            )
        except OSError:
            self._connections.close(held.place)

    async def _sweep(self) -> None:
        while True:
            await asyncio.sleep(_SWEEP_S)
            for place in self._connections.overdue(elapsed_ns()):
                self._connections.close(place)
                self._counted.overdue.inc()
                self._drop(place)
            for place in [one for one in self._held if not one.is_open]:
                del self._held[place]
            self._counted.strangers.set(self._connections.strangers)
            self._counted.signed_in.set(self._connections.signed_in)

    def _drop(self, place: Place) -> None:
        held = self._held.pop(place, None)
        if held is not None:
            held.drop()


def _shut(peer: socket.socket) -> None:
    """End a connection whose transport is still being made; the transport then closes itself.

    A socket must not be closed under its transport: its number would be reused too early.
    """
    with suppress(OSError):
        peer.shutdown(socket.SHUT_RDWR)


class Server(uvicorn.Server):
    """uvicorn with :class:`Listener` accepting its connections.

    ``ready`` is called once the service has started and accepts connections.
    """

    def __init__(
        self,
        config: uvicorn.Config,
        bounds: Bounds,
        meters: Meters,
        ready: Callable[[], None] = lambda: None,
    ) -> None:
        super().__init__(config)
        self._connections, self._meters, self._ready = Connections(bounds), meters, ready

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Start the service, then accept on ``sockets``."""
        await super().startup(sockets=[])

        def protocol(held: Held) -> asyncio.Protocol:
            return HttpConnection(
                config=self.config,
                server_state=self.server_state,
                app_state={**self.lifespan.state, PLACE: held},
            )

        for listening in sockets or ():
            self.servers.append(
                Listener(listening, self._connections, protocol, self.config, self._meters)  # type: ignore[arg-type]
            )
        self._ready()


def configured(app: Any, **options: Any) -> uvicorn.Config:
    """Return uvicorn's configuration of the service."""
    return uvicorn.Config(
        app,
        log_config=None,
        access_log=False,
        server_header=False,
        http=HttpConnection,
        ws=SocketConnection,
        ws_max_size=1 << 16,
        ws_per_message_deflate=False,
        **options,
    )


def bounds_here(*, is_behind_proxy: bool = False) -> Bounds:
    """Return the bounds under this process's own limit of descriptors."""
    descriptors, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return bounds_for(descriptors, is_behind_proxy=is_behind_proxy)


def bound_to(host: str, port: int) -> Sequence[socket.socket]:
    """Return a socket for every address of ``host``.

    Raises:
        OperatorError: one of them is not available.
    """
    bound: list[socket.socket] = []
    try:
        for family, address in _addresses(host, port):
            bound.append(socket.create_server(address, family=family, backlog=BACKLOG))
    except OSError as refused:
        for one in bound:
            one.close()
        raise _unbound(host, port, refused) from refused
    return bound


def _unbound(host: str, port: int, refused: OSError) -> OperatorError:
    if refused.errno == errno.EADDRINUSE:
        return OperatorError(
            f"port {port} of {host} is taken, perhaps by another `pitwatch console` or "
            "`pitwatch serve`",
            where="--port",
            way_out="Stop the program that listens there, or name another port with --port",
        )
    return OperatorError(
        f"cannot listen on {host}, port {port}: {refused.strerror}",
        where="--host, --port",
        way_out="Name an address of this machine, and a port that this user may open",
    )


def _addresses(host: str, port: int) -> Iterable[tuple[int, Any]]:
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    return dict.fromkeys((family, address) for family, _, _, _, address in found)
