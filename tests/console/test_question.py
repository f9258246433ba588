"""A question about a round, from the moment that somebody asks about to its decision."""

import shutil
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from models.events import RoundOpened
from simulation.session import simulate
from stream.journal import Journal
from stream.reading import read_journal
from tests.console.conftest import SMALL
from tests.console.looking import Screen, screen
from tests.golden.sessions import SESSIONS
from tests.server.doubted import play_between_accounts
from tests.server.service.house import House, house

pytestmark = pytest.mark.slow
FOLD_PX = (1280, 800)


@pytest.fixture
def between(tmp_path: Path) -> Iterator[House]:
    """BJ-09: a winning hand was not paid, or a card was misread."""
    journals = tmp_path / "journals"
    journals.mkdir()
    with Journal.create(journals / "bj-09.journal") as journal:
        play_between_accounts(journal, "BJ-09")
    with house(journals, tmp_path / "state") as own:
        own.staff()
        yield own


class Hands:
    """What an officer does, counted."""

    def __init__(self, at: Screen) -> None:
        self._at, self.done = at, 0

    def writes(self, text: str) -> None:
        self._at.page.get_by_label("Find a moment").fill(text)
        self.done += 1

    def presses(self, key: str) -> None:
        self._at.page.keyboard.press(key)
        self.done += 1


def test_from_a_moment_to_a_decided_question_in_four_actions(
    browser: Browser, between: House, tmp_path: Path
) -> None:
    opened = next(
        event
        for event in read_journal(tmp_path / "journals" / "bj-09.journal")
        if isinstance(event, RoundOpened)
    )
    with screen(browser, between, *FOLD_PX) as officer:
        officer.enter("pit")
        officer.go("rounds")
        hands = Hands(officer)
        hands.writes(f"BJ-09 at {moment(opened.at or 0)}")
        hands.presses("Enter")
        officer.page.get_by_role("heading", name="BJ-09 · round 1").wait_for()
        expect(officer.page.get_by_role("region", name="To decide")).to_contain_text("?")
        hands.presses("2")
        expect(officer.page.get_by_role("button", name="Decide as pit")).to_be_enabled()
        hands.presses("Enter")
        officer.page.get_by_text("Decided:").wait_for()
        expect(officer.page.get_by_role("region", name="To decide")).to_have_count(0)
        assert hands.done < 5
        with between.signed_in("pit") as pit:
            (review,) = between.get(pit, "/api/incidents/bj-09.1")["reviews"]
        assert review["decided"]["decision"] == "account"
        assert review["decided"]["says"]


def moment(at_ns: int) -> str:
    return datetime.fromtimestamp(at_ns // 10**9 + 1, UTC).strftime("%Y-%m-%d %H:%M:%S")


def test_every_answer_says_what_it_comes_to_and_only_what_can_be_so_is_offered(
    browser: Browser, between: House
) -> None:
    with between.signed_in("pit") as pit:
        answers = between.get(pit, "/api/incidents/bj-09.1/reviews/0/answers")["answers"]
    with screen(browser, between, *FOLD_PX) as officer:
        officer.enter("pit")
        officer.go("incidents/bj-09.1")
        offered = officer.page.get_by_role("list", name="Answers").get_by_role("button")
        expect(offered).to_have_count(len(answers))
        for number, answer in enumerate(answers):
            button = offered.nth(number)
            expect(button.locator("kbd")).to_have_text(str(number + 1))
            expect(button.locator(".comes-to")).not_to_be_empty()
            if answer["likelihood"]:
                expect(button).to_contain_text(answer["likelihood"])
        officer.page.keyboard.press(str(len(answers)))
        expect(officer.page.get_by_label("Reason", exact=True)).to_be_visible()
        officer.shot("question")


def test_a_filmed_question_is_seen_and_answered_above_the_fold(
    browser: Browser, recorded: Path, tmp_path: Path
) -> None:
    journals = tmp_path / "journals"
    journals.mkdir()
    shutil.copy(recorded / "bj-08.journal", journals)
    simulate(replace(SESSIONS["plain"], table="BJ-08", look=SMALL), journals / "bj-08")
    with (
        house(journals, tmp_path / "state", recordings=journals) as own,
        screen(browser, own, *FOLD_PX) as officer,
    ):
        own.staff()
        officer.enter("pit")
        officer.go("incidents/bj-08.1")
        place = officer.page.get_by_role("region", name="To decide")
        expect(place.get_by_label("The moments in doubt")).to_be_visible()
        expect(place.get_by_role("link", name="Watch ")).to_be_visible()
        expect(place.get_by_role("img").first).to_be_visible()
        expect(place.get_by_text("Nothing of this round was filmed.")).to_have_count(0)
        for part in (
            place.get_by_role("heading"),
            place.get_by_label("The moments in doubt"),
            place.get_by_role("list", name="Answers"),
            place.get_by_role("button", name="Choose an answer"),
        ):
            box = part.bounding_box()
            assert box is not None
            assert box["y"] + box["height"] <= FOLD_PX[1]
        officer.shot("question-filmed")
