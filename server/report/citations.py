"""Where a clause comes from: our wording, and the house's own words."""

from dataclasses import dataclass

from models.rulebook import Citation, Cited
from settlement.clauses import CLAUSES


@dataclass(frozen=True, slots=True)
class Passage:
    """One text that a verdict rests on."""

    says: str
    origin: str


def wording(clause: str) -> str:
    """Return a clause in our own words."""
    return CLAUSES[clause].says if clause in CLAUSES else clause


def passages(clause: str, cited: Cited) -> tuple[Passage, ...]:
    """Return what each knob behind the clause rests on: the house's words, or our reason."""
    knobs = CLAUSES[clause].knobs if clause in CLAUSES else ()
    return tuple(_passage(knob, cited.citations[knob]) for knob in knobs)


def _passage(knob: str, citation: Citation) -> Passage:
    if citation.source == "stated":
        return Passage(f"“{citation.quote}”", f"{citation.document} ({knob})")
    how = "inferred" if citation.source == "inferred" else "where the sheet is silent"
    return Passage(citation.reason or "", f"{how} ({knob})")
