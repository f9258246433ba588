"""Accounts: kept hashed, locked after wrong passwords, and everything done is written down."""

import logging
from pathlib import Path
from typing import Any

import pytest

from server.service.access.accounts import IDLE_NS, LOCKED_NS, TRIES, Accounts, LockedOut
from server.service.access.database import accounts_file
from server.service.access.people import Right, Role
from stream.clock import SimulatedClock
from stream.reading import UnknownEvent, read_journal
from tests.server.service.house import CHEAP, PASSWORD, house


@pytest.fixture
def clock() -> SimulatedClock:
    return SimulatedClock(10**18)


@pytest.fixture
def kept(clock: SimulatedClock) -> Accounts:
    found = Accounts(accounts_file(), clock, CHEAP)
    found.add("ann", Role.PIT, PASSWORD)
    found.add("root", Role.ADMIN, PASSWORD)
    return found


@pytest.mark.parametrize("name", ["ann", "nobody-here"])
def test_five_wrong_passwords_lock_a_name_for_a_while_whether_or_not_it_exists(
    kept: Accounts, clock: SimulatedClock, name: str
) -> None:
    for _ in range(TRIES):
        assert kept.sign_in(name, "wrong") is None
    with pytest.raises(LockedOut) as locked:
        kept.sign_in(name, PASSWORD)
    assert locked.value.left_ns == LOCKED_NS
    clock.advance(LOCKED_NS + 1)
    assert (kept.sign_in(name, PASSWORD) is not None) == (name == "ann")


def test_a_right_password_forgets_the_wrong_ones(kept: Accounts) -> None:
    for _ in range(3):
        for _ in range(TRIES - 1):
            assert kept.sign_in("ann", "wrong") is None
        assert kept.sign_in("ann", PASSWORD) is not None


def test_a_session_ends_when_nothing_is_done_with_it(kept: Accounts, clock: SimulatedClock) -> None:
    begun = kept.sign_in("ann", PASSWORD)
    assert begun is not None
    clock.advance(IDLE_NS - 1)
    assert kept.by_session(begun.session, None) is not None
    clock.advance(IDLE_NS - 1)
    assert kept.by_session(begun.session, None) is not None
    clock.advance(IDLE_NS)
    assert kept.by_session(begun.session, None) is None


def test_a_closed_account_ends_sessions_and_tokens(kept: Accounts) -> None:
    begun = kept.sign_in("ann", PASSWORD)
    assert begun is not None
    _, secret = kept.add_token("ann", "board", {Right.SEE_ROUNDS}, 10**18)
    kept.change("ann", active=False)
    assert kept.by_session(begun.session, None) is None
    assert kept.by_token(secret) is None
    assert kept.sign_in("ann", PASSWORD) is None


@pytest.mark.parametrize("same", [{}, {"role": Role.PIT, "active": True, "tables": []}], ids=str)
def test_a_change_of_nothing_ends_no_session(kept: Accounts, same: dict[str, Any]) -> None:
    begun = kept.sign_in("ann", PASSWORD)
    assert begun is not None
    before = kept.change("ann", **same)
    assert before in kept.all()
    assert kept.by_session(begun.session, None) is not None
    assert not kept.drop_factor("ann"), "there was none"
    assert kept.by_session(begun.session, None) is not None
    kept.change("ann", tables=["BJ-08"])
    assert kept.by_session(begun.session, None) is None


def test_an_empty_change_over_the_network_ends_no_session(tmp_path: Path) -> None:
    with house(tmp_path, tmp_path / "state") as found:
        found.staff()
        with found.signed_in("pit") as pit, found.admin() as admin:
            assert admin.patch("/api/accounts/pit", json={}).json()["role"] == "pit"
            assert pit.get("/api/me").status_code == 200
            rows = found.get(admin, "/api/activity", limit=9)["items"]
    assert "pit: nothing" in {row["target"] for row in rows if row["action"] == "account_changed"}


def test_a_token_loses_what_its_account_loses(kept: Accounts) -> None:
    _, secret = kept.add_token("ann", "board", {Right.SEE_ROUNDS, Right.SEE_TABLES}, 10**18)
    kept.change("ann", role=Role.ENGINEER)
    person = kept.by_token(secret)
    assert person is not None
    assert person.rights == {Right.SEE_TABLES}


def test_somebody_is_always_left_to_keep_the_accounts(tmp_path: Path) -> None:
    with house(tmp_path, tmp_path / "state") as found, found.admin() as admin:
        for change in ({"active": False}, {"role": "pit"}):
            assert admin.patch("/api/accounts/admin", json=change).status_code == 409


def test_what_people_do_is_a_chained_journal_without_their_secrets(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    state = tmp_path / "state"
    with house(tmp_path, state) as found:
        first = (state / "first-password").read_text().strip()
        assert (state / "first-password").stat().st_mode & 0o077 == 0
        found.staff()
        with found.anyone() as client:
            wrong = {"name": "audit", "password": "not this one at all"}
            assert client.post("/api/sign-in", json=wrong).status_code == 401
        assert not (state / "first-password").exists()
        with found.signed_in("pit") as pit:
            assert pit.get("/api/accounts").status_code == 403
            made = pit.post("/api/tokens", json={"label": "x", "scopes": ["see_rounds"]}).json()
            cookie = pit.cookies["pitwatch"]
        with found.signed_in("audit") as audit:
            shown = found.get(audit, "/api/activity", limit=500)["items"]
    kept = read_journal(state / "activity.journal")
    bodies = [event.body for event in kept if isinstance(event, UnknownEvent)]
    acted = [(row["person"], row["action"], row["outcome"]) for row in reversed(shown)]
    assert len(bodies) == len(acted)
    for due in (
        ("audit", "signed_in", "refused"),
        ("admin", "account_added", "done"),
        ("admin", "password_changed", "done"),
        ("pit", "saw", "refused"),
        ("pit", "token_added", "done"),
        ("audit", "saw", "done"),
    ):
        assert due in acted
    written = b"".join(bodies).decode() + caplog.text
    for secret in (first, PASSWORD, "not this one at all", made["secret"], cookie):
        assert secret not in written


def test_activity_is_paged_back_to_the_first(tmp_path: Path) -> None:
    with house(tmp_path, tmp_path / "state") as found, found.admin() as admin:
        for _ in range(4):
            found.get(admin, "/api/tables")
        seqs, query = [], {"limit": 2}
        while True:
            page = found.get(admin, "/api/activity", **query)
            seqs += [row["seq"] for row in page["items"]]
            if page["next"] is None:
                break
            query["cursor"] = page["next"]
        assert seqs[-1] == 1
        assert seqs[:1] == [max(seqs)]
        assert set(seqs) == set(range(1, max(seqs) + 1))
