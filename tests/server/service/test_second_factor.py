"""A second factor: codes by the clock, each good once; recovery codes; roles that must have one."""

import base64
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from server.service.access.accounts import LOCKED_NS, TRIES
from server.service.access.people import Role
from server.service.access.second_factor import RECOVERY_CODES
from server.service.access.totp import STEP_NS, code_of, in_base32, step_at, step_of, uri_of
from stream.clock import SimulatedClock
from stream.reading import read_journal
from tests.server.service.house import PASSWORD, House, house

RFC_SECRET = b"12345678901234567890"
SECOND_NS = 1_000_000_000


@pytest.mark.parametrize(
    ("seconds", "code"),
    [
        (59, "287082"),
        (1_111_111_109, "081804"),
        (1_111_111_111, "050471"),
        (1_234_567_890, "005924"),
        (2_000_000_000, "279037"),
        (20_000_000_000, "353130"),
    ],
)
def test_codes_are_those_of_rfc_6238_appendix_b(seconds: int, code: str) -> None:
    assert code_of(RFC_SECRET, step_at(seconds * SECOND_NS)) == code


def test_a_code_is_good_one_step_early_and_late_and_not_after_its_step_was_used() -> None:
    now, at_ns = 1000, 1000 * STEP_NS
    for step in (now - 1, now, now + 1):
        assert step_of(RFC_SECRET, code_of(RFC_SECRET, step), at_ns, after=0) == step
        assert step_of(RFC_SECRET, code_of(RFC_SECRET, step), at_ns, after=step) is None
    for step in (now - 2, now + 2):
        assert step_of(RFC_SECRET, code_of(RFC_SECRET, step), at_ns, after=0) is None


def test_the_uri_is_what_an_authenticator_takes_in() -> None:
    url = httpx.URL(uri_of(RFC_SECRET, "ann"))
    assert (url.scheme, url.host, url.path) == ("otpauth", "totp", "/Pitwatch:ann")
    assert dict(url.params) == {
        "secret": in_base32(RFC_SECRET),
        "issuer": "Pitwatch",
        "algorithm": "SHA1",
        "digits": "6",
        "period": "30",
    }


@pytest.fixture
def clock() -> SimulatedClock:
    return SimulatedClock(10**18)


@pytest.fixture
def guarded(tmp_path: Path, clock: SimulatedClock) -> Iterator[House]:
    """A service at which surveillance must have a second factor."""
    roles = frozenset({Role.SURVEILLANCE})
    with house(tmp_path, tmp_path / "state", guarded_roles=roles, clock=clock) as found:
        found.staff()
        yield found


def enrolled(client: httpx.Client, clock: SimulatedClock) -> tuple[bytes, list[str]]:
    """Enrol, as an app does that reads the URI; return the secret and the recovery codes."""
    begun = client.post("/api/me/second-factor", json={"password": PASSWORD})
    assert begun.status_code == 201, begun.text
    secret = secret_of(begun.json()["secret"])
    sent = {"code": code_of(secret, step_at(clock.now_ns()))}
    confirmed = client.post("/api/me/second-factor/confirmation", json=sent)
    assert confirmed.status_code == 200, confirmed.text
    codes: list[str] = confirmed.json()["codes"]
    return secret, codes


def secret_of(text: str) -> bytes:

    return base64.b32decode(text + "=" * (-len(text) % 8))


def signing_in(found: House, name: str, code: str | None = None) -> httpx.Response:
    sent = {"name": name, "password": PASSWORD} | ({} if code is None else {"code": code})
    with found.anyone() as client:
        return client.post("/api/sign-in", json=sent)


def test_a_sign_in_asks_for_a_code_once_a_second_factor_is_confirmed(
    guarded: House, clock: SimulatedClock
) -> None:
    with guarded.signed_in("pit") as pit:
        begun = pit.post("/api/me/second-factor", json={"password": PASSWORD}).json()
        assert signing_in(guarded, "pit").json()["second_factor"] == "off"
        wrong = {"code": "000000"}
        assert pit.post("/api/me/second-factor/confirmation", json=wrong).status_code == 409
        secret, _ = enrolled(pit, clock)
        assert secret != secret_of(begun["secret"])
        again = pit.post("/api/me/second-factor", json={"password": PASSWORD})
        assert again.status_code == 409
    asked = signing_in(guarded, "pit")
    assert (asked.status_code, asked.json()["needs"]) == (401, "code")
    used = code_of(secret, step_at(clock.now_ns()))
    assert signing_in(guarded, "pit", used).status_code == 401
    clock.advance(STEP_NS)
    code = code_of(secret, step_at(clock.now_ns()))
    assert signing_in(guarded, "pit", code).json()["second_factor"] == "on"
    assert signing_in(guarded, "pit", code).status_code == 401


def test_wrong_codes_lock_an_account_as_wrong_passwords_do(
    guarded: House, clock: SimulatedClock
) -> None:
    with guarded.signed_in("pit") as pit:
        secret, _ = enrolled(pit, clock)
    for _ in range(TRIES):
        assert signing_in(guarded, "pit", "000000").status_code == 401
        assert signing_in(guarded, "pit").status_code in {401, 429}
    clock.advance(STEP_NS)
    locked = signing_in(guarded, "pit", code_of(secret, step_at(clock.now_ns())))
    assert locked.status_code == 429
    assert int(locked.headers["Retry-After"]) <= LOCKED_NS // SECOND_NS
    clock.advance(LOCKED_NS)
    code = code_of(secret, step_at(clock.now_ns()))
    assert signing_in(guarded, "pit", code).status_code == 200


def test_each_recovery_code_lets_in_once(guarded: House, clock: SimulatedClock) -> None:
    with guarded.signed_in("pit") as pit:
        _, codes = enrolled(pit, clock)
    assert len(set(codes)) == RECOVERY_CODES
    assert signing_in(guarded, "pit", codes[0].replace("-", " ").upper()).status_code == 200
    assert signing_in(guarded, "pit", codes[0]).status_code == 401
    assert signing_in(guarded, "pit", codes[1]).status_code == 200


def test_a_role_that_must_have_one_can_do_nothing_before_it_is_enrolled(
    guarded: House, clock: SimulatedClock
) -> None:
    with guarded.signed_in("surveillance") as officer:
        assert officer.get("/api/me").json()["second_factor"] == "due"
        assert officer.get("/api/tables").status_code == 403
        made = {"label": "x", "scopes": ["see_rounds"]}
        assert officer.post("/api/tokens", json=made).status_code == 403
        enrolled(officer, clock)
        assert officer.get("/api/me").json()["second_factor"] == "on"
        assert officer.get("/api/tables").status_code == 200
    with guarded.signed_in("pit") as pit:
        assert pit.get("/api/tables").status_code == 200


def test_a_lost_one_is_taken_off_by_an_administrator_and_ones_own_with_password_and_code(
    guarded: House, clock: SimulatedClock
) -> None:
    with guarded.signed_in("pit") as pit:
        _, codes = enrolled(pit, clock)
        removal = "/api/me/second-factor/removal"
        good = {"password": PASSWORD, "code": codes[0]}
        assert pit.post(removal, json={"password": PASSWORD}).status_code == 422
        assert pit.post(removal, json=good | {"code": "000000"}).status_code == 409
        assert pit.post(removal, json=good | {"password": "not this one"}).status_code == 409
        assert pit.post(removal, json=good).status_code == 204
        assert pit.get("/api/me").status_code == 401
    with guarded.signed_in("pit") as pit, guarded.admin() as admin:
        enrolled(pit, clock)
        assert admin.delete("/api/accounts/nobody/second-factor").status_code == 404
        assert admin.delete("/api/accounts/pit/second-factor").status_code == 204
        assert pit.get("/api/me").status_code == 401
        assert admin.delete("/api/accounts/pit/second-factor").status_code == 409
    assert signing_in(guarded, "pit").status_code == 200


def test_what_was_done_is_written_down_and_its_secrets_nowhere(
    guarded: House, clock: SimulatedClock
) -> None:
    with guarded.signed_in("pit") as pit:
        secret, codes = enrolled(pit, clock)
    signing_in(guarded, "pit", codes[0])
    with guarded.admin() as admin:
        acted = [row["action"] for row in guarded.get(admin, "/api/activity")["items"]]
    assert {"second_factor_begun", "second_factor_on"} <= set(acted)
    written = b"".join(
        getattr(event, "body", b"") for event in read_journal(guarded.state / "activity.journal")
    ).decode()
    for hidden in (in_base32(secret), codes[0], codes[0].replace("-", "")):
        assert hidden not in written
    kept = b"".join(file.read_bytes() for file in guarded.state.glob("accounts.sqlite*"))
    assert not any(
        code.encode() in kept or code.replace("-", "").encode() in kept for code in codes
    )


def test_an_administrator_cannot_take_off_their_own_without_a_code(
    guarded: House, clock: SimulatedClock
) -> None:
    with guarded.admin() as admin:
        enrolled(admin, clock)
        assert admin.delete("/api/accounts/admin/second-factor").status_code == 409
        assert admin.get("/api/me").json()["second_factor"] == "on"


def test_wrong_codes_at_the_removal_lock_the_account(guarded: House, clock: SimulatedClock) -> None:
    with guarded.signed_in("pit") as pit:
        enrolled(pit, clock)
        sent = {"password": PASSWORD, "code": "000000"}
        answers = [pit.post("/api/me/second-factor/removal", json=sent) for _ in range(TRIES + 1)]
        assert [one.status_code for one in answers] == [409] * TRIES + [429]
