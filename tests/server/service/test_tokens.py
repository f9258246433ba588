"""Tokens never outlive or exceed what made them, and an administrator takes them back."""

from pathlib import Path

import httpx
import pytest

from server.service.access.accounts import Accounts
from server.service.access.database import accounts_file
from server.service.access.people import Right, Role
from stream.clock import SimulatedClock
from tests.server.service.house import CHEAP, FIRST_PASSWORD, PASSWORD, House, house

DAY_NS = 86_400_000_000_000
OTHER = "quite another passphrase"


@pytest.fixture
def clock() -> SimulatedClock:
    return SimulatedClock(10**18)


@pytest.fixture
def kept(clock: SimulatedClock) -> Accounts:
    found = Accounts(accounts_file(), clock, CHEAP)
    found.add("ann", Role.PIT, PASSWORD)
    found.add("root", Role.ADMIN, PASSWORD)
    return found


def test_they_end_with_a_password_reset(kept: Accounts) -> None:
    _, secret = kept.add_token("ann", "board", {Right.SEE_ROUNDS}, DAY_NS)
    kept.change("ann", password=OTHER, is_first=True)
    kept.change("ann", password="a third good passphrase")
    assert kept.by_token(secret) is None
    assert kept.tokens("ann") == ()


def test_a_person_who_changes_their_password_may_keep_them(kept: Accounts) -> None:
    _, secret = kept.add_token("ann", "board", {Right.SEE_ROUNDS}, DAY_NS)
    kept.change("ann", password=OTHER, keep_tokens=True)
    assert kept.by_token(secret) is not None


def test_they_do_not_come_back_with_an_account_that_is_opened_again(kept: Accounts) -> None:
    _, secret = kept.add_token("ann", "board", {Right.SEE_ROUNDS}, DAY_NS)
    kept.change("ann", active=False)
    kept.change("ann", active=True)
    assert kept.by_token(secret) is None


def test_one_that_a_token_makes_ends_no_later(kept: Accounts, clock: SimulatedClock) -> None:
    maker, _ = kept.add_token("ann", "maker", {Right.KEEP_TOKENS}, DAY_NS)
    made, secret = kept.add_token("ann", "made", {Right.KEEP_TOKENS}, 366 * DAY_NS, maker.id)
    assert made.ends_ns == maker.ends_ns
    clock.advance(DAY_NS)
    assert kept.by_token(secret) is None


def test_one_that_a_token_made_is_taken_back_with_it(kept: Accounts) -> None:
    maker, _ = kept.add_token("ann", "maker", {Right.KEEP_TOKENS}, DAY_NS)
    child, _ = kept.add_token("ann", "child", {Right.KEEP_TOKENS}, DAY_NS, maker.id)
    _, secret = kept.add_token("ann", "grandchild", {Right.KEEP_TOKENS}, DAY_NS, child.id)
    _, other = kept.add_token("ann", "other", {Right.SEE_ROUNDS}, DAY_NS)
    assert kept.drop_token("ann", maker.id)
    assert kept.by_token(secret) is None
    assert [token.label for token in kept.tokens("ann")] == ["other"]
    assert kept.by_token(other) is not None


# --- at the service -------------------------------------------------------------------------


def made(client: httpx.Client, *scopes: str, days: int = 30) -> httpx.Response:
    return client.post("/api/tokens", json={"label": "x", "scopes": scopes, "days": days})


def with_token(found: House, secret: str) -> httpx.Client:
    client = found.anyone()
    client.headers["Authorization"] = f"Bearer {secret}"
    return client


def test_a_token_makes_none_with_more_rights_or_a_longer_life(tmp_path: Path) -> None:
    with house(tmp_path, tmp_path / "state") as found:
        found.staff()
        with found.signed_in("pit") as pit:
            sent = made(pit, "keep_tokens", "see_tables", days=1).json()
        with with_token(found, sent["secret"]) as program:
            assert made(program, "see_money").status_code == 403
            child = made(program, "see_tables", days=366).json()
            assert child["token"]["ends_ns"] == sent["token"]["ends_ns"]
            assert child["token"]["made_by"] == sent["token"]["id"]


def test_a_token_can_make_no_account_and_reset_no_password(tmp_path: Path) -> None:
    with house(tmp_path, tmp_path / "state") as found, found.admin() as admin:
        found.hire(admin, "ann", "pit")
        secret = made(admin, "keep_accounts").json()["secret"]
        with with_token(found, secret) as program:
            account = {"name": "eve", "role": "admin", "password": OTHER}
            assert program.post("/api/accounts", json=account).status_code == 403
            changed = program.patch("/api/accounts/ann", json={"password": OTHER})
            assert changed.status_code == 403
            assert program.get("/api/accounts").status_code == 200


def test_an_administrator_lists_and_takes_back_somebodys(tmp_path: Path) -> None:
    with house(tmp_path, tmp_path / "state") as found:
        found.staff()
        with found.signed_in("pit") as pit:
            sent = made(pit, "see_tables").json()
        with found.admin() as admin, with_token(found, sent["secret"]) as program:
            assert program.get("/api/tables").status_code == 200
            (listed,) = found.get(admin, "/api/accounts/pit/tokens")
            assert listed == sent["token"]
            counts = {one["name"]: one["tokens"] for one in found.get(admin, "/api/accounts")}
            assert (counts["pit"], counts["audit"]) == (1, 0)
            path = f"/api/accounts/pit/tokens/{listed['id']}"
            assert admin.delete(path.replace("pit", "audit")).status_code == 404
            assert admin.delete(path).status_code == 204
            assert admin.delete(path).status_code == 404
            assert program.get("/api/tables").status_code == 401
            acted = [row["action"] for row in found.get(admin, "/api/activity")["items"]]
        assert "token_revoked" in acted


def test_a_reset_by_an_administrator_ends_them(tmp_path: Path) -> None:
    with house(tmp_path, tmp_path / "state") as found:
        found.staff()
        with found.signed_in("pit") as pit:
            secret = made(pit, "see_tables").json()["secret"]
        with found.admin() as admin:
            sent = {"password": FIRST_PASSWORD + " again"}
            assert admin.patch("/api/accounts/pit", json=sent).status_code == 200
        with with_token(found, secret) as program:
            assert program.get("/api/tables").status_code == 401
