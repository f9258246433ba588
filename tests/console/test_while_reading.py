"""While the service reads its journals, every page says that its figures are of a part of them."""

import threading

import pytest
from playwright.sync_api import Browser, expect

from tests.console.looking import screen
from tests.server.service.house import House
from tests.server.service.test_while_reading import ROUNDS, held, reading

__all__ = ["held", "reading"]
pytestmark = pytest.mark.slow


def test_a_page_shows_how_much_was_read_and_is_drawn_anew_once_all_was(
    browser: Browser, reading: House, held: threading.Event
) -> None:
    with screen(browser, reading) as officer:
        page = officer.page
        officer.sign_in("surveillance")
        banner = page.get_by_role("status").filter(has_text="reading the journals: 33%")
        for place in ("floor", "rounds", "incidents"):
            officer.go(place)
            expect(banner).to_be_visible()
        officer.go("floor")
        expect(page.get_by_text("500", exact=True)).to_be_visible()
        held.set()
        expect(banner).to_be_hidden()
        expect(page.get_by_text(str(ROUNDS), exact=True)).to_be_visible()
