"""The floor's rulings and changes of the tray, entered on a table's page in three actions each."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from models.events import (
    AnyFact,
    CardMoved,
    DiscardsReshuffled,
    HandCalledOff,
    HandPlace,
    RoundCalledOff,
    TrayChanged,
    WagerRemoved,
)
from server.service.access.people import TwoPeople
from tests.console.looking import Screen, screen
from tests.server.service.house import House, house, until
from tests.server.service.test_rulings import at_work, entered

pytestmark = pytest.mark.slow
SIZES = [(1920, 1080), (390, 844)]


class Hands:
    """What a person does, counted."""

    def __init__(self, at: Screen) -> None:
        self._at, self.done = at, 0

    def chooses(self, text: str) -> None:
        self._at.page.get_by_label("What happened").select_option(label=text)
        self.done += 1

    def types(self, text: str) -> None:
        """Type where the form has put the cursor."""
        self._at.page.keyboard.type(text)
        self.done += 1

    def confirms(self) -> None:
        self._at.page.keyboard.press("Enter")
        self.done += 1
        expect(self._at.page.get_by_label("What happened")).to_have_value("")


@pytest.fixture
def playing(tmp_path: Path) -> Iterator[House]:
    with at_work(tmp_path / "bj-09.journal"), house(tmp_path, tmp_path / "state") as found:
        found.staff()
        with found.signed_in("pit") as pit:
            until(lambda: found.get(pit, "/api/tables/BJ-09")["now"]["round"] == 1)
        yield found


def test_each_is_entered_in_three_actions_in_ones_own_name(
    browser: Browser, playing: House
) -> None:
    with screen(browser, playing, *SIZES[0]) as boss:
        boss.enter("pit")
        boss.go("table/BJ-09")
        what = boss.page.get_by_label("What happened")
        expect(what).to_be_visible()
        what.focus()
        offered = what.locator("option").all_inner_texts()
        moved = next(one for one in offered if one.endswith("of spot 1 to the rack"))
        chips = next(one for one in offered if one.startswith("Take chips off spot 3"))
        wanted: list[tuple[str, str]] = [
            (moved, "exposed"),
            (chips, "laid too late"),
            ("Buy-in", "200"),
            ("Discards shuffled and dealt on", "the shoe ran out"),
            ("Call off spot 4", "cards fouled"),
            ("Call off round 1", "misdeal"),
        ]
        for choice, typed in wanted:
            hands = Hands(boss)
            hands.chooses(choice)
            hands.types(typed)
            hands.confirms()
            assert hands.done == 3
        boss.shot("entering")
    facts: list[AnyFact] = [one.fact for one in entered(playing)]
    assert {one.source for one in entered(playing)} == {"console:pit"}
    card, removed, *others = facts
    assert isinstance(card, CardMoved)
    assert (card.origin, card.to, card.reason) == (HandPlace(to=1), "rack", "exposed")
    assert card.by == "pit"
    assert isinstance(removed, WagerRemoved)
    assert (removed.spot, removed.by, removed.reason) == (3, "floor", "laid too late")
    assert others == [
        TrayChanged(amount=-20000, reason="buy_in"),
        DiscardsReshuffled(reason="the shoe ran out", by="pit"),
        HandCalledOff(spot=4, reason="cards fouled", by="pit"),
        RoundCalledOff(reason="misdeal", by="pit"),
    ]


def test_a_ruling_without_a_reason_is_not_sent_and_who_may_not_decide_sees_no_form(
    browser: Browser, playing: House
) -> None:
    with screen(browser, playing, *SIZES[1]) as boss:
        boss.enter("pit")
        boss.go("table/BJ-09")
        Hands(boss).chooses("Call off round 1")
        boss.page.keyboard.press("Enter")
        expect(boss.page.get_by_label("Reason")).to_be_focused()
        boss.shot("entering-phone")
    assert entered(playing) == []
    with screen(browser, playing, *SIZES[0]) as auditor:
        auditor.enter("audit")
        auditor.go("table/BJ-09")
        auditor.page.get_by_role("region", name="Devices").wait_for()
        expect(auditor.page.get_by_label("What happened")).to_have_count(0)


def test_where_the_house_asks_for_two_people_another_one_approves_a_call_off(
    browser: Browser, tmp_path: Path
) -> None:
    void = frozenset({TwoPeople.VOID})
    with (
        at_work(tmp_path / "bj-09.journal"),
        house(tmp_path, tmp_path / "state", two_people=void) as found,
    ):
        found.staff()
        with screen(browser, found, *SIZES[0]) as boss:
            boss.enter("pit")
            boss.go("table/BJ-09")
            hands = Hands(boss)
            boss.page.get_by_label("What happened").focus()
            hands.chooses("Call off round 1")
            hands.types("misdeal")
            hands.confirms()
            expect(boss.page.get_by_text("Proposed: Call off round 1")).to_be_visible()
        assert entered(found) == []
        with screen(browser, found, *SIZES[0]) as officer:
            officer.enter("surveillance")
            officer.go("incidents/bj-09.1")
            asked = officer.page.get_by_text("pit proposes: The floor calls the round off. misdeal")
            expect(asked).to_be_visible()
            officer.page.get_by_role("button", name="Approve as surveillance").click()
            expect(asked).to_be_hidden()
            expect(
                officer.page.get_by_text("proposed: the floor calls the round off")
            ).to_be_visible()
        (entry,) = entered(found)
        assert entry.fact == RoundCalledOff(reason="misdeal", by="pit with surveillance")
