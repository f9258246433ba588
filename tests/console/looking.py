"""Working at the console as a person does: by what is written on it, and by its keys."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page, expect

from tests.server.service.house import PASSWORD, House
from tests.thoroughness import ALL

SHOTS: Final = Path(__file__).parents[2] / ".cache" / "console"
"""Where the pictures of the pages go."""
_WAIT_MS: Final = 30_000
_GRAVE: Final = frozenset({"moderate", "serious", "critical"})
_ASKED: Final = {"rules": {"label-content-name-mismatch": {"enabled": True}}}
"""axe's own rules, and one that it keeps off by default: names that differ from what is written."""


def chromium() -> str:
    """Return the browser's path; skip the test where there is none."""
    found = shutil.which("chromium")
    if found is None:
        pytest.skip("chromium is not installed: apt-get install chromium")
    return found


@dataclass
class Screen:
    """A person before the console; what the browser complains of is gathered."""

    page: Page
    url: str
    complaints: list[str] = field(default_factory=list)

    def sign_in(self, name: str, password: str = PASSWORD) -> None:
        """Sign in by keyboard, and wait for the bar with its pages."""
        self.page.goto(self.url)
        self.try_sign_in(name, password)
        expect(self.page.get_by_role("link", name="Your account")).to_be_visible()

    def enter(self, name: str) -> None:
        """Open the console with a session that is not asked for on the page."""
        sent = {"name": name, "password": PASSWORD}
        begun = self.page.context.request.post(f"{self.url}/api/sign-in", data=sent)
        assert begun.ok, begun.text()
        self.page.goto(self.url)
        keep = "token => localStorage.setItem('pitwatch.csrf', token)"
        self.page.evaluate(keep, begun.json()["csrf"])
        expect(self.page.get_by_role("link", name="Your account")).to_be_visible()

    def try_sign_in(self, name: str, password: str) -> None:
        """Fill in the sign-in and send it."""
        self.page.get_by_label("Name").fill(name)
        self.page.get_by_label("Password", exact=True).fill(password)
        self.page.keyboard.press("Enter")

    def go(self, path: str) -> None:
        """Open one of the console's pages."""
        self.page.goto(f"{self.url}/#/{path}")

    def shows(self, text: str) -> None:
        """Wait until the page shows a message."""
        expect(self.page.get_by_role("main").get_by_text(text).first).to_be_visible()

    def shot(self, name: str) -> None:
        """Check the page with axe; before a release, keep a picture of it too."""
        if ALL:
            SHOTS.mkdir(parents=True, exist_ok=True)
            self.page.screenshot(path=SHOTS / f"{name}.png", full_page=True)
        faults = faults_of(self.page)
        assert not faults, "\n".join(faults)


def faults_of(page: Page) -> list[str]:
    """Return the faults that axe finds on the page, but for minor ones."""
    found = Axe().run(page, options=_ASKED).response["violations"]
    return [
        f"{one['id']}: {one['help']} at {', '.join(node['html'][:90] for node in one['nodes'][:3])}"
        for one in found
        if one["impact"] in _GRAVE
    ]


@contextmanager
def screen(
    browser: Browser, at: House, width_px: int = 1600, height_px: int = 1000, zone: str = "UTC"
) -> Iterator[Screen]:
    """Yield a screen at which nobody is signed in; a script that failed there is a failure here.

    ``zone`` is the browser's own time zone, which nothing on the page may go by.
    """
    size = {"width": width_px, "height": height_px}
    context = browser.new_context(viewport=size, timezone_id=zone)  # type: ignore[arg-type]
    page = context.new_page()
    page.set_default_timeout(_WAIT_MS)
    expect.set_options(timeout=_WAIT_MS)
    found = Screen(page, at.url)
    page.on("pageerror", lambda error: found.complaints.append(str(error)))
    try:
        yield found
        assert not found.complaints, found.complaints
    finally:
        context.close()
