"""The terminal: results on stdout, progress on stderr, only JSON where requested."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeAlias

import msgspec
from rich.console import Console
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

Advance: TypeAlias = Callable[[float], None]
"""Receives the completed share of the work, from 0 to 1."""

PIPE_WIDTH = 120
"""Columns for a reader other than a terminal."""


def screen() -> Console:
    """Return the console for results."""
    wide = None if sys.stdout.isatty() else PIPE_WIDTH
    return Console(width=wide, highlight=False, soft_wrap=False)


def print_json(value: object) -> None:
    """Print one JSON line on stdout."""
    sys.stdout.write(msgspec.json.encode(value).decode() + "\n")


@contextmanager
def progress_bar(title: str) -> Iterator[Advance]:
    """Show a bar on stderr during long work; nothing where stderr is no terminal.

    Yields a function that receives the completed share, from 0 to 1.
    """
    console = Console(stderr=True)
    columns = (TextColumn("{task.description}"), BarColumn(), TaskProgressColumn())
    with Progress(
        *columns,
        TimeRemainingColumn(),
        console=console,
        disable=not console.is_terminal,
        transient=True,
    ) as bar:
        task = bar.add_task(title, total=1.0)
        yield lambda share: bar.update(task, completed=share)
