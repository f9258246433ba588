"""A service or network that goes away: the page shows it, keeps its place and goes on by itself."""

import shutil
from contextlib import ExitStack
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from models.events import WagerPlaced
from stream.clock import HostClock
from stream.journal import Journal
from tests.console.busy_floor import shifted
from tests.console.looking import Screen, screen
from tests.golden.sessions import heard
from tests.server.doubted import table
from tests.server.service.house import house

pytestmark = pytest.mark.slow


def banner(page: Page) -> Locator:
    return page.get_by_role("alert").filter(has_text="cannot be reached since")


def test_a_lost_network_is_shown_and_typed_text_stays(officer: Screen) -> None:
    page = officer.page
    officer.go("incidents/bj-07.2")
    comment = page.get_by_role("textbox", name="Comment")
    comment.fill("Half a sentence")
    page.context.set_offline(True)
    expect(banner(page)).to_be_visible()
    expect(banner(page)).to_contain_text("since")
    officer.shot("offline")
    page.get_by_role("form", name="Comment").get_by_role("button").click()
    expect(page.get_by_role("form", name="Comment").get_by_role("alert")).to_have_text(
        "The service cannot be reached. Nothing was sent."
    )
    page.context.set_offline(False)
    expect(banner(page)).to_be_hidden()
    expect(comment).to_have_value("Half a sentence")
    assert page.url.endswith("#/incidents/bj-07.2")


def test_a_page_asked_for_while_offline_opens_once_it_can(officer: Screen) -> None:
    page = officer.page
    page.context.set_offline(True)
    page.get_by_role("link", name="Rounds").click()
    officer.shows("This page opens as soon as it answers.")
    page.context.set_offline(False)
    expect(page.get_by_role("region", name="Rounds")).to_be_visible()


def test_a_service_that_is_started_again_is_followed_from_where_the_page_was(
    browser: Browser, tmp_path: Path
) -> None:
    """What happened at the table meanwhile is shown as well."""
    observations = shifted(heard("plain"), HostClock().now_ns())
    state = tmp_path / "state"
    with ExitStack() as leaving, Journal.create(tmp_path / "bj-21.journal") as journal:
        live = table(journal, "BJ-21")
        for one in observations[:20]:
            live.observe((one.observation,), one.now_ns)
        with house(tmp_path, state) as first:
            first.staff()
            port = urlsplit(first.url).port or 0
            officer = leaving.enter_context(screen(browser, first))
            officer.sign_in("surveillance")
            officer.go("table/BJ-21")
            expect(officer.page.get_by_text("Live", exact=True)).to_be_visible()
        expect(banner(officer.page)).to_be_visible()
        expect(officer.page.get_by_text("Reconnecting", exact=True)).to_be_visible()
        journal.append(
            WagerPlaced(at=HostClock().now_ns(), table="BJ-21", spot=5, amount=12300, kind="main")
        )
        with house(tmp_path, state, port=port):
            expect(banner(officer.page)).to_be_hidden()
            expect(officer.page.get_by_text("Live", exact=True)).to_be_visible()
            officer.shows("Spot 5 wagers 123.00")
            assert officer.page.url.endswith("#/table/BJ-21")


def test_a_person_signed_out_meanwhile_signs_in_and_is_back_at_the_place(
    browser: Browser, recorded: Path, tmp_path: Path
) -> None:
    shutil.copy(recorded / "bj-07.journal", tmp_path)
    leaving = ExitStack()
    with house(tmp_path, tmp_path / "state") as first:
        first.staff()
        port = urlsplit(first.url).port or 0
        officer = leaving.enter_context(screen(browser, first))
        officer.sign_in("pit")
        officer.go("rounds/BJ-07")
        expect(officer.page.get_by_role("region", name="Rounds")).to_be_visible()
    expect(banner(officer.page)).to_be_visible()
    with leaving, house(tmp_path, tmp_path / "another state", port=port) as second:
        second.staff()
        expect(officer.page.get_by_role("form", name="Sign in")).to_be_visible()
        officer.try_sign_in("pit", "a long enough password")
        expect(officer.page.get_by_role("heading", name="Rounds")).to_be_visible()
        assert officer.page.url.endswith("#/rounds/BJ-07")
