"""No page is lost, cut or untrue, whatever the journals hold."""

from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from playwright.sync_api import Browser

from models.events import RoundOpened
from server.service.access.people import Role, TwoPeople
from server.service.access.records import FIRST_ACCOUNT
from simulation.session import START_NS
from stream.journal import Journal
from tests.console.every_page import LISTS, UNKNOWN, Watcher, rounds, tables
from tests.console.gallery import SIZES
from tests.console.looking import screen
from tests.server.every_kind import journals_of_every_kind
from tests.server.service.house import House, house
from tests.thoroughness import one_in

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def every_kind(tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    """A house of every kind of journal, at which people have begun to work."""
    folder, state = tmp_path_factory.mktemp("every-kind"), tmp_path_factory.mktemp("state")
    with (
        journals_of_every_kind(folder),
        house(folder, state, recordings=folder, two_people=frozenset(TwoPeople)) as found,
    ):
        found.staff()
        _work(found)
        yield found


def _work(at: House) -> None:
    """Propose what a second person must approve, close an incident, and open one by hand."""
    doubt, mistake = "/api/incidents/card-in-doubt.1", "/api/incidents/filmed.1"
    void = {"decision": "void", "reason": "The cards fell to the floor."}
    by_hand = {"session": "filmed", "round": 2, "text": "A player complains."}
    with at.signed_in("surveillance") as officer:
        for path, sent in (
            (f"{doubt}/reviews/0/decision", void),
            (f"{doubt}/comments", {"text": "Look at the other camera."}),
            (f"{mistake}/assignment", {"to": "surveillance"}),
            (f"{mistake}/closing", {"reason": "The player was paid the rest."}),
            ("/api/incidents", by_hand),
        ):
            answer = officer.post(path, json=sent)
            assert answer.is_success, answer.text


def visited(
    browser: Browser, at: House, name: str, addresses: Sequence[str], axe_every: int = 8
) -> None:
    """Visit pages as somebody; fail with all that is wrong with them."""
    with screen(browser, at, *SIZES[0]) as found:
        watcher = Watcher(found, axe_every)
        found.enter(name)
        watcher.visit(addresses)
    assert not watcher.faults, "\n".join(watcher.faults)


def test_lists_and_addresses_of_nothing(browser: Browser, every_kind: House) -> None:
    visited(browser, every_kind, "surveillance", [*LISTS, *UNKNOWN], axe_every=1)
    visited(browser, every_kind, FIRST_ACCOUNT, ["people", "own"], axe_every=1)


def test_every_table(browser: Browser, every_kind: House) -> None:
    with every_kind.signed_in("surveillance") as officer:
        found = tables(every_kind, officer)
    assert len(found) > 25
    visited(browser, every_kind, "surveillance", found)


def test_every_kind_of_round(browser: Browser, every_kind: House) -> None:
    with every_kind.signed_in("surveillance") as officer:
        found = rounds(every_kind, officer)
    assert len(found) > 50
    visited(browser, every_kind, "surveillance", [f"round/{one}" for one in one_in(3, found)])


def test_every_kind_of_incident(browser: Browser, every_kind: House) -> None:
    with every_kind.signed_in("surveillance") as officer:
        found = [one.replace("/", ".") for one in rounds(every_kind, officer)]
    shown = [f"incidents/{one}" for one in ("card-in-doubt.1", *one_in(3, found, first=1))]
    visited(browser, every_kind, "surveillance", shown)


@pytest.mark.parametrize("role", [Role.PIT, Role.AUDIT])
def test_who_may_see_less(browser: Browser, every_kind: House, role: Role) -> None:
    with every_kind.signed_in(role) as person:
        shown = rounds(every_kind, person)
    some = one_in(12, shown, first=2)
    visited(browser, every_kind, role, [*LISTS, *(f"round/{one}" for one in some)])


def test_an_engineer_sees_tables_alone(browser: Browser, every_kind: House) -> None:
    with every_kind.signed_in(Role.ENGINEER) as person:
        some = one_in(6, tables(every_kind, person))
    visited(browser, every_kind, Role.ENGINEER, ["floor", "rulebook", "own", *some])


def test_nothing_at_all(browser: Browser, tmp_path: Path) -> None:
    journals = tmp_path / "journals"
    journals.mkdir()
    with house(journals, tmp_path / "state") as empty:
        empty.staff()
        visited(browser, empty, "surveillance", LISTS)
        with screen(browser, empty) as officer:
            officer.enter("surveillance")
            officer.shows("There is no table yet.")


def test_the_first_incident_is_not_ruled_out_before_all_is_read(
    browser: Browser, tmp_path: Path
) -> None:
    """The floor of a table in play says ``so far``."""
    state = tmp_path / "state"
    with Journal.create(tmp_path / "bj-01.journal") as journal, house(tmp_path, state) as at:
        journal.append(RoundOpened(at=START_NS, table="BJ-01", round=1))
        at.staff()
        with screen(browser, at) as officer:
            officer.enter("surveillance")
            officer.shows("No incident so far.")
