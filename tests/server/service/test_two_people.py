"""Two people for voids and overrides, where the house asks for it."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from models.events import ReviewResolved
from server.service.access.people import TwoPeople
from stream.journal import Journal
from stream.reading import read_journal
from tests.server.doubted import FALSE, TRUE, play_blinded
from tests.server.service.conftest import Kept
from tests.server.service.house import House, house

ITEM = "/api/incidents/bj-09.1/reviews/0"
REASON = "The cards fell to the floor."
VOID = {"decision": "void", "reason": REASON}


@pytest.fixture
def journals(tmp_path: Path) -> Path:
    found = tmp_path / "journals"
    found.mkdir()
    with Journal.create(found / "bj-09.journal") as journal:
        play_blinded(journal, "BJ-09")
    return found


@pytest.fixture
def own(journals: Path, tmp_path: Path, kept: Kept) -> Iterator[House]:
    both, state = frozenset(TwoPeople), tmp_path / "state"
    with kept(journals) as store, house(journals, state, two_people=both, store=store) as found:
        found.staff()
        yield found


def sent(client: httpx.Client, path: str, **body: Any) -> Any:
    answer = client.post(f"{ITEM}/{path}", json=body)
    assert answer.status_code == 200, answer.text
    return answer.json()


def approved(client: httpx.Client, view: Any) -> Any:
    """Approve the one proposal that a view shows."""
    (proposed,) = view["proposals"]
    return sent(client, "approval", proposal=proposed["seq"])


def resolved(journals: Path) -> list[ReviewResolved]:
    events = read_journal(journals / "bj-09.journal")
    return [event for event in events if isinstance(event, ReviewResolved)]


def test_a_void_holds_only_once_another_person_approved_it(own: House, journals: Path) -> None:
    with own.signed_in("surveillance") as officer, own.signed_in("pit") as boss:
        view = sent(officer, "decision", **VOID)
        assert [one["person"] for one in view["proposals"]] == ["surveillance"]
        assert view["reviews"][0]["decided"] is None
        assert resolved(journals) == []
        own_approval = officer.post(f"{ITEM}/approval", json={})
        assert own_approval.status_code == 409
        assert resolved(journals) == []
        view = approved(boss, view)
        assert view["proposals"] == []
        decided = view["reviews"][0]["decided"]
        assert (decided["person"], decided["approved_by"]) == ("surveillance", "pit")
        assert view["round"]["status"] == "final"
        last = view["history"][-1]
        assert (last["type"], last["person"]) == ("decision_approved", "pit")
        with own.admin() as admin:
            acted = own.get(admin, "/api/activity")["items"]
    (entry,) = resolved(journals)
    assert (entry.source, entry.approved_by) == ("console:surveillance", "pit")
    assert entry.seq == last["entry"]
    done = {(row["person"], row["action"], row["outcome"]) for row in acted}
    assert ("surveillance", "decision_proposed", "done") in done
    assert ("surveillance", "decision_approved", "refused") in done
    assert ("pit", "decision_approved", "done") in done


def test_the_same_person_cannot_approve_with_a_token(own: House, journals: Path) -> None:
    with own.signed_in("surveillance") as officer, own.anyone() as program:
        made = officer.post("/api/tokens", json={"label": "x", "scopes": ["resolve_reviews"]})
        program.headers["Authorization"] = f"Bearer {made.json()['secret']}"
        sent(officer, "decision", **VOID)
        assert program.post(f"{ITEM}/approval", json={}).status_code == 409
    assert resolved(journals) == []


def test_an_override_needs_two_and_a_first_decision_one(own: House, journals: Path) -> None:
    with own.signed_in("surveillance") as officer, own.signed_in("pit") as boss:
        view = sent(officer, "decision", decision="chosen", choice=str(FALSE))
        first = view["reviews"][0]["decided"]
        assert view["proposals"] == []
        again = {"decision": "chosen", "choice": str(TRUE), "instead_of": first["seq"]}
        view = sent(officer, "decision", **again)
        assert view["reviews"][0]["decided"]["seq"] == first["seq"]
        view = approved(boss, view)
        assert view["reviews"][0]["decided"]["choice"] == str(TRUE)
    assert [one.approved_by for one in resolved(journals)] == ["", "pit"]


def test_a_proposal_can_be_declined_or_taken_back(own: House, journals: Path) -> None:
    with own.signed_in("surveillance") as officer, own.signed_in("pit") as boss:
        for somebody in (boss, officer):
            sent(officer, "decision", **VOID)
            assert sent(somebody, "approval", approve=False, reason="no")["proposals"] == []
        assert boss.post(f"{ITEM}/approval", json={}).status_code == 404
    assert resolved(journals) == []


def test_what_was_proposed_and_decided_otherwise_meanwhile_is_refused(own: House) -> None:
    with own.signed_in("surveillance") as officer, own.signed_in("pit") as boss:
        (proposed,) = sent(officer, "decision", **VOID)["proposals"]
        sent(officer, "decision", decision="chosen", choice=str(TRUE))
        refused = boss.post(f"{ITEM}/approval", json={"proposal": proposed["seq"]})
        assert refused.status_code == 409


def test_nobody_approves_a_proposal_that_another_one_replaced_meanwhile(
    own: House, journals: Path
) -> None:
    with own.signed_in("surveillance") as officer, own.signed_in("pit") as boss:
        (read,) = sent(officer, "decision", **VOID | {"reason": "the cards fell"})["proposals"]
        (put,) = sent(officer, "decision", **VOID | {"reason": "a friend lost"})["proposals"]
        for body in ({"proposal": read["seq"]}, {}):
            refused = boss.post(f"{ITEM}/approval", json=body)
            assert refused.status_code == 409
            assert f"send its seq as proposal: {put['seq']}" in refused.json()["detail"]
        assert resolved(journals) == []
        sent(boss, "approval", proposal=put["seq"])
    assert [one.reason for one in resolved(journals)] == ["a friend lost"]


def test_a_void_without_a_reason_is_not_even_proposed(own: House) -> None:
    with own.signed_in("surveillance") as officer:
        refused = officer.post(f"{ITEM}/decision", json={"decision": "void"})
        assert refused.status_code == 409


def test_proposals_outlive_a_restart(journals: Path, tmp_path: Path) -> None:
    two = frozenset(TwoPeople)
    with house(journals, tmp_path / "state", two_people=two) as found:
        found.staff()
        with found.signed_in("surveillance") as officer:
            view = sent(officer, "decision", **VOID)
    with (
        house(journals, tmp_path / "state", two_people=two) as found,
        found.signed_in("pit") as boss,
    ):
        assert approved(boss, view)["round"]["status"] == "final"


def test_where_the_house_does_not_ask_for_two_one_decides(journals: Path, tmp_path: Path) -> None:
    with house(journals, tmp_path / "state") as found:
        found.staff()
        with found.signed_in("surveillance") as officer:
            assert sent(officer, "decision", **VOID)["round"]["status"] == "final"
    (entry,) = resolved(journals)
    assert entry.approved_by == ""
