"""On a floor record every page says which entries no table has signed."""

import pytest

from tests.console.every_page import LISTS
from tests.console.looking import Screen

pytestmark = pytest.mark.slow


def test_every_page_says_how_much_is_not_signed(
    officer: Screen, request: pytest.FixtureRequest
) -> None:
    """The tables of this house have no key: on the floor nothing is proven."""
    is_floor = request.node.callspec.params["at_work"] == "floor"
    note = officer.page.locator("#unsigned")
    for path in (*LISTS, "table/BJ-07", "round/bj-07/1"):
        officer.go(path)
        if is_floor:
            note.get_by_text("entries of 2 tables not yet signed").wait_for()
        else:
            note.wait_for(state="hidden")
    told = officer.page.get_by_text("entries that its table has not signed yet: nothing proven")
    assert told.count() == is_floor
    officer.go("table/BJ-07")
    officer.shows("read to event")
    assert officer.page.get_by_text("nothing proven;").count() == is_floor
