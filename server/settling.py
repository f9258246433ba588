"""``pitwatch settle``: facts in, settled rounds out."""

import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import msgspec

from models.decode import decode_events
from models.errors import OperatorError
from models.judgements import AnyEvent, RoundResult
from models.rulebook import Rulebook
from server.exits import Exit
from server.wording import is_clean
from settlement.engine import settle

STDIN = "-"


@dataclass(frozen=True, slots=True)
class SettledFile:
    """The rounds of one file."""

    name: str
    rounds: tuple[RoundResult, ...]


def settle_files(names: Sequence[str], rules: Rulebook) -> tuple[SettledFile, ...]:
    """Settle each file as a table of its own; every file is read in full before any settles.

    Raises:
        OperatorError: a file is missing or unreadable.
        InputRefused: a line is not an event of the format.
    """
    events = [(name, read_events(name)) for name in names]
    return tuple(SettledFile(name, tuple(settle(found, rules))) for name, found in events)


def read_events(name: str) -> list[tuple[int, AnyEvent]]:
    """Return every event of a JSON Lines file (``-`` is stdin) with its line number."""
    if name == STDIN:
        return list(decode_events(sys.stdin.buffer, "stdin"))
    try:
        with Path(name).open("rb") as lines:
            return list(decode_events(lines, name))
    except OSError as fault:
        raise OperatorError(
            f"the facts cannot be read ({fault.strerror})",
            where=name,
            way_out="Name a readable JSON Lines file, or - for stdin",
        ) from fault


def exit_for(files: Sequence[SettledFile]) -> Exit:
    """Return the exit status that the rounds ask for."""
    clean = all(is_clean(result) for settled in files for result in settled.rounds)
    return Exit.CLEAN if clean else Exit.FINDINGS


def print_lines(files: Sequence[SettledFile]) -> None:
    """Print a JSON line a round; with several files each line says which it is from."""
    encode = msgspec.json.Encoder().encode
    for settled in files:
        mark = b'{"file":' + encode(settled.name) + b"," if len(files) > 1 else b"{"
        _write(mark + encode(result)[1:] for result in settled.rounds)


def _write(lines: Iterable[bytes]) -> None:
    sys.stdout.write("".join(f"{line.decode()}\n" for line in lines))
