"""A round opens whatever times its entries state: none, only the later ones, or one for all."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final

import pytest
from msgspec.structs import replace
from playwright.sync_api import Browser

from models.judgements import AnyEvent
from stream.journal import Journal
from tests.console.every_page import Watcher
from tests.console.looking import screen
from tests.server.evenings import evening, judged
from tests.server.service.house import House, house

pytestmark = pytest.mark.slow

AT_NS: Final = 1_772_366_400_000_000_000
_BARE: Final = """() => [...document.querySelectorAll("main svg *")]
    .flatMap((one) => [...one.attributes])
    .filter(({ value }) => /NaN|Infinity|undefined/.test(value))
    .map(({ name, value }) => `${name}=${value}`)"""
TIMES: Final[dict[str, Callable[[int], int | None]]] = {
    "none": lambda _: None,
    "later-ones": lambda nth: None if nth < 20 else AT_NS + nth * 10**9,
    "one-for-all": lambda _: AT_NS,
}


@pytest.fixture
def undated(tmp_path: Path) -> Iterator[House]:
    """A house of such journals, each with a mistake."""
    journals = tmp_path / "journals"
    journals.mkdir()
    for name, at in TIMES.items():
        played = judged(evening(3, 1, mistakes=("wrong_payout",), table=name))
        with Journal.create(journals / f"{name}.journal", table=name) as journal:
            journal.append_all(_timed(played, at))
    with house(journals, tmp_path / "state") as found:
        found.staff()
        yield found


def _timed(events: list[AnyEvent], at: Callable[[int], int | None]) -> Iterator[AnyEvent]:
    for nth, event in enumerate(events):
        yield replace(event, at=at(nth))


def test_a_round_is_drawn_whatever_times_its_entries_state(
    browser: Browser, undated: House
) -> None:
    with screen(browser, undated) as found:
        watcher = Watcher(found)
        found.enter("surveillance")
        for name in TIMES:
            for number in (1, 2, 3):
                watcher.visit([f"round/{name}/{number}"])
                found.shows("Every event")
                assert found.page.evaluate(_BARE) == []
        watcher.visit(
            ["floor", "rounds", "incidents", "charts", *(f"table/{one}" for one in TIMES)]
        )
    assert watcher.faults == [], "\n".join(watcher.faults)
