"""The stream: every event once, in order, from any seq on; a client that stops harms no other."""

import json
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import ClientConnection, connect

from models.events import CardDealt, PlayerSeated, RoundClosed, RoundOpened
from server.service.http.patience import Patience
from server.service.routes.streaming import TRY_AGAIN_LATER
from stream.journal import Journal
from tests.server.service.conftest import Kept
from tests.server.service.house import PASSWORD, House, house, until

SECOND_NS = 1_000_000_000
SHORT = Patience(stalled_ns=SECOND_NS // 2, parting_ns=20 * SECOND_NS, idle_ns=SECOND_NS // 5)


def opened(first: int, last: int) -> list[RoundOpened]:
    return [RoundOpened(round=n, at=n, table="BJ-01") for n in range(first, last + 1)]


@contextmanager
def viewer(found: House, client: httpx.Client, query: str = "") -> Iterator[ClientConnection]:
    """Watch with a client's session, as a page of the service's own does."""
    headers = {"Cookie": f"pitwatch={client.cookies['pitwatch']}", "Origin": found.url}
    address = found.url.replace("http", "ws") + "/stream" + query
    with connect(address, additional_headers=headers, proxy=None) as watching:
        yield watching


def seqs(watching: ClientConnection, count: int) -> list[tuple[str, int]]:
    messages = [json.loads(watching.recv(timeout=20)) for _ in range(count)]
    return [(one["session"], one["event"]["seq"]) for one in messages]


@pytest.fixture
def quick(tmp_path: Path, kept: Kept) -> Iterator[House]:
    """A service that soon loses patience."""
    journals, state = tmp_path / "journals", tmp_path / "state"
    journals.mkdir()
    with kept(journals) as store, house(journals, state, SHORT, store=store) as found:
        found.staff()
        yield found


def test_a_live_table_is_seen_as_it_is_written_and_resumed_from_the_last_seq(
    quick: House,
) -> None:
    with (
        Journal.create(quick.journals / "t.journal") as journal,
        quick.signed_in("pit") as pit,
    ):
        journal.append_all(opened(1, 3))
        until(lambda: quick.get(pit, "/api/sessions")[:1] != [])
        until(lambda: quick.get(pit, "/api/sessions/t")["last_seq"] == 3)
        with viewer(quick, pit, "?from=t:0") as watching:
            assert seqs(watching, 3) == [("t", 1), ("t", 2), ("t", 3)]
            journal.append_all(opened(4, 5))
            assert seqs(watching, 2) == [("t", 4), ("t", 5)]
        journal.append_all(opened(6, 1500))
        with viewer(quick, pit, "?from=t:5") as watching:
            assert seqs(watching, 1495) == [("t", n) for n in range(6, 1501)]
        with viewer(quick, pit) as watching:
            journal.append_all([CardDealt(to=1, card=None, at=1500), RoundClosed(at=1500)])
            messages = [json.loads(watching.recv(timeout=20)) for _ in range(2)]
            assert [one["phase"] for one in messages] == ["deal", "taken_up"]
        with viewer(quick, pit) as watching:
            journal.append_all(opened(1503, 1504))
            assert seqs(watching, 2) == [("t", 1503), ("t", 1504)]


def test_every_table_is_seen_through_one_connection(at_work: House) -> None:
    with at_work.signed_in("surveillance") as officer:
        last = {v["session"]: v["last_seq"] for v in at_work.get(officer, "/api/sessions")}
        with viewer(at_work, officer, "?from=bj-07:0&from=bj-08:0") as watching:
            sent = seqs(watching, sum(last.values()))
    for name, count in last.items():
        assert [seq for session, seq in sent if session == name] == list(range(1, count + 1))


def test_server_sent_events_go_on_from_the_last_id(at_work: House) -> None:
    with at_work.signed_in("pit") as pit:
        headers = {"Last-Event-ID": "10"}
        with pit.stream("GET", "/api/sessions/bj-07/stream", headers=headers) as answer:
            assert answer.headers["content-type"].startswith("text/event-stream")
            lines = answer.iter_lines()
            ids = [next(lines) for _ in range(9)][::3]
    assert ids == ["id: 11", "id: 12", "id: 13"]


def test_a_viewer_that_stops_reading_is_dropped_and_harms_nobody(quick: House) -> None:
    count = 1000
    with Journal.create(quick.journals / "t.journal") as journal:
        journal.append_all(
            PlayerSeated(at=n, table="BJ-01", player="x" * 20_000, spots=(1,)) for n in range(count)
        )
    with quick.signed_in("pit") as pit, quick.signed_in("audit") as audit:
        until(lambda: quick.get(pit, "/api/sessions")[:1] != [])
        until(lambda: quick.get(pit, "/api/sessions/t")["last_seq"] == count)
        idle = upgraded(quick, pit, "?from=t:0")
        with viewer(quick, audit, f"?from=t:{count - 50}") as lively:
            assert seqs(lively, 50)[-1] == ("t", count)
        with quick.signed_in("engineer") as engineer:
            drop = 'viewers_dropped_total{kind="websocket"} 1'
            until(lambda: drop in engineer.get("/metrics").text)
        assert TRY_AGAIN_LATER.to_bytes(2, "big") + b"nothing was read" in rest_of(idle)[-200:]
        assert quick.get(audit, "/api/sessions/t")["last_seq"] == count


def upgraded(found: House, client: httpx.Client, query: str) -> socket.socket:
    """Open a WebSocket and read nothing of it."""
    url = httpx.URL(found.url)
    connection = socket.create_connection((url.host, url.port or 0))
    connection.settimeout(20)
    lines = (
        f"GET /stream{query} HTTP/1.1",
        f"Host: {url.host}:{url.port}",
        f"Origin: {found.url}",
        f"Cookie: pitwatch={client.cookies['pitwatch']}",
        "Connection: Upgrade",
        "Upgrade: websocket",
        "Sec-WebSocket-Version: 13",
        "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
    )
    connection.sendall("\r\n".join([*lines, "", ""]).encode())
    return connection


def rest_of(connection: socket.socket) -> bytes:
    """Read all that was sent, and the close frame at its end."""
    read = bytearray()
    with connection:
        while chunk := connection.recv(1 << 20):
            read += chunk
            if TRY_AGAIN_LATER.to_bytes(2, "big") + b"nothing" in read[-200:]:
                break
    return bytes(read)


def test_a_session_that_is_ended_sees_no_more(quick: House) -> None:
    with Journal.create(quick.journals / "t.journal") as journal, quick.signed_in("pit") as pit:
        journal.append_all(opened(1, 2))
        until(lambda: quick.get(pit, "/api/sessions")[:1] != [])
        with viewer(quick, pit, "?from=t:0") as watching:
            assert len(seqs(watching, 2)) == 2
            assert pit.post("/api/sign-out").status_code == 204
            with pytest.raises(ConnectionClosed) as closed:
                watching.recv(timeout=20)
    assert closed.value.rcvd is not None
    assert closed.value.rcvd.code == 1008


@pytest.mark.parametrize("who", ["engineer", "admin"])
def test_the_stream_asks_for_the_right_to_see_rounds(at_work: House, who: str) -> None:
    signed_in = at_work.admin() if who == "admin" else at_work.signed_in(who, PASSWORD)
    with signed_in as client, pytest.raises(InvalidStatus) as refused, viewer(at_work, client):
        pass
    assert refused.value.response.status_code == 403


def test_another_sites_page_cannot_watch_with_somebodys_cookie(at_work: House) -> None:
    with at_work.signed_in("pit") as pit:
        headers = {
            "Cookie": f"pitwatch={pit.cookies['pitwatch']}",
            "Origin": "https://evil.example",
        }
        address = at_work.url.replace("http", "ws") + "/stream"
        with (
            pytest.raises(InvalidStatus) as refused,
            connect(address, additional_headers=headers, proxy=None),
        ):
            pass
    assert refused.value.response.status_code == 403
