"""Times in the house's zone and amounts in its currency, whatever the browser's own zone is."""

import re
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Final

import pytest
from playwright.sync_api import Browser, Page, expect

from models.house import House as Described
from tests.console.looking import Screen, screen
from tests.server.service.house import House, Standing, house, until
from tests.server.service.test_find import ns

pytestmark = pytest.mark.slow

PARIS: Final = Described(zone="Europe/Paris", locale="fr-FR", currency="EUR")
NEXT_DAY: Final = "2026-01-02T12:00:00Z"
"""The session is of 2026-01-01, from 20:00 UTC on: 21:00 in Paris, 12:00 in Los Angeles."""
MOVES: Final = """(video => {
    const stood = window.stood;
    window.stood = video?.currentTime;
    return Boolean(video) && !video.seeking && !video.paused && video.currentTime > stood;
})(document.querySelector("video"))"""


@pytest.fixture(scope="module")
def in_paris(recorded: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    state = tmp_path_factory.mktemp("paris")
    with house(recorded, state, of=PARIS, clock=Standing(ns(NEXT_DAY))) as found:
        found.staff()
        yield found


@pytest.fixture
def abroad(browser: Browser, in_paris: House) -> Iterator[Screen]:
    """An officer whose browser stands in Los Angeles."""
    with screen(browser, in_paris, zone="America/Los_Angeles") as found:
        found.enter("surveillance")
        yield found


def shown_at(page: Page) -> datetime:
    """Return the moment that the player shows, by the house's clock."""
    text = page.locator(".now-at").inner_text()
    clock = re.search(r"\d\d:\d\d:\d\d\.\d{3}", text)
    assert clock, text
    return datetime.strptime(clock[0], "%H:%M:%S.%f")


@pytest.mark.parametrize("path", ["floor", "incidents", "charts", "rulebook", "round/bj-07/2"])
def test_from_a_table_and_a_time_to_the_moving_picture_at_that_moment(
    abroad: Screen, path: str
) -> None:
    page = abroad.page
    abroad.go(path)
    page.get_by_role("heading").first.wait_for()
    page.keyboard.press("/")
    page.keyboard.type("BJ-07 at 21:00:10")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="BJ-07 · round 1")).to_be_visible()
    until(lambda: page.evaluate(MOVES))
    asked = datetime.strptime("21:00:10", "%H:%M:%S")
    assert 0 <= (shown_at(page) - asked).total_seconds() < 4
    abroad.shows("1 janv. 2026")
    abroad.shows("UTC+01:00")
    abroad.shot("found-in-another-zone")


def test_a_time_at_which_nothing_was_dealt_offers_the_rounds_beside_it(abroad: Screen) -> None:
    page = abroad.page
    page.get_by_label("Find a moment").fill("BJ-07 at 12:00:10")
    page.keyboard.press("Enter")
    abroad.shows("Nothing was dealt at BJ-07 at 2 janv. 2026, 12:00:10 UTC+01:00.")
    abroad.shot("found-nothing")
    page.get_by_role("link", name="Before: round 2").click()
    expect(page.get_by_role("heading", name="BJ-07 · round 2")).to_be_visible()


def test_an_unreadable_time_shows_how_to_write_it(abroad: Screen) -> None:
    abroad.go("rounds/BJ-07")
    abroad.page.get_by_label("Find a moment").fill("at noon")
    abroad.page.keyboard.press("Enter")
    expect(abroad.page.locator("#toast")).to_contain_text("BJ-07 at 21:14")


def test_what_was_chosen_and_found_is_in_the_address(abroad: Screen) -> None:
    page = abroad.page
    abroad.go("rounds?status=open")
    expect(page.get_by_label("Status")).to_have_value("open")
    page.get_by_label("Status").select_option("final")
    page.get_by_label("Table", exact=True).select_option("BJ-07")
    expect(page).to_have_url(f"{abroad.url}/#/rounds/BJ-07?status=final")
    page.reload()
    expect(page.get_by_label("Status")).to_have_value("final")
    abroad.go("rounds?what=BJ-07+at+12:00:10")
    abroad.shows("Nothing was dealt at BJ-07")


def test_every_page_writes_the_houses_time_and_never_the_browsers(abroad: Screen) -> None:
    page = abroad.page
    expect(page.locator("#wall")).to_have_text(re.compile(r"^\d\d:\d\d:\d\d Europe/Paris$"))
    for path in ("rounds", "incidents", "table/BJ-07", "round/bj-07/1", "charts"):
        abroad.go(path)
        if path == "charts":
            page.get_by_text("As a table").first.click()
        abroad.shows("21:0")
        assert not re.search(r"12:0\d(?!,)", page.get_by_role("main").inner_text())


def test_amounts_are_written_as_the_house_does(abroad: Screen) -> None:
    abroad.go("rounds")
    abroad.shows("15,00")


def test_a_table_in_another_currency_than_the_house_names_it(
    browser: Browser, recorded: Path, tmp_path: Path
) -> None:
    yen = Described(zone="Asia/Tokyo", locale="ja-JP", currency="JPY")
    with house(recorded, tmp_path / "state", of=yen) as own, screen(browser, own) as officer:
        own.staff()
        officer.sign_in("surveillance")
        officer.go("table/BJ-07")
        officer.shows("7.50\N{NO-BREAK SPACE}USD")
        officer.go("rounds")
        officer.shows("2026/01/02 05:0")
