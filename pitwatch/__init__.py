"""Pitwatch for programs: settle facts, replay sessions, read journals, ask a service.

``docs/python.md`` shows each. The names here, in :mod:`pitwatch.drivers` and in
:mod:`pitwatch.destinations` are public. Every other module may change from version to version.

A name is loaded when it is first used, so that ``pitwatch`` starts before anything else is
imported: the command takes the working directory off the module path first. A ``stream.py`` that
    lies there is the user's own.
"""

import os
import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from models import events
    from models.errors import PitwatchError
    from pitwatch.records import read, replay, settle
    from pitwatch_client import Client, ClientError, rows
    from server.archive.settling import Settled
    from server.table.replay import Replayed

__all__ = [
    "Client",
    "ClientError",
    "PitwatchError",
    "Replayed",
    "Settled",
    "events",
    "main",
    "read",
    "replay",
    "rows",
    "settle",
]


def __getattr__(name: str) -> Any:
    if name in __all__:
        from pitwatch import public

        return getattr(public, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})


def main() -> None:
    """Run ``pitwatch`` and exit with its status."""
    leave_out_working_directory()
    from server.commands.app import main as run_command_line

    run_command_line()


def leave_out_working_directory() -> None:
    """Remove the working directory from the module path, here and in child processes.

    ``python -m`` puts it there, and so does an empty entry of ``PYTHONPATH``. Where the program
    itself lies in the working directory, as in a checkout, the entry stays.
    """
    here, own = os.path.realpath(os.curdir), os.path.dirname(os.path.dirname(__file__))

    def is_kept(entry: str) -> bool:
        place = os.path.realpath(entry or os.curdir)
        return place != here or place == os.path.realpath(own)

    sys.path[:] = [entry for entry in sys.path if is_kept(entry)]
    entries = os.environ.get("PYTHONPATH", "").split(os.pathsep)
    os.environ["PYTHONPATH"] = os.pathsep.join(entry for entry in entries if is_kept(entry))
    os.environ["PYTHONSAFEPATH"] = "1"
