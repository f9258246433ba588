"""Lists in order of time, read from the newest back, page by page."""

from collections.abc import AsyncIterator
from dataclasses import replace
from typing import TYPE_CHECKING, Final, Generic, TypeVar

from models.errors import InputRefused
from server.readmodel.selection import ENDLESS, Key, Placed, Sought
from server.readmodel.views import Row

if TYPE_CHECKING:
    from server.readmodel.index import Index

R = TypeVar("R", bound=Row)
_AT_ONCE: Final = 200


class Rows(Generic[R]):
    """The rows of one kind of one session, in the index."""

    def __init__(self, index: "Index", session: int, kind: type[R]) -> None:
        self._index, self._session, self._kind = index, session, kind
        self.count = 0
        self.made = 0
        """The number of rows added so far, including dropped ones."""

    def go_on(self, count: int, made: int) -> None:
        """Continue from an earlier run's counts."""
        self.count, self.made = count, made

    def __len__(self) -> int:
        return self.count

    def add(self, row: R) -> Key:
        """Add a row; return its key."""
        self.made += 1
        self.count += 1
        key = (row.at, row.session, row.seq, self.made)
        self._index.put(self._session, key, row)
        return key

    def change(self, key: Key, row: R, *, noticed: bool = False) -> None:
        """Replace the row at ``key``; see :class:`Sought` for ``noticed``."""
        self._index.put(self._session, key, row, noticed=noticed)

    def drop_round(self, number: int) -> None:
        """Remove the rows of a round."""
        self.count -= self._index.drop_round(self._session, self._kind, number)

    def of_round(self, number: int) -> tuple[Placed[R], ...]:
        """Return the rows of a round in the order in which they were added."""
        return self._index.of_round(self._session, self._kind, number)


async def newest_first(index: "Index", sought: Sought[R]) -> AsyncIterator[Placed[R]]:
    """Yield the selected rows, the newest first, reading a few at a time.

    Raises:
        TechnicianError: the index cannot be read.
    """
    while True:
        found = await index.look_up(sought, _AT_ONCE)
        for placed in found:
            yield placed
        if len(found) < _AT_ONCE:
            return
        sought = replace(sought, before=found[-1].key)


def before_time(at_ns: int | None) -> Key:
    """Return the key that separates everything up to ``at_ns`` from later rows."""
    return (ENDLESS if at_ns is None else min(at_ns + 1, ENDLESS), "", 0, 0)


def cursor_of(key: Key) -> str:
    """Encode a key as a cursor."""
    at, session, seq, number = key
    return f"{at}.{seq}.{number}.{session}"


def key_of(cursor: str) -> Key:
    """Decode a cursor.

    Raises:
        InputRefused: it is invalid.
    """
    parts = cursor.split(".", 3)
    numbers = [int(part) for part in parts[:3] if part.isascii() and part.isdigit()]
    if len(parts) != 4 or len(numbers) != 3 or max(numbers) > ENDLESS:
        raise InputRefused(
            source="query", field="cursor", expected="a page's `next`", found=repr(cursor)
        )
    at, seq, number = numbers
    return (at, parts[3], seq, number)
