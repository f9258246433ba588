"""The service's sockets, and uvicorn as it serves them.

uvicorn waits for a request without limit. So a service on a network stands behind a proxy, which
bounds connections, waits and floods: ``deploy/nginx/pitwatch.conf``.
"""

import errno
import resource
import socket
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Final

import uvicorn

from models.errors import OperatorError
from server.service.http.meters import Meters

BACKLOG: Final = 4096
"""Connections that may wait in the kernel to be accepted."""
KEPT_S: Final = 75
"""Seconds that an idle connection is kept: longer than the 60 s of nginx, which so ends it first,
and never sends a request on a connection that is being closed."""


class Server(uvicorn.Server):
    """uvicorn, with its connections counted in ``meters``.

    ``ready`` is called once the service has started and accepts connections.
    """

    def __init__(
        self, config: uvicorn.Config, meters: Meters, ready: Callable[[], None] = lambda: None
    ) -> None:
        super().__init__(config)
        meters.connections.set_function(lambda: len(self.server_state.connections))
        self._ready = ready

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Start the service, and accept on ``sockets``."""
        await super().startup(sockets)
        if self.started:
            self._ready()


def configured(app: Any, **options: Any) -> uvicorn.Config:
    """Return uvicorn's configuration of the service.

    Requests are answered 503 while connections take three quarters of this process's descriptors.
    The rest is for journals, databases and videos.
    """
    descriptors, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return uvicorn.Config(
        app,
        log_config=None,
        access_log=False,
        server_header=False,
        http="h11",
        ws="websockets-sansio",
        ws_max_size=1 << 16,
        ws_per_message_deflate=False,
        backlog=BACKLOG,
        limit_concurrency=descriptors - descriptors // 4,
        timeout_keep_alive=KEPT_S,
        **options,
    )


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
