"""One HTTP request to a receiver, with certificate check and without redirects."""

import socket
import ssl
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

import httpx

from models.errors import InstallerError
from server.integration.config import HttpSettings
from server.integration.delivery import Fate, NotDelivered

MOST_READ: Final = 1 << 16
"""Bytes of an answer that are read."""
LONGEST_ASKED_S: Final = 3_600.0
_KEPT_OPEN_S: Final = 60.0
"""Seconds that a connection is kept for the next message."""
_WAITS: Final = frozenset({401, 403, 404, 407, 408, 425, 429, 502, 503, 504})
"""Statuses of the receiver or its set-up, not of the message."""


class Poster:
    """Posts to one address, over one connection while the receiver keeps it open.

    Raises:
        InstallerError: the certificates' file cannot be used.
    """

    def __init__(self, settings: HttpSettings, folder: Path) -> None:
        self._url = httpx.URL(settings.url)
        self.path = urlsplit(settings.url).path or "/"
        ca_file = settings.ca_file if self._url.scheme == "https" else None
        self._client = httpx.Client(
            verify=trusted(ca_file, folder),
            timeout=settings.timeout_ms / 1000,
            headers={"Accept-Encoding": "identity"},
            limits=httpx.Limits(max_connections=1, keepalive_expiry=_KEPT_OPEN_S),
            follow_redirects=False,
            trust_env=False,  # neither a proxy nor a password comes from the environment
        )
        self._was_answered = False

    def post(self, target: str, body: bytes, headers: Mapping[str, str]) -> bytes:
        """Post a request; return the answer of the receiver that accepted it.

        Args:
            target: the path, with its query.
            body: the content.
            headers: the HTTP headers.

        Raises:
            NotDelivered: the receiver did not accept it.
        """
        try:
            status, answer, asked_s = self._exchange(target, body, headers)
        except httpx.TransportError as fault:
            if self._was_answered:  # a receiver may close an idle connection
                self._was_answered = False
                return self.post(target, body, headers)
            raise NotDelivered(_reason(fault), Fate.WAIT) from fault
        self._was_answered = True
        if 200 <= status < 300:
            return answer
        raise NotDelivered(f"answered {status}", _fate(status), asked_s)

    def close(self) -> None:
        """Close the connection."""
        self._client.close()

    def _exchange(
        self, target: str, body: bytes, headers: Mapping[str, str]
    ) -> tuple[int, bytes, float | None]:
        """Send a request; an answer beyond ``MOST_READ`` closes the connection unread."""
        url = self._url.copy_with(raw_path=target.encode())
        with self._client.stream("POST", url, content=body, headers=headers) as response:
            answer = b""
            for piece in response.iter_raw():
                answer += piece
                if len(answer) >= MOST_READ:
                    break
            return response.status_code, answer[:MOST_READ], _asked_s(response)


def trusted(ca_file: str | None, folder: Path) -> ssl.SSLContext:
    """Return the check of a receiver's certificate: against ``ca_file``, or this machine's.

    Raises:
        InstallerError: the file cannot be used.
    """
    if ca_file is None:
        return ssl.create_default_context()
    file = folder / ca_file
    try:
        return ssl.create_default_context(cafile=str(file))
    except OSError as fault:
        raise InstallerError(
            f"the certificates cannot be used ({_reason(fault)})",
            where=str(file),
            way_out="Name a PEM file of the authority that signed the receiver's certificate",
        ) from fault


def _fate(status: int) -> Fate:
    if status in _WAITS:
        return Fate.WAIT
    return Fate.COUNT if status >= 500 else Fate.REFUSED


def _asked_s(response: httpx.Response) -> float | None:
    asked = response.headers.get("Retry-After", "")
    if asked.isascii() and asked.isdigit() and len(asked) < 9:
        return min(float(asked), LONGEST_ASKED_S)
    return None


def _reason(fault: Exception) -> str:
    if isinstance(fault, httpx.TimeoutException):
        return "no answer in time"
    for cause in _causes(fault):
        if isinstance(cause, ssl.SSLCertVerificationError):
            return f"its certificate is not valid: {cause.verify_message}"
        if isinstance(cause, socket.gaierror):
            return "its host name cannot be resolved"
        if isinstance(cause, OSError) and cause.strerror:
            return cause.strerror
    return type(fault).__name__


def _causes(fault: BaseException | None) -> Iterator[BaseException]:
    while fault is not None:
        yield fault
        fault = fault.__cause__ or fault.__context__
