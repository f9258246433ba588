"""The service's memory under heavy requests: ``python -m lab.bench.heavy_requests``.

A table's journal of 100,000 entries is made, a service serves it in a process of its own, and 40
requests for whole reports and exports come at once. Those beyond the queue are refused with 503 and
``Retry-After``. The figure is the process's peak of resident memory.
"""

import argparse
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from time import monotonic, sleep

import httpx

from lab.bench.record import Claim, add_option, record
from tests.faults.live_process import known_driver
from tests.server.service.house import House
from tests.server.table.journalled import begun

ROUNDS = 1900
"""Rounds of 100,459 entries."""
AT_ONCE = 40
PATHS = (
    "/api/sessions/BJ-01/report.html",
    "/api/sessions/BJ-01/report.pdf",
    "/api/exports/rounds.csv",
    "/api/exports/hands.parquet",
)
PORT = 8798


def journals(folder: Path, rounds: int) -> Path:
    """Return a folder with a table's journal of so many rounds, made where it is not there."""
    place = folder / f"journals-{rounds}"
    if not place.exists():
        with known_driver():
            placed = begun(folder, rounds)
        place.mkdir()
        shutil.copy(placed.beside(placed.config.journal), place / "BJ-01.journal")
    return place


@contextmanager
def served(place: Path, state: Path) -> Iterator[tuple[House, int]]:
    """Serve a folder in a process of its own; yield it, once it is ready, and the process."""
    command = [sys.executable, "-m", "pitwatch", "serve", str(place), "--state", str(state)]
    with subprocess.Popen([*command, "--port", str(PORT)], stderr=subprocess.DEVNULL) as process:
        house = House(f"http://127.0.0.1:{PORT}", place, state)
        try:
            while not is_ready(house):
                sleep(0.02)
            yield house, process.pid
        finally:
            process.terminate()


def is_ready(house: House) -> bool:
    """Return whether the service has read its journals."""
    try:
        return httpx.get(f"{house.url}/ready", timeout=60).status_code == 200
    except httpx.TransportError:
        return False


def peak_mib(process: int) -> int:
    """Return a process's peak of resident memory."""
    lines = Path(f"/proc/{process}/status").read_text("ascii").splitlines()
    (peak,) = (line for line in lines if line.startswith("VmHWM"))
    return int(peak.split()[1]) // 1024


def asked_at_once(house: House, paths: Sequence[str]) -> tuple[Counter[str], float]:
    """Ask for all at once; return how often each status came, and the seconds it took."""
    with house.signed_in("surveillance") as client:
        cookies = dict(client.cookies)

    def status(path: str) -> str:
        with httpx.Client(base_url=house.url, cookies=cookies, timeout=600) as client:
            answer = client.get(path)
        waits = "Retry-After" in answer.headers
        return f"{answer.status_code}{' with Retry-After' if waits else ''}"

    begun_s = monotonic()
    with ThreadPoolExecutor(len(paths)) as people:
        return Counter(people.map(status, paths)), monotonic() - begun_s


def measure(place: Path) -> Iterator[Claim]:
    """Yield the memory before and after, and what was answered."""
    with tempfile.TemporaryDirectory() as state, served(place, Path(state)) as (house, process):
        house.staff()
        yield Claim("peak memory of the service before", peak_mib(process), "MiB")
        paths = [PATHS[number % len(PATHS)] for number in range(AT_ONCE)]
        statuses, took_s = asked_at_once(house, paths)
        for status, count in sorted(statuses.items()):
            yield Claim(f"answered {status}", count, of=AT_ONCE)
        yield Claim("all answered after", round(took_s, 1), "s")
        yield Claim("peak memory of the service after", peak_mib(process), "MiB")


def main() -> None:
    """Print a line a figure."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    parser.add_argument("--place", type=Path, help="where the journal is made, and stays")
    add_option(parser)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        claims = []
        for claim in measure(journals(asked.place or Path(folder), asked.rounds)):
            claims.append(claim)
            print(f"{claim.claim}: {claim.value} {claim.unit}", flush=True)
    if asked.record:
        record("heavy_requests", claims)


if __name__ == "__main__":
    main()
