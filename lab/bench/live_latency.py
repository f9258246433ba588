"""How late a live table is: ``python -m lab.bench.live_latency [--rounds 3]``.

A simulated session is filmed at 1080p and 30 pictures a second and played in real time by a
process of its own: bytes on pseudo-terminals, pictures as motion JPEG over HTTP. The table sees
and hears it with all of its live code and the trained reader, on the same machine. What is
measured runs from the moment that something lay on the felt to the entry that says so: a card
at rest to its fact, the last card or chip of a round to its settlement.
"""

import argparse
import asyncio
import subprocess
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from models.cards import Card
from models.events import CameraFault, CardDealt, Event, PaymentMade, WagerPlaced
from models.judgements import AnyEvent, RoundSettled
from server.table.check import checked
from server.table.live import LiveTable
from server.table.playing import played
from simulation.session import Settings, simulate
from stream.clock import HostClock
from stream.journal import Journal
from stream.recording import read_description, read_events
from vision.reader import Reader
from vision.scenes.look import Look

_AFTERWARDS_S = 8.0
_MS = 1_000_000
_Dealt = tuple[str | int, int, Card | None]


@dataclass
class Received:
    """What the table reported, and when."""

    clock: HostClock
    facts: list[tuple[int, CardDealt]] = field(default_factory=list)
    settled: dict[int, tuple[int, str]] = field(default_factory=dict)
    left_out: int = 0

    def take(self, event: Event) -> None:
        """Note an entry as it is published."""
        now_ns = self.clock.now_ns()
        match event:
            case CardDealt():
                self.facts.append((now_ns, event))
            case RoundSettled():
                self.settled.setdefault(event.result.round, (now_ns, event.result.status))
            case CameraFault(kind="left_out"):
                self.left_out += 1


def cards_ms(truth: list[AnyEvent], received: Received, shift_ns: int) -> list[float]:
    """How long after it came to rest each card was a fact; cards come in the truth's order."""
    dealt: dict[_Dealt, list[int]] = defaultdict(list)
    for at_ns, fact in received.facts:
        dealt[fact.to, fact.hand, fact.card].append(at_ns)
    found = []
    for due in truth:
        if isinstance(due, CardDealt):
            moments = dealt[due.to, due.hand, due.card]
            if moments:
                found.append((moments.pop(0) - (due.at or 0) - shift_ns) / _MS)
    return found


def rounds_ms(truth: list[AnyEvent], received: Received, shift_ns: int) -> list[float]:
    """How long after its last card or chip each round was settled."""
    return [
        (received.settled[number][0] - last_ns - shift_ns) / _MS
        for number, last_ns in _last_moves(truth)
        if number in received.settled
    ]


def _last_moves(truth: list[AnyEvent]) -> Iterator[tuple[int, int]]:
    last_ns = 0
    for event in truth:
        if isinstance(event, CardDealt | PaymentMade | WagerPlaced):
            last_ns = event.at or 0
        elif isinstance(event, RoundSettled):
            yield event.result.round, last_ns


async def watched(
    config: Path, devices: "subprocess.Popen[str]", rounds: int
) -> tuple[Received, int]:
    """Run the table until the session has been played; return its events, and the start."""
    clock = HostClock()
    received, reader = Received(clock), Reader.load()
    with Journal.create(config.with_name("table.journal")) as journal:
        table = LiveTable(checked(config), journal, clock, reader, received.take)
        stop = asyncio.Event()
        running = asyncio.create_task(table.run(stop))
        while len(table.standing.connected) < len(table.standing.sources):
            await asyncio.sleep(0.05)
        await asyncio.sleep(3)
        start_ns = int(await asyncio.to_thread(_asked, devices, "play"))
        done = asyncio.create_task(asyncio.to_thread(_asked, devices, "wait"))
        while not (done.done() and len(received.settled) >= rounds) and not running.done():
            await asyncio.sleep(0.1)
            if done.done() and clock.now_ns() > int(done.result()) + _AFTERWARDS_S * 1e9:
                break
        stop.set()
        await running
    return received, start_ns


def _asked(devices: "subprocess.Popen[str]", what: str) -> str:
    assert devices.stdin is not None
    assert devices.stdout is not None
    devices.stdin.write(f"{what}\n")
    devices.stdin.flush()
    return devices.stdout.readline()


def _spread(found_ms: list[float]) -> str:
    if not found_ms:
        return ""
    median, p99 = np.percentile(found_ms, (50, 99))
    return f"; ms: median {median:.0f}, p99 {p99:.0f}, worst {max(found_ms):.0f}"


def play(session: Path, place: Path) -> None:
    """Play the devices when asked; print when the session began and when all was reported."""
    with played(session, place) as playing:
        print(playing.config, flush=True)
        for line in sys.stdin:
            if line == "play\n":
                playing.play()
                print(playing.start_ns, flush=True)
            else:
                playing.wait()
                print(HostClock().now_ns(), flush=True)


def main() -> None:
    """Film a session, play it live and print how late the table was."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--fps", type=int, default=30)
    parser.add_argument("--height", type=int, default=1080)
    parser.add_argument("--devices", type=Path, nargs=2, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.devices:
        play(*given.devices)
        return
    look = Look(fps=given.fps, width_px=given.height * 16 // 9, height_px=given.height)
    settings = Settings(rounds=given.rounds, seed=given.seed, look=look)
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder) / "cables"
        place.mkdir()
        session = simulate(settings, Path(folder) / "session")
        command = [sys.executable, "-m", "lab.bench.live_latency", "--devices"]
        with subprocess.Popen(
            [*command, str(session), str(place)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        ) as devices:
            assert devices.stdout is not None
            config = Path(devices.stdout.readline().strip())
            received, start_ns = asyncio.run(watched(config, devices, given.rounds))
            assert devices.stdin is not None
            devices.stdin.close()
            devices.terminate()
        truth = list(read_events(session / "truth.jsonl"))
        shift_ns = start_ns - read_description(session).at
    dealt = sum(isinstance(event, CardDealt) for event in truth)
    for what, due, found in (
        ("card at rest to its fact", dealt, cards_ms(truth, received, shift_ns)),
        ("last card or chip to settlement", given.rounds, rounds_ms(truth, received, shift_ns)),
    ):
        print(f"{what}: {len(found)} of {due}{_spread(found)}")
    statuses = ", ".join(f"{number} {status}" for number, (_, status) in received.settled.items())
    print(f"rounds: {statuses}; pictures left out were reported {received.left_out} times")


if __name__ == "__main__":
    main()
