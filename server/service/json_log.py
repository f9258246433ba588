"""The log of what runs unattended: stderr, a JSON object a line."""

import logging
import sys
from collections import Counter
from typing import Final, TypeAlias

from server.service.http.limits import Limiter, Rate
from server.service.http.shell import JsonLines
from stream.clock import Clock, elapsed_ns

LINES: Final = Rate(1, 50)
"""Of one kind of line, so many a second in the long run and so many at once."""
_KINDS: Final = 1000

_Kind: TypeAlias = str


class Sparing(logging.Filter):
    """Leaves lines out where too many of a kind come; the next one says how many.

    A kind is a place in the program. What a signed-in person asks is logged whole: the limit of
    an account bounds it.
    """

    def __init__(self) -> None:
        super().__init__()
        self._limiter, self._left_out = Limiter(LINES, _KINDS), Counter[_Kind]()

    def filter(self, record: logging.LogRecord) -> bool:
        """Tell whether the line is written."""
        if getattr(record, "fields", {}).get("person") is not None:
            return True
        kind = f"{record.pathname}:{record.lineno}"
        if self._limiter.wait_ns(kind, elapsed_ns()):
            self._left_out[kind] += 1
            return False
        record.left_out = self._left_out.pop(kind, 0)
        return True


def log_as_json(clock: Clock) -> None:
    """Log Pitwatch's own lines from information on, everybody else's from warnings on.

    A WebSocket's address may hold what no log should, and uvicorn's lines tell it.
    """
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonLines(clock))
    handler.addFilter(Sparing())
    logging.basicConfig(level=logging.WARNING, handlers=[handler], force=True)
    logging.getLogger("pitwatch").setLevel(logging.INFO)
