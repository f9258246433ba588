"""A device that is not there: bytes played into a real pseudo-terminal."""

import os
import pty
import tty
from collections.abc import Iterable
from types import TracebackType
from typing import Self

from stream.clock import Clock
from stream.recording import Chunk


class SimulatedPort:
    """A serial port whose far end is this process. ``port`` is what to open."""

    def __init__(self) -> None:
        self._device, self._host = pty.openpty()
        tty.setraw(self._host)
        self.port = os.ttyname(self._host)

    def send(self, payload: bytes) -> None:
        """Put all of ``payload`` on the line."""
        while payload:
            payload = payload[os.write(self._device, payload) :]

    def play(self, chunks: Iterable[Chunk], start_ns: int, clock: Clock) -> None:
        """Put each chunk on the line when ``clock`` reaches it."""
        for chunk in chunks:
            clock.wait_until(start_ns + chunk.offset_ns)
            self.send(chunk.data)

    def received(self, length: int) -> bytes:
        """Return the next bytes that the host sent, ``length`` at most; waits for one."""
        return os.read(self._device, length)

    def unplug(self) -> None:
        """Pull the plug: whoever reads the port loses the link."""
        for end in (self._device, self._host):
            if end >= 0:
                os.close(end)
        self._device = self._host = -1

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        fault: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.unplug()
