"""A byte device on a live link: connect, greet, read, send commands, detect loss."""

import asyncio
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

from devices.driver import Answer, Driver
from devices.port import PortConfig
from devices.reading import Reading
from devices.supervisor import SECOND_NS, Report
from devices.transport import LinkLost, SerialTransport, Transport
from models.events import ReaderFault
from stream.clock import Clock

_TRIES: Final = 3

Tap = Callable[[int, bytes], None]
"""Receives the arrival time and the bytes of one read, before they are decoded."""


def serial_port(url: str, config: PortConfig) -> Callable[[], Transport]:
    """Return a function that opens the port ``url`` with a driver's settings."""
    return lambda: SerialTransport(url, config.baud, config.stop_bits)


class ByteDevice:
    """One device and its link, for the supervisor to keep connected.

    Args:
        source: its name in the events of a lost and restored link.
        driver: turns its bytes into observations; it outlives reconnections.
        opened: opens the port.
        clock: stamps arrivals.
        tap: receives every read, for the recorder.
        path: the port's node, where it is a device of this machine.
        answer_ns: nanoseconds to wait for an answer to a command.
    """

    def __init__(
        self,
        source: str,
        driver: Driver[Any],
        opened: Callable[[], Transport],
        clock: Clock,
        *,
        tap: Tap | None = None,
        path: Path | None = None,
        answer_ns: int = SECOND_NS,
    ) -> None:
        self.source, self.path = source, path
        self._driver, self._opened, self._clock = driver, opened, clock
        self._tap, self._answer_ns = tap, answer_ns
        self._transport: Transport | None = None
        self._answers: asyncio.Queue[Answer] = asyncio.Queue()
        self._was_connected = False
        self._report: Report | None = None

    async def run(self, connected: Callable[[], None], report: Report) -> None:
        """Report the device's observations until its source ends; raise as the supervisor asks."""
        transport = await asyncio.to_thread(self._opened)
        self._transport, self._report = transport, report
        try:
            connected()
            if self._was_connected:
                self._report_all(self._driver.returned(self._clock.now_ns()))
            self._was_connected = True
            if greeting := self._driver.greeting():
                await transport.write(greeting)
            while chunk := await transport.read():
                self._take(chunk)
        finally:
            self._transport = None
            transport.close()
            self._report_all(self._driver.finish(self._clock.now_ns()))

    def fault(self, kind: str, detail: str, at_ns: int) -> ReaderFault:
        """Return the observation of a fault of the device itself."""
        return ReaderFault(source=self.source, at=at_ns, kind=kind, detail=detail)

    async def command(self, payload: bytes) -> bool:
        """Send a command until the device accepts it, three times at most; return whether it did.

        A command that is refused, unanswered, or unsent because the link is lost is reported as a
        ``refusal``.
        """
        why = "the link is lost"
        for _ in range(_TRIES):
            answer = await self._exchange(payload)
            if answer is None:
                why = "no answer"
            elif answer.taken:
                return True
            else:
                why = answer.detail
        if self._report is not None:
            detail = f"command {payload.hex()} given up after {_TRIES} tries: {why}"
            self._report(self.fault("refusal", detail, self._clock.now_ns()))
        return False

    async def _exchange(self, payload: bytes) -> Answer | None:
        while not self._answers.empty():
            self._answers.get_nowait()
        if self._transport is None:
            return Answer(taken=False, detail="the link is lost")
        with suppress(LinkLost):
            await self._transport.write(payload)
        answer = asyncio.ensure_future(self._answers.get())
        late = asyncio.ensure_future(self._clock.reached(self._clock.now_ns() + self._answer_ns))
        try:
            await asyncio.wait((answer, late), return_when=asyncio.FIRST_COMPLETED)
            return answer.result() if answer.done() else None
        finally:
            answer.cancel()
            late.cancel()

    def _take(self, chunk: bytes) -> None:
        at_ns = self._clock.now_ns()
        if self._tap is not None:
            self._tap(at_ns, chunk)
        self._report_all(self._driver.feed(chunk, at_ns))
        for answer in self._driver.answers():
            self._answers.put_nowait(answer)

    def _report_all(self, readings: tuple[Reading, ...]) -> None:
        assert self._report is not None
        for reading in readings:
            self._report(reading)
