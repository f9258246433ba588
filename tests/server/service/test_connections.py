"""Connections have bounds: a client that holds a request back loses its place, no other does."""

import json
import logging
import socket
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from websockets.sync.client import connect

from models.errors import OperatorError
from models.events import RoundOpened
from server.service.http.connections import Bounds, Connections, Place, bounds_for
from server.service.http.listening import bound_to
from stream.journal import Journal
from tests.server.service.house import HELD, House, house, until
from tests.server.service.test_limits import certificate  # noqa: F401 - a fixture

FEW = Bounds(strangers=8, network=4, signed_in=4, account=3, request_ns=2_000_000_000)


# --- the places -----------------------------------------------------------------------------


def opened(kept: Connections, network: str, now_ns: int = 0) -> Place:
    place, _ = kept.open(network, now_ns)
    assert place is not None
    return place


def test_a_newcomer_takes_the_place_of_the_client_waited_for_longest() -> None:
    kept = Connections(FEW)
    first, *_ = [opened(kept, f"net {number}") for number in range(FEW.strangers)]
    place, gone = kept.open("another", 1)
    assert place is not None
    assert gone is first
    assert kept.strangers == FEW.strangers


def test_a_network_with_all_its_places_displaces_its_own() -> None:
    kept = Connections(FEW)
    other = opened(kept, "other")
    mine = [opened(kept, "mine") for _ in range(FEW.network)]
    _, gone = kept.open("mine", 1)
    assert gone is mine[0]
    assert other.is_open


def test_a_client_that_is_being_answered_is_not_displaced() -> None:
    kept = Connections(FEW)
    answered = [opened(kept, "mine") for _ in range(FEW.network)]
    for place in answered[:-1]:
        kept.settle(place)
    _, gone = kept.open("mine", 1)
    assert gone is answered[-1]
    kept = Connections(FEW)
    for _ in range(FEW.network):
        kept.settle(opened(kept, "mine"))
    assert kept.open("mine", 1) == (None, None)
    assert kept.open("other", 1)[0] is not None


def test_signed_in_people_are_displaced_by_nobody() -> None:
    kept = Connections(FEW)
    mine = opened(kept, "mine")
    assert kept.sign_in(mine, "ann")
    for number in range(100):
        kept.open(f"net {number}", number)
        kept.open("mine", number)
    assert mine.is_open
    assert kept.signed_in == 1


def test_an_account_and_all_accounts_have_so_many_places() -> None:
    kept = Connections(FEW)
    for _ in range(FEW.account):
        assert kept.sign_in(opened(kept, "net"), "ann")
    assert not kept.sign_in(opened(kept, "net"), "ann")
    assert kept.sign_in(opened(kept, "net"), "ben")
    assert not kept.sign_in(opened(kept, "net"), "cy")


def test_a_request_is_due_from_the_connection_on_however_often_a_byte_comes() -> None:
    kept = Connections(FEW)
    place = opened(kept, "net", 0)
    kept.await_request(place, FEW.request_ns - 1)
    assert kept.overdue(FEW.request_ns - 1) == []
    assert kept.overdue(FEW.request_ns) == [place]


def test_who_takes_nothing_of_an_answer_is_overdue_too_signed_in_or_not() -> None:
    kept = Connections(FEW)
    place = opened(kept, "net", 0)
    kept.settle(place)
    kept.sign_in(place, "ann")
    kept.stall(place, 0)
    assert kept.overdue(FEW.stalled_ns) == [place]
    kept.settle(place)
    assert kept.overdue(2 * FEW.stalled_ns) == []


@given(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 5), st.integers(0, 30)), max_size=200))
def test_whatever_happens_no_bound_is_passed_and_the_counts_are_right(
    steps: list[tuple[int, int, int]],
) -> None:
    kept, places = Connections(FEW), list[Place]()
    for now_ns, (what, network, which) in enumerate(steps):
        place = places[which % len(places)] if places else None
        if what == 0 or place is None:
            made, _ = kept.open(f"net {network}", now_ns)
            places += [] if made is None else [made]
        elif what == 1:
            kept.close(place)
        elif what == 2:
            kept.sign_in(place, f"account {network}")
        elif what == 3:
            kept.settle(place)
        elif place.is_open:
            kept.await_request(place, now_ns)
        alive = [one for one in places if one.is_open]
        strangers = [one for one in alive if not one.account]
        assert kept.strangers == len(strangers) <= FEW.strangers
        assert kept.signed_in == len(alive) - len(strangers) <= FEW.signed_in
        for net in range(6):
            assert sum(one.network == f"net {net}" for one in strangers) <= FEW.network


@given(st.integers(64, 1_000_000))
def test_a_quarter_of_the_descriptors_stays_free(descriptors: int) -> None:
    bounds = bounds_for(descriptors)
    assert bounds.strangers + bounds.signed_in <= descriptors - descriptors // 4
    assert bounds.network < bounds.strangers
    assert bounds_for(descriptors, is_behind_proxy=True).network == bounds.strangers


# --- the service ----------------------------------------------------------------------------


@contextmanager
def holding(
    found: House, number: int, sent: Sequence[bytes] = HELD
) -> Iterator[list[socket.socket]]:
    """Keep so many connections open on which nothing more is sent."""
    address = found.url.rpartition("/")[2].split(":")
    with ExitStack() as kept:
        held = []
        for index in range(number):
            one = socket.create_connection((address[0], int(address[1])), 5)
            held.append(kept.enter_context(one))
            one.sendall(sent[index % len(sent)])
        yield held


def is_closed(one: socket.socket) -> bool:
    one.settimeout(0.01)
    try:
        return one.recv(1024) == b""
    except TimeoutError:
        return False
    except ConnectionError:
        return True


@pytest.mark.parametrize("sent", HELD, ids=["silent", "half a head", "no body"])
def test_a_request_held_back_is_dropped_in_time(tmp_path: Path, sent: bytes) -> None:
    with (
        house(tmp_path, tmp_path / "state", bounds=FEW) as found,
        holding(found, 3, (sent,)) as held,
    ):
        until(lambda: all(map(is_closed, held)), 400)


def test_a_byte_now_and_then_buys_no_time(tmp_path: Path) -> None:
    with house(tmp_path, tmp_path / "state", bounds=FEW) as found, holding(found, 1) as (one,):

        def is_refused() -> bool:
            try:
                one.sendall(b"G")
            except OSError:
                return True
            return False

        until(is_refused, 400)


def test_a_tls_handshake_held_back_is_dropped_in_time(
    tmp_path: Path,
    certificate: tuple[Path, Path],  # noqa: F811
) -> None:
    journals = tmp_path / "journals"
    journals.mkdir()
    with (
        house(journals, tmp_path / "state", bounds=FEW, tls=certificate) as found,
        holding(found, 30, (b"", b"\x16\x03\x01")) as held,
    ):
        with found.anyone() as client:
            assert client.get("/health").status_code == 200
        until(lambda: all(map(is_closed, held)), 400)


def test_who_signed_in_loses_nothing_while_hundreds_are_held(tmp_path: Path) -> None:
    journals = tmp_path / "journals"
    journals.mkdir()
    bounds = Bounds(strangers=8, network=4, signed_in=8, account=8)
    with (
        Journal.create(journals / "bj-07.journal") as journal,
        house(journals, tmp_path / "state", bounds=bounds) as found,
    ):
        journal.append(RoundOpened(round=1, at=1, table="BJ-07"))
        found.staff()
        with found.signed_in("pit") as pit:
            until(lambda: pit.get("/api/sessions").json())
            headers = {"Cookie": f"pitwatch={pit.cookies['pitwatch']}", "Origin": found.url}
        address = found.url.replace("http", "ws") + "/stream?from=bj-07:0"
        with (
            connect(address, additional_headers=headers, proxy=None) as viewer,
            holding(found, 200),
        ):
            journal.append_all(RoundOpened(round=n, at=n, table="BJ-07") for n in range(2, 51))
            seen = [json.loads(viewer.recv(20))["event"]["seq"] for _ in range(50)]
            with found.anyone() as client:
                assert client.get("/health").status_code == 200
        assert seen == [*range(1, 51)]


def test_an_account_with_too_many_connections_gets_the_reason(tmp_path: Path) -> None:
    bounds = Bounds(strangers=8, network=8, signed_in=8, account=2)
    with house(tmp_path, tmp_path / "state", bounds=bounds) as found:
        found.staff()
        with found.signed_in("pit") as one, ExitStack() as others:
            cookies = dict(one.cookies)
            answers = []
            for _ in range(3):
                client = others.enter_context(found.anyone())
                client.cookies.update(cookies)
                answers.append(client.get("/api/me").status_code)
        assert max(answers) == 503
        assert 200 in answers


def test_at_the_limit_of_descriptors_it_rests_and_goes_on(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    caplog.set_level(logging.WARNING)
    with house(tmp_path, tmp_path / "state") as found, found.anyone() as client:
        accept, refused = socket.socket.accept, [OSError(24, "Too many open files")] * 2

        def none_left(listening: socket.socket) -> tuple[socket.socket, object]:
            if refused:
                raise refused.pop()
            return accept(listening)

        monkeypatch.setattr(socket.socket, "accept", none_left)
        assert client.get("/health").status_code == 200
    logged = [record.getMessage() for record in caplog.records if "EMFILE" in record.getMessage()]
    assert len(logged) == 2


def test_a_port_that_is_taken_is_reported_in_one_line() -> None:
    with (
        socket.create_server(("127.0.0.1", 0)) as taken,
        pytest.raises(OperatorError, match=r"port \d+ of 127\.0\.0\.1 is taken"),
    ):
        bound_to("127.0.0.1", taken.getsockname()[1])


def test_an_address_of_another_machine_is_reported_as_such() -> None:
    with pytest.raises(OperatorError, match=r"cannot listen on 192\.0\.2\.1, port 0: ") as refused:
        bound_to("192.0.2.1", 0)
    assert "address of this machine" in refused.value.way_out
