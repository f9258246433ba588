"""What the floor rules, and what enters or leaves the tray, entered at a running table."""

import asyncio
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from models.cards import Card
from models.events import (
    AnyFact,
    CardMoved,
    ConsoleEntry,
    DiscardsReshuffled,
    HandCalledOff,
    HandPlace,
    RoundCalledOff,
    TrayChanged,
    WagerRemoved,
)
from server.service.access.people import TwoPeople
from server.table.decision_requests import open_for_requests, socket_of
from server.table.persons import Word, check_spots
from stream.journal import Journal
from stream.reading import read_journal
from tests.golden.sessions import heard
from tests.server.doubted import table
from tests.server.service.conftest import Kept
from tests.server.service.house import House, house, until
from tests.settlement.felt_scene import FELT

ENTRIES = "/api/tables/BJ-09/entries"
WHY = "misdeal: spot 1 was passed over"
CALLED_OFF = {"type": "round_called_off", "reason": WHY}
BUY_IN = {
    "type": "tray_changed",
    "amount": -20000,
    "reason": "buy_in",
    "spot": 3,
    "player": "guest",
}
IN_PLAY = 12
"""Observations of the session until cards lie on the felt."""


@contextmanager
def at_work(path: Path) -> Iterator[None]:
    """A table in the middle of a round, as it waits for what comes next."""
    stop, loop = asyncio.Event(), asyncio.new_event_loop()

    async def run() -> None:
        with Journal.create(path) as journal:
            pipeline = table(journal, "BJ-09")
            for one in heard("plain")[:IN_PLAY]:
                pipeline.observe((one.observation,), one.now_ns)

            async def take(word: Word) -> int:
                assert isinstance(word, ConsoleEntry)
                check_spots(word, FELT)
                (written,) = pipeline.observe((word,), word.at or 0)
                return written.seq or 0

            async with open_for_requests(path, take):
                await stop.wait()

    thread = threading.Thread(target=loop.run_until_complete, args=(run(),))
    thread.start()
    until(lambda: socket_of(path).exists())
    try:
        yield
    finally:
        loop.call_soon_threadsafe(stop.set)
        thread.join()
        loop.close()


@pytest.fixture
def own(tmp_path: Path, kept: Kept) -> Iterator[House]:
    journals = tmp_path / "journals"
    journals.mkdir()
    with (
        at_work(journals / "bj-09.journal"),
        kept(journals) as store,
        house(journals, tmp_path / "state", store=store) as found,
    ):
        found.staff()
        with found.signed_in("pit") as pit:
            until(lambda: found.get(pit, "/api/tables/BJ-09")["now"]["round"] == 1)
        yield found


def entered(found: House) -> list[ConsoleEntry]:
    events = read_journal(found.journals / "bj-09.journal")
    own = [event for event in events if isinstance(event, ConsoleEntry)]
    return [entry for entry in own if entry.source == "console:pit"]


def test_what_a_person_enters_is_in_the_journal_under_that_persons_name(own: House) -> None:
    moved = {
        "type": "card_moved",
        "card": "8D",
        "from": {"to": 1},
        "to": "rack",
        "reason": "exposed",
    }
    sent: list[dict[str, Any]] = [
        {"type": "hand_called_off", "spot": 1, "reason": "cards fouled"},
        moved,
        {"type": "wager_removed", "spot": 3, "kind": "main", "amount": 500, "reason": "too late"},
        {"type": "discards_reshuffled", "reason": "the shoe ran out"},
        BUY_IN,
        CALLED_OFF,
    ]
    with own.signed_in("pit") as pit:
        answers = [pit.post(ENTRIES, json={"fact": fact, "round": 1}) for fact in sent]
        assert [one.status_code for one in answers] == [200] * len(sent), answers[-1].text
        kinds = {"limit": 500, "type": "console_entry"}
        shown = own.get(pit, "/api/sessions/bj-09/events", **kinds)["events"]
    found = entered(own)
    assert [one.seq for one in found] == [one.json()["seq"] for one in answers]
    assert {one.seq for one in found} <= {one["seq"] for one in shown}
    assert [one.fact for one in found] == [
        HandCalledOff(spot=1, reason="cards fouled", by="pit"),
        CardMoved(card=Card("8D"), origin=HandPlace(to=1), to="rack", reason="exposed", by="pit"),
        WagerRemoved(spot=3, kind="main", amount=500, by="floor", reason="too late"),
        DiscardsReshuffled(reason="the shoe ran out", by="pit"),
        TrayChanged(amount=-20000, reason="buy_in", spot=3, player="guest"),
        RoundCalledOff(reason=WHY, by="pit"),
    ]
    with own.admin() as admin:
        noted = own.get(admin, "/api/activity")["items"]
    assert sum(one["action"] == "entered" and one["person"] == "pit" for one in noted) == len(sent)


@pytest.mark.parametrize(
    ("body", "status", "detail"),
    [
        pytest.param({"fact": {**CALLED_OFF, "by": "ann"}}, 422, "by", id="another-name"),
        pytest.param({"fact": {**CALLED_OFF, "reason": " "}}, 422, "reason", id="no-reason"),
        pytest.param({"fact": CALLED_OFF, "round": 2}, 409, "at round 1 by now", id="other-round"),
        pytest.param({"fact": {**BUY_IN, "spot": 6}}, 409, "no spot 6", id="no-such-spot"),
        pytest.param({"fact": {**BUY_IN, "amount": 20000}}, 409, "negative amount", id="sign"),
        pytest.param(
            {"fact": {"type": "card_dealt", "to": 1, "card": "AS"}}, 422, "type", id="no-ruling"
        ),
        pytest.param(
            {
                "fact": {"type": "card_moved", "card": "AS", "from": {"to": 2}, "to": {"to": 2}}
                | {"reason": "x"}
            },
            409,
            "lies there already",
            id="moved-nowhere",
        ),
    ],
)
def test_what_cannot_be_meant_is_refused_and_nothing_is_written(
    own: House, body: dict[str, Any], status: int, detail: str
) -> None:
    with own.signed_in("pit") as pit:
        answer = pit.post(ENTRIES, json=body)
        assert (answer.status_code, detail in answer.json()["detail"]) == (status, True)
        assert pit.post("/api/tables/none/entries", json={"fact": BUY_IN}).status_code == 404
    assert entered(own) == []


def test_a_table_that_is_not_running_takes_no_entry(tmp_path: Path) -> None:
    with at_work(tmp_path / "bj-09.journal"):
        pass
    with house(tmp_path, tmp_path / "state") as found:
        found.staff()
        with found.signed_in("pit") as pit:
            answer = pit.post(ENTRIES, json={"fact": CALLED_OFF})
            assert answer.status_code == 409
            assert "only a running table takes entries" in answer.json()["detail"]
            assert "Start the table" in answer.json()["detail"]
        assert entered(found) == []


@pytest.fixture
def two(tmp_path: Path) -> Iterator[House]:
    """A house that requires two people to void, with the table at work."""
    both = frozenset({TwoPeople.VOID})
    with (
        at_work(tmp_path / "bj-09.journal"),
        house(tmp_path, tmp_path / "state", two_people=both) as found,
    ):
        found.staff()
        yield found


APPROVAL = "/api/incidents/bj-09.1/ruling/approval"


@pytest.mark.parametrize(
    ("fact", "ruling"),
    [
        (CALLED_OFF, RoundCalledOff(reason=WHY, by="pit with surveillance")),
        (
            {"type": "hand_called_off", "spot": 3, "reason": "fouled"},
            HandCalledOff(spot=3, reason="fouled", by="pit with surveillance"),
        ),
    ],
)
def test_where_voids_take_two_people_one_proposes_and_another_approves(
    two: House, fact: dict[str, Any], ruling: AnyFact
) -> None:
    with two.signed_in("pit") as pit, two.signed_in("surveillance") as officer:
        answer = pit.post(ENTRIES, json={"fact": fact, "round": 1})
        assert answer.json() == {"seq": None, "incident": "bj-09.1"}
        assert entered(two) == []
        (proposed,) = two.get(officer, "/api/incidents/bj-09.1")["proposals"]
        approval = {"proposal": proposed["seq"]}
        assert pit.post(APPROVAL, json=approval).status_code == 409
        assert officer.post(APPROVAL, json={"proposal": 99}).status_code == 409
        assert entered(two) == []
        view = officer.post(APPROVAL, json=approval).json()
        assert view["proposals"] == []
        (entry,) = entered(two)
        assert (entry.fact, view["history"][-1]["entry"]) == (ruling, entry.seq)
        assert officer.post(APPROVAL, json=approval).status_code == 404
        assert pit.post(ENTRIES, json={"fact": BUY_IN}).status_code == 200


def test_a_call_off_that_another_person_declines_is_not_entered(two: House) -> None:
    with two.signed_in("pit") as pit, two.signed_in("surveillance") as officer:
        for somebody in (pit, officer):
            pit.post(ENTRIES, json={"fact": CALLED_OFF})
            view = somebody.post(APPROVAL, json={"approve": False, "reason": "no"}).json()
            assert (view["proposals"], view["history"][-1]["type"]) == ([], "decision_declined")
    assert entered(two) == []
