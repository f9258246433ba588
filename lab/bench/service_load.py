"""One service under load: ``python -m lab.bench.service_load --seconds 600``.

Forty journals are written by another process as forty tables would: each is the recorded session
again and again, at its own pace and with its own observations. A hundred viewers in a third
process watch every table over WebSockets. One more stops reading. Told is how long after an event
was handed to its journal a viewer had it (writing to disk included), whether every event came to
every viewer once and in order, and how the service's memory went.
"""

import argparse
import asyncio
import heapq
import multiprocessing
import os
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Final, cast

import httpx
import msgspec
from msgspec.structs import replace

from models.events import Event
from models.judgements import AnyEvent, RoundSettled
from stream.journal import Journal
from stream.reading import UnknownEvent, read_journal
from tests.server.service.house import play, token_for

_LIMIT_MS = 250
_DRAIN_S = 5.0
_PAGE_KIB = 4
_BUCKET_US = 100
_SMALL_BUFFER = 4096
"""So that the viewer that stops reading is soon full."""


_TEXT, _CLOSE, _PING, _PONG = 1, 8, 9, 10


class _Seen(msgspec.Struct):
    seq: int
    at: int


class _Message(msgspec.Struct):
    session: str
    event: _Seen


_DECODER: Final = msgspec.json.Decoder(_Message)


def main(argv: Sequence[str] | None = None) -> int:
    """Run it; 1 where an event was lost or came too late."""
    asked = _parser().parse_args(argv)
    with tempfile.TemporaryDirectory() as folder, _service(Path(folder)) as (url, pid):
        token = token_for(url, Path(folder) / "state", "pit")
        spawn = multiprocessing.get_context("spawn")
        here, there = spawn.Pipe()
        written, writing = spawn.Pipe()
        arguments = (Path(folder), asked.tables, asked.seconds, writing)
        writer = spawn.Process(target=_write, args=arguments)
        watchers = spawn.Process(target=_watch, args=(url, token, asked.viewers, there))
        writer.start()
        written.recv()
        _until_known(url, token, asked.tables)
        watchers.start()
        here.recv()
        written.send("go")
        began_s = _core_seconds(pid)
        sizes = _sizes(pid, asked.seconds)
        spent_s = _core_seconds(pid) - began_s
        last: dict[str, int] = written.recv()
        here.send(last)
        lost, stalled, counts = here.recv()
        for process in (writer, watchers):
            process.join()
        return _report(asked, last, lost, stalled, counts, sizes, spent_s)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--tables", type=int, default=40)
    parser.add_argument("--viewers", type=int, default=100)
    parser.add_argument("--seconds", type=float, default=60)
    return parser


# --- the service ----------------------------------------------------------------------------


@contextmanager
def _service(folder: Path) -> Iterator[tuple[str, int]]:
    (folder / "journals").mkdir()
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port = probe.getsockname()[1]
    words = [sys.executable, "-m", "server", "serve", str(folder / "journals")]
    words += ["--state", str(folder / "state"), "--port", str(port)]
    with (folder / "log").open("wb") as log, subprocess.Popen(words, stderr=log) as process:
        url = f"http://127.0.0.1:{port}"
        try:
            _until_ready(url)
            yield url, process.pid
        finally:
            process.terminate()


def _until_ready(url: str) -> None:
    for _ in range(600):
        try:
            if httpx.get(url + "/ready").status_code == 200:
                return
        except httpx.TransportError:
            pass
        time.sleep(0.1)
    raise RuntimeError("the service does not start")


def _until_known(url: str, token: str, tables: int) -> None:
    headers = {"Authorization": f"Bearer {token}"}
    while len(httpx.get(url + "/api/sessions", headers=headers).json()) < tables:
        time.sleep(0.1)


def _sizes(pid: int, seconds: float) -> list[tuple[float, float]]:
    """Return the service's resident memory in MiB, every second or so."""
    found, began = [], time.monotonic()
    while (passed := time.monotonic() - began) < seconds:
        pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
        found.append((passed, pages * _PAGE_KIB / 1024))
        time.sleep(min(1.0, seconds / 20))
    return found


def _core_seconds(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


# --- the tables -----------------------------------------------------------------------------


def _write(folder: Path, tables: int, seconds: float, results: Connection) -> None:
    """Write the recorded session at every table, each from another moment on."""
    play(folder / "recorded.journal", "plain", "T")
    recorded = read_journal(folder / "recorded.journal")
    events: list[AnyEvent] = [event for event in recorded if not isinstance(event, UnknownEvent)]
    times = [event.at or 0 for event in events]
    span_ns = max(times) - times[0] + 1_000_000_000
    with ExitStack() as opened:
        journals = [
            opened.enter_context(Journal.create(folder / "journals" / f"bj-{number:02}.journal"))
            for number in range(tables)
        ]
        for number, journal in enumerate(journals):
            journal.append(_again(events[0], number, 0))
        results.send("open")
        results.recv()
        last = _play_all(journals, events, [at - times[0] for at in times], span_ns, seconds)
        results.send({f"bj-{number:02}": seq for number, seq in enumerate(last)})


def _play_all(
    journals: list[Journal], events: list[AnyEvent], due_ns: list[int], span_ns: int, seconds: float
) -> list[int]:
    began_ns = time.monotonic_ns()
    queue = []
    for table in range(len(journals)):
        first_ns = span_ns * table // len(journals)
        index = next((i for i, due in enumerate(due_ns) if due >= first_ns), 0)
        queue.append((due_ns[index] - first_ns, table, 0, index, first_ns))
    heapq.heapify(queue)
    while queue:
        due, table, loop, index, first_ns = heapq.heappop(queue)
        if due > seconds * 1e9:
            break
        time.sleep(max(due - (time.monotonic_ns() - began_ns), 0) / 1e9)
        journals[table].append(_again(events[index], table, loop))
        index += 1
        if index == len(events):
            loop, index = loop + 1, 0
        following = due_ns[index] + loop * span_ns - first_ns
        heapq.heappush(queue, (max(following, due), table, loop, index, first_ns))
    return [journal.last_seq for journal in journals]


def _again(event: AnyEvent, table: int, loop: int) -> Event:
    """Return an event as it comes once more, now, in a round of its own."""
    changes: dict[str, object] = {"at": time.time_ns(), "table": f"BJ-{table:02}"}
    number = getattr(event, "round", None)
    if number is not None:
        changes["round"] = number + 2 * loop
    if isinstance(event, RoundSettled):
        changes["result"] = replace(event.result, round=event.result.round + 2 * loop)
    return replace(event, **changes)


# --- the viewers ----------------------------------------------------------------------------


class _Viewer(asyncio.Protocol):
    """A WebSocket that is read and little else: viewers are other machines, not a load on this."""

    def __init__(self, request: bytes, counts: dict[int, int]) -> None:
        self._request, self._counts = request, counts
        self._left, self._answered = bytearray(), False
        self.places: dict[str, int] = {}
        self.faults: list[str] = []
        self.code: int | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = cast(asyncio.Transport, transport)
        self.transport.write(self._request)

    def data_received(self, data: bytes) -> None:
        self._left += data
        if not self._answered:
            head, _, rest = bytes(self._left).partition(b"\r\n\r\n")
            self._answered = b" 101 " in head.split(b"\r\n")[0]
            self._left = bytearray(rest)
        while (frame := self._frame()) is not None:
            self._take(*frame)

    def _frame(self) -> tuple[int, bytes] | None:
        """Take the next whole frame off: RFC 6455, section 5.2, from a server, so not masked."""
        left = self._left
        if len(left) < 2:
            return None
        size, begin = left[1], 2
        if size >= 126:
            begin = 4 if size == 126 else 10
            size = int.from_bytes(left[2:begin], "big")
        if len(left) < begin + size:
            return None
        frame = left[0] & 0xF, bytes(left[begin : begin + size])
        del left[: begin + size]
        return frame

    def _take(self, kind: int, content: bytes) -> None:
        if kind == _TEXT:
            self._count(_DECODER.decode(content))
        elif kind == _PING:
            self.transport.write(bytes([0x80 | _PONG, 0x80 | len(content), 0, 0, 0, 0]) + content)
        elif kind == _CLOSE:
            self.code = int.from_bytes(content[:2], "big")

    def _count(self, message: _Message) -> None:
        late = (time.time_ns() - message.event.at) // 1000 // _BUCKET_US
        self._counts[late] = self._counts.get(late, 0) + 1
        before = self.places.get(message.session, message.event.seq - 1)
        if message.event.seq != before + 1:
            self.faults.append(f"{message.session}: {message.event.seq} after {before}")
        self.places[message.session] = message.event.seq

    def connection_lost(self, _: Exception | None) -> None:
        self.faults.append(f"sent away with {self.code}")


def _watch(url: str, token: str, viewers: int, results: Connection) -> None:
    asyncio.run(_watch_all(httpx.URL(url), token, viewers, results))


async def _watch_all(url: httpx.URL, token: str, viewers: int, results: Connection) -> None:
    request = "\r\n".join(
        (
            "GET /stream HTTP/1.1",
            f"Host: {url.host}:{url.port}",
            f"Authorization: Bearer {token}",
            "Connection: Upgrade",
            "Upgrade: websocket",
            "Sec-WebSocket-Version: 13",
            "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
            "",
            "",
        )
    ).encode()
    counts: dict[int, int] = {}
    loop = asyncio.get_running_loop()

    async def watching(counted: dict[int, int]) -> _Viewer:
        _, made = await loop.create_connection(
            lambda: _Viewer(request, counted), url.host, url.port or 80
        )
        return made

    everybody = [await watching(counts) for _ in range(viewers)]
    idle = await watching({})
    own = idle.transport.get_extra_info("socket")
    own.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, _SMALL_BUFFER)
    await asyncio.sleep(_DRAIN_S)
    idle.transport.pause_reading()
    results.send("watching")
    last: dict[str, int] = await asyncio.to_thread(results.recv)
    await asyncio.sleep(_DRAIN_S)
    lost = [
        f"viewer {number}: {fault}" for number, one in enumerate(everybody) for fault in one.faults
    ] + [
        f"viewer {number}: {name} ended at {one.places.get(name)}, not {seq}"
        for number, one in enumerate(everybody)
        for name, seq in last.items()
        if one.places.get(name) != seq
    ]
    idle.transport.resume_reading()
    await asyncio.sleep(_DRAIN_S)
    results.send((lost, _parted(idle), counts))


def _parted(idle: _Viewer) -> str:
    """Return how a viewer was disconnected: one that reads nothing gets no code either."""
    if not idle.faults:
        return "is still connected"
    return f"was cut off after its last {sum(idle.places.values()):,} events, code {idle.code}"


# --- what came of it ------------------------------------------------------------------------


def _report(
    asked: argparse.Namespace,
    last: dict[str, int],
    lost: list[str],
    stalled: str,
    counts: dict[int, int],
    sizes: list[tuple[float, float]],
    spent_s: float,
) -> int:
    events, messages = sum(last.values()), sum(counts.values())
    p50, p99, p999 = (_share(counts, share) for share in (0.5, 0.99, 0.999))
    print(
        f"{asked.tables} tables, {asked.viewers} viewers, {asked.seconds:.0f} s: {events:,} events"
        f" ({events / asked.seconds:.0f}/s), {messages:,} messages, lost or out of order:"
        f" {len(lost)}"
    )
    print(
        f"from journal to viewer: median {p50:.1f} ms, 99% {p99:.1f} ms, 99.9% {p999:.1f} ms,"
        f" worst {max(counts) * _BUCKET_US / 1000:.1f} ms"
    )
    print(f"the service took {spent_s / asked.seconds:.2f} of a core")
    fifth_s = asked.seconds / 5
    fifths = [[size for at, size in sizes if n <= at / fifth_s < n + 1] for n in range(5)]
    means = ", ".join(f"{sum(one) / len(one):.1f}" for one in fifths if one)
    print(f"service's memory, by fifths of the time: {means} MiB")
    print(f"the viewer that stopped reading {stalled}")
    for line in lost[:5]:
        print(f"    {line}")
    return 1 if lost or p99 > _LIMIT_MS else 0


def _share(counts: dict[int, int], share: float) -> float:
    left = sum(counts.values()) * share
    for late in sorted(counts):
        left -= counts[late]
        if left <= 0:
            return late * _BUCKET_US / 1000
    return max(counts) * _BUCKET_US / 1000


if __name__ == "__main__":
    sys.exit(main())
