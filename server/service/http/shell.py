"""The layer around every request: secure headers, one log line, and metrics."""

import logging
import sys
from collections.abc import Callable
from typing import Final

import msgspec
from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, ProcessCollector
from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from models.errors import PitwatchError
from server.readmodel.clock_standing import ClockStanding
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
_SECURE: Final = {"Strict-Transport-Security": "max-age=31536000"}

log: Final = logging.getLogger("pitwatch.service")


class Meters:
    """The Prometheus metrics."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        self.requests = Counter(
            "pitwatch_requests",
            "Requests answered.",
            ("method", "route", "status"),
            registry=self.registry,
        )
        self.seconds = Histogram(
            "pitwatch_request_seconds",
            "Time from a request to the start of its answer.",
            ("route",),
            registry=self.registry,
        )
        self.events = Counter(
            "pitwatch_events_read",
            "Events read from a journal.",
            ("session",),
            registry=self.registry,
        )
        self.viewers = Gauge(
            "pitwatch_viewers", "Viewers of the stream.", ("kind",), registry=self.registry
        )
        self.dropped = Counter(
            "pitwatch_viewers_dropped",
            "Viewers disconnected because they read nothing.",
            ("kind",),
            registry=self.registry,
        )
        self.sign_ins = Counter(
            "pitwatch_sign_ins",
            "Sign-in attempts.",
            ("outcome",),
            registry=self.registry,
        )
        self.limited = Counter(
            "pitwatch_limited_requests",
            "Requests refused because too many came from one address or account.",
            ("by",),
            registry=self.registry,
        )
        self.connections = Gauge(
            "pitwatch_connections",
            "Open connections, of unauthenticated clients and of signed-in people.",
            ("kind",),
            registry=self.registry,
        )
        self.connections_dropped = Counter(
            "pitwatch_connections_dropped",
            "Connections dropped: overdue, displaced by a newer one, or refused at the limit.",
            ("why",),
            registry=self.registry,
        )
        self.last_seq = Gauge(
            "pitwatch_session_last_seq", "Last event.", ("session",), registry=self.registry
        )
        self.open_reviews = Gauge(
            "pitwatch_session_reviews",
            "Review items raised.",
            ("session",),
            registry=self.registry,
        )
        self.violations = Gauge(
            "pitwatch_session_violations", "Mistakes.", ("session",), registry=self.registry
        )
        self.faults = Gauge(
            "pitwatch_session_faults",
            "Devices at fault, and an unreadable journal.",
            ("session",),
            registry=self.registry,
        )
        self.last_at = Gauge(
            "pitwatch_session_last_event_time_seconds",
            "Time of the last event by the table's clock.",
            ("session",),
            registry=self.registry,
        )
        self.clock_synchronised = Gauge(
            "pitwatch_session_clock_synchronised",
            "1 while the clock of a table's machine is synchronised, 0 while not or not known.",
            ("session",),
            registry=self.registry,
        )
        self.clock_offset = Gauge(
            "pitwatch_session_clock_offset_seconds",
            "Wall clock minus the table's clock, which is set to it at each start.",
            ("session",),
            registry=self.registry,
        )
        self.clock_steps = Gauge(
            "pitwatch_session_clock_steps",
            "Steps of the clock of a table's machine, from its journal.",
            ("session",),
            registry=self.registry,
        )
        self.ready = Gauge(
            "pitwatch_ready", "1 once every journal was read to its end.", registry=self.registry
        )
        self.looked = Gauge(
            "pitwatch_journals_looked_at_seconds",
            "Time since the journals were last read; more than a few seconds: reading has stopped.",
            registry=self.registry,
        )
        ProcessCollector(registry=self.registry)

    def forget_sessions(self) -> None:
        """Drop the metrics of journals, so that one that is no table's newest disappears."""
        for gauge in (
            self.last_seq,
            self.open_reviews,
            self.violations,
            self.faults,
            self.last_at,
            self.clock_synchronised,
            self.clock_offset,
            self.clock_steps,
        ):
            gauge.clear()

    def set_clock(self, session: str, clock: ClockStanding) -> None:
        """Publish the clock of a running table, as far as its journal states it."""
        if clock.state is not None:
            self.clock_synchronised.labels(session).set(clock.state == "synchronised")
        if clock.offset_ns is not None:
            self.clock_offset.labels(session).set(clock.offset_ns / 1e9)
        self.clock_steps.labels(session).set(clock.steps)


class Shell:
    """ASGI middleware around the whole service. ``refuse`` gets the reason of a failed start."""

    def __init__(
        self,
        app: ASGIApp,
        meters: Meters,
        clock: Clock,
        is_secure: bool,
        refuse: Callable[[PitwatchError], None],
    ) -> None:
        self._app, self._meters, self._clock, self._refuse = app, meters, clock, refuse
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


class JsonLines(logging.Formatter):
    """One JSON object a line, with an exception's text but without its values."""

    def __init__(self, clock: Clock) -> None:
        super().__init__()
        self._clock = clock

    def format(self, record: logging.LogRecord) -> str:
        """Return the line of one record."""
        fields = {
            "at": self._clock.now_ns(),
            "level": record.levelname.lower(),
            "from": record.name,
            "says": record.getMessage(),
        }
        if record.exc_info is not None:
            fields["fault"] = self.formatException(record.exc_info)
        if left_out := getattr(record, "left_out", 0):
            fields["left_out"] = left_out
        return msgspec.json.encode(fields | getattr(record, "fields", {})).decode()
