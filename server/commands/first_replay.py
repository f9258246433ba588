"""The console's first start: a separate process replays the session and reports its progress.

The journal is in its place from the first entry on, so that the service shows rounds as they
settle. A mark beside it states that it is incomplete: the next start then begins again.
"""

import multiprocessing
import os
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from multiprocessing.context import SpawnProcess
from pathlib import Path
from threading import Event, Thread
from typing import Final

from models.errors import PitwatchError, TechnicianError
from server.house.wording import counted
from server.process.exit_status import Exit
from server.process.program import program_stated
from server.process.stopwatch import Stopwatch
from server.table.replay import ReplayOptions, replay
from server.table.sources import open_recording
from stream.clock import elapsed_ns
from stream.journal import Journal
from stream.sole import Sole
from vision.reader import Reader

_NICE: Final = 10
"""Niceness of the replay: serving the page comes before reading pictures."""
_TOLD_EVERY: Final = 0.1
"""Share of the session between two lines of progress."""


@contextmanager
def replayed_beside(session: Path, journal: Path, report: Callable[[str], None]) -> Iterator[None]:
    """Replay a session into its journal while the body runs, unless a complete one exists.

    A failing replay interrupts the body like Ctrl-C; the body's end terminates the replay.

    Raises:
        PitwatchError: the session is not sound, another program writes the journal, or the replay
            failed; then no page is shown.
    """
    if journal.exists() and not _mark(journal).exists():
        yield
        return
    open_recording(session)
    _clear(journal)
    report("replaying the session: rounds appear in the console as they settle")
    process = multiprocessing.get_context("spawn").Process(
        target=_replay, args=(session, journal, os.getpid()), daemon=True
    )
    process.start()
    over = Event()
    Thread(target=_interrupt_if_failed, args=(process, over), daemon=True).start()
    try:
        yield
    except KeyboardInterrupt:
        if not process.exitcode:
            raise
    finally:
        failed = process.exitcode
        over.set()
        process.terminate()
        process.join()
    if failed:
        raise TechnicianError(
            "the replay stopped early",
            where=str(session),
            way_out="The reason is printed above; if there is none, check this machine's memory",
        )


def _mark(journal: Path) -> Path:
    return journal.with_name(f".{journal.name}.unfinished")


def _clear(journal: Path) -> None:
    """Remove the remains of an interrupted replay, and mark the new one as incomplete."""
    lock = Sole(journal)
    try:
        _mark(journal).touch()
        for ending in ("", "-wal", "-shm"):
            journal.with_name(journal.name + ending).unlink(missing_ok=True)
    finally:
        lock.let_go()


def _interrupt_if_failed(process: SpawnProcess, over: Event) -> None:
    """Interrupt the body where the replay fails, not where it is terminated."""
    process.join()
    if process.exitcode and not over.is_set():
        os.kill(os.getpid(), signal.SIGINT)


# --- in the process that replays ----------------------------------------------------------


def _replay(session: Path, journal: Path, parent: int) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the page's process
    os.nice(_NICE)
    progress = _Progress(parent)
    try:
        with Journal.create(journal) as kept:
            stopwatch = Stopwatch(elapsed_ns)
            replayed = replay(
                ReplayOptions(session),
                kept,
                Reader.load,
                stopwatch,
                progress=progress.at,
                stating=program_stated,
            )
    except PitwatchError as refusal:
        _print_line(f"pitwatch: {refusal}")
        sys.exit(Exit.REFUSED)
    _mark(journal).unlink()
    _print_line(
        f"replayed: {counted(len(replayed.rounds), 'round')} settled in {progress.elapsed_s:.0f} s"
    )


class _Progress:
    """Prints the replay's progress on stderr."""

    def __init__(self, parent: int) -> None:
        self._parent, self._began_ns, self._next = parent, elapsed_ns(), _TOLD_EVERY

    @property
    def elapsed_s(self) -> float:
        return (elapsed_ns() - self._began_ns) / 1e9

    def at(self, share: float) -> None:
        """Note the progress; ignore that the parent has gone."""
        if os.getppid() != self._parent:
            os._exit(Exit.REFUSED)
        if share >= self._next and share < 1:
            _print_line(f"replayed {share:.0%} in {self.elapsed_s:.0f} s")
            self._next += _TOLD_EVERY


def _print_line(text: str) -> None:
    print(text, file=sys.stderr, flush=True)
