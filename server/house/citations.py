"""The sources of a violation: the clause in our wording, and the house's own words."""

from dataclasses import dataclass

from models.judgements import RoundResult
from models.rulebook import Citation, Cited, Rulebook
from settlement import rulebooks
from settlement.clauses import CLAUSES, PASSAGES, SETTLED_BY, rests_on


@dataclass(frozen=True, slots=True)
class Passage:
    """One text behind a violation or an amount due, with its source."""

    says: str
    origin: str


@dataclass(frozen=True, slots=True)
class Book:
    """A house's rulebook in force at a table."""

    cited: Cited
    rules: Rulebook

    def passage(self, name: str) -> Passage | None:
        """Return the source of a knob or passage; ``None`` where a site's sheet gives none.

        A knob that differs from the sheet no longer rests on the sheet's words.
        """
        citation = self._citation(name)
        if citation is None:
            return None
        if name not in PASSAGES and self._is_changed(name):
            value = rulebooks.shown(rulebooks.value(self.rules, name))
            return Passage(f"{name} = {value}", "Set for this table; differs from the rulebook")
        return Passage(citation.says, citation.origin)

    def _citation(self, name: str) -> Citation | None:
        found = self.cited.passages if name in PASSAGES else self.cited.citations
        return found.get(name)

    def _is_changed(self, knob: str) -> bool:
        return bool(rulebooks.value(self.rules, knob) != rulebooks.value(self.cited.rules, knob))


def wording(clause: str) -> str:
    """Return a clause in our own words."""
    return CLAUSES[clause].says if clause in CLAUSES else clause


def passages(
    book: Book, clause: str, code: str | None = None, detail: str = ""
) -> tuple[Passage, ...]:
    """Return the sources of a clause; for a mistake, those of the broken part.

    Args:
        book: the rulebook in force.
        clause: the clause's id.
        code: the mistake's code, if it is one.
        detail: the mistake's detail; for a signal it begins with the decision shown.
    """
    names = rests_on(clause, code)
    shown = [name for name in names if name == f"signals.{detail.partition(' ')[0]}"]
    found = (book.passage(name) for name in shown or names)
    return tuple(dict.fromkeys(one for one in found if one is not None))


def settled_by(book: Book, code: str) -> Passage | None:
    """Return the source of the settlement after a mistake; ``None`` where no knob decides."""
    return book.passage(SETTLED_BY[code]) if code in SETTLED_BY else None


def deciding(
    result: RoundResult, clause: str, spot: int | None, hand: int | None, detail: str = ""
) -> list[str]:
    """Return the clauses behind the amount due, where a payment is wrong.

    ``detail`` is the mistake's: it names a side bet first.
    """
    if clause != "payment.due":
        return []
    if detail.startswith("side bet "):
        return ["side_bet.pays"]
    return [
        decided
        for one in result.spots
        for own in one.hands
        if (one.spot, own.hand) == (spot, hand or 0)
        for decided in own.clauses
    ]
