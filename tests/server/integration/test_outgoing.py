"""One request to a receiver: where it goes, what is read of the answer, why it failed."""

import socket
import ssl
import threading
from pathlib import Path

import pytest

from server.integration.config import HttpSettings
from server.integration.delivery import Fate, NotDelivered
from server.integration.outgoing import MOST_READ, Poster
from tests.server.certificates import self_signed
from tests.server.integration.receivers import Receiver, receiving


def post(url: str, folder: Path, timeout_ms: int = 2000, ca_file: str | None = None) -> bytes:
    poster = Poster(HttpSettings(url=url, timeout_ms=timeout_ms, ca_file=ca_file), folder)
    try:
        return poster.post(poster.path, b"{}", {"User-Agent": "Pitwatch"})
    finally:
        poster.close()


def test_a_proxy_of_the_environment_is_not_asked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with receiving() as proxy, receiving() as receiver:
        for name in ("http_proxy", "HTTP_PROXY", "ALL_PROXY"):
            monkeypatch.setenv(name, f"http://127.0.0.1:{proxy.port}")
        post(receiver.url, tmp_path)
    assert (len(receiver.taken), len(proxy.sent)) == (1, 0)


def test_a_redirect_is_not_followed(tmp_path: Path) -> None:
    with (
        receiving(Receiver(answers=[307])) as receiver,
        pytest.raises(NotDelivered, match="answered 307") as failure,
    ):
        post(receiver.url, tmp_path)
    assert failure.value.fate is Fate.REFUSED
    assert [one.path for one in receiver.sent] == ["/hook"]


def test_a_path_is_sent_as_it_was_written(tmp_path: Path) -> None:
    with receiving() as receiver:
        post(f"http://127.0.0.1:{receiver.port}/a%2Fb%20c", tmp_path)
    assert [one.path for one in receiver.sent] == ["/a%2Fb%20c"]


def test_a_long_answer_is_read_no_further_than_it_is_looked_at(tmp_path: Path) -> None:
    with receiving(Receiver(answer=b"x" * (4 * MOST_READ))) as receiver:
        assert post(receiver.url, tmp_path) == b"x" * MOST_READ


def test_a_connection_that_the_receiver_closed_is_made_again(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        thread = threading.Thread(target=_answer_once_a_connection, args=(listening, 2))
        thread.start()
        url = f"http://127.0.0.1:{listening.getsockname()[1]}/"
        poster = Poster(HttpSettings(url=url, timeout_ms=2000), tmp_path)
        assert [poster.post("/", body, {}) for body in (b"1", b"2")] == [b"ok", b"ok"]
        thread.join()
        poster.close()


def _answer_once_a_connection(listening: socket.socket, times: int) -> None:
    """Promise to keep each connection, and close it with the next request unanswered."""
    for at in range(times):
        connection, _ = listening.accept()
        with connection:
            connection.recv(65536)
            connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
            if at < times - 1:
                connection.recv(65536)


def test_why_nothing_was_delivered_is_given_in_words(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        port = silent.getsockname()[1]
        with pytest.raises(NotDelivered, match=r"^no answer in time$") as failure:
            post(f"http://127.0.0.1:{port}/", tmp_path, timeout_ms=100)
    assert failure.value.fate is Fate.WAIT
    with pytest.raises(NotDelivered, match=r"^Connection refused$"):
        post(f"http://127.0.0.1:{port}/", tmp_path)
    with pytest.raises(NotDelivered, match=r"^its host name cannot be resolved$"):
        post("http://receiver.invalid/", tmp_path)


def test_a_certificate_is_held_to_the_file_that_was_named(tmp_path: Path) -> None:
    certificate, key = self_signed(tmp_path)
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    tls.load_cert_chain(certificate, key)
    with receiving(Receiver(tls=tls)) as receiver:
        post(receiver.url, tmp_path, ca_file=certificate.name)
        with pytest.raises(NotDelivered, match=r"^its certificate is not valid: ") as failure:
            post(receiver.url, tmp_path)
        other = f"https://localhost:{receiver.port}/hook"
        with pytest.raises(NotDelivered, match=r"^its certificate is not valid: "):
            post(other, tmp_path, ca_file=certificate.name)
    assert failure.value.fate is Fate.WAIT
    assert len(receiver.sent) == 1
