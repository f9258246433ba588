"""Pictures of every page at four sizes: ``python -m tests.console.gallery OUT``.

The demo session and a house of many tables are served by a real service and looked at in a real
browser. ``OUT/SIZE/PAGE.png`` is the whole page; ``--only REGEX`` takes some of them alone, and
``--first-screen`` the first screen of each as ``PAGE.jpg``, for ``docs/console.md``. Pages
that cannot be looked at in one go are asked for by what a person would do there. The demo's
journal is kept in ``--journal`` between two runs, since replaying it takes half a minute.
"""

import argparse
import re
import sys
import tempfile
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Final

from playwright.sync_api import Browser, sync_playwright
from playwright.sync_api import Error as PlaywrightError

from server.commands.replay import Outputs, play_and_write
from server.demo import SESSION
from server.table.replay import ReplayOptions
from simulation.session import simulate
from stream.journal import Journal
from tests.console.busy_floor import busy_floor
from tests.console.looking import Screen, chromium, faults_of, screen
from tests.golden.sessions import SESSIONS
from tests.server.doubted import play_blinded
from tests.server.service.house import House, house
from vision.scenes.look import Look

SIZES: Final = ((1920, 1080), (1280, 800), (1024, 768), (390, 844))
TABLES: Final = 42
_KEPT: Final = Path(__file__).parents[2] / ".cache" / "demo" / "bj-07.journal"
_SETTLED_MS: Final = 700
_JPEG_QUALITY: Final = 80
# For a late picture of a card, and the browser's own sign that a video loads. Chosen, not measured.
_AT_REST_MS: Final = 4000
_ALL_SHOWN: Final = "[...document.querySelectorAll('main img[src]')].every((one) => one.complete)"


def main(argv: Sequence[str] | None = None) -> int:
    """Take the pictures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("out", type=Path)
    parser.add_argument("--only", default="", metavar="REGEX", help="pages whose name it fits")
    parser.add_argument("--first-screen", action="store_true", help="no whole pages, as JPEG")
    parser.add_argument("--size", action="append", help="WIDTHxHEIGHT; all four where left out")
    parser.add_argument("--journal", type=Path, default=_KEPT, help="the demo's journal")
    asked = parser.parse_args(argv)
    sizes = [size for size in SIZES if not asked.size or f"{size[0]}x{size[1]}" in asked.size]
    with (
        tempfile.TemporaryDirectory() as passing,
        sync_playwright() as playwright,
        playwright.chromium.launch(executable_path=chromium(), args=["--no-sandbox"]) as used,
    ):
        folder = Path(passing)
        _demo_in(folder, asked.journal)
        with (
            Journal.create(folder / "bj-08.journal") as doubted,
            busy_floor(folder, TABLES),
            house(folder, folder / "state") as found,
        ):
            play_blinded(doubted, "BJ-08")
            filmed = replace(
                SESSIONS["plain"], table="BJ-08", look=Look(width_px=1280, height_px=720, fps=10)
            )
            simulate(filmed, folder / "bj-08")
            found.staff()
            for width, height in sizes:
                size = width, height
                Gallery(used, found, asked.out, size, asked.only, asked.first_screen).take()
    return 0


def _demo_in(folder: Path, journal: Path) -> None:
    if not journal.exists():
        journal.parent.mkdir(parents=True, exist_ok=True)
        play_and_write(ReplayOptions(SESSION), Outputs(journal=journal))
    (folder / "bj-07.journal").write_bytes(journal.read_bytes())
    (folder / "bj-07").symlink_to(SESSION.resolve(), target_is_directory=True)


class Gallery:
    """All pages at one size."""

    def __init__(
        self,
        browser: Browser,
        at: House,
        out: Path,
        size: tuple[int, int],
        only: str,
        first_screen: bool,
    ) -> None:
        self._browser, self._at, self._size, self._only = browser, at, size, only
        self._first_screen = first_screen
        self._out = out / f"{size[0]}x{size[1]}"

    def take(self) -> None:
        """Take a picture of every page, each as the role that works there."""
        self._out.mkdir(parents=True, exist_ok=True)
        with screen(self._browser, self._at, *self._size) as stranger:
            stranger.page.goto(self._at.url)
            self._shot(stranger, "sign-in")
        with screen(self._browser, self._at, *self._size) as officer:
            officer.sign_in("surveillance")
            for name, address in _PAGES.items():
                self._page(officer, name, address)
            for name, act in _DONE.items():
                if self._is_asked(name):
                    act(officer)
                    self._shot(officer, name)
        with screen(self._browser, self._at, *self._size) as keeper:
            keeper.sign_in("admin")
            self._page(keeper, "people", "people")

    def _is_asked(self, name: str) -> bool:
        return re.search(self._only, name) is not None

    def _page(self, at: Screen, name: str, address: str) -> None:
        if self._is_asked(name):
            at.go(address)
            self._shot(at, name)

    def _shot(self, at: Screen, name: str) -> None:
        if not self._is_asked(name):
            return
        for waiting in ("Reading…", "Loading the video…", "Loading the pictures…"):
            at.page.get_by_text(waiting).wait_for(state="detached")
        for image in at.page.locator("main img").all():
            with suppress(PlaywrightError):
                image.scroll_into_view_if_needed(timeout=_SETTLED_MS)
                image.evaluate("one => one.decode()")
        at.page.wait_for_function(_ALL_SHOWN)
        at.page.evaluate("scrollTo(0, 0)")
        at.page.wait_for_timeout(_SETTLED_MS)
        if self._first_screen:
            at.page.wait_for_timeout(_AT_REST_MS)
            at.page.screenshot(path=self._out / f"{name}.jpg", quality=_JPEG_QUALITY)
        else:
            at.page.screenshot(path=self._out / f"{name}.png", full_page="screen" not in name)
        for fault in faults_of(at.page):
            print(f"{self._out.name}/{name}: {fault}", file=sys.stderr)
        wide = at.page.evaluate("document.documentElement.scrollWidth")
        if wide > self._size[0]:
            print(f"{self._out.name}/{name}: {wide} px wide", file=sys.stderr)


_PAGES: Final = {
    "floor": "floor",
    "table-recorded": "table/BJ-07",
    "table-dealing": "table/BJ-24",
    "table-in-doubt": "table/BJ-08",
    "round": "round/bj-07/1",
    "round-late": "round/bj-07/4",
    "incidents": "incidents/bj-07.4",
    "to-decide": "incidents/bj-08.1",
    "rounds": "rounds",
    "charts": "charts",
    "rulebook": "rulebook",
    "own": "own",
    "unknown-address": "nowhere/at/all",
    "unknown-table": "table/BJ-99",
    "unknown-round": "round/bj-07/999",
}


def _offline(officer: Screen) -> None:
    officer.go("table/BJ-07")
    officer.page.wait_for_timeout(_SETTLED_MS)
    officer.page.context.set_offline(True)
    officer.page.wait_for_timeout(2000)


def _second_factor(officer: Screen) -> None:
    officer.page.context.set_offline(False)
    officer.go("own")
    officer.page.get_by_role("textbox", name="Your password").fill("a long enough password")
    officer.page.get_by_role("button", name="Set it up").click()
    officer.page.locator(".secret").wait_for()


def _menu(officer: Screen) -> None:
    officer.go("floor")
    menu = officer.page.get_by_role("button", name="Menu")
    if menu.is_visible():
        menu.click()


def _moment(officer: Screen) -> None:
    officer.go("round/bj-07/4")
    events = officer.page.get_by_role("list", name="Events of the round").get_by_role("button")
    events.filter(has_text=re.compile("pays|is paid")).first.click()


def _mistake(officer: Screen) -> None:
    officer.go("round/bj-07/4")
    officer.page.get_by_text("See it").first.click()


def _closer(officer: Screen) -> None:
    _moment(officer)
    for _ in range(3):
        officer.page.keyboard.press("+")


def _full_screen(officer: Screen) -> None:
    _moment(officer)
    officer.page.keyboard.press("f")


_DONE: Final[dict[str, Callable[[Screen], None]]] = {
    "menu": _menu,
    "viewer-moment": _moment,
    "viewer-mistake": _mistake,
    "viewer-closer": _closer,
    "viewer-full-screen": _full_screen,
    "offline": _offline,
    "second-factor": _second_factor,
}

if __name__ == "__main__":
    sys.exit(main())
