"""The last results of slow work."""

import asyncio
from collections import OrderedDict
from collections.abc import Callable, Hashable, Mapping
from typing import Generic, TypeVar

from server.service.http.turns import Turns

T = TypeVar("T")


class Kept(Generic[T]):
    """The last results of slow work, up to a total size."""

    def __init__(self, most_bytes: int, size_of: Callable[[T], int]) -> None:
        self._most, self._size_of = most_bytes, size_of
        self._values: OrderedDict[Hashable, T] = OrderedDict()
        self._size = 0

    async def get(self, key: Hashable, work: Callable[[], T], turns: Turns) -> T:
        """Return the result stored under ``key``, or do the work in a thread and store that."""
        found = await self.one_of_many(key, lambda: {key: work()}, turns)
        assert found is not None
        return found

    async def one_of_many(
        self, key: Hashable, work: Callable[[], Mapping[Hashable, T]], turns: Turns
    ) -> T | None:
        """Return the result stored under ``key``, or do work that gives several results."""
        if key not in self._values:
            async with turns:
                if key not in self._values:
                    for name, made in (await asyncio.to_thread(work)).items():
                        self._keep(name, made)
        if key in self._values:
            self._values.move_to_end(key)
        return self._values.get(key)

    def _keep(self, key: Hashable, made: T) -> None:
        if key in self._values:
            self._size -= self._size_of(self._values.pop(key))
        self._values[key] = made
        self._size += self._size_of(made)
        while self._size > self._most and len(self._values) > 1:
            _, gone = self._values.popitem(last=False)
            self._size -= self._size_of(gone)
