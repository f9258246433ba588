"""The progress of a long run over files: bytes and rounds, on a terminal's stderr."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from rich import progress as rich
from rich.console import Console
from rich.text import Text

_COUNTED_AT_ONCE: Final = 64


class Progress:
    """Counts bytes and rounds without showing them."""

    def __init__(self) -> None:
        self._before = 0
        self._rounds = 0

    def at_byte(self, position: int) -> None:
        """Note that the present file has been read up to ``position``."""
        self._show(self._before + position, self._rounds)

    def count(self) -> None:
        """Note one more settled round."""
        self._rounds += 1
        if self._rounds % _COUNTED_AT_ONCE == 0:
            self._show(None, self._rounds)

    def done(self, size: int, rounds: int = 0) -> None:
        """Note that a file of ``size`` bytes is done, with rounds counted elsewhere."""
        self._before += size
        self._rounds += rounds
        self._show(self._before, self._rounds)

    def _show(self, bytes_read: int | None, rounds: int) -> None:
        """Show the progress; here nobody is looking."""


class _OnBar(Progress):
    def __init__(self, bar: rich.Progress, task: rich.TaskID) -> None:
        super().__init__()
        self._bar, self._task = bar, task

    def _show(self, bytes_read: int | None, rounds: int) -> None:
        self._bar.update(self._task, completed=bytes_read, rounds=rounds)


class _Rounds(rich.ProgressColumn):
    """Rounds so far, and rounds a second."""

    def render(self, task: rich.Task) -> Text:
        rounds = task.fields["rounds"]
        a_second = rounds / task.elapsed if task.elapsed else 0
        return Text(f"{rounds:,} rounds  {a_second:,.0f}/s", style="cyan")


@contextmanager
def files_bar(title: str, size: int, *, hidden: bool) -> Iterator[Progress]:
    """Show a bar on stderr during work on files of ``size`` bytes in total.

    Nothing is shown where stderr is no terminal, or where the bar is ``hidden`` because the results
    go to the same screen.
    """
    console = Console(stderr=True)
    if hidden or not console.is_terminal:
        yield Progress()
        return
    columns = (
        rich.TextColumn("{task.description}"),
        rich.BarColumn(),
        rich.DownloadColumn(),
        _Rounds(),
        rich.TimeRemainingColumn(),
    )
    with rich.Progress(*columns, console=console, transient=True) as bar:
        yield _OnBar(bar, bar.add_task(title, total=size or None, rounds=0))
