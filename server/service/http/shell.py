"""The layer around every request: secure headers, and one log line."""

import logging
import sys
from collections.abc import Callable
from typing import Final

from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from models.errors import PitwatchError
from server.service.http.meters import Meters
from stream.clock import Clock, elapsed_ns

_HEADERS: Final = {
    "Content-Security-Policy": "default-src 'self'; frame-ancestors 'none'; base-uri 'none'; "
    "form-action 'self'; object-src 'none'; media-src 'self' blob:",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
}
READING: Final = "Pitwatch-Reading"
"""The header of every answer while not all journals were read: how much was."""
_SECURE: Final = {"Strict-Transport-Security": "max-age=31536000"}

log: Final = logging.getLogger("pitwatch.service")


class Shell:
    """ASGI middleware around the whole service. ``refuse`` gets the reason of a failed start.

    ``reading`` returns how much of the journals was read, while some is left.
    """

    def __init__(
        self,
        app: ASGIApp,
        *,
        meters: Meters,
        clock: Clock,
        is_secure: bool,
        refuse: Callable[[PitwatchError], None],
        reading: Callable[[], str | None],
    ) -> None:
        self._app, self._meters, self._clock, self._refuse = app, meters, clock, refuse
        self._reading = reading
        self._added = _HEADERS | (_SECURE if is_secure else {})

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] != "http":
            is_life = scope["type"] == "lifespan"
            await self._app(scope, receive, _in_one_line(send, self._refuse) if is_life else send)
            return
        began_ns = elapsed_ns()

        async def sending(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in self._added.items():
                    headers.setdefault(name, value)
                if (reading := self._reading()) is not None:
                    headers[READING] = reading
                self._record(scope, message["status"], elapsed_ns() - began_ns)
            await send(message)

        await self._app(scope, receive, sending)

    def _record(self, scope: Scope, status: int, took_ns: int) -> None:
        """Count and log a request by its route, so that no query or id of it is logged."""
        route = getattr(scope.get("route"), "path", "none")
        self._meters.requests.labels(scope["method"], route, str(status)).inc()
        self._meters.seconds.labels(route).observe(took_ns / 1e9)
        person = getattr(scope.get("state", {}).get("person"), "name", None)
        log.info(
            "request",
            extra={
                "fields": {
                    "method": scope["method"],
                    "route": route,
                    "status": status,
                    "took_us": took_ns // 1000,
                    "person": person,
                }
            },
        )


def _in_one_line(send: Send, refuse: Callable[[PitwatchError], None]) -> Send:
    """Report a failed start in one line for people."""

    async def sending(message: Message) -> None:
        fault = sys.exception()
        if message["type"] == "lifespan.startup.failed" and isinstance(fault, PitwatchError):
            refuse(fault)
            message = {**message, "message": str(fault)}
        await send(message)

    return sending
