"""The auditor's report of ``resettle --report``: a signed page of figures, and the hands behind."""

import hashlib
from pathlib import Path

from models.rulebook import Rulebook
from server.archive.audit import By, Figure, Figures, figures_of
from server.archive.resettling import Changes
from server.house.formatting import Formats
from server.house.rules_in_force import name_of
from server.house.wording import counted
from server.report.as_page import as_page
from server.report.document import Block, Document, Pairs, Section, Table, Text
from server.report.signature import report_of, signed_page
from stream.signing import Signer

HANDS_FILE = "changed_hands.jsonl"
PAGE_FILE = "report.html"


def write_page(
    folder: Path,
    totals: Changes,
    rules: Rulebook,
    was: Rulebook | None,
    formats: Formats,
    *,
    signed: tuple[Signer, int] | None,
) -> None:
    """Write the page beside the hands that were written before.

    Args:
        folder: holds the changed hands.
        totals: the totals of the same run.
        rules: the new rules.
        was: the earlier ones, where they were named.
        formats: money and times.
        signed: the key and the time of the signature; without it the page has none.
    """
    hands = folder / HANDS_FILE
    with hands.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
        file.seek(0)
        figures = figures_of(file)
    then = ", ".join(totals.rules_then) if was is None else name_of(was).text
    page = as_page(_document(figures, totals, (then, name_of(rules).text), digest, formats))
    if signed is not None:
        signer, at_ns = signed
        subject = "report of rounds settled again under other rules"
        page = signed_page(page, report_of(subject, at_ns), signer)
    (folder / PAGE_FILE).write_bytes(page)


def _document(
    figures: Figures, totals: Changes, rules: tuple[str, str], digest: str, formats: Formats
) -> Document:
    whole = figures.whole
    about: list[tuple[str, str]] = [
        ("Rules then", rules[0]),
        ("Rules now", rules[1]),
        ("Rounds settled again", f"{totals.rounds:,}"),
        ("Rounds that change", f"{totals.changed:,}"),
        ("Rounds under review then, in no sum", f"{totals.in_review:,}"),
        ("Rounds not settled then", f"{totals.unsettled_then:,}"),
        ("Rounds without facts", f"{totals.without_facts:,}"),
        ("Hands that change", f"{whole.hands:,}"),
        ("Hands open on one side, in no sum", f"{whole.open:,}"),
        (HANDS_FILE, f"{whole.hands:,} lines, SHA-256 {digest}"),
    ]
    parts = (
        ("By table", "table", figures.tables),
        ("By week", "week", figures.weeks),
        ("By dealer shift", "shift begins", figures.shifts),
        ("By clause", "clauses", figures.clauses),
    )
    behind = Text(
        f"Each figure is the sum of house_difference over the lines of {HANDS_FILE} that have its"
        " table, week, shift or clauses: these are the rounds behind it.",
        "quiet",
    )
    money = formats.money(abs(whole.house_difference))
    gains = "more" if whole.house_difference >= 0 else "less"
    over = f"{counted(whole.hands, 'hand')} in {counted(whole.rounds, 'round')}"
    verdict = f"Under the new rules the house gains {money} {gains}, over {over}."
    sections = [Section("What was settled again", (Pairs(tuple(about)), behind))]
    sections += [Section(heading, (_table(of, by, formats),)) for heading, of, by in parts]
    return Document(
        "Settled again under other rules", verdict, tuple(sections), f"SHA-256 {digest}"
    )


def _table(of: str, by: By, formats: Formats) -> Block:
    headings = (of, "#rounds", "#hands", "#open", "#house")
    return Table(headings, tuple(_row(key, by[key], formats) for key in sorted(by)))


def _row(key: str, one: Figure, formats: Formats) -> tuple[str, ...]:
    money = formats.signed(one.house_difference)
    return key or "no table", f"{one.rounds:,}", f"{one.hands:,}", f"{one.open:,}", money
