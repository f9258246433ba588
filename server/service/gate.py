"""What no request passes that asks too often or sends too much, whoever it is from."""

from typing import Final

from starlette.datastructures import Headers
from starlette.requests import HTTPConnection
from starlette.types import ASGIApp, Receive, Scope, Send

from server.service.guard import address_of
from server.service.limits import Limiter, limited_as
from server.service.problems import answer, retry_after
from server.service.shell import Meters
from stream.clock import elapsed_ns

LONGEST_BODY: Final = 65_536
_ALWAYS_ANSWERED: Final = frozenset({"/health", "/ready"})


class Gate:
    """ASGI middleware: so many requests an address, each with a body of so many bytes."""

    def __init__(self, app: ASGIApp, limiter: Limiter, meters: Meters) -> None:
        self._app, self._limiter, self._meters = app, limiter, meters

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, or refuse it."""
        if scope["type"] not in {"http", "websocket"} or scope["path"] in _ALWAYS_ANSWERED:
            await self._app(scope, receive, send)
            return
        refusal = self._too_often(scope) or _too_much(Headers(scope=scope))
        await (refusal or self._app)(scope, receive, send)

    def _too_often(self, scope: Scope) -> ASGIApp | None:
        address = address_of(HTTPConnection(scope))
        wait_ns = self._limiter.wait_ns(limited_as(address), elapsed_ns())
        if not wait_ns:
            return None
        self._meters.limited.labels("address").inc()
        return answer(429, "too many requests of this address; wait", retry_after(wait_ns))


def _too_much(headers: Headers) -> ASGIApp | None:
    if "Transfer-Encoding" in headers:
        return answer(411, "say with Content-Length how long the body is")
    length = headers.get("Content-Length", "0")
    if not (length.isascii() and length.isdigit() and int(length[:9]) <= LONGEST_BODY):
        return answer(413, f"no more than {LONGEST_BODY} bytes are taken")
    return None
