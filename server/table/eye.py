"""One camera's pictures looked at in a thread of its own, so that nothing else waits for them."""

import asyncio
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Final, Protocol

from devices.cameras.frame import Frame
from models.events import AnyObservation

_WAITING: Final = 30
"""How many pictures wait to be looked at; what comes beyond them is left out, and told."""


class Watching(Protocol):
    """What looks at pictures."""

    def see(self, frame: Frame) -> Sequence[AnyObservation]:
        """Return what is news in the next picture."""


Looked = Callable[[Frame, Sequence[AnyObservation]], None]


class Eye:
    """Looks at the pictures of one camera, in order.

    Args:
        watching: looks at them.
        film: keeps each picture that is looked at.
        looked: is given each picture and what was observed in it, in the loop's thread.
        failed: is given whatever stops the looking.
        left_out: is told that a picture was not looked at.
    """

    def __init__(
        self,
        watching: Watching,
        film: Callable[[Frame], None],
        looked: Looked,
        failed: Callable[[Exception], None],
        left_out: Callable[[Frame], None],
    ) -> None:
        self._watching, self._film, self._looked = watching, film, looked
        self._failed, self._left_out = failed, left_out
        self._loop = asyncio.get_running_loop()
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="eye")
        self._waiting = 0

    def see(self, frame: Frame) -> None:
        """Take the next picture."""
        if self._waiting >= _WAITING:
            self._left_out(frame)
            return
        self._waiting += 1
        self._thread.submit(self._look, frame)

    async def close(self) -> None:
        """Look at what waits, and at nothing more."""
        await asyncio.to_thread(self._thread.shutdown)

    def _look(self, frame: Frame) -> None:
        try:
            self._film(frame)
            observed = self._watching.see(frame)
        except Exception as fault:  # whatever it is, the table must not go on half blind
            self._loop.call_soon_threadsafe(self._failed, fault)
        else:
            self._loop.call_soon_threadsafe(self._tell, frame, observed)

    def _tell(self, frame: Frame, observed: Sequence[AnyObservation]) -> None:
        self._waiting -= 1
        self._looked(frame, observed)
