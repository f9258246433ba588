"""What a person states names that person: no entry of theirs speaks for a sensor."""

from typing import TypeAlias

from models.errors import InputRefused
from models.events import ClockChecked, ConsoleEntry, ReviewResolved

Word: TypeAlias = ConsoleEntry | ReviewResolved | ClockChecked
_CONSOLE = "console:"


def check_person(word: Word, source: str, line: int) -> None:
    """Check that an entry names the person who made it, ``console:NAME``.

    Args:
        word: the entry.
        source: where it was read, for the message.
        line: its line there, from 1.

    Raises:
        InputRefused: it names nobody, or a sensor.
    """
    if word.source.startswith(_CONSOLE) and word.source.removeprefix(_CONSOLE).strip():
        return
    raise InputRefused(
        source=source,
        line=line,
        field="source",
        expected="console:NAME, the person who states it",
        found=repr(word.source),
    )
