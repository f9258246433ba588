"""The service's sockets: what is bound, what is counted, and how many connections it serves."""

import resource
import socket
from pathlib import Path

import pytest

from models.errors import OperatorError
from server.service.http.listening import bound_to, configured
from tests.server.service.house import house


def test_a_quarter_of_the_descriptors_stays_free() -> None:
    descriptors, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    limit = configured(app=None).limit_concurrency
    assert limit is not None
    assert limit <= descriptors * 3 / 4 + 1


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
