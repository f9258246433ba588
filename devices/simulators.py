"""A simulated device on a real pseudo-terminal."""

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
    """A serial port whose far end is this process. Open it as ``port``.

    Args:
        link: a stable name for the port across unplugging, as udev gives one; without it ``port``
            is the terminal's own.
        device: answers the host; without one, :meth:`received` reads the host's bytes.
    """

    def __init__(self, link: Path | None = None, device: SimulatedDevice | None = None) -> None:
        self._link, self._answering = link, device
        self._device = self._host = -1
        self._answerer: threading.Thread | None = None
        self.replug()

    def replug(self) -> None:
        """Plug the device in again, under the same name where it has one."""
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
        """Send all of ``payload`` to the host."""
        _write(self._device, payload)

    def play(self, chunks: Iterable[Chunk], start_ns: int, clock: Clock) -> None:
        """Send each chunk when ``clock`` reaches its time."""
        for chunk in chunks:
            clock.wait_until(start_ns + chunk.offset_ns)
            self.send(chunk.data)

    def received(self, length: int) -> bytes:
        """Return the next bytes from the host, at most ``length``; wait for at least one."""
        return os.read(self._device, length)

    def unplug(self) -> None:
        """Unplug the device: readers of the port lose the link, and its name disappears."""
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
                _write(far_end, device.receive(os.read(far_end, 256)))

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
