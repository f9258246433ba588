"""Turns at heavy work: a few requests at once, a bounded queue behind them, the rest refused."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from types import TracebackType
from typing import Final

from server.service.http.problems import Problem, retry_after

AT_ONCE: Final = 2
"""Heavy requests at work: the tables' own work comes first."""
WAITING: Final = 32
"""Heavy requests that may wait: more than the pictures that five open pages ask for at once."""
_TRY_AGAIN_NS: Final = 5_000_000_000


class Turns:
    """An ``async with`` block of it is one turn. For one event loop."""

    def __init__(self, at_once: int = AT_ONCE, waiting: int = WAITING) -> None:
        self._seats = asyncio.Semaphore(at_once)
        self._most, self._waiting = waiting, 0

    async def __aenter__(self) -> None:
        """Wait for a turn.

        Raises:
            Problem: 503, too many wait already.
        """
        if self._waiting >= self._most:
            detail = f"{self._most} requests for reports, exports or pictures wait already"
            raise Problem(503, f"{detail}; try again soon", retry_after(_TRY_AGAIN_NS))
        await self._wait()

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        fault: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Give the turn to the next request."""
        self._seats.release()

    @asynccontextmanager
    async def next(self) -> AsyncIterator[None]:
        """Take another turn for work that was admitted, however many wait."""
        await self._wait()
        try:
            yield
        finally:
            self._seats.release()

    async def _wait(self) -> None:
        self._waiting += 1
        try:
            await self._seats.acquire()
        finally:
            self._waiting -= 1
