"""One HTTP request to a receiver, with its certificate checked and no redirect followed."""

import socket
import ssl
from collections.abc import Mapping
from http.client import HTTPConnection, HTTPException, HTTPResponse, HTTPSConnection
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

from models.errors import InstallerError
from server.integration.config import HttpSettings
from server.integration.delivery import Fate, NotDelivered

MOST_READ: Final = 1 << 16
"""Bytes of an answer that are looked at."""
LONGEST_ASKED_S: Final = 3_600.0
_WAITS: Final = frozenset({401, 403, 404, 407, 408, 425, 429, 502, 503, 504})
"""Answers that tell of the receiver or its setting up, not of the message."""


class Poster:
    """Posts to one address, over one connection as long as the receiver keeps it.

    Raises:
        InstallerError: the certificates' file cannot be used.
    """

    def __init__(self, settings: HttpSettings, folder: Path) -> None:
        parts = urlsplit(settings.url)
        self.path = parts.path or "/"
        self._timeout_s = settings.timeout_ms / 1000
        self._host, self._port = parts.hostname or "", parts.port
        self._context = trusted(settings.ca_file, folder) if parts.scheme == "https" else None
        self._open: HTTPConnection | None = None

    def post(self, target: str, body: bytes, headers: Mapping[str, str]) -> bytes:
        """Return what a receiver answered that took the request.

        Args:
            target: the path, with its query.
            body: what is sent.
            headers: what is said beside it.

        Raises:
            NotDelivered: it did not take it.
        """
        was_open = self._open is not None
        try:
            status, answer, asked_s = self._exchange(target, body, headers)
        except (OSError, HTTPException) as fault:
            self.close()
            if was_open:  # a receiver may close a connection that it kept so far
                return self.post(target, body, headers)
            raise NotDelivered(_said(fault), Fate.WAIT) from fault
        if 200 <= status < 300:
            return answer
        raise NotDelivered(f"answered {status}", _fate(status), asked_s)

    def close(self) -> None:
        """Close the connection."""
        if self._open is not None:
            self._open.close()
            self._open = None

    def _exchange(
        self, target: str, body: bytes, headers: Mapping[str, str]
    ) -> tuple[int, bytes, float | None]:
        connection = self._open = self._open or self._connected()
        connection.request("POST", target, body, dict(headers))
        response = connection.getresponse()
        answer = response.read(MOST_READ)
        if response.will_close or not response.isclosed():
            self.close()
        return response.status, answer, _asked_s(response)

    def _connected(self) -> HTTPConnection:
        if self._context is None:
            return HTTPConnection(self._host, self._port, timeout=self._timeout_s)
        return HTTPSConnection(
            self._host, self._port, timeout=self._timeout_s, context=self._context
        )


def trusted(ca_file: str | None, folder: Path) -> ssl.SSLContext:
    """Return how a receiver's certificate is checked: against ``ca_file``, or this machine's.

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
            f"the certificates cannot be used ({_said(fault)})",
            where=str(file),
            way_out="Name a PEM file of the authority that signed the receiver's certificate",
        ) from fault


def _fate(status: int) -> Fate:
    if status in _WAITS:
        return Fate.WAIT
    return Fate.COUNT if status >= 500 else Fate.REFUSED


def _asked_s(response: HTTPResponse) -> float | None:
    asked = response.getheader("Retry-After", "")
    if asked.isascii() and asked.isdigit() and len(asked) < 9:
        return min(float(asked), LONGEST_ASKED_S)
    return None


def _said(fault: Exception) -> str:
    if isinstance(fault, ssl.SSLCertVerificationError):
        return f"its certificate does not hold: {fault.verify_message}"
    if isinstance(fault, socket.gaierror):
        return "its name is not known here"
    if isinstance(fault, TimeoutError):
        return "no answer in time"
    return getattr(fault, "strerror", None) or type(fault).__name__
