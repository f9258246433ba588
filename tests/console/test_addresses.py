"""Addresses: every form that the console or its messages print opens; any other gets a message."""

import pytest
from playwright.sync_api import Browser, expect

from tests.console.gallery import SIZES
from tests.console.looking import Screen, faults_of, screen
from tests.server.service.house import House

pytestmark = pytest.mark.slow

LINKS = {
    "tables/BJ-07": "BJ-07",  # as messages to other systems print it
    "incidents/bj-07.2": "Wrong payout",
    "table/BJ-08": "BJ-08",
    "rounds/bj-07/1": "BJ-07 · round 1",
    "incident/bj-07.1": "Dealer hit hard 17",
    "tables": "Floor",
    "round/bj-07/1/at-1767297610000000000": "BJ-07 · round 1",  # as Find opens a moment
}


def test_a_link_opens_what_it_names(officer: Screen) -> None:
    for address, heading in LINKS.items():
        officer.go(address)
        expect(officer.page.get_by_role("heading", name=heading).first).to_be_attached()


def test_a_link_that_lost_its_hash_opens_the_table(officer: Screen) -> None:
    officer.page.goto(f"{officer.url}/tables/BJ-07")
    expect(officer.page.get_by_role("heading", name="BJ-07", exact=True)).to_be_visible()


UNKNOWN = (
    "nowhere",
    "round/bj-07/first",
    "round/bj-07/1/at-noon",
    "table",
    "floor/7/8",
    "table/%E0%A4%A",
    "Floor",
)


def test_an_unknown_address_gets_a_message(officer: Screen) -> None:
    for address in UNKNOWN:
        officer.go(address)
        officer.shows(f"The console has no page at #/{address}.")
    expect(officer.page.get_by_role("heading", name="Unknown address")).to_be_visible()
    officer.shot("unknown-address")
    officer.page.get_by_role("link", name="Start page").click()
    expect(officer.page.get_by_role("region", name="Tables")).to_be_visible()


def test_an_unknown_path_gets_a_message_and_a_link(officer: Screen) -> None:
    answer = officer.page.goto(f"{officer.url}/casino/floor")
    assert answer is not None
    assert answer.status == 404
    officer.shows("The console has no page at /casino/floor")
    officer.page.get_by_role("link", name="Incidents").click()
    expect(officer.page.get_by_role("heading", name="Incidents")).to_be_visible()


def test_a_program_gets_a_problem_document_for_an_unknown_path(at_work: House) -> None:
    with at_work.anyone() as nobody:
        answer = nobody.get("/casino/floor")
    assert (answer.status_code, answer.headers["Content-Type"]) == (404, "application/problem+json")


def test_a_table_or_round_that_is_not_there_is_named(officer: Screen) -> None:
    for address in ("table/BJ-99", "round/bj-07/999", "round/nobody/1"):
        officer.go(address)
        officer.shows(f"Requested: {', '.join(address.split('/')[1:])}.")
        expect(officer.page.get_by_role("heading", name="Not found")).to_be_visible()


def test_a_phone_reaches_every_page_and_its_account(browser: Browser, at_work: House) -> None:
    with screen(browser, at_work, 390, 844) as phone:
        phone.sign_in("surveillance")
        page = phone.page
        menu = page.get_by_role("button", name="Menu")
        links = page.get_by_role("navigation", name="Pages").get_by_role("link")
        menu.click()
        names = links.all_inner_texts()
        assert names == ["Floor", "Incidents", "Rounds", "Charts", "Rulebook"]
        for name in names:
            link = page.get_by_role("navigation", name="Pages").get_by_role("link", name=name)
            box = link.bounding_box()
            assert box is not None
            assert box["x"] >= 0
            assert box["x"] + box["width"] <= 390
            assert box["y"] + box["height"] <= 844
            link.click()
            expect(page.get_by_role("heading", name=name).first).to_be_attached()
            expect(page.get_by_text("Reading…")).to_have_count(0)
            assert page.evaluate("document.documentElement.scrollWidth") <= 390, name
            menu.click()
        page.get_by_role("link", name="Your account").click()
        page.get_by_role("button", name="Sign out").click()
        expect(page.get_by_role("form", name="Sign in")).to_be_visible()


def test_the_menu_of_a_phone_is_worked_by_keyboard(browser: Browser, at_work: House) -> None:
    with screen(browser, at_work, 390, 844) as phone:
        phone.sign_in("surveillance")
        menu = phone.page.get_by_role("button", name="Menu")
        menu.press("Enter")
        expect(menu).to_have_attribute("aria-expanded", "true")
        phone.page.keyboard.press("Escape")
        expect(menu).to_have_attribute("aria-expanded", "false")
        expect(phone.page.get_by_role("navigation", name="Pages")).to_be_hidden()


def test_the_page_of_the_api_opens_from_ones_account_and_leads_to_each_operation(
    officer: Screen,
) -> None:
    officer.go("own")
    page = officer.page
    page.get_by_role("link", name="HTTP API").press("Enter")
    expect(page.get_by_role("heading", name="HTTP API, version 1")).to_be_visible()
    page.get_by_role("link", name="GET /api/find").press("Enter")
    found = page.get_by_role("heading", name="GET /api/find")
    expect(found).to_be_in_viewport()
    for width, height in SIZES:
        page.set_viewport_size({"width": width, "height": height})
        assert page.evaluate("document.documentElement.scrollWidth") == width
    assert not faults_of(page)
