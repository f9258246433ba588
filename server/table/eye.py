"""Read one camera's pictures in a separate thread, so that nothing else waits for them."""

import asyncio
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Final, Protocol

from devices.cameras.frame import Frame
from models.events import AnyObservation

_AHEAD: Final = 2
"""Pictures with the thread: the one being read, and the next, so that it never waits for one."""


class Watching(Protocol):
    """Reads pictures."""

    def see(self, frame: Frame) -> Sequence[AnyObservation]:
        """Return the new observations of the next picture."""


Looked = Callable[[Frame, Sequence[AnyObservation]], None]


class Eye:
    """Reads the pictures of one camera, in order.

    Args:
        watching: reads them.
        film: records each picture that is read.
        looked: receives each picture with its observations, in the loop's thread.
        failed: receives any fault that stops the reading.
    """

    def __init__(
        self,
        watching: Watching,
        film: Callable[[Frame], None],
        looked: Looked,
        failed: Callable[[Exception], None],
    ) -> None:
        self._watching, self._film, self._looked = watching, film, looked
        self._failed = failed
        self._loop = asyncio.get_running_loop()
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="eye")
        self._room = asyncio.Semaphore(_AHEAD)

    async def see(self, frame: Frame) -> None:
        """Pass on the next picture, once those before it are read."""
        await self._room.acquire()
        self._thread.submit(self._look, frame)

    async def close(self) -> None:
        """Finish the pictures passed on, and stop."""
        await asyncio.to_thread(self._thread.shutdown)

    def _look(self, frame: Frame) -> None:
        try:
            self._film(frame)
            observed = self._watching.see(frame)
        except Exception as fault:  # whatever the fault, the table must not continue half blind
            self._loop.call_soon_threadsafe(self._failed, fault)
        else:
            self._loop.call_soon_threadsafe(self._deliver, frame, observed)

    def _deliver(self, frame: Frame, observed: Sequence[AnyObservation]) -> None:
        self._room.release()
        self._looked(frame, observed)
