"""The Prometheus metrics of the service."""

from functools import partial

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, ProcessCollector

from server.readmodel.clock_standing import ClockStanding


class Meters:
    """The Prometheus metrics, in the order in which they are published."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        self._count_requests()
        self.sessions = SessionMeters(self.registry)
        gauge = partial(Gauge, registry=self.registry)
        self.connections = gauge("pitwatch_connections", "Open connections of the service.")
        self.ready = gauge("pitwatch_ready", "1 once every journal was read to its end.")
        self.looked = gauge(
            "pitwatch_journals_looked_at_seconds",
            "Time since the journals were last read; more than a few seconds: reading has stopped.",
        )
        ProcessCollector(registry=self.registry)

    def _count_requests(self) -> None:
        counter = partial(Counter, registry=self.registry)
        gauge = partial(Gauge, registry=self.registry)
        histogram = partial(Histogram, registry=self.registry)
        self.requests = counter(
            "pitwatch_requests", "Requests answered.", ("method", "route", "status")
        )
        self.seconds = histogram(
            "pitwatch_request_seconds",
            "Time from a request to the start of its answer.",
            ("route",),
        )
        self.events = counter("pitwatch_events_read", "Events read from a journal.", ("session",))
        self.viewers = gauge("pitwatch_viewers", "Viewers of the stream.", ("kind",))
        self.dropped = counter(
            "pitwatch_viewers_dropped", "Viewers disconnected because they read nothing.", ("kind",)
        )
        self.sign_ins = counter("pitwatch_sign_ins", "Sign-in attempts.", ("outcome",))
        self.limited = counter(
            "pitwatch_limited_requests",
            "Requests refused because too many came from one address or account.",
            ("by",),
        )


class SessionMeters:
    """What is published of each table's newest journal."""

    def __init__(self, registry: CollectorRegistry) -> None:
        gauge = partial(Gauge, labelnames=("session",), registry=registry)
        self.last_seq = gauge("pitwatch_session_last_seq", "Last event.")
        self.open_reviews = gauge("pitwatch_session_reviews", "Review items raised.")
        self.violations = gauge("pitwatch_session_violations", "Certain mistakes.")
        self.suspected = gauge(
            "pitwatch_session_suspected", "Suspected mistakes, which a person decides."
        )
        self.faults = gauge(
            "pitwatch_session_faults", "Devices at fault, and an unreadable journal."
        )
        self.overloaded = gauge(
            "pitwatch_session_overloaded",
            "Cameras of which a running table's machine leaves out pictures.",
        )
        self.left_out = gauge(
            "pitwatch_session_pictures_left_out",
            "Pictures left out because the table's machine could not keep up.",
        )
        self.held_back = gauge(
            "pitwatch_session_faces_held_back",
            "Faces that a camera read surely and did not tell of.",
        )
        self.last_at = gauge(
            "pitwatch_session_last_event_time_seconds",
            "Time of the last event by the table's clock.",
        )
        self.clock_synchronised = gauge(
            "pitwatch_session_clock_synchronised",
            "1 while the clock of a table's machine is synchronised, 0 while not or not known.",
        )
        self.clock_offset = gauge(
            "pitwatch_session_clock_offset_seconds",
            "Wall clock minus the table's clock, which is set to it at each start.",
        )
        self.clock_steps = gauge(
            "pitwatch_session_clock_steps",
            "Steps of the clock of a table's machine, from its journal.",
        )

    def forget(self) -> None:
        """Drop the metrics of journals, so that one that is no table's newest disappears."""
        for gauge in vars(self).values():
            gauge.clear()

    def set_clock(self, session: str, clock: ClockStanding) -> None:
        """Publish the clock of a running table, as far as its journal states it."""
        if clock.state is not None:
            self.clock_synchronised.labels(session).set(clock.state == "synchronised")
        if clock.offset_ns is not None:
            self.clock_offset.labels(session).set(clock.offset_ns / 1e9)
        self.clock_steps.labels(session).set(clock.steps)
