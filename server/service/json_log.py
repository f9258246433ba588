"""The log of a service: stderr, one JSON object a line."""

import logging
import sys
from collections import Counter
from typing import Final, TypeAlias

import msgspec

from server.service.http.limits import Limiter, Rate
from stream.clock import Clock, elapsed_ns

LINES: Final = Rate(1, 50)
"""Lines of one kind: a second in the long run, and at once."""
_KINDS: Final = 1000

_Kind: TypeAlias = str


class Sparing(logging.Filter):
    """Drops lines where too many of a kind come; the next one states their number.

    A kind is a place in the program. A signed-in person's requests are all logged: the account's
    rate limits them.
    """

    def __init__(self) -> None:
        super().__init__()
        self._limiter, self._left_out = Limiter(LINES, _KINDS), Counter[_Kind]()

    def filter(self, record: logging.LogRecord) -> bool:
        """Return whether the line is written."""
        if getattr(record, "fields", {}).get("person") is not None:
            return True
        kind = f"{record.pathname}:{record.lineno}"
        if self._limiter.wait_ns(kind, elapsed_ns()):
            self._left_out[kind] += 1
            return False
        record.left_out = self._left_out.pop(kind, 0)
        return True


class JsonLines(logging.Formatter):
    """One JSON object a line, with an exception's text but without its values."""

    def __init__(self, clock: Clock) -> None:
        super().__init__()
        self._clock = clock

    def format(self, record: logging.LogRecord) -> str:
        """Return the line of one record."""
        fields = {
            "at": self._clock.now_ns(),
            "level": record.levelname.lower(),
            "from": record.name,
            "says": record.getMessage(),
        }
        if record.exc_info is not None:
            fields["fault"] = self.formatException(record.exc_info)
        if left_out := getattr(record, "left_out", 0):
            fields["left_out"] = left_out
        return msgspec.json.encode(fields | getattr(record, "fields", {})).decode()


def log_as_json(clock: Clock, *, requests: bool = True) -> None:
    """Log Pitwatch's own lines from level info, all others from level warning.

    A WebSocket's address may hold secrets, and uvicorn's lines contain it. Without ``requests``
    Pitwatch's lines below warning go too: on a terminal they push the password out of sight.
    """
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonLines(clock))
    handler.addFilter(Sparing())
    logging.basicConfig(level=logging.WARNING, handlers=[handler], force=True)
    logging.getLogger("pitwatch").setLevel(logging.INFO if requests else logging.WARNING)
