"""Whether a camera leads to an address that nobody configured: by a redirect, or a playlist.

FFmpeg would follow both to any host, so that whoever holds a camera could have the table ask other
machines of its network. The table asks the camera itself and no other address. What is asked here
bears no password: it would cross the network in the clear.
"""

import socket
import ssl
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from http.client import HTTPConnection, HTTPException, HTTPSConnection
from typing import Final
from urllib.parse import SplitResult, urljoin, urlsplit

from models.errors import TechnicianError

FORMATS: Final = (
    "data,mpjpeg,mjpeg,image2,jpeg_pipe,mpegts,mpeg,mov,matroska,flv,avi,h264,hevc,rtsp"
)
"""The formats that hold a stream themselves; a playlist (``hls``, ``dash``, ``concat``, ``sdp``)
names other addresses."""
_PLAYLISTS: Final = (b"#EXTM3U", b"<MPD", b"<?xml", b"ffconcat", b"v=0", b"[playlist]")
_REDIRECTS: Final = frozenset({301, 302, 303, 305, 307, 308})
_PORTS: Final = {"http": 80, "https": 443, "rtsp": 554, "rtsps": 322}
_LOOKED_AT_BYTES: Final = 512
_MOST_ANSWER_BYTES: Final = 65_536


class LeadsElsewhere(TechnicianError):
    """A camera names another address than the configured one."""

    def __init__(self, url: str, how: str) -> None:
        super().__init__(
            how,
            where=url,
            way_out="Configure the address of the stream itself, if it is the camera's",
        )


def http_leads_to(url: str, timeout_s: float) -> str | None:
    """Ask an HTTP camera once; return where it redirects to on itself, ``None`` where it does not.

    Raises:
        LeadsElsewhere: it redirects to another host, or answers with a playlist.
    """
    parts = urlsplit(url)
    try:
        status, location, content = _asked(parts, timeout_s)
    except (OSError, HTTPException, ValueError):
        return None  # the reason for which it could not be opened stands
    if status in _REDIRECTS and location:
        return _own(url, urljoin(url, location))
    if content.lstrip(b"\xef\xbb\xbf \r\n\t").startswith(_PLAYLISTS):
        raise LeadsElsewhere(url, "it sends a playlist of other addresses, not a stream")
    return None


@contextmanager
def checked_rtsp(url: str, timeout_s: float) -> Iterator[None]:
    """Ask an RTSP camera for its stream as FFmpeg is about to, for FFmpeg follows any redirect.

    The connection stays open meanwhile: a server that prepared its stream for this one would take
    it down, and refuse FFmpeg's. A camera that is not there is FFmpeg's to report.

    Raises:
        LeadsElsewhere: it redirects to another host.
    """
    parts = urlsplit(url)
    bare = parts._replace(netloc=parts.netloc.rpartition("@")[2]).geturl()
    with ExitStack() as kept:
        with suppress(OSError, ValueError):
            camera = kept.enter_context(_connected(parts, timeout_s))
            for number, method in enumerate(("OPTIONS", "DESCRIBE"), start=1):
                head = f"{method} {bare} RTSP/1.0\r\nCSeq: {number}\r\n"
                camera.sendall(f"{head}Accept: application/sdp\r\n\r\n".encode())
                status, location = _rtsp_answer(camera)
                if status in _REDIRECTS and location:
                    _own(url, location)
        yield


def _own(url: str, target: str) -> str:
    """Return an address on the camera itself, with the configured credentials."""
    own, other = urlsplit(url), urlsplit(target)
    same_port = _port(own) == _port(other) or {_port(own), _port(other)} == {80, 443}
    if own.hostname != other.hostname or not same_port or other.scheme not in _PORTS:
        host = f"{other.hostname}:{_port(other)}"
        raise LeadsElsewhere(url, f"it redirects to {host}, which is not the configured camera")
    known, at, _ = own.netloc.rpartition("@")
    return other._replace(netloc=f"{known}{at}{_place(other)}").geturl()


def _place(parts: SplitResult) -> str:
    return parts.netloc.rpartition("@")[2]


def _port(parts: SplitResult) -> int | None:
    return parts.port or _PORTS.get(parts.scheme)


def _asked(parts: SplitResult, timeout_s: float) -> tuple[int, str, bytes]:
    """Return an answer's status, its ``Location``, and the first of its bytes."""
    host, port = parts.hostname or "", _port(parts)
    connection = (
        HTTPSConnection(host, port, timeout=timeout_s, context=_unverified())
        if parts.scheme == "https"
        else HTTPConnection(host, port, timeout=timeout_s)
    )
    try:
        path = parts._replace(scheme="", netloc="", fragment="").geturl() or "/"
        connection.request("GET", path)
        answer = connection.getresponse()
        return answer.status, answer.getheader("Location", ""), answer.read1(_LOOKED_AT_BYTES)
    finally:
        connection.close()


def _connected(parts: SplitResult, timeout_s: float) -> socket.socket:
    address = (parts.hostname or "", _port(parts) or 0)
    camera = socket.create_connection(address, timeout_s)
    if parts.scheme != "rtsps":
        return camera
    return _unverified().wrap_socket(camera, server_hostname=parts.hostname)


def _rtsp_answer(camera: socket.socket) -> tuple[int, str]:
    """Read one answer's head and body; return its status and its ``Location``."""
    answer = b""
    while b"\r\n\r\n" not in answer and len(answer) < _MOST_ANSWER_BYTES:
        piece = camera.recv(4096)
        if not piece:
            break
        answer += piece
    first, *lines = answer.partition(b"\r\n\r\n")[0].decode("latin-1").split("\r\n")
    fields = (line.partition(":") for line in lines)
    places = [value.strip() for name, _, value in fields if name.strip().lower() == "location"]
    return int(first.split(" ")[1]), places[0] if places else ""


def _unverified() -> ssl.SSLContext:
    """Trust any certificate, as FFmpeg does: cameras sign their own."""
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    return context
