"""The relay: every destination receives its messages at least once, in each journal's order.

A destination has no queue. Once it has accepted the last message, the relay looks up the next one
in the journals, and it stores the position on disk. So an absent destination costs nothing, loses
nothing and continues after any restart.
"""

import asyncio
import fcntl
import logging
import random
from collections.abc import AsyncIterator, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import msgspec
from prometheus_client import CollectorRegistry, Counter, Gauge

from models.errors import OperatorError, PitwatchError
from server.integration.config import Destination, PlacedIntegration
from server.integration.delivery import Deliverer, Fate, NotDelivered
from server.integration.message import (
    EVERYTHING,
    VIOLATION,
    Message,
    fact_seq,
    messages_of,
    placed,
)
from server.integration.registry import make_deliverer
from server.integration.store import Letter, RelayStore
from server.readmodel.entries import Entry
from server.readmodel.floor import Floor
from server.readmodel.news import set_within
from server.readmodel.session import Session
from stream.clock import Clock

AT_ONCE: Final = 100
"""Events of a session that are processed before others get their turn."""
IDLE_NS: Final = 1_000_000_000
"""Nanoseconds without news after which dead letters are checked anyway."""
_START_S: Final = 0.05
_AGAIN_S: Final = 5.0
_LOCK_FILE: Final = "relay.lock"

log: Final = logging.getLogger("pitwatch.relay")


class RelayMeters:
    """The Prometheus metrics of the destinations."""

    def __init__(self, registry: CollectorRegistry) -> None:
        of = ("destination",)
        self.delivered = Counter(
            "pitwatch_relay_delivered", "Messages delivered.", of, registry=registry
        )
        self.failed = Counter(
            "pitwatch_relay_failed", "Failed delivery attempts.", of, registry=registry
        )
        self.dead = Counter(
            "pitwatch_relay_dead_letters", "Dead letters: messages given up.", of, registry=registry
        )
        self.behind = Gauge(
            "pitwatch_relay_behind", "Events not yet processed.", of, registry=registry
        )
        self.up = Gauge(
            "pitwatch_relay_up", "1 if the last delivery attempt succeeded.", of, registry=registry
        )


@dataclass(frozen=True, slots=True)
class Shared:
    """The objects that all destinations share."""

    floor: Floor
    store: RelayStore
    meters: RelayMeters
    clock: Clock


class Courier:
    """Sends messages to one destination."""

    def __init__(self, destination: Destination, deliverer: Deliverer, shared: Shared) -> None:
        self._to, self._deliverer, self._shared = destination, deliverer, shared
        self._floor, self._store = shared.floor, shared.store
        # Its own thread: an unresponsive receiver must not occupy others' threads.
        self._thread = ThreadPoolExecutor(1, f"relay-{destination.name}")
        self._places: dict[str, int] = {}
        self._last_fault: str | None = None

    async def run(self) -> None:
        """Send messages until cancelled."""
        self._begin()
        while True:
            news = self._floor.news()
            self._count_behind()
            moved = await self._send_again()
            for session in self._behind():
                moved |= await self._follow(session)
            if not moved:
                await set_within(news, IDLE_NS)

    def close(self) -> None:
        """Close the connection to the receiver."""
        self._thread.shutdown()
        self._deliverer.close()

    def _begin(self) -> None:
        is_now = self._to.start == "now"
        sessions = self._floor.sessions()
        places = {one.name: one.place.seq if is_now else 0 for one in sessions}
        self._store.begin(self._to.name, self._shared.clock.now_ns(), places)
        self._places = self._store.places(self._to.name)
        self._shared.meters.up.labels(self._to.name).set(1)

    # --- the journals ---------------------------------------------------------------------

    async def _follow(self, session: Session) -> bool:
        """Process a session's next events; return whether there were any."""
        after = self._places.get(session.name, 0)
        try:
            entries = await self._floor.entries(session, after, AT_ONCE)
            for entry in entries:
                await self._send_entry(session, entry)
        except PitwatchError as fault:
            self._log_fault(f"{session.name}: {fault.what}")
            return False
        if entries:
            self._reach(session, entries[-1].seq)
        return bool(entries)

    def _behind(self) -> list[Session]:
        """Return the sessions with unprocessed events."""
        found = []
        for session in self._floor.sessions():
            reached = self._places.get(session.name, 0)
            if 0 < session.place.seq < reached:
                log.warning("another journal has its name", extra=_fields(session.name, "", ""))
                reached = self._places[session.name] = 0
            if reached < session.place.seq:
                found.append(session)
        return found

    async def _send_entry(self, session: Session, entry: Entry) -> None:
        if not self._is_for(session, entry):
            return
        for message in messages_of(session.name, session.table or session.name, entry):
            if message.kind in self._to.send or EVERYTHING in self._to.send:
                await self._deliver_once(session, message)
        self._reach(session, entry.seq)

    def _is_for(self, session: Session, entry: Entry) -> bool:
        asked = self._to.send
        sends_mistakes = entry.type == "round_settled" and VIOLATION in asked
        if not (sends_mistakes or entry.type in asked or EVERYTHING in asked):
            return False
        return not self._to.tables or session.table in self._to.tables

    async def _deliver_once(self, session: Session, message: Message) -> None:
        """Send a mistake only once, even where its round settles again after a decision."""
        if message.kind != VIOLATION:
            await self._deliver(message)
            return
        if self._store.was_sent(self._to.name, message.id):
            return
        moment = await self._floor.entries(session, fact_seq(message) - 1, 1)
        await self._deliver(placed(message, moment[0].at if moment else None))
        self._store.mark_sent(self._to.name, message.id)

    def _reach(self, session: Session, seq: int) -> None:
        if self._places.get(session.name, 0) < seq:
            self._places[session.name] = seq
            self._store.reach(self._to.name, session.name, seq)

    # --- one message ----------------------------------------------------------------------

    async def _deliver(self, message: Message) -> None:
        """Return once it was accepted, or became a dead letter."""
        tries, waits = 0, _waits(self._to)
        while (failed := await self._try(message)) is not None:
            tries += failed.fate is not Fate.WAIT
            if failed.fate is Fate.REFUSED or tries >= self._to.tries:
                self._lay_aside(message, tries, failed.why)
                return
            await asyncio.sleep(max(next(waits), failed.wait_s or 0))

    async def _try(self, message: Message) -> NotDelivered | None:
        meters, name = self._shared.meters, self._to.name
        try:
            await self._delivered(message)
        except NotDelivered as failed:
            found = failed
        except Exception as fault:  # a site's code may fail in any way; other destinations continue
            found = NotDelivered(f"failed with {type(fault).__name__}", Fate.COUNT)
        else:
            meters.delivered.labels(name).inc()
            meters.up.labels(name).set(1)
            self._log_fault(None)
            return None
        meters.failed.labels(name).inc()
        meters.up.labels(name).set(0)
        self._count_behind()
        self._log_fault(found.why)
        return found

    async def _delivered(self, message: Message) -> None:
        """Wait for a delivery, even when cancelled: nothing is closed during it."""
        loop = asyncio.get_running_loop()
        task = loop.run_in_executor(self._thread, self._deliverer.deliver, message)
        try:
            await asyncio.shield(task)
        except asyncio.CancelledError:
            await asyncio.wait((task,))
            task.exception()  # it is retried after the next start
            raise

    def _lay_aside(self, message: Message, tries: int, why: str) -> None:
        now_ns = self._shared.clock.now_ns()
        self._store.lay_aside(self._to.name, message, now_ns, tries, why)
        self._shared.meters.dead.labels(self._to.name).inc()
        log.warning("given up", extra=_fields(self._to.name, message.id, why))

    async def _send_again(self) -> bool:
        """Send the dead letters requested by a person, each once; return whether there were any."""
        asked = [
            letter for letter in self._store.letters("again") if letter.destination == self._to.name
        ]
        for letter in asked:
            failed = await self._try(letter.message)
            self._store.mark(self._after(letter, failed))
        return bool(asked)

    def _after(self, letter: Letter, failed: NotDelivered | None) -> Letter:
        return msgspec.structs.replace(
            letter,
            state="sent" if failed is None else "dead",
            at_ns=self._shared.clock.now_ns(),
            tries=letter.tries + 1,
            why=letter.why if failed is None else failed.why,
        )

    def _count_behind(self) -> None:
        behind = sum(
            max(one.place.seq - self._places.get(one.name, 0), 0) for one in self._floor.sessions()
        )
        self._shared.meters.behind.labels(self._to.name).set(behind)

    def _log_fault(self, why: str | None) -> None:
        """Log a fault once until it changes, and its end."""
        if why == self._last_fault:
            return
        self._last_fault = why
        if why is None:
            log.info("delivered again", extra=_fields(self._to.name, "", ""))
        else:
            log.warning("not taken", extra=_fields(self._to.name, "", why))


class Relay:
    """All destinations of a configuration. Use :meth:`opened`.

    Raises:
        InstallerError: a destination cannot be built as it is configured.
    """

    def __init__(self, placed_config: PlacedIntegration, shared: Shared) -> None:
        self._shared = shared
        site = placed_config.site
        self._couriers = [
            Courier(one, make_deliverer(one, site), shared)
            for one in placed_config.config.destinations
        ]

    async def run(self) -> None:
        """Send to every destination until cancelled."""
        try:
            while not self._shared.floor.is_ready:
                await asyncio.sleep(_START_S)
            async with asyncio.TaskGroup() as group:
                for courier in self._couriers:
                    group.create_task(_kept_up(courier))
        finally:
            for courier in self._couriers:
                courier.close()


@contextmanager
def opened(
    configured: PlacedIntegration,
    state: Path,
    floor: Floor,
    clock: Clock,
    registry: CollectorRegistry,
) -> Iterator[Relay]:
    """Yield the relay of a configuration; it locks its state against other relays.

    Raises:
        InstallerError: a destination cannot be built as configured.
        OperatorError: another relay is at work.
        TechnicianError: the disk refuses its file.
    """
    state.mkdir(mode=0o700, parents=True, exist_ok=True)
    with (state / _LOCK_FILE).open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as fault:
            raise OperatorError(
                "another relay uses this state folder",
                where=str(state),
                way_out="Stop it, or give this one a --state of its own",
            ) from fault
        store = RelayStore.open(state)
        try:
            yield Relay(configured, Shared(floor, store, RelayMeters(registry), clock))
        finally:
            store.close()


@asynccontextmanager
async def relaying(
    configured: PlacedIntegration,
    state: Path,
    floor: Floor,
    clock: Clock,
    registry: CollectorRegistry,
) -> AsyncIterator[None]:
    """Relay while the body runs; raises as :func:`opened`."""
    with opened(configured, state, floor, clock, registry) as relay:
        task = asyncio.create_task(relay.run())
        try:
            yield
        finally:
            task.cancel()
            with suppress(asyncio.CancelledError):
                await task


async def _kept_up(courier: Courier) -> None:
    """Run a courier; restart it after a disk fault or an unexpected error."""
    while True:
        try:
            await courier.run()
        except Exception:  # a fault of one destination ends no other's worker
            log.exception("a destination's worker failed and is restarted")
        await asyncio.sleep(_AGAIN_S)


def _waits(destination: Destination) -> Iterator[float]:
    """Yield the seconds between attempts: doubling each time, half of each random."""
    longest_s = destination.longest_wait_s
    wait_s = min(destination.first_wait_ms / 1000, longest_s)
    while True:
        yield wait_s * random.uniform(0.5, 1)
        wait_s = min(wait_s * 2, longest_s)


def _fields(destination: str, message: str, why: str) -> dict[str, Iterable[str]]:
    fields = {"destination": destination, "message": message, "why": why}
    return {"fields": {name: value for name, value in fields.items() if value}}
