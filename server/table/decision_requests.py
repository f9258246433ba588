"""The table's request socket: it receives people's entries and acknowledges journalled ones.

It is a Unix socket beside the journal. A line is an event in JSON, ``review_resolved``,
``console_entry`` or ``clock_checked``. The answer is a line: ``{"seq": 812}`` once it is in the
journal, or ``{"refused": "why"}``. A client without an answer may send it again: the same event
with the same time is journalled once.
"""

import asyncio
import os
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from pathlib import Path
from typing import Final, TypeAlias

import msgspec
from msgspec.structs import replace

from models.decode import decode_event
from models.errors import OperatorError, PitwatchError, TechnicianError
from models.events import Event, ReviewResolved
from server.process.file_modes import group_reads
from server.table.persons import Word, check_person

Take: TypeAlias = Callable[[Word], Awaitable[int]]
"""Journals a person's entry and returns its ``seq``."""

SUFFIX: Final = ".desk"
_KNOWN: Final = 256
"""Recent entries that are recognised when sent again."""
_LONGEST: Final = 1 << 16
"""Bytes of the longest line, without its end."""
_TOO_LONG: Final = f"expected a line of at most {_LONGEST} bytes. Enter it with fewer words"
_LONGEST_ADDRESS: Final = 100
_PATIENCE_S: Final = 15.0
"""Seconds that a client waits for its entry to be journalled."""


class Words:
    """People's recent entries, with their places in the journal. Used in one event loop.

    Args:
        past: entries that an earlier run journalled.
    """

    def __init__(self, past: Iterable[Event]) -> None:
        self._known: dict[bytes, asyncio.Future[int]] = {}
        self._past = {_key(one): one.seq or 0 for one in past if isinstance(one, ReviewResolved)}

    def seq_of(self, word: Word) -> int | None:
        """Return the place of an entry that an earlier run journalled."""
        return self._past.get(_key(word))

    def expect(self, word: Word) -> tuple["asyncio.Future[int]", bool]:
        """Return the future ``seq`` of an entry, and whether it is new."""
        key = _key(word)
        is_new = key not in self._known
        if is_new:
            self._known[key] = asyncio.get_running_loop().create_future()
        while len(self._known) > _KNOWN:
            del self._known[next(iter(self._known))]
        return self._known[key], is_new

    def journalled(self, event: Event) -> None:
        """Note an entry of the journal: a client may wait for it."""
        if self._known and isinstance(event, Word):
            expected = self._known.get(_key(event))
            if expected is not None and not expected.done():
                expected.set_result(event.seq or 0)


def _key(word: Word) -> bytes:
    return msgspec.json.encode(replace(word, seq=None, table=None, heard=None))


class Answer(msgspec.Struct, frozen=True, omit_defaults=True):
    """The answer to a line."""

    seq: int | None = None
    refused: str | None = None
    stopped: str | None = None
    """The reason of a stop before the line was acknowledged."""


def socket_of(journal: Path) -> Path:
    """Return the path of the running table's request socket, beside its journal."""
    return journal.with_name(journal.name + SUFFIX)


@asynccontextmanager
async def open_for_requests(journal: Path, take: Take) -> AsyncIterator[None]:
    """Receive people's entries until the block ends.

    The journal belongs to this process alone, so an existing socket is left from a killed run.

    Raises:
        TechnicianError: no socket can be created there.
    """
    place, visits = socket_of(journal), _Visits(take)
    # Who finds the socket finds it listening, and with its own mode: a client that comes between
    # bind and listen would be told that no table runs.
    begun = place.with_name(place.name + ".new")
    with _short(begun) as address:
        try:
            begun.unlink(missing_ok=True)
            server = await asyncio.start_unix_server(visits.answer, address, limit=_LONGEST)
            begun.chmod(0o660 if group_reads() else 0o600)
            begun.rename(place)
        except OSError as fault:
            raise TechnicianError(
                f"the table's decision socket cannot be opened ({fault.strerror})",
                where=str(place),
                way_out="Keep the journal on a local disk that this user may write",
            ) from fault
    try:
        yield
    except PitwatchError as fault:
        visits.stopped = fault.what
        raise
    finally:
        server.close()
        await visits.end()
        with suppress(OSError):
            place.unlink(missing_ok=True)


class _Visits:
    """The open connections, so that none is left waiting at the end."""

    def __init__(self, take: Take) -> None:
        self._take = take
        self._going: set[asyncio.Task[None]] = set()
        self.stopped = "it is stopping"

    async def answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Answer the lines of one connection."""
        task = asyncio.current_task()
        assert task is not None
        self._going.add(task)
        try:
            while (line := await _next_line(reader)) != b"":
                _reply(writer, await _answered(self._take, line))
                await writer.drain()
        except ConnectionError:
            pass  # the client has gone
        except asyncio.CancelledError:
            _reply(writer, Answer(stopped=self.stopped))
        finally:
            self._going.discard(task)
            writer.close()

    async def end(self) -> None:
        """Report the table's stop, with its reason, to all waiting clients."""
        going = tuple(self._going)
        for task in going:
            task.cancel()
        await asyncio.gather(*going, return_exceptions=True)


def _reply(writer: asyncio.StreamWriter, answer: Answer) -> None:
    writer.write(msgspec.json.encode(answer) + b"\n")


async def _next_line(reader: asyncio.StreamReader) -> bytes | None:
    """Return the next line, empty at the end; ``None`` for one that was too long, once it is over.

    It is read to its end: a socket that is closed with unread bytes loses the answer.
    """
    is_short = True
    while True:
        try:
            line = await reader.readuntil()
        except asyncio.LimitOverrunError as over:
            is_short = False
            await reader.readexactly(over.consumed)
        except asyncio.IncompleteReadError as ended:
            return ended.partial if is_short else None
        else:
            return line if is_short else None


async def _answered(take: Take, line: bytes | None) -> Answer:
    if line is None:
        return Answer(refused=_TOO_LONG)
    try:
        word = decode_event(line.rstrip(b"\r\n"), "decision socket", 1)
        if not isinstance(word, Word):
            return Answer(refused="expected a console_entry, a review_resolved or a clock_checked")
        check_person(word, "decision socket", 1)
        return Answer(seq=await take(word))
    except PitwatchError as refused:
        return Answer(refused=f"{refused.what}. {refused.way_out}")


async def hand_in(journal: Path, word: Word) -> int | None:
    """Send an entry to the table of a journal.

    Returns:
        its ``seq`` in the journal; ``None`` where no table is at work on that journal.

    Raises:
        OperatorError: the table refuses it.
        TechnicianError: the table did not answer; it may have been journalled all the same.
    """
    place = socket_of(journal)
    try:
        with _short(place) as address:
            reader, writer = await asyncio.open_unix_connection(address, limit=_LONGEST)
    except (FileNotFoundError, ConnectionRefusedError):
        return None
    try:
        async with asyncio.timeout(_PATIENCE_S):
            writer.write(msgspec.json.encode(word) + b"\n")
            await writer.drain()
            line = await reader.readline()
    except (TimeoutError, ConnectionError) as fault:
        raise _unanswered(place) from fault
    finally:
        writer.close()
    return _seq_of(line, place)


def _seq_of(line: bytes, place: Path) -> int:
    if not line:
        raise _unanswered(place)
    answer = msgspec.json.decode(line, type=Answer)
    if answer.stopped is not None:
        raise _unanswered(place, f", it stopped: {answer.stopped}")
    if answer.seq is None:
        raise OperatorError(
            answer.refused or "the table refused it",
            where=str(place),
            way_out="Make another decision",
        )
    return answer.seq


def _unanswered(place: Path, why: str = "") -> TechnicianError:
    return TechnicianError(
        f"the table did not acknowledge it{why}",
        where=str(place),
        way_out="Check whether the journal has it; otherwise send it again",
    )


@contextmanager
def _short(place: Path) -> Iterator[str]:
    """Yield a socket's address; it has at most 107 bytes, so a long folder goes by its handle."""
    if len(os.fsencode(place)) < _LONGEST_ADDRESS:
        yield str(place)
        return
    folder = os.open(place.parent, os.O_PATH | os.O_DIRECTORY)
    try:
        yield f"/proc/self/fd/{folder}/{place.name}"
    finally:
        os.close(folder)
