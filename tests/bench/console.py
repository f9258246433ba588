"""From a click to the evidence: ``python -m tests.bench.console --times 20``.

The demo session is replayed into a journal and shown by a real service. A browser opens the
floor, an incident from it, the moment of its mistake, and plays it: three clicks. Told is how
long the last two took until the felt was drawn and the video moved; then the same from the page of
rounds: table and time typed, Find, Play. ``--archive FOLDER`` puts the session among those that
``tests.bench.service_archive --keep FOLDER`` left there. Beside it stands what the same browser
took for a page that says nothing.
"""

import argparse
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from playwright.sync_api import Locator, Page, sync_playwright

from server.demo import SESSION
from server.replay import ReplayOptions
from server.replay_command import Outputs, play_and_write
from tests.console.looking import Desk, chromium, desk
from tests.server.service.house import house

_PLAYS = """(video => {
    const stood = window.stood;
    window.stood = video.currentTime;
    return !video.seeking && !video.paused && video.readyState > 1 && video.currentTime > stood;
})(document.querySelector('video'))"""
_MOMENT = "2026-01-01T20:00:20"
"""Within the demo session's first round."""
_STANDING = "window.stood = document.querySelector('video').currentTime"


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
            house(journals, folder / "state") as found,
            sync_playwright() as playwright,
            playwright.chromium.launch(executable_path=chromium(), args=["--no-sandbox"]) as used,
            desk(used, found) as officer,
        ):
            found.staff()
            officer.sign_in("surveillance")
            taken = [] if asked.archive else [_evidence_ms(officer) for _ in range(asked.times)]
            sought = [_sought_ms(officer) for _ in range(asked.times)]
            empty = [_timed(lambda: _nothing(officer)) for _ in range(asked.times)]
    _tell("a page that says nothing", empty)
    if taken:
        _tell("an incident: the felt and its verdicts", [felt for felt, _ in taken])
        _tell("    the video plays", [video for _, video in taken])
    _tell("a round by table and time: the felt and its verdicts", [felt for felt, _ in sought])
    _tell("    the video plays", [video for _, video in sought])
    _tell("    both", [felt + video for felt, video in sought])
    return 0


def _demo_in(journals: Path) -> None:
    journals.mkdir(parents=True, exist_ok=True)
    journal = journals / "bj-07.journal"
    if not journal.exists():
        (journals / "demo").symlink_to(SESSION.resolve(), target_is_directory=True)
        play_and_write(ReplayOptions(SESSION), Outputs(journal=journal))


def _evidence_ms(officer: Desk) -> tuple[float, float]:
    """Return how long the felt took from the second click, and the video from the third."""
    page = officer.page
    officer.go("floor")
    newest = page.get_by_role("region", name="Newest incidents")
    newest.get_by_role("link").first.click()
    moment = page.get_by_role("button", name="See it at")
    moment.wait_for()
    felt = _timed(lambda: _open(page, moment))
    return felt, _timed(lambda: _play(page))


def _sought_ms(officer: Desk) -> tuple[float, float]:
    """Return how long the felt took from Find, and the video from Play."""
    page = officer.page
    officer.go("floor")
    officer.go("rounds")
    page.get_by_label("Table to look at").select_option("BJ-07")
    page.get_by_label("What happened at").fill(_MOMENT)
    felt = _timed(lambda: _open(page, page.get_by_role("button", name="Find")))
    return felt, _timed(lambda: _play(page))


def _open(page: Page, moment: Locator) -> None:
    moment.click()
    page.locator("svg.felt").wait_for()


def _play(page: Page) -> None:
    page.get_by_role("button", name="Play").click()
    while not page.evaluate(_PLAYS):
        time.sleep(0.005)


def _nothing(officer: Desk) -> None:
    officer.page.goto(f"{officer.url}/health")


def _timed(work: Callable[[], object]) -> float:
    begun = time.perf_counter()
    work()
    return (time.perf_counter() - begun) * 1000


def _tell(what: str, taken: Sequence[float]) -> None:
    middle = statistics.median(taken)
    print(f"{what}: median {middle:.0f} ms, worst {max(taken):.0f} ms of {len(taken)}")


if __name__ == "__main__":
    sys.exit(main())
