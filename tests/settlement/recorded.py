"""Rounds and rulebooks with what the engine makes of them, recorded once.

Whether an answer is right is for other tests to say; these notice any change of any answer, to
the word and the cent. ``python -m tests.settlement.recorded`` records the answers anew: read the
difference before committing it.
"""

import gzip
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Final, TypeVar

import msgspec

from models.errors import InputRefused
from models.events import AnyFact
from models.judgements import LedgerPosted, RoundResult
from models.rulebook import Rulebook
from settlement.engine import settle
from settlement.ledger import post
from settlement.rulebooks import differences, overridden, parse, sheet
from tests.settlement.table import RULEBOOKS, rules

FOLDER: Final = Path(__file__).parent / "recordings"
ROUNDS: Final = FOLDER / "rounds.jsonl.gz"
SHEETS: Final = FOLDER / "sheets.jsonl.gz"

Kind = TypeVar("Kind")


class Rounds(msgspec.Struct, frozen=True):
    """Facts of a table under a rulebook's knobs (``KNOB=VALUE``), and what they settle to."""

    rulebook: str
    knobs: tuple[str, ...]
    facts: tuple[AnyFact, ...]
    results: tuple[RoundResult, ...] = ()
    ledger: tuple[LedgerPosted, ...] = ()

    def answered(self) -> "Rounds":
        """Return the same facts with what they settle to now."""
        house = _house(self.rulebook, self.knobs)
        results = tuple(settle(enumerate(self.facts, start=1), house))
        ledger = tuple(line for result in results for line in post(result))
        return msgspec.structs.replace(self, results=results, ledger=ledger)


class Refused(msgspec.Struct, frozen=True):
    """A refusal, field by field."""

    source: str
    field: str
    expected: str
    found: str


class Sheet(msgspec.Struct, frozen=True):
    """A sheet of text with knobs set over it, and what is read from it or why it is refused.

    ``text`` extends the rulebook ``base`` in which each pair of ``changes`` is exchanged; where
    it is empty, that rulebook itself is read.
    """

    base: str
    changes: tuple[tuple[str, str], ...] = ()
    text: str = ""
    settings: tuple[str, ...] = ()
    read: tuple[str, ...] = ()
    knobs: tuple[tuple[str, str, str], ...] = ()
    """What differs from the base as it stands."""
    refused: Refused | None = None

    def answered(self) -> "Sheet":
        """Return the same text with what is made of it now."""
        try:
            return self._read()
        except InputRefused as error:
            refused = Refused(error.source, error.field, error.expected, error.found)
            return msgspec.structs.replace(self, read=(), knobs=(), refused=refused)

    def _read(self) -> "Sheet":
        base = (RULEBOOKS / f"{self.base}.toml").read_text("utf-8")
        for old, new in self.changes:
            base = base.replace(old, new, 1)
        if self.text:
            cited = parse(self.text, "site.toml", lambda name: parse(base, f"{name}.toml"))
        else:
            cited = parse(base, "base.toml")
        house = overridden(cited.rules, self.settings)
        knobs = differences(rules(self.base), house)
        licensed = "any" if cited.licensed is None else ", ".join(cited.licensed)
        read = (*sheet(cited), f"licensed: {licensed}") if not self.settings else ()
        return msgspec.structs.replace(self, read=read, knobs=knobs, refused=None)


def rounds() -> list[Rounds]:
    """Return every recorded round."""
    return _lines(ROUNDS, Rounds)


def sheets() -> list[Sheet]:
    """Return every recorded sheet."""
    return _lines(SHEETS, Sheet)


def write(path: Path, recorded: Sequence[Rounds] | Sequence[Sheet]) -> None:
    """Write a recording; the same content gives the same bytes."""
    lines = msgspec.json.Encoder().encode_lines(recorded)
    path.write_bytes(gzip.compress(lines, compresslevel=9, mtime=0))


@cache
def _house(rulebook: str, knobs: tuple[str, ...]) -> Rulebook:
    return rules(rulebook, *knobs)


def _lines(path: Path, kind: type[Kind]) -> list[Kind]:
    return msgspec.json.Decoder(kind).decode_lines(gzip.decompress(path.read_bytes()))


if __name__ == "__main__":
    write(ROUNDS, [each.answered() for each in rounds()])
    write(SHEETS, [each.answered() for each in sheets()])
