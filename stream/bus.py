"""Events handed on within the process, as soon as they are journalled.

A reader that is too slow is cut off, not waited for: the table goes on, and the journal
has every event (``Journal.read(after_seq)``).
"""

import asyncio
from collections.abc import AsyncIterator
from typing import Final

from models.errors import OperatorError
from models.events import Event

CAPACITY: Final = 1024
"""How many events wait for one subscriber."""


class Lagging(OperatorError):
    """A subscriber read too slowly and was cut off."""

    def __init__(self, after_seq: int | None) -> None:
        super().__init__(
            "events came faster than they were read",
            where=f"subscription after event {after_seq}",
            way_out="Read what is missing from the journal, then subscribe again",
        )
        self.after_seq = after_seq


class Subscription:
    """One reader's queue. Iterate over it; leave it by :meth:`Bus.unsubscribe`."""

    def __init__(self, capacity: int) -> None:
        self._queue: asyncio.Queue[Event | None] = asyncio.Queue()
        self._capacity = capacity
        self._last_seq: int | None = None
        self._lagging = False

    def offer(self, event: Event) -> bool:
        """Queue ``event``; return whether there was room."""
        if self._queue.qsize() >= self._capacity:
            self._lagging = True
            self.end()
            return False
        self._queue.put_nowait(event)
        return True

    def end(self) -> None:
        """Let the reader stop after what is queued."""
        self._queue.put_nowait(None)

    async def __aiter__(self) -> AsyncIterator[Event]:
        """Yield events until the subscription ends; raises :class:`Lagging` when cut off."""
        while (event := await self._queue.get()) is not None:
            self._last_seq = event.seq
            yield event
        if self._lagging:
            raise Lagging(self._last_seq)


class Bus:
    """Hands every published event to every subscriber, in order. For one event loop."""

    def __init__(self) -> None:
        self._subscriptions: list[Subscription] = []

    def subscribe(self, capacity: int = CAPACITY) -> Subscription:
        """Start a subscription: everything published from now on."""
        subscription = Subscription(capacity)
        self._subscriptions.append(subscription)
        return subscription

    def unsubscribe(self, subscription: Subscription) -> None:
        """End a subscription; its reader stops after what is queued."""
        if subscription in self._subscriptions:
            self._subscriptions.remove(subscription)
            subscription.end()

    def publish(self, event: Event) -> None:
        """Hand ``event`` on; never waits."""
        self._subscriptions = [each for each in self._subscriptions if each.offer(event)]
