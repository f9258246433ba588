"""What a person states names that person: no entry of theirs speaks for a sensor."""

from typing import TypeAlias

from models.errors import InputRefused, OperatorError
from models.events import (
    AnyFact,
    CardDealt,
    CardExposed,
    CardMoved,
    ClockChecked,
    ConsoleEntry,
    HandPlace,
    ReviewResolved,
)
from models.layout import TableLayout

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


def check_spots(entry: ConsoleEntry, layout: TableLayout) -> None:
    """Check that an entry is about spots of the table's felt.

    Raises:
        OperatorError: it names one that is not there: it would change nothing, without a word.
    """
    last = len(layout.spots)
    for spot in _spots_of(entry.fact):
        if not 1 <= spot <= last:
            raise OperatorError(
                f"this table has no spot {spot}",
                where=f"layout {layout.name}",
                way_out=f"Name one of its spots, 1 to {last}",
            )


def _spots_of(fact: AnyFact) -> tuple[int, ...]:
    """Return the spots that a fact names."""
    places: list[object] = [getattr(fact, "spot", None)]
    if isinstance(fact, CardMoved):
        places += [one.to for one in (fact.origin, fact.to) if isinstance(one, HandPlace)]
    elif isinstance(fact, CardDealt | CardExposed):
        places.append(fact.to)
    return tuple(one for one in places if isinstance(one, int))
