"""Limit the rate and the size of all requests."""

from typing import Final

from starlette.datastructures import Headers
from starlette.requests import HTTPConnection
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from server.service.http.limits import Limiter, limited_as
from server.service.http.meters import Meters
from server.service.http.problems import answer, retry_after
from server.service.request.guard import address_of
from stream.clock import elapsed_ns

LONGEST_BODY: Final = 65_536
_ALWAYS_ANSWERED: Final = frozenset({"/health", "/ready"})


class Throttle:
    """ASGI middleware: limits each address's request rate and each body's size."""

    def __init__(self, app: ASGIApp, limiter: Limiter, meters: Meters) -> None:
        self._app, self._limiter, self._meters = app, limiter, meters

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, or refuse it."""
        if scope["type"] not in {"http", "websocket"} or scope["path"] in _ALWAYS_ANSWERED:
            await self._app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        refusal = self._too_often(scope) or _too_much(headers)
        if refusal is not None:
            await refusal(scope, receive, send)
        elif headers.get("Content-Length", "0") == "0":
            await self._app(scope, receive, send)
        else:
            await self._with_body(scope, receive, send)

    async def _with_body(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on once its body is complete: an incomplete one costs only its bytes."""
        body, more = b"", True
        while more:
            message = await receive()
            if message["type"] == "http.disconnect":
                return
            body, more = body + message["body"], message["more_body"]
        first: Message | None = {"type": "http.request", "body": body, "more_body": False}

        async def received() -> Message:
            nonlocal first
            if first is None:
                return await receive()
            whole, first = first, None
            return whole

        await self._app(scope, received, send)

    def _too_often(self, scope: Scope) -> ASGIApp | None:
        address = address_of(HTTPConnection(scope))
        wait_ns = self._limiter.wait_ns(limited_as(address), elapsed_ns())
        if not wait_ns:
            return None
        self._meters.limited.labels("address").inc()
        return answer(429, "too many requests from this address; wait", retry_after(wait_ns))


def _number(digits: str) -> int:
    """Return a number of any length; of a long one the first digits, which are too many anyway."""
    return int(digits.lstrip("0")[:9] or "0")


def _too_much(headers: Headers) -> ASGIApp | None:
    if "Transfer-Encoding" in headers:
        return answer(411, "send Content-Length with the body")
    length = headers.get("Content-Length", "0")
    if not (length.isascii() and length.isdigit() and _number(length) <= LONGEST_BODY):
        return answer(413, f"no more than {LONGEST_BODY} bytes are accepted")
    return None
