"""The log of what runs unattended: stderr, a JSON object a line."""

import logging
import sys

from server.service.shell import JsonLines
from stream.clock import Clock


def log_as_json(clock: Clock) -> None:
    """Log Pitwatch's own lines from information on, everybody else's from warnings on.

    A WebSocket's address may hold what no log should, and uvicorn's lines tell it.
    """
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonLines(clock))
    logging.basicConfig(level=logging.WARNING, handlers=[handler], force=True)
    logging.getLogger("pitwatch").setLevel(logging.INFO)
