"""Where the program starts: nothing is imported from the working directory.

``server.cli`` is the command line. Before it is imported, and with it ``models`` or ``stream``,
the working directory leaves the module path: a ``stream.py`` that lies there is the user's own.
"""

import os
import sys


def main() -> None:
    """Run ``pitwatch`` and leave with its exit status."""
    leave_out_working_directory()
    from server.cli import main as run_command_line

    run_command_line()


def leave_out_working_directory() -> None:
    """Take the working directory off the module path, here and in the processes started later.

    It gets there by ``python -m``, and by an empty entry of ``PYTHONPATH``. Where the program
    itself lies in the working directory, as in a checkout, that entry stays.
    """
    here, own = os.path.realpath(os.curdir), os.path.dirname(os.path.dirname(__file__))

    def is_kept(entry: str) -> bool:
        place = os.path.realpath(entry or os.curdir)
        return place != here or place == os.path.realpath(own)

    sys.path[:] = [entry for entry in sys.path if is_kept(entry)]
    entries = os.environ.get("PYTHONPATH", "").split(os.pathsep)
    os.environ["PYTHONPATH"] = os.pathsep.join(entry for entry in entries if is_kept(entry))
    os.environ["PYTHONSAFEPATH"] = "1"
