"""A report as a self-contained HTML page, light, for the screen and for paper."""

from base64 import b64encode
from hashlib import sha256
from html import escape
from typing import Final

from server.report.document import (
    Block,
    Document,
    Pairs,
    Picture,
    Pictures,
    Quote,
    Section,
    Table,
    Text,
)
from server.report.markup import picture, row, table, text_cell

STYLE: Final = """
:root { color-scheme: light }
body { margin: 0; background: #fff; color: #17201b; font: 14px/1.5 system-ui, sans-serif }
main { max-width: 940px; margin: 0 auto; padding: 32px 24px 64px }
.brand { color: #6b5216; letter-spacing: .2em; font-size: 12px; font-weight: 600 }
h1 { font-size: 26px; margin: 4px 0 } h2 { font-size: 17px; margin: 28px 0 8px }
.verdict { font-size: 16px; margin: 0 } .quiet { color: #56635b } .good { color: #14663b }
.bad { color: #a01b13 } .doubt { color: #855600 }
dl { display: grid; grid-template-columns: max-content 1fr; gap: 2px 18px; margin: 8px 0 }
dt { color: #56635b } dd { margin: 0; overflow-wrap: anywhere }
table { border-collapse: collapse; width: 100%; margin: 8px 0 }
th, td { text-align: left; vertical-align: top; padding: 3px 10px 3px 0 }
th { border-bottom: 1px solid #9aa8a0; font-weight: 600 } td { border-bottom: 1px solid #dfe5e1 }
.num { text-align: right; font-variant-numeric: tabular-nums }
.crops { display: flex; flex-wrap: wrap; gap: 12px } figure { margin: 0; width: 150px }
img { width: 150px; display: block } figcaption { font-size: 12px; color: #56635b }
.large figure, .large img { width: 380px }
blockquote { margin: 6px 0 6px 14px } blockquote p { margin: 0 }
footer { margin-top: 36px; color: #56635b; font-size: 12px; overflow-wrap: anywhere }
@media print { main { padding: 0 } h2, tr, figure { break-inside: avoid } }
"""
_STYLE_HASH: Final = b64encode(sha256(STYLE.encode()).digest()).decode()
POLICY: Final = (
    f"default-src 'none'; style-src 'sha256-{_STYLE_HASH}'; img-src data:; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
"""The page's Content-Security-Policy: it allows everything on the page, and nothing else."""


def as_page(document: Document) -> bytes:
    """Return the page in UTF-8."""
    sections = "".join(map(_section, document.sections))
    title = escape(document.title)
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        f"<title>Pitwatch: {title}</title><style>{STYLE}</style></head><body><main>"
        f'<header><div class="brand">PITWATCH</div><h1>{title}</h1>'
        f'<p class="verdict">{escape(document.verdict)}</p></header>'
        f"{sections}<footer>{escape(document.foot)}</footer></main></body></html>\n"
    ).encode()


def _section(section: Section) -> str:
    blocks = "".join(map(_block, section.blocks))
    return f"<section><h2>{escape(section.heading)}</h2>{blocks}</section>"


def _block(block: Block) -> str:
    match block:
        case Text():
            return f'<p class="{block.tone}">{escape(block.text)}</p>'
        case Pairs():
            rows = (f"<dt>{escape(name)}</dt><dd>{escape(text)}</dd>" for name, text in block.rows)
            return f"<dl>{''.join(rows)}</dl>"
        case Table():
            return table(block.headings, [_row(block, cells) for cells in block.rows])
        case Quote():
            return (
                f"<blockquote><p>{escape(block.text)}</p>"
                f'<p class="quiet">{escape(block.origin)}</p></blockquote>'
            )
        case Pictures():
            kind = "crops" if block.across > 3 else "crops large"
            return f'<div class="{kind}">{"".join(map(_figure, block.shown))}</div>'


def _figure(one: Picture) -> str:
    shown = "" if one.jpeg is None else picture(one.jpeg, one.caption)
    return f"<figure>{shown}<figcaption>{escape(one.caption)}</figcaption></figure>"


def _row(block: Table, cells: tuple[str, ...]) -> str:
    return row(
        *(
            text_cell(cell, "num") if heading.startswith("#") else text_cell(cell)
            for heading, cell in zip(block.headings, cells, strict=True)
        )
    )
