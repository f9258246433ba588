"""The command as a process: its standard streams and the signals that end it.

An early end prints one line on stderr and removes unfinished work: its cause is raised like any
other exception, so every ``with`` and ``finally`` block runs.
"""

import atexit
import io
import os
import signal
import sys
import threading
from collections.abc import Callable
from types import FrameType
from typing import Any, Final, NoReturn

from server.process.exit_status import Exit

_STDOUT, _STDERR = 1, 2
_AGAIN_S: Final = 0.05  # until a finaliser that swallowed a signal is over, as a rule; else again
_STATUS: Final = {signal.SIGTERM: Exit.TERMINATED, signal.SIGHUP: Exit.HUNG_UP}


class Ended(SystemExit):
    """The command ends here; ``line`` is the reason.

    It is a ``SystemExit``: event loops let that through, and no code mistakes it for a file's
    fault.
    """

    def __init__(self, line: str, status: Exit, by: signal.Signals | None = None) -> None:
        super().__init__(int(status))
        self.line, self.status, self.by = line, status, by


def as_process(command: Callable[[], int]) -> int:
    """Run a command on this process's streams; return its exit status.

    A signal that was ignored from the start (``nohup``) stays ignored.
    """
    ended: tuple[str, Exit, signal.Signals | None] | None = None
    try:
        _take_streams()
        sys.unraisablehook = _swallowed
        for number in _STATUS:
            if signal.getsignal(number) is signal.SIG_DFL:
                signal.signal(number, _end)
        status = command()
        sys.stdout.flush()
    except Ended as end:
        ended = (end.line, end.status, end.by)
    return status if ended is None else _left(*ended)


def _left(line: str, status: Exit, by: signal.Signals | None) -> Exit:
    """Print why the command ends, after it has released everything."""
    _silence(_STDOUT)
    _print_line(line)
    if by is not None:
        _die_of(by)
    return status


def leave(status: int) -> NoReturn:
    """End this process with ``status``, also while a driver holds one of its threads.

    Such a thread is a daemon. It would crash the process if its driver returned to Python after the
    interpreter is gone: a decoder looks at its time-out every 100 ms. So the process then ends
    without taking the interpreter down.
    """
    if any(each.daemon for each in threading.enumerate()):
        atexit._run_exitfuncs()  # what sys.exit runs; it has no other name
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(status)
    sys.exit(status)


def stop_signals() -> tuple[signal.Signals, ...]:
    """Return the signals that stop a table or a relay in order; ``nohup`` removes SIGHUP."""
    every = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
    return tuple(one for one in every if signal.getsignal(one) is not signal.SIG_IGN)


def _die_of(number: signal.Signals) -> None:
    """End by the signal, so that its sender sees the cause.

    The signal does not end the first process of a container; that process exits with its status
    instead.
    """
    signal.signal(number, signal.SIG_DFL)
    os.kill(os.getpid(), number)


def _end(number: int, _frame: FrameType | None) -> None:
    for each in _STATUS:
        signal.signal(each, signal.SIG_IGN)
    by = signal.Signals(number)
    raise Ended(f"ended by {by.name}", _STATUS[by], by)


def _swallowed(what: "sys.UnraisableHookArgs") -> None:
    """Send a signal again that came in a finaliser: Python ignores what is raised there."""
    end = what.exc_value
    if not isinstance(end, Ended) or end.by is None:
        sys.__unraisablehook__(what)
        return
    signal.signal(end.by, _end)
    threading.Timer(_AGAIN_S, os.kill, (os.getpid(), end.by)).start()


def _take_streams() -> None:
    """Reserve the numbers of closed streams, so that no file gets them; watch stdout.

    Raises:
        Ended: stdout is closed.
    """
    is_open = [_is_open(number) for number in range(3)]
    for number, there in enumerate(is_open):
        if not there:
            _silence(number)
    if not is_open[_STDERR]:
        sys.stderr = open(os.devnull, "w", encoding="utf-8")  # noqa: PTH123, SIM115
    if not is_open[_STDOUT]:
        way_out = "Send it to a file, or to /dev/null"
        raise Ended(f"stdout: it is closed, and nothing was done. {way_out}", Exit.REFUSED)
    sys.stdout = io.TextIOWrapper(
        io.BufferedWriter(_Watched(_STDOUT, "w", closefd=False)),
        encoding=sys.stdout.encoding,
        errors=sys.stdout.errors,
        line_buffering=sys.stdout.isatty(),
    )


class _Watched(io.FileIO):
    """Stdout that ends the command once its reader is gone."""

    def write(self, content: Any) -> int:
        try:
            return super().write(content)
        except BrokenPipeError as fault:
            line = "stdout: it was closed before everything was printed"
            raise Ended(line, Exit.CUT_OFF) from fault
        except OSError as fault:
            line = f"stdout: not everything was printed ({fault.strerror})"
            raise Ended(line, Exit.REFUSED) from fault


def _is_open(number: int) -> bool:
    try:
        os.fstat(number)
    except OSError:
        return False
    return True


def _silence(number: int) -> None:
    """Redirect a stream to nothing, including its buffered output."""
    nothing = os.open(os.devnull, os.O_RDWR)
    if nothing != number:
        os.dup2(nothing, number)
        os.close(nothing)


def _print_line(line: str) -> None:
    try:
        print(f"pitwatch: {line}", file=sys.stderr, flush=True)
    except OSError:
        """Nobody reads stderr either."""
        _silence(_STDERR)
