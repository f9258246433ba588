"""Errors of a request to a service."""

from collections.abc import Mapping
from typing import Final

import msgspec

_WAYS_OUT: Final[Mapping[int, str]] = {
    401: "Make a new token in the console",
    422: "Correct that field and ask again",
    429: "Wait and ask again",
}


class ClientError(Exception):
    """An error in one line for a person: what is wrong, where, and the way out.

    Args:
        what: what is wrong, naming the thing.
        where: the address of the request.
        way_out: what the reader can do about it.
    """

    def __init__(self, what: str, *, where: str, way_out: str) -> None:
        super().__init__(f"{where}: {what}. {way_out}")
        self.what, self.where, self.way_out = what, where, way_out


class Refused(ClientError):
    """The service refused a request."""

    def __init__(self, url: str, status: int, body: bytes) -> None:
        way_out = _WAYS_OUT.get(status, "Request only what this token may see")
        if status >= 500:
            way_out = "See the service's log"
        super().__init__(_detail(body), where=url, way_out=way_out)
        self.status = status
        """The HTTP status."""


class Unreachable(ClientError):
    """The service does not answer, or this version of the client cannot read the answer."""

    def __init__(self, url: str, why: object) -> None:
        super().__init__(
            f"the service does not answer: {why}",
            where=url,
            way_out="Check that it runs, its address, its certificate and its version",
        )


class _Problem(msgspec.Struct):
    detail: str


def _detail(body: bytes) -> str:
    try:
        return msgspec.json.decode(body, type=_Problem).detail
    except msgspec.DecodeError:
        return "the service refused the request without a reason"
