"""A suspected mistake stands on every page as a question, and as a mistake on none."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Locator, expect

from stream.journal import Journal
from tests.console.looking import Screen, screen
from tests.server.doubted import let_stand, play_without_shoe
from tests.server.service.house import House, house, until

pytestmark = pytest.mark.slow

QUESTION = "Was spot 1 paid 10.00 where 15.00 were due?"


@pytest.fixture
def own(tmp_path: Path) -> Iterator[House]:
    """BJ-07's shoe fell silent: of round 5 a payment is suspected to be wrong."""
    journals = tmp_path / "journals"
    journals.mkdir()
    with Journal.create(journals / "bj-07.journal") as journal:
        play_without_shoe(journal, "BJ-07")
    with house(journals, tmp_path / "state") as found:
        found.staff()
        yield found


def test_a_suspected_mistake_is_a_question_until_it_is_decided(
    browser: Browser, own: House
) -> None:
    with screen(browser, own) as officer:
        officer.sign_in("surveillance")
        for page in ("round/bj-07/5", "table/BJ-07", "incidents/bj-07.5"):
            officer.go(page)
            heading = note(officer, "doubt").get_by_role("heading")
            expect(heading).to_have_text("Suspected mistake: wrong payout spot 1")
            expect(note(officer, "doubt")).not_to_contain_text("?")
            officer.shows(QUESTION)
            expect(note(officer, "doubt")).to_contain_text("Every wager is paid or taken")
            expect(officer.page.locator(".note.bad")).to_have_count(0)
            officer.shot(f"suspected-{page.split('/')[0]}")
        expect(officer.page.get_by_role("heading", level=2).first).to_have_text(
            "Was spot 1 paid wrongly?"
        )
        officer.shows("Medium severity")
        assert counts(officer) == {"Mistakes": "0", "Suspected": "1"}
        expect(officer.page.locator(".feed")).to_contain_text("Was spot 1 paid wrongly?")
        expect(officer.page.locator(".feed")).to_contain_text("Did the dealer draw 2♥?")
        officer.shot("suspected-floor")
        officer.go("rounds")
        expect(officer.page.get_by_role("row", name="Round 5")).to_contain_text("0 1 suspected")
        officer.go("charts")
        officer.shows("Mistakes by shift")
        expect(officer.page.get_by_text("Wrong payout")).to_have_count(0)
        let_stand(own.journals / "bj-07.journal")
        until(lambda: counts(officer) == {"Mistakes": "1"})
        officer.go("incidents/bj-07.5")
        expect(note(officer, "bad")).to_contain_text("Wrong payout spot 1")
        officer.shows("High severity")


def note(officer: Screen, tone: str) -> Locator:
    return officer.page.locator(f".note.{tone}").filter(has_text="due 15.00, paid 10.00")


def counts(officer: Screen) -> dict[str, str]:
    """Return what the table's tile counts."""
    officer.go("")
    tile = officer.page.locator(".tile")
    expect(tile).to_be_visible()
    # A tile that is being drawn again may show a name before its count.
    named = dict(one.partition("\n")[::2] for one in tile.locator("dl > div").all_inner_texts())
    return {name: named[name] for name in ("Mistakes", "Suspected") if name in named}
