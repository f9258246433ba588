"""Faults that come faster than anyone can read them, reported as a count."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from msgspec.structs import replace

from devices.reading import Reading
from models.events import ReaderFault

_WINDOW_NS: Final = 10_000_000_000
_TOLD_SINGLY: Final = 10


@dataclass(slots=True)
class _Spell:
    since_ns: int
    told: int = 0
    last: ReaderFault | None = None
    held: int = 0


class FaultGate:
    """Lets ten faults of a kind through in ten seconds, and reports how many more there were.

    A line of noise sends hundreds a second for as long as it lasts; each would be an entry of
    the journal. Readings always pass.
    """

    def __init__(self) -> None:
        self._spells: dict[str, _Spell] = {}

    def let(self, reading: Reading) -> Iterator[Reading]:
        """Yield what to report now that ``reading`` was made."""
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
        """Yield what was held back."""
        for spell in self._spells.values():
            yield from _summed(spell, at_ns)
        self._spells.clear()

    def _fault(self, fault: ReaderFault, at_ns: int) -> Iterator[Reading]:
        spell = self._spells.setdefault(fault.kind, _Spell(at_ns))
        if spell.told < _TOLD_SINGLY or fault.missing_from is not None:
            spell.told += 1
            yield fault
            return
        if not spell.held:
            yield replace(fault, detail=f"{fault.detail}; more of this kind follow")
        spell.held += 1
        spell.last = fault


def _summed(spell: _Spell, at_ns: int) -> Iterator[ReaderFault]:
    if spell.last is not None and spell.held > 1:
        detail = f"{spell.held - 1} more, the last: {spell.last.detail}"
        yield replace(spell.last, at=at_ns, detail=detail)
