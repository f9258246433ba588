"""Lists in the order of time, read from the newest back, a page at a time."""

import heapq
from bisect import bisect_left, insort
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Generic, Self, TypeAlias, TypeVar

from models.errors import InputRefused
from server.service.views import Row

R = TypeVar("R", bound=Row)
Key: TypeAlias = tuple[int, str, int, int]
"""``at``, session, ``seq``, and a number that tells rows of one event apart."""

_ENDLESS = 2**64


@dataclass(frozen=True, slots=True)
class Placed(Generic[R]):
    """A row at its key."""

    key: Key
    row: R = field(compare=False)

    def __lt__(self, other: Self) -> bool:
        return self.key < other.key


class Rows(Generic[R]):
    """The rows of one kind of one session."""

    def __init__(self) -> None:
        self._placed: list[Placed[R]] = []
        self._made = 0

    def __len__(self) -> int:
        return len(self._placed)

    def add(self, row: R) -> Key:
        """Put a row in its place; return its key."""
        self._made += 1
        key = (row.at, row.session, row.seq, self._made)
        insort(self._placed, Placed(key, row))
        return key

    def change(self, key: Key, row: R) -> None:
        """Put ``row`` in the place of the one at ``key``."""
        self._placed[self._index(key)] = Placed(key, row)

    def drop(self, is_dropped: Callable[[R], bool]) -> None:
        """Take out the rows that ``is_dropped`` says."""
        self._placed = [placed for placed in self._placed if not is_dropped(placed.row)]

    def back_from(self, before: Key) -> Iterator[Placed[R]]:
        """Yield the rows before ``before``, the newest first."""
        for index in range(self._index(before) - 1, -1, -1):
            yield self._placed[index]

    def _index(self, key: Key) -> int:
        return bisect_left(self._placed, key, key=lambda placed: placed.key)


def newest_first(lists: Iterable[Rows[R]], before: Key) -> Iterator[Placed[R]]:
    """Yield the rows of several sessions before ``before``, the newest first."""
    backwards = [rows.back_from(before) for rows in lists]
    return heapq.merge(*backwards, key=lambda placed: placed.key, reverse=True)


def before_time(at_ns: int | None) -> Key:
    """Return the key before which everything up to and with ``at_ns`` lies."""
    return (_ENDLESS if at_ns is None else at_ns + 1, "", 0, 0)


def cursor_of(key: Key) -> str:
    """Write a key as a cursor."""
    at, session, seq, number = key
    return f"{at}.{seq}.{number}.{session}"


def key_of(cursor: str) -> Key:
    """Read a cursor.

    Raises:
        InputRefused: it is none.
    """
    parts = cursor.split(".", 3)
    if len(parts) != 4 or not all(part.isascii() and part.isdigit() for part in parts[:3]):
        raise InputRefused(
            source="query", field="cursor", expected="a page's `next`", found=repr(cursor)
        )
    at, seq, number = map(int, parts[:3])
    return (at, parts[3], seq, number)
