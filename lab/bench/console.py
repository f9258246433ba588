"""From a click to the evidence: ``python -m lab.bench.console --times 20``.

The demo session is replayed into a journal and shown by a real service, of a house in Paris, to a
browser in Los Angeles. An officer opens the floor, an incident from it, the moment of its mistake,
and plays it: three clicks. Told is how long the last two took until the felt was drawn and the
video moved. Then a table and a time, in the house's time, are typed once into Find: told is how
long it took until the right round's video moves from that moment on. ``--archive FOLDER`` puts the
session among those that ``lab.bench.service_archive --keep FOLDER`` left there. Beside it stands
what the same browser took for an empty page.
"""

import argparse
import re
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from playwright.sync_api import Locator, Page, sync_playwright

from models.house import House
from server.commands.replay import Outputs, play_and_write
from server.demo import SESSION
from server.table.replay import ReplayOptions
from tests.console.looking import Screen, chromium, screen
from tests.server.service.house import house

_PLAYS = """(video => {
    const stood = window.stood;
    window.stood = video.currentTime;
    return !video.seeking && !video.paused && video.readyState > 1 && video.currentTime > stood;
})(document.querySelector('video') ?? { seeking: true })"""
_ASKED = "BJ-07 2026-01-01 at 21:00:20"
"""Within the demo session's first round, by the clocks of Paris."""
_FOUND = re.compile(r"21:00:2[0-3]\.\d{3}")
"""What the player shows where that moment was found, some seconds later at most."""
_PARIS = House(zone="Europe/Paris", locale="en-GB", currency="EUR")


def main(argv: Sequence[str] | None = None) -> int:
    """Run the bench and print its figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--times", type=int, default=20)
    parser.add_argument("--archive", type=Path, help="a folder with journals and state")
    asked = parser.parse_args(argv)
    with tempfile.TemporaryDirectory() as passing:
        folder = asked.archive or Path(passing)
        journals = folder / "journals"
        _demo_in(journals)
        with (
            house(journals, folder / "state", of=_PARIS) as found,
            sync_playwright() as playwright,
            playwright.chromium.launch(executable_path=chromium(), args=["--no-sandbox"]) as used,
            screen(used, found, zone="America/Los_Angeles") as officer,
        ):
            found.staff()
            officer.sign_in("surveillance")
            taken = [] if asked.archive else [_evidence_ms(officer) for _ in range(asked.times)]
            sought = [_sought_ms(officer) for _ in range(asked.times)]
            empty = [_timed(lambda: _nothing(officer)) for _ in range(asked.times)]
    _report("an empty page", empty)
    if taken:
        _report("an incident: the felt and its verdicts", [felt for felt, _ in taken])
        _report("    the video plays", [video for _, video in taken])
    _report("a table and a time, typed once: the round's page", [page for page, _ in sought])
    _report("    its video moves from that moment on", [video for _, video in sought])
    _report("    both, two actions: type, Enter", [page + video for page, video in sought])
    return 0


def _demo_in(journals: Path) -> None:
    journals.mkdir(parents=True, exist_ok=True)
    journal = journals / "bj-07.journal"
    if not journal.exists():
        (journals / "demo").symlink_to(SESSION.resolve(), target_is_directory=True)
        play_and_write(ReplayOptions(SESSION), Outputs(journal=journal))


def _evidence_ms(officer: Screen) -> tuple[float, float]:
    """Return how long the felt took from the second click, and the video from the third."""
    page = officer.page
    officer.go("floor")
    newest = page.get_by_role("region", name="Newest incidents")
    newest.get_by_role("link").first.click()
    moment = page.get_by_role("button", name="See it at")
    moment.wait_for()
    felt = _timed(lambda: _open(page, moment))
    return felt, _timed(lambda: _play(page))


def _sought_ms(officer: Screen) -> tuple[float, float]:
    """Return how long the round's page took from Enter, and its video from then on."""
    page = officer.page
    officer.go("floor")
    officer.go("rounds")
    page.get_by_label("What happened at").fill(_ASKED)
    felt = _timed(lambda: _enter(page))
    video = _timed(lambda: _moving(page))
    shown = page.locator(".now-at").inner_text()
    assert page.get_by_role("heading", name="BJ-07 · round 1", exact=True).is_visible()
    assert _FOUND.search(shown), shown
    return felt, video


def _enter(page: Page) -> None:
    page.keyboard.press("Enter")
    page.locator("svg.felt").wait_for()


def _moving(page: Page) -> None:
    while not page.evaluate(_PLAYS):
        time.sleep(0.005)


def _open(page: Page, moment: Locator) -> None:
    moment.click()
    page.locator("svg.felt").wait_for()


def _play(page: Page) -> None:
    page.get_by_role("button", name="Play").click()
    _moving(page)


def _nothing(officer: Screen) -> None:
    officer.page.goto(f"{officer.url}/health")


def _timed(work: Callable[[], object]) -> float:
    begun = time.perf_counter()
    work()
    return (time.perf_counter() - begun) * 1000


def _report(what: str, taken: Sequence[float]) -> None:
    middle = statistics.median(taken)
    print(f"{what}: median {middle:.0f} ms, worst {max(taken):.0f} ms of {len(taken)}")


if __name__ == "__main__":
    sys.exit(main())
