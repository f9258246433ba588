"""How soon a local device is connected after a replug: ``python -m lab.bench.reconnecting``.

Shoes on pseudo-terminals that keep their name, each unplugged for a time of its own, again and
again, under the supervisor's own back-off and budget. Beside the time from the plug to
``device_returned`` stands how long the same machine takes to open such a port.
"""

import argparse
import asyncio
import random
import statistics
import tempfile
import time
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path

from devices.simulators import SimulatedPort
from devices.supervisor import Backoff, Budget
from devices.transport import SerialTransport
from models.events import DeviceReturned
from tests.devices.live import LiveTable

AWAY_S = (0.1, 0.4, 1.0, 2.0, 4.0, 8.0, 16.0, 25.0)
"""How long a plug is out …"""
_MORE_S = 0.5
"""… and up to so much longer, by chance: no replug comes at the same moment of a wait."""


async def _replugs(folder: Path, times: int) -> dict[float, list[float]]:
    table = LiveTable(Backoff(), Budget())
    with ExitStack() as held:
        ports = {s: held.enter_context(SimulatedPort(folder / f"{s}")) for s in AWAY_S}
        table.keep([table.device(port.port, "line", f"{s}") for s, port in ports.items()])
        took = await asyncio.gather(
            *(_replugged(table, away_s, port, times) for away_s, port in ports.items())
        )
        await table.leave()
    return dict(zip(AWAY_S, took, strict=True))


async def _replugged(
    table: LiveTable, away_s: float, port: SimulatedPort, times: int
) -> list[float]:
    source, found, chance = f"{away_s}", list[float](), random.Random(away_s)
    await table.until_open(source)
    for number in range(times):
        await asyncio.to_thread(port.unplug)
        await asyncio.sleep(away_s + chance.uniform(0, _MORE_S))
        port.replug()
        plugged_s = time.monotonic()
        await table.until(lambda due=number: _returns(table, source) > due, within_s=700)  # type: ignore[misc]
        found.append(time.monotonic() - plugged_s)
    return found


def _returns(table: LiveTable, source: str) -> int:
    return sum(isinstance(each, DeviceReturned) for each in table.of(source))


def _opening_s(folder: Path) -> float:
    with SimulatedPort(folder / "at-once") as port:
        begun_s = time.monotonic()
        SerialTransport(port.port, 9600).close()
        return time.monotonic() - begun_s


def _line(name: str, took_s: Sequence[float]) -> str:
    least, median, most = min(took_s), statistics.median(took_s), max(took_s)
    return f"{name:>12} {len(took_s):7} {least:8.2f} {median:8.2f} {most:8.2f}"


def main() -> None:
    """Print a line for each time away, and one for all."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    parser.add_argument("--times", type=int, default=4, help="replugs of each device")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        opening_s = _opening_s(Path(folder))
        found = asyncio.run(_replugs(Path(folder), asked.times))
    print(f"{'away':>12} {'replugs':>7} {'min s':>8} {'median s':>8} {'max s':>8}")
    for away_s, took_s in found.items():
        print(_line(f"{away_s} s", took_s))
    print(_line("all", [one for took_s in found.values() for one in took_s]))
    print(f"a port that is there opens in {opening_s * 1000:.1f} ms")


if __name__ == "__main__":
    main()
