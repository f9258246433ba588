"""Whatever somebody must look at is in the queue, and what people did with it never goes."""

import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import msgspec
import pytest

from models.events import RoundClosed, RoundOpened
from models.judgements import Review, ReviewRaised
from server.readmodel.cases import CASES_FILE, AnyCaseEvent
from stream.journal import Journal, verify_journal
from stream.reading import UnknownEvent, read_journal
from tests.server.service.conftest import Kept
from tests.server.service.house import House, house, play, until, write


@pytest.fixture
def own(tmp_path: Path, kept: Kept) -> Iterator[House]:
    """A service of one's own: BJ-07 with two mistakes, BJ-09 with a round that is in doubt."""
    journals = tmp_path / "journals"
    journals.mkdir()
    play(journals / "bj-07.journal", "mistake", "BJ-07")
    write(
        journals / "bj-09.journal",
        RoundOpened(round=1, at=1, table="BJ-09"),
        ReviewRaised(round=1, at=2, table="BJ-09", review=Review("which card?", ("8S", "6S"), ())),
        RoundClosed(at=3, table="BJ-09"),
        RoundOpened(round=2, at=4, table="BJ-09"),
    )
    with kept(journals) as store, house(journals, tmp_path / "state", store=store) as found:
        found.staff()
        yield found


def queue(own: House, client: httpx.Client, **query: Any) -> list[str]:
    return [one["id"] for one in own.get(client, "/api/incidents", **query)["items"]]


def test_every_round_with_a_mistake_or_an_open_item_is_an_incident(own: House) -> None:
    with own.signed_in("surveillance") as officer:
        rows = own.get(officer, "/api/incidents")["items"]
        by_id = {row["id"]: row for row in rows}
        assert set(by_id) == {"bj-07.1", "bj-07.2", "bj-09.1"}
        codes = {code for row in rows for code in row["codes"]}
        assert codes == {"dealer_hit_hard_17", "wrong_payout"}
        assert {row["severity"] for row in rows if "wrong_payout" in row["codes"]} == {"high"}
        doubted = by_id["bj-09.1"]
        assert (doubted["severity"], doubted["reviews"], doubted["state"]) == ("medium", 1, "open")
        assert queue(own, officer, severity="high") == [
            row["id"] for row in rows if row["severity"] == "high"
        ]
        assert queue(own, officer, table="BJ-09") == ["bj-09.1"]
        first = own.get(officer, "/api/incidents", limit=2)
        rest = own.get(officer, "/api/incidents", limit=2, cursor=first["next"])
        assert [one["id"] for one in first["items"] + rest["items"]] == [row["id"] for row in rows]


def test_an_incident_is_assigned_commented_closed_and_opened_again(own: House) -> None:
    with own.signed_in("surveillance") as officer, own.signed_in("pit") as pit:

        def did(what: str, client: httpx.Client = officer, **body: Any) -> Any:
            answer = client.post(f"/api/incidents/bj-07.1/{what}", json=body)
            assert answer.status_code == 200, answer.text
            return answer.json()

        assert did("assignment", to="pit")["state"] == "assigned"
        assert queue(own, pit, assignee="pit") == ["bj-07.1"]
        assert did("comments", pit, text="the player agreed")["comments"] == 1
        assert did("closing", pit, reason="paid back 15.00")["state"] == "closed"
        assert "bj-07.1" not in queue(own, officer, state=["open", "assigned"])
        assert did("reopening", reason="the wrong spot was paid")["state"] == "assigned"
        history = own.get(officer, "/api/incidents/bj-07.1")["history"]
        assert [(one["type"], one["person"]) for one in history] == [
            ("case_assigned", "surveillance"),
            ("case_commented", "pit"),
            ("case_closed", "pit"),
            ("case_reopened", "surveillance"),
        ]


def test_what_cannot_be_done_is_refused_with_the_reason(own: House) -> None:
    with own.signed_in("surveillance") as officer:

        def refused(path: str, **body: Any) -> int:
            return officer.post(f"/api/incidents{path}", json=body).status_code

        assert refused("/bj-07.1/assignment", to="audit") == 409
        assert refused("/bj-07.1/assignment", to="nobody") == 409
        assert refused("/bj-07.1/reopening", reason="why not") == 409
        assert refused("/bj-09.1/closing", reason="enough") == 409
        assert refused("/bj-07.1/closing", reason="") == 422
        assert refused("/bj-07.99/comments", text="x") == 404
        assert refused("", session="bj-07", round=99, text="x") == 404
        assert own.get(officer, "/api/incidents/bj-07.1")["history"] == []


def test_a_clean_round_is_an_incident_once_a_person_opens_it(own: House) -> None:
    with own.signed_in("pit") as pit:
        body = {"session": "bj-09", "round": 2, "text": "a player complains"}
        made = pit.post("/api/incidents", json=body)
        assert (made.status_code, made.json()["by_hand"]) == (201, True)
        assert "bj-09.2" in queue(own, pit)
        assert pit.post("/api/incidents", json=body).status_code == 409


def test_what_is_found_after_closing_opens_it_again(own: House, tmp_path: Path) -> None:
    with own.signed_in("pit") as pit:
        body = {"session": "bj-09", "round": 2, "text": "look"}
        assert pit.post("/api/incidents", json=body).status_code == 201
        done = pit.post("/api/incidents/bj-09.2/closing", json={"reason": "nothing there"})
        assert done.json()["state"] == "closed"
        with Journal.open(tmp_path / "journals" / "bj-09.journal") as journal:
            review = Review("the camera was moved", (), ())
            journal.append(ReviewRaised(round=2, at=5, table="BJ-09", review=review))
        until(lambda: "bj-09.2" in queue(own, pit, state="open"))


@pytest.mark.parametrize("kept", ["folder"], indirect=True)
def test_nothing_done_is_ever_lost_and_every_change_of_the_chain_shows(own: House) -> None:
    with own.signed_in("pit") as pit:
        for number in range(3):
            pit.post("/api/incidents/bj-07.1/comments", json={"text": f"remark {number}"})
        kept = own.get(pit, "/api/incidents/bj-07.1")["history"]
    chain = own.state / CASES_FILE
    assert verify_journal(chain).entries == 3
    events = [e for e in read_journal(chain) if isinstance(e, UnknownEvent)]
    decoded = [msgspec.json.decode(event.body, type=AnyCaseEvent) for event in events]
    assert [msgspec.to_builtins(one) for one in decoded] == kept


def test_a_service_that_starts_anew_knows_what_was_done(tmp_path: Path) -> None:
    play(tmp_path / "bj-07.journal", "mistake", "BJ-07")
    with house(tmp_path, tmp_path / "state") as first:
        first.staff()
        with first.signed_in("pit") as pit:
            pit.post("/api/incidents/bj-07.2/closing", json={"reason": "paid back"})
    with house(tmp_path, tmp_path / "state") as second, second.signed_in("audit") as audit:
        assert queue(second, audit, state="closed") == ["bj-07.2"]


def test_who_watches_the_queue_gets_every_change(own: House) -> None:
    changes: list[dict[str, Any]] = []
    ids: list[str] = []
    watching = threading.Event()

    def watch() -> None:
        with (
            own.signed_in("audit") as audit,
            audit.stream("GET", "/api/incidents/stream") as answer,
        ):
            watching.set()
            for line in answer.iter_lines():
                ids.extend([line.removeprefix("id: ")] if line.startswith("id: ") else [])
                if line.startswith("data: "):
                    changes.append(msgspec.json.decode(line.removeprefix("data: ")))
                if len(changes) == 2:
                    return

    thread = threading.Thread(target=watch)
    thread.start()
    assert watching.wait(20)
    with own.signed_in("pit") as pit:
        pit.post("/api/incidents/bj-07.1/comments", json={"text": "seen"})
        pit.post("/api/incidents/bj-07.1/closing", json={"reason": "done"})
        thread.join(20)
        assert [(one["id"], one["comments"], one["state"]) for one in changes] == [
            ("bj-07.1", 1, "open"),
            ("bj-07.1", 1, "closed"),
        ]
        back = {"Last-Event-ID": ids[0]}
        with pit.stream("GET", "/api/incidents/stream", headers=back) as answer:
            again = next(line for line in answer.iter_lines() if line.startswith("id: "))
        assert again == f"id: {ids[1]}"
