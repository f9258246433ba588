"""How often one may ask, what is too much, and what every answer carries, over TLS too."""

import socket
import ssl
from pathlib import Path

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st
from websockets.exceptions import InvalidStatus
from websockets.sync.client import connect

from server.service.http.limits import Limiter, Limits, Rate, limited_as
from server.service.throttle import LONGEST_BODY
from tests.server.certificates import self_signed
from tests.server.service.house import FREELY, PASSWORD, House, house

SECOND_NS = 1_000_000_000
SELDOM = Rate(0.1, 3)


# --- the bucket -------------------------------------------------------------------------------


@given(
    st.lists(st.integers(0, 5 * SECOND_NS), max_size=200),
    st.floats(0.1, 50),
    st.integers(1, 20),
)
def test_nobody_is_let_through_more_often_than_the_burst_and_the_rate(
    pauses: list[int], per_s: float, burst: int
) -> None:
    limiter, now_ns, passed = Limiter(Rate(per_s, burst), 10), 0, 0
    for pause in pauses:
        now_ns += pause
        passed += limiter.wait_ns("who", now_ns) == 0
        assert passed <= burst + now_ns / SECOND_NS * per_s + 1e-6


@given(st.floats(0.1, 50), st.integers(1, 20))
def test_a_client_that_waits_as_long_as_asked_is_let_through(per_s: float, burst: int) -> None:
    limiter = Limiter(Rate(per_s, burst), 10)
    assert [limiter.wait_ns("who", 0) for _ in range(burst)] == [0] * burst
    wait_ns = limiter.wait_ns("who", 0)
    assert wait_ns > 0
    assert limiter.wait_ns("who", wait_ns + 1) == 0


def test_however_many_ask_so_many_are_remembered_and_those_who_ask_on_are() -> None:
    limiter = Limiter(SELDOM, 100)
    for number in range(10_000):
        limiter.wait_ns("the one who asks on", number)
        limiter.wait_ns(f"another {number}", number)
    assert len(limiter) == 100
    assert limiter.wait_ns("the one who asks on", 10_000) > 0


@pytest.mark.parametrize(
    ("address", "counted"),
    [
        ("192.0.2.7", "192.0.2.7"),
        ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"),
        ("2001:db8:1:2::99", "2001:db8:1:2::/64"),
        ("", ""),
    ],
)
def test_of_ipv6_a_whole_network_is_counted_as_one(address: str, counted: str) -> None:
    assert limited_as(address) == counted


# --- the service ------------------------------------------------------------------------------


def test_an_address_that_asks_too_often_waits_and_others_do_not(tmp_path: Path) -> None:
    limits = Limits(address=SELDOM, account=FREELY.account, sign_in=FREELY.sign_in)
    with (
        house(tmp_path, tmp_path / "state", limits=limits) as found,
        found.anyone("127.0.0.2") as hasty,
        found.anyone("127.0.0.3") as calm,
    ):
        answers = [hasty.get("/api/tables") for _ in range(5)]
        assert [one.status_code for one in answers] == [401, 401, 401, 429, 429]
        assert 1 <= int(answers[-1].headers["Retry-After"]) <= 20
        assert answers[-1].headers["content-type"] == "application/problem+json"
        assert answers[-1].headers["x-frame-options"] == "DENY"
        assert calm.get("/api/tables").status_code == 401
        assert [hasty.get("/health").status_code for _ in range(5)] == [200] * 5


def test_an_account_that_asks_too_often_waits_wherever_it_asks_from(tmp_path: Path) -> None:
    limits = Limits(FREELY.address, SELDOM, FREELY.sign_in)
    with house(tmp_path, tmp_path / "state", limits=limits) as found, found.admin() as admin:
        assert [admin.get("/api/me").status_code for _ in range(2)] == [200] * 2
        cookies = dict(admin.cookies)
        with found.anyone("127.0.0.4") as elsewhere:
            elsewhere.cookies.update(cookies)
            refused = elsewhere.get("/api/me")
            assert refused.status_code == 429
            assert "account" in refused.json()["detail"]


def test_sign_ins_of_an_address_are_limited_whatever_name_is_tried(tmp_path: Path) -> None:
    limits = Limits(FREELY.address, FREELY.account, SELDOM)
    with house(tmp_path, tmp_path / "state", limits=limits) as found:
        with found.anyone("127.0.0.5") as guessing:
            answers = [
                guessing.post("/api/sign-in", json={"name": f"n{number}", "password": "x"})
                for number in range(5)
            ]
        assert [one.status_code for one in answers] == [401, 401, 401, 429, 429]
        with found.admin() as admin:
            rows = found.get(admin, "/api/activity")["items"]
            metrics = admin.get("/metrics").text
    assert ("127.0.0.5", "too often") in {(row["address"], row.get("target")) for row in rows}
    assert 'pitwatch_limited_requests_total{by="sign_in"} 2.0' in metrics
    assert 'pitwatch_sign_ins_total{outcome="wrong"} 3.0' in metrics


def test_too_long_a_body_is_not_read(at_work: House) -> None:
    with at_work.anyone() as client:
        long = client.post("/api/sign-in", content=b"x" * (LONGEST_BODY + 1))
        assert long.status_code == 413
        for length in (f"{LONGEST_BODY + 1:020}", "9" * 4000, "-1", "1e3", "٣"):
            host, port = httpx.URL(at_work.url).host, httpx.URL(at_work.url).port
            with socket.create_connection((host, port)) as sender:
                head = (
                    f"POST /api/sign-in HTTP/1.1\r\nHost: pit\r\nContent-Length: {length}\r\n\r\n"
                )
                sender.sendall(head.encode())
                assert sender.recv(100).split()[1] in {b"413", b"400"}, length
        without_length = client.post("/api/sign-in", content=iter([b"{}"]))
        assert without_length.status_code == 411


def test_another_sites_page_can_neither_sign_in_nor_act(at_work: House) -> None:
    evil = {"Origin": "https://evil.example"}
    sent = {"name": "pit", "password": PASSWORD}
    with at_work.anyone() as client:
        assert client.post("/api/sign-in", json=sent, headers=evil).status_code == 403
        as_form = client.post(
            "/api/sign-in", content=b'{"name": "pit"}', headers={"Content-Type": "text/plain"}
        )
        assert as_form.status_code == 422
        own = {"Origin": at_work.url}
        assert client.post("/api/sign-in", json=sent, headers=own).status_code == 200
    with at_work.signed_in("pit") as pit:
        made = {"label": "x", "scopes": ["see_rounds"]}
        assert pit.post("/api/tokens", json=made, headers=evil).status_code == 403
        assert pit.post("/api/tokens", json=made, headers=own).status_code == 201


@pytest.fixture
def certificate(tmp_path: Path) -> tuple[Path, Path]:
    return self_signed(tmp_path)


def test_over_tls_the_cookie_is_secure_and_plain_http_is_asked_for_no_more(
    tmp_path: Path, certificate: tuple[Path, Path]
) -> None:
    journals = tmp_path / "journals"
    journals.mkdir()
    with house(journals, tmp_path / "state", tls=certificate) as found:
        found.staff()
        with found.signed_in("pit") as pit:
            assert pit.get("/api/tables").status_code == 200
            health = pit.get("/health").headers
            assert health["strict-transport-security"] == "max-age=31536000"
            cookie = f"pitwatch={pit.cookies['pitwatch']}"
            trusted = ssl.create_default_context(cafile=str(certificate[0]))
            address = found.url.replace("https", "wss") + "/stream"
            own = {"Cookie": cookie, "Origin": found.url}
            with connect(address, ssl=trusted, additional_headers=own, proxy=None):
                pass
            foreign = {"Cookie": cookie, "Origin": "https://evil.example"}
            with (
                pytest.raises(InvalidStatus),
                connect(address, ssl=trusted, additional_headers=foreign, proxy=None),
            ):
                pass
        with found.anyone() as client:
            body = {"name": "pit", "password": PASSWORD}
            set_cookie = client.post("/api/sign-in", json=body).headers["set-cookie"].lower()
        assert "secure" in {part.strip() for part in set_cookie.split(";")}
        with httpx.Client() as plain, pytest.raises(httpx.TransportError):
            plain.get(found.url.replace("https", "http") + "/health")
