"""Byte links: a serial port by any pyserial URL, and a recording in its place."""

import asyncio
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Final, Protocol, TypeVar

import serial

from models.errors import TechnicianError
from stream.clock import Clock
from stream.recording import Chunk

T = TypeVar("T")

_POLL_S: Final = 0.1
"""Seconds that a read blocks its thread: a closed port is noticed within that time."""


class LinkLost(TechnicianError):
    """An open port is gone: unplugged, taken by another process, or closed."""

    def __init__(self, port: str, cause: str) -> None:
        super().__init__(
            f"link lost: {cause}",
            where=port,
            way_out="Check the cable and that no other program uses the port; Pitwatch retries",
        )
        self.port = port


class Transport(Protocol):
    """A byte link to one device."""

    async def read(self) -> bytes:
        """Return the next bytes, at least one; nothing only at the end of the source.

        Raises:
            LinkLost: the port is gone.
        """

    async def write(self, payload: bytes) -> None:
        """Send all of ``payload``; raises as :meth:`read`."""

    def close(self) -> None:
        """Release the port."""


class SerialTransport:
    """A serial port, opened exclusively.

    Args:
        url: ``/dev/ttyUSB0``, ``socket://host:4001``, ``rfc2217://…``, ``loop://``.
        baud: bits a second.
        stop_bits: 1 or 2.

    Raises:
        TechnicianError: the port cannot be opened.
    """

    def __init__(self, url: str, baud: int, stop_bits: int = 1) -> None:
        self._url = url
        # Own threads: a table has more ports than the common pool has threads.
        self._threads = ThreadPoolExecutor(2, thread_name_prefix=url)
        try:
            self._port = serial.serial_for_url(
                url,
                baudrate=baud,
                stopbits=stop_bits,
                timeout=_POLL_S,
                write_timeout=1,
                exclusive=True,
            )
        except (serial.SerialException, OSError, ValueError) as fault:
            self._threads.shutdown(wait=False)
            raise TechnicianError(
                f"the port cannot be opened: {fault}",
                where=url,
                way_out="Check the name, the cable, and that no other program uses it",
            ) from fault

    async def read(self) -> bytes:
        """Return the next bytes; raises :class:`LinkLost` when the port is gone."""
        while not (chunk := await self._in_thread(self._read_some)):
            pass
        return chunk

    async def write(self, payload: bytes) -> None:
        """Send all of ``payload``; raises :class:`LinkLost` when the port is gone."""
        await self._in_thread(partial(self._write_all, payload))

    def close(self) -> None:
        """Release the port."""
        self._port.close()
        self._threads.shutdown(wait=False)

    async def _in_thread(self, call: Callable[[], T]) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._threads, call)

    def _read_some(self) -> bytes:
        try:
            return bytes(self._port.read(max(1, self._port.in_waiting)))
        except (serial.SerialException, OSError, TypeError) as fault:
            # pyserial raises TypeError when another thread closes the port during a read.
            raise LinkLost(self._url, str(fault)) from fault

    def _write_all(self, payload: bytes) -> None:
        try:
            self._port.write(payload)
        except (serial.SerialException, OSError, TypeError) as fault:
            raise LinkLost(self._url, str(fault)) from fault


class ReplayTransport:
    """A recording in place of a port: each chunk arrives when the clock reaches its time."""

    def __init__(self, chunks: Iterable[Chunk], start_ns: int, clock: Clock) -> None:
        self._chunks = iter(chunks)
        self._start_ns = start_ns
        self._clock = clock
        self.written: list[bytes] = []

    async def read(self) -> bytes:
        """Return the next recorded chunk, or nothing at the end of the recording."""
        chunk = next(self._chunks, None)
        if chunk is None:
            return b""
        await self._clock.reached(self._start_ns + chunk.offset_ns)
        return chunk.data

    async def write(self, payload: bytes) -> None:
        """Store ``payload`` in ``written``: a recording answers nobody."""
        self.written.append(payload)

    def close(self) -> None:
        """End the recording."""
        self._chunks = iter(())
