"""A simulated computer hall: one clock, one thread, one seed.

Tasks are coroutines. Whatever a task waits for is an event in one queue, ordered by simulated time,
so that the same seed gives the same run. A task can be killed wherever it waits, as SIGKILL and a
power failure end a process; nothing of it runs after that.
"""

import heapq
import random
from collections.abc import Callable, Coroutine, Generator
from dataclasses import dataclass, field
from itertools import count
from typing import Any, Generic, TypeVar

T = TypeVar("T")


@dataclass(eq=False)
class Wait(Generic[T]):
    """What one task waits for: a value, or a fault."""

    task: "Task | None" = None
    over: bool = False
    value: T | None = None
    fault: BaseException | None = None

    def __await__(self) -> Generator["Wait[T]", None, T]:
        if not self.over:
            yield self
        if self.fault is not None:
            raise self.fault
        return self.value  # type: ignore[return-value]  # it is over: the value is there

    def end(self, value: T | None = None, fault: BaseException | None = None) -> None:
        """Give the task what it waits for; what comes later is ignored."""
        if self.over:
            return
        self.over, self.value, self.fault = True, value, fault
        if self.task is not None:
            self.task.go_on()


@dataclass(eq=False)
class Task:
    """A process: a coroutine, alive until it ends or is killed."""

    hall: "Hall"
    name: str
    work: Coroutine[Any, Any, None]
    ended: Callable[[], None] = lambda: None
    """Called when it has ended, in whichever way."""
    alive: bool = True
    steps: int = 0

    def go_on(self) -> None:
        """Run it to its next wait, or kill it there."""
        if not self.alive:
            return
        self.steps += 1
        if self.hall.kills(self):
            self.kill()
            return
        try:
            wait: Wait[Any] = self.work.send(None)
        except StopIteration:
            self.alive = False
            self.ended()
        else:
            wait.task = self

    def kill(self) -> None:
        """End it where it waits."""
        if self.alive:
            self.alive = False
            self.work.close()
            self.ended()


@dataclass(eq=False)
class Hall:
    """The clock, the queue of events, and the chance that everything draws from."""

    seed: int
    now_ns: int = 0
    kills: Callable[[Task], bool] = lambda _: False
    """Whether a task dies at the wait where it is."""
    chance: random.Random = field(init=False)
    happened: int = 0
    _tasks: list[Task] = field(default_factory=list)
    _queue: list[tuple[int, int, Callable[[], None]]] = field(default_factory=list)
    _order: "count[int]" = field(default_factory=count)

    def __post_init__(self) -> None:
        self.chance = random.Random(self.seed)

    def after(self, seconds: float, call: Callable[[], None]) -> None:
        """Have something happen after some seconds."""
        at_ns = self.now_ns + max(int(seconds * 1e9), 0)
        heapq.heappush(self._queue, (at_ns, next(self._order), call))

    async def sleep(self, seconds: float) -> None:
        """Let a task wait."""
        wait = Wait[None]()
        self.after(seconds, wait.end)
        await wait

    def start(
        self, name: str, work: Coroutine[Any, Any, None], ended: Callable[[], None] = lambda: None
    ) -> Task:
        """Start a process; its first step is an event of its own."""
        task = Task(self, name, work, ended)
        self._tasks.append(task)
        self.after(0, task.go_on)
        return task

    def close(self) -> None:
        """End every task without a word: the run is over."""
        for task in self._tasks:
            task.alive = False
            task.work.close()

    def run(self, seconds: float, is_over: Callable[[], bool] = lambda: False) -> None:
        """Let everything happen that is due in the next seconds, or until it is over."""
        until_ns = self.now_ns + int(seconds * 1e9)
        while self._queue and self._queue[0][0] <= until_ns:
            self.now_ns, _, call = heapq.heappop(self._queue)
            self.happened += 1
            call()
            if is_over():
                return
        self.now_ns = until_ns
