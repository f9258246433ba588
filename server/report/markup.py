"""Small parts of the page: cards, amounts, table rows. All text is escaped here."""

from base64 import b64encode
from collections.abc import Iterable, Sequence
from html import escape

from models.cards import Card
from models.money import Cents
from server.house.formatting import Formats
from server.house.wording import card_text, is_red

TEXT_STYLE = "\N{VARIATION SELECTOR-15}"
"""Selects a suit's text form instead of a coloured emoji."""


def card_spans(cards: Sequence[Card | None], *, burned: bool = False) -> str:
    """Return a hand as small cards."""
    return "".join(_card_span(card, burned) for card in cards)


def amount_cell(amount: Cents | None, formats: Formats) -> str:
    """Return a gain or loss as a table cell, coloured by its sign."""
    return f'<td class="num {tone(amount)}">{escape(formats.signed(amount))}</td>'


def tone(amount: Cents | None) -> str:
    """Return the colour's name for a gain or loss."""
    if amount is None:
        return "doubt"
    return "even" if amount == 0 else "good" if amount > 0 else "bad"


def row(*cells: str, kind: str = "") -> str:
    """Return a table row; a cell that is not yet a ``<td>`` is escaped into one."""
    inside = "".join(cell if cell.startswith("<td") else text_cell(cell) for cell in cells)
    return f'<tr class="{kind}">{inside}</tr>' if kind else f"<tr>{inside}</tr>"


def text_cell(text: str, kind: str = "") -> str:
    """Return an escaped table cell."""
    return f'<td class="{kind}">{escape(text)}</td>' if kind else f"<td>{escape(text)}</td>"


def table(headings: Iterable[str], rows: Iterable[str]) -> str:
    """Return a table; a heading that starts with ``#`` belongs to numbers."""
    heads = "".join(
        f'<th class="num">{escape(name[1:])}</th>'
        if name.startswith("#")
        else f"<th>{escape(name)}</th>"
        for name in headings
    )
    return f"<table><thead><tr>{heads}</tr></thead><tbody>{''.join(rows)}</tbody></table>"


def picture(jpeg: bytes, alt: str) -> str:
    """Return a JPEG as an embedded image."""
    return f'<img alt="{escape(alt)}" src="data:image/jpeg;base64,{b64encode(jpeg).decode()}">'


def _card_span(card: Card | None, burned: bool) -> str:
    kinds = ["card"]
    kinds += ["unknown"] if card is None else ["red"] if is_red(card) else []
    kinds += ["burned"] if burned else []
    return f'<span class="{" ".join(kinds)}">{card_text(card)}{TEXT_STYLE}</span>'
