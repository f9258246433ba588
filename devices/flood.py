"""Limit a flood of faults to a count."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from msgspec.structs import replace

from devices.reading import Reading
from models.events import ReaderFault

_WINDOW_NS: Final = 10_000_000_000
"""Nanoseconds of a window. Not measured: a shorter one lets more of a flood through."""
_REPORTED_SINGLY: Final = 10
"""Faults of a kind in a window that are reported one by one. Not measured."""


@dataclass(slots=True)
class _Spell:
    since_ns: int
    reported: int = 0
    last: ReaderFault | None = None
    held: int = 0


class FaultLimiter:
    """Passes ten faults of a kind in ten seconds, and reports the number of further ones.

    A noisy line sends hundreds a second; each would be an entry of the journal. Readings always
    pass.
    """

    def __init__(self) -> None:
        self._spells: dict[str, _Spell] = {}

    def let(self, reading: Reading) -> Iterator[Reading]:
        """Yield what to report after ``reading``."""
        at_ns = reading.at or 0
        for kind, spell in [*self._spells.items()]:
            if at_ns - spell.since_ns >= _WINDOW_NS:
                del self._spells[kind]
                yield from _summed(spell, at_ns)
        if isinstance(reading, ReaderFault):
            yield from self._fault(reading, at_ns)
        else:
            yield reading

    def end(self, at_ns: int) -> Iterator[Reading]:
        """Yield the count of the faults held back."""
        for spell in self._spells.values():
            yield from _summed(spell, at_ns)
        self._spells.clear()

    def _fault(self, fault: ReaderFault, at_ns: int) -> Iterator[Reading]:
        spell = self._spells.setdefault(fault.kind, _Spell(at_ns))
        if spell.reported < _REPORTED_SINGLY or fault.missing_from is not None:
            spell.reported += 1
            yield fault
            return
        if not spell.held:
            yield replace(fault, detail=f"{fault.detail}; more of this kind follow")
        spell.held += 1
        spell.last = fault


def _summed(spell: _Spell, at_ns: int) -> Iterator[ReaderFault]:
    if spell.last is not None and spell.held > 1:
        detail = f"{spell.held - 1} more, the last: {spell.last.detail}"
        yield replace(spell.last, at=at_ns, detail=detail, count=spell.held - 1)
