"""Pass events on within the process, as soon as they are journalled.

A subscriber that reads too slowly is cut off, so that the table never waits for it. The journal has
every event (``Journal.read(after_seq)``).
"""

import asyncio
from collections.abc import AsyncIterator
from typing import Final

from models.errors import OperatorError
from models.events import Event

CAPACITY: Final = 1024
"""Events that may wait for one subscriber."""


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
    """One subscriber's queue. Iterate over it; end it with :meth:`Bus.unsubscribe`."""

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
        """Stop the reader after the queued events."""
        self._queue.put_nowait(None)

    async def __aiter__(self) -> AsyncIterator[Event]:
        """Yield events until the subscription ends; raises :class:`Lagging` when cut off."""
        while (event := await self._queue.get()) is not None:
            self._last_seq = event.seq
            yield event
        if self._lagging:
            raise Lagging(self._last_seq)


class Bus:
    """Passes every published event to every subscriber, in order. For one event loop."""

    def __init__(self) -> None:
        self._subscriptions: list[Subscription] = []

    def subscribe(self, capacity: int = CAPACITY) -> Subscription:
        """Start a subscription to everything published from now on."""
        subscription = Subscription(capacity)
        self._subscriptions.append(subscription)
        return subscription

    def unsubscribe(self, subscription: Subscription) -> None:
        """End a subscription; its reader stops after the queued events."""
        if subscription in self._subscriptions:
            self._subscriptions.remove(subscription)
            subscription.end()

    def publish(self, event: Event) -> None:
        """Pass ``event`` to every subscriber without waiting."""
        self._subscriptions = [each for each in self._subscriptions if each.offer(event)]
