"""``pitwatch simulate --live``: play a session through simulated devices to a real table."""

import sys
from pathlib import Path

from models.errors import OperatorError
from server.process.terminal import print_json
from server.table.playing import played

_READY_S = 2.0
"""Seconds after its camera within which a table has opened its ports too."""


def play_live(session: Path, *, as_json: bool) -> None:
    """Create the devices beside ``session``, play once a table connects, stay until it has gone.

    Raises:
        OperatorError: the folder for the devices exists already.
        PitwatchError: the session is missing or damaged.
    """
    place = session.with_name(f"{session.name}-live")
    if place.exists():
        raise OperatorError(
            "the folder exists", where=str(place), way_out="Remove it, or name another session"
        )
    place.mkdir()
    with played(session, place) as playing:
        if as_json:
            print_json({"config": str(playing.config)})
        else:
            print(f"now run in another terminal: pitwatch run {playing.config}")
        sys.stdout.flush()
        playing.watched.wait()
        playing.left.wait(_READY_S)
        playing.play()
        playing.wait()
        playing.left.wait()
