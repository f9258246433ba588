"""A device that is not there, on a real pseudo-terminal."""

import os
import pty
import select
import threading
import tty
from collections.abc import Iterable
from pathlib import Path
from types import TracebackType
from typing import Final, Self

from devices.simulated import SimulatedDevice
from stream.clock import Clock
from stream.recording import Chunk

_POLL_S: Final = 0.05


class SimulatedPort:
    """A serial port whose far end is this process. ``port`` is what to open.

    Args:
        link: a name for the port that stays when it is unplugged and plugged in again, as
            udev gives one; without it ``port`` is the terminal's own.
        device: what answers the host there; without one, :meth:`received` reads what it sent.
    """

    def __init__(self, link: Path | None = None, device: SimulatedDevice | None = None) -> None:
        self._link, self._answering = link, device
        self._device = self._host = -1
        self._answerer: threading.Thread | None = None
        self.replug()

    def replug(self) -> None:
        """Plug it in, under the same name where it has one."""
        self._device, self._host = pty.openpty()
        tty.setraw(self._host)
        self.port = os.ttyname(self._host)
        if self._link is not None:
            fresh = self._link.with_name(self._link.name + ".new")
            fresh.symlink_to(self.port)
            fresh.replace(self._link)
            self.port = str(self._link)
        if self._answering is not None:
            self._answerer = threading.Thread(
                target=self._answer, args=(self._device, self._answering), daemon=True
            )
            self._answerer.start()

    def send(self, payload: bytes) -> None:
        """Put all of ``payload`` on the line."""
        _write(self._device, payload)

    def play(self, chunks: Iterable[Chunk], start_ns: int, clock: Clock) -> None:
        """Put each chunk on the line when ``clock`` reaches it."""
        for chunk in chunks:
            clock.wait_until(start_ns + chunk.offset_ns)
            self.send(chunk.data)

    def received(self, length: int) -> bytes:
        """Return the next bytes that the host sent, ``length`` at most; waits for one."""
        return os.read(self._device, length)

    def unplug(self) -> None:
        """Pull the plug: readers of the port lose the link, and its name is gone."""
        if self._link is not None:
            self._link.unlink(missing_ok=True)
        device, host, self._device, self._host = self._device, self._host, -1, -1
        if self._answerer is not None:
            self._answerer.join()
            self._answerer = None
        for end in (device, host):
            if end >= 0:
                os.close(end)

    def _answer(self, far_end: int, device: SimulatedDevice) -> None:
        while self._device == far_end:
            ready, _, _ = select.select([far_end], [], [], _POLL_S)
            if ready:
                _write(far_end, device.hear(os.read(far_end, 256)))

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        fault: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.unplug()


def _write(end: int, payload: bytes) -> None:
    while payload:
        payload = payload[os.write(end, payload) :]
