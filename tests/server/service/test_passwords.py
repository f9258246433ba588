"""Passwords: the first one is changed, common ones are refused, former ones do not come back."""

from pathlib import Path

import pytest

from models.errors import OperatorError
from server.service.access.accounts import Accounts
from server.service.access.database import accounts_file
from server.service.access.passwords import PasswordRules
from server.service.access.people import Right, Role
from server.service.access.records import PASSWORD_FILE
from stream.clock import SimulatedClock
from tests.server.service.house import CHEAP, FIRST_PASSWORD, PASSWORD, house

DAY_NS = 86_400_000_000_000
OTHER = "quite another passphrase"


@pytest.fixture
def clock() -> SimulatedClock:
    return SimulatedClock(10**18)


@pytest.mark.parametrize(
    "common",
    ["password1234", "qwertyuiop12", "123456789012", "aaaaaaaaaaaa", "administrator1",
     "letmeinletmein", "blackjack123", "ann-ann-ann-ann", "iloveyouforever"],
)  # fmt: skip
def test_common_ones_are_refused(clock: SimulatedClock, common: str) -> None:
    kept = Accounts(accounts_file(), clock, CHEAP)
    with pytest.raises(OperatorError, match="too easily guessed"):
        kept.add("ann", Role.PIT, common)
    assert kept.all() == ()
    kept.add("ann", Role.ADMIN, PASSWORD)
    with pytest.raises(OperatorError, match="too easily guessed"):
        kept.change("ann", role=Role.ADMIN, password=common)


def test_former_ones_do_not_come_back_until_others_were_used(clock: SimulatedClock) -> None:
    kept = Accounts(accounts_file(), clock, CHEAP, (), PasswordRules(remembered=2))
    kept.add("ann", Role.PIT, PASSWORD)
    kept.add("root", Role.ADMIN, PASSWORD)
    with pytest.raises(OperatorError, match="used before"):
        kept.change("ann", password=PASSWORD)
    kept.change("ann", password=OTHER)
    kept.change("ann", password=OTHER + " 2")
    for former in (PASSWORD, OTHER, OTHER + " 2"):
        with pytest.raises(OperatorError, match="used before"):
            kept.change("ann", password=former)
    kept.change("ann", password=OTHER + " 3")
    kept.change("ann", password=PASSWORD)


def test_an_old_one_must_be_changed(clock: SimulatedClock) -> None:
    rules = PasswordRules(lasts_ns=90 * DAY_NS)
    kept = Accounts(accounts_file(), clock, CHEAP, (), rules)
    kept.add("ann", Role.PIT, PASSWORD)
    kept.add("root", Role.ADMIN, PASSWORD)
    _, secret = kept.add_token("ann", "board", {Right.SEE_ROUNDS}, 366 * DAY_NS)
    clock.advance(90 * DAY_NS - 1)
    begun = kept.sign_in("ann", PASSWORD)
    assert begun is not None
    assert begun.shown.password == "own"
    clock.advance(1)
    begun = kept.sign_in("ann", PASSWORD)
    assert begun is not None
    assert begun.shown.password == "due"
    found = kept.by_session(begun.session, None)
    assert found is not None
    assert found[0].rights == {Right.KEEP_SELF}
    person = kept.by_token(secret)
    assert person is not None
    assert person.rights == frozenset()
    kept.change("ann", password=OTHER)
    assert kept.standing("ann") == ("off", "own")


def test_accounts_of_an_earlier_release_are_as_old_as_their_account(
    tmp_path: Path, clock: SimulatedClock
) -> None:
    path = tmp_path / "accounts.sqlite"
    kept = Accounts.open(path, clock, CHEAP)
    kept.add("ann", Role.PIT, PASSWORD)
    kept._connection.execute("DELETE FROM password_ages")
    kept.close()
    again = Accounts.open(path, clock, CHEAP, (), PasswordRules(lasts_ns=DAY_NS))
    assert again.standing("ann")[1] == "own"
    clock.advance(DAY_NS)
    assert again.standing("ann")[1] == "due"
    again.close()


# --- at the service -------------------------------------------------------------------------


def test_the_first_password_must_be_changed_before_anything_else(tmp_path: Path) -> None:
    state = tmp_path / "state"
    with house(tmp_path, state) as found:
        first = (state / PASSWORD_FILE).read_text().strip()
        with found.signed_in("admin", first) as admin:
            assert admin.get("/api/me").json()["password"] == "due"
            assert admin.get("/api/accounts").status_code == 403
            assert admin.post("/api/tokens", json={"label": "x", "scopes": ["see_tables"]}
            ).status_code == 403  # fmt: skip
        with found.admin() as admin:
            assert admin.get("/api/me").json()["password"] == "own"
            account = {"name": "ann", "role": "pit", "password": FIRST_PASSWORD}
            assert admin.post("/api/accounts", json=account).json()["password"] == "due"
            with found.signed_in("ann", FIRST_PASSWORD) as ann:
                assert ann.get("/api/tables").status_code == 403
                same = {"old": FIRST_PASSWORD, "new": FIRST_PASSWORD}
                assert ann.post("/api/me/password", json=same).status_code == 409
            found.change_password("ann", FIRST_PASSWORD, PASSWORD)
            with found.signed_in("ann") as ann:
                assert ann.get("/api/tables").status_code == 200
            reset = {"password": FIRST_PASSWORD + " two"}
            assert admin.patch("/api/accounts/ann", json=reset).json()["password"] == "due"
            assert admin.patch("/api/accounts/ann", json={"role": "audit"}).json()["password"] == (
                "due"
            )


def test_the_sign_in_answer_holds_no_secret_of_the_cookie(tmp_path: Path) -> None:
    state = tmp_path / "state"
    with house(tmp_path, state) as found, found.anyone() as client:
        first = (state / PASSWORD_FILE).read_text().strip()
        sent = client.post("/api/sign-in", json={"name": "admin", "password": first})
        assert sent.status_code == 200
        assert client.cookies["pitwatch"] not in sent.text
        assert set(sent.json()) == {"name", "role", "csrf", "second_factor", "password"}


def test_a_copy_of_the_accounts_holds_no_password_and_no_token(
    clock: SimulatedClock, tmp_path: Path
) -> None:
    kept = Accounts.open(tmp_path / "accounts.sqlite", clock, CHEAP)
    kept.add("root", Role.ADMIN, PASSWORD)
    kept.add("ann", Role.PIT, PASSWORD)
    _, secret = kept.add_token("ann", "board", {Right.SEE_ROUNDS}, 366 * DAY_NS)
    kept.change("ann", password=OTHER)
    written = b"".join(path.read_bytes() for path in tmp_path.iterdir())
    assert b"$argon2id$" in written
    for one in (PASSWORD, OTHER, secret):
        assert one.encode() not in written
