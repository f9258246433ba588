"""The floor's page over many tables in a real Chromium: ``python -m lab.bench.floor_page``.

Tables' journals are forwarded to a PostgreSQL of this bench's own, a service shows them, and a
person who is signed in opens the page of all tables some times, each time in a new tab. Told is how
long it takes until the first tile and until every tile is drawn, and the memory then: of the page's
scripts, and of all the browser's processes beyond those of an empty tab.
"""

import argparse
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path
from statistics import median
from typing import Any

from playwright.sync_api import Page, sync_playwright

from lab.bench.floor_record import write_journals
from lab.bench.record import Claim, add_option, record
from stream.clock import elapsed_ns
from tests.console.looking import Screen, chromium, screen
from tests.server.floor_record.served import kept_in
from tests.server.service.house import house

_WAIT_MS = 120_000


def seconds_until(page: Page, began_ns: int, tiles: int) -> float:
    """Wait until at least so many tiles are drawn; return the seconds since the start."""
    page.wait_for_function(
        "many => document.querySelectorAll('a.tile').length >= many", arg=tiles, timeout=_WAIT_MS
    )
    return (elapsed_ns() - began_ns) / 1e9


def pss_mb(folder: str) -> float:
    """Return the memory of the processes that name a folder, and of their children."""
    listed = subprocess.run(
        ["ps", "-eo", "pid=,ppid=,args="], capture_output=True, text=True, check=True
    ).stdout.splitlines()
    rows = [
        (int(pid), int(parent), args) for pid, parent, args in (r.split(None, 2) for r in listed)
    ]
    own = {pid for pid, _, args in rows if folder in args}
    while more := {pid for pid, parent, _ in rows if parent in own} - own:
        own |= more
    total_kb = 0
    for pid in own:
        try:
            told = Path(f"/proc/{pid}/smaps_rollup").read_text()
        except OSError:
            continue
        total_kb += int(told.split("Pss:")[1].split()[0])
    return total_kb / 1024


def opened(officer: Screen, tables: int, folder: str) -> tuple[float, float, float, float]:
    """Open the page of all tables in a new tab; return both times, and both sizes in MB."""
    page = officer.page.context.new_page()
    page.goto(f"{officer.url}/health")
    empty_mb = pss_mb(folder)
    began_ns = elapsed_ns()
    page.goto(f"{officer.url}/#/floor")
    first_s = seconds_until(page, began_ns, 1)
    all_s = seconds_until(page, began_ns, tables)
    page.wait_for_timeout(500)
    told: Any = page.context.new_cdp_session(page)
    told.send("HeapProfiler.collectGarbage")
    heap_mb = told.send("Runtime.getHeapUsage")["usedSize"] / 2**20
    size_mb = pss_mb(folder) - empty_mb
    page.close()
    return first_s, all_s, heap_mb, size_mb


def measured(tables: int, entries: int, times: int) -> Iterator[Claim]:
    """Forward, serve, open, and yield the figures."""
    with tempfile.TemporaryDirectory(prefix="pit-") as place, sync_playwright() as playwright:
        journals, folder = Path(place) / "journals", str(Path(place) / "browser")
        journals.mkdir()
        write_journals(journals, tables, entries)
        with (
            kept_in("floor", journals) as store,
            house(journals, Path(place) / "state", store=store) as found,
        ):
            found.staff()
            flags = ["--no-sandbox", f"--disk-cache-dir={folder}"]
            used = playwright.chromium.launch(executable_path=chromium(), args=flags)
            with screen(used, found) as officer:
                officer.sign_in("surveillance")
                taken = [opened(officer, tables, folder) for _ in range(times)]
            used.close()
    what = f"{tables:,} tables, the floor's page"
    for nth, (name, unit) in enumerate(
        (
            ("first tile drawn after", "s"),
            ("every tile drawn after", "s"),
            ("memory of its scripts", "MB"),
            ("memory of the browser beyond an empty tab", "MB"),
        )
    ):
        found_there = [one[nth] for one in taken]
        yield Claim(f"{what}: {name}, median of {times}", round(median(found_there), 2), unit)


def main() -> None:
    """Measure."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--tables", type=int, default=1000)
    parser.add_argument("--entries", type=int, default=60, help="of each table")
    parser.add_argument("--times", type=int, default=5)
    add_option(parser)
    asked = parser.parse_args()
    claims = []
    for claim in measured(asked.tables, asked.entries, asked.times):
        print(f"{claim.claim:<80}{claim.value:>10} {claim.unit}", flush=True)
        claims.append(claim)
    if asked.record:
        record("floor_page", claims)


if __name__ == "__main__":
    main()
