"""From a click to the evidence: ``python -m tests.bench.console --times 20``.

The demo session is replayed into a journal and shown by a real service. A browser opens the
floor, an incident from it, the moment of its mistake, and plays it: three clicks. Told is how
long the last two took until the felt was drawn and the video moved; and what the same browser
took for a page that says nothing, beside it.
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

_MOVING = "document.querySelector('video').currentTime > window.stood"
_STANDING = "window.stood = document.querySelector('video').currentTime"


def main(argv: Sequence[str] | None = None) -> int:
    """Run the bench and print its figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--times", type=int, default=20)
    asked = parser.parse_args(argv)
    with tempfile.TemporaryDirectory() as folder:
        journals = Path(folder) / "journals"
        journals.mkdir()
        (journals / "demo").symlink_to(SESSION, target_is_directory=True)
        play_and_write(ReplayOptions(SESSION), Outputs(journal=journals / "bj-07.journal"))
        with (
            house(journals, Path(folder) / "state") as found,
            sync_playwright() as playwright,
            playwright.chromium.launch(executable_path=chromium(), args=["--no-sandbox"]) as used,
            desk(used, found) as officer,
        ):
            found.staff()
            officer.sign_in("surveillance")
            taken = [_evidence_ms(officer) for _ in range(asked.times)]
            empty = [_timed(lambda: _nothing(officer)) for _ in range(asked.times)]
    _tell("a page that says nothing", empty)
    _tell("the felt and its verdicts", [felt for felt, _ in taken])
    _tell("the video plays", [video for _, video in taken])
    return 0


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


def _open(page: Page, moment: Locator) -> None:
    moment.click()
    page.locator("svg.felt").wait_for()


def _play(page: Page) -> None:
    page.get_by_role("button", name="Play").click()
    while page.evaluate("document.querySelector('video').readyState") < 2:
        time.sleep(0.005)
    page.evaluate(_STANDING)
    while not page.evaluate(_MOVING):
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
