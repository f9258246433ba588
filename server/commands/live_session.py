"""``pitwatch simulate --live``: a session played at the far ends of a real table's cables."""

import sys
from pathlib import Path

from models.errors import OperatorError
from server.process.terminal import print_json
from server.table.playing import played

_READY_S = 2.0
"""How long after its camera a table has opened its ports as well."""


def play_live(session: Path, *, as_json: bool) -> None:
    """Lay the cables beside ``session``, play when a table watches, stay until it has gone.

    Raises:
        OperatorError: the folder for the cables is there already.
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
