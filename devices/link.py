"""A byte device on a live link: read, greeted, commanded, and lost."""

import asyncio
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

from devices.driver import Answer, Driver
from devices.port import PortConfig
from devices.reading import Reading
from devices.supervisor import SECOND_NS, Say
from devices.transport import LinkLost, SerialTransport, Transport
from models.events import ReaderFault
from stream.clock import Clock

_TRIES: Final = 3

Tap = Callable[[int, bytes], None]
"""Takes the bytes of one read and when they arrived, before anything is made of them."""


def serial_port(url: str, config: PortConfig) -> Callable[[], Transport]:
    """Return what opens the port ``url`` with a driver's settings."""
    return lambda: SerialTransport(url, config.baud, config.stop_bits)


class ByteDevice:
    """One device and its link, for the supervisor to keep.

    Args:
        source: what it is called where it is lost and comes back.
        driver: turns its bytes into observations; it lives as long as this does.
        opened: opens the port.
        clock: stamps arrivals.
        tap: given every read, for the recorder.
        path: the port's node, where it is one of this machine.
        answer_ns: how long an answer to a command is waited for.
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
        self._was_heard = False
        self._say: Say | None = None

    async def run(self, heard: Callable[[], None], say: Say) -> None:
        """Say what the device observes until its source ends; raises as the supervisor asks."""
        transport = await asyncio.to_thread(self._opened)
        self._transport, self._say = transport, say
        try:
            heard()
            if self._was_heard:
                self._tell(self._driver.returned(self._clock.now_ns()))
            self._was_heard = True
            if greeting := self._driver.greeting():
                await transport.write(greeting)
            while chunk := await transport.read():
                self._take(chunk)
        finally:
            self._transport = None
            transport.close()
            self._tell(self._driver.finish(self._clock.now_ns()))

    def fault(self, kind: str, detail: str, at_ns: int) -> ReaderFault:
        """Return the observation of a fault of the device itself."""
        return ReaderFault(source=self.source, at=at_ns, kind=kind, detail=detail)

    async def command(self, payload: bytes) -> bool:
        """Send a command until the device takes it, three times at most; tell whether it did.

        A command that is refused or not answered is told as a ``refusal``; so is one that
        cannot be sent because the link is lost.
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
        if self._say is not None:
            detail = f"command {payload.hex()} given up after {_TRIES} tries: {why}"
            self._say(self.fault("refusal", detail, self._clock.now_ns()))
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
        self._tell(self._driver.feed(chunk, at_ns))
        for answer in self._driver.answers():
            self._answers.put_nowait(answer)

    def _tell(self, readings: tuple[Reading, ...]) -> None:
        assert self._say is not None
        for reading in readings:
            self._say(reading)
