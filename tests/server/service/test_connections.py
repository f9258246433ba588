"""The service's sockets: what is bound, what is counted, and how many connections it serves."""

import resource
import socket
from contextlib import ExitStack
from pathlib import Path

import pytest

from models.errors import OperatorError
from server.service.http.listening import bound_to, configured
from tests.server.service.house import house, until


def test_connections_may_take_three_quarters_of_the_descriptors(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(resource, "getrlimit", lambda _: (16384, 16384))
    assert configured(app=None).limit_concurrency == 12288


def test_too_many_connections_are_answered_503_until_some_are_closed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(resource, "getrlimit", lambda _: (40, 40))
    with house(tmp_path, tmp_path / "state") as found, found.anyone() as client:
        host, port = found.url.rpartition("/")[2].split(":")
        with ExitStack() as held:
            for _ in range(30):
                held.enter_context(socket.create_connection((host, int(port)), 5))
            until(lambda: client.get("/health").status_code == 503)
        until(lambda: client.get("/health").status_code == 200)


def test_open_connections_are_counted(tmp_path: Path) -> None:
    with house(tmp_path, tmp_path / "state") as found:
        found.staff()
        host, port = found.url.rpartition("/")[2].split(":")
        with (
            found.signed_in("admin") as admin,
            socket.create_connection((host, int(port)), 5) as held,
        ):
            held.sendall(b"GET /health HTTP/1.1\r\nHost: pit\r\n\r\n")
            assert held.recv(1024).startswith(b"HTTP/1.1 200")
            assert "pitwatch_connections 2.0" in admin.get("/metrics").text


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
