"""The structure of a PDF's text for screen readers: headings, paragraphs, tables, figures.

fpdf2 tags only pictures. This builder replaces its own, so that everything drawn either belongs to
an element of the document's structure (ISO 32000-1, 14.7 and 14.8), or is marked as an artifact,
such as the footer of a page.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final, Literal, TypeAlias

from fpdf import FPDF
from fpdf.structure_tree import StructElem, StructureTreeBuilder
from fpdf.syntax import PDFObject

Kind: TypeAlias = Literal[
    "H1", "H2", "P", "BlockQuote", "Table", "TR", "TH", "TD", "Figure", "Caption", "Div"
]

Scope: TypeAlias = Literal["column", "row"]

_SCOPES: Final[dict[Scope, str]] = {
    "column": "<</O /Table /Scope /Column>>",
    "row": "<</O /Table /Scope /Row>>",
}


class Element(StructElem):
    """An element of the structure."""

    __slots__ = ("a",)

    a: str | None
    """Its attributes, in PDF syntax."""


class _Marked:
    """A part of a page's content that belongs to an element."""

    def __init__(self, pdf: FPDF, page: int, number: int) -> None:
        self._pdf, self._page, self._number = pdf, page, number

    def serialize(self, **_: Any) -> str:
        page = self._pdf.pages[self._page].ref
        return f"<</Type /MCR /Pg {page} /MCID {self._number}>>"


class Tags(StructureTreeBuilder):
    """The structure of one document, built while the document is drawn."""

    def __init__(self, pdf: FPDF) -> None:
        super().__init__()
        self._pdf = pdf
        self._elements: list[Element] = []

    def element(
        self,
        kind: Kind,
        parent: Element | None = None,
        *,
        alt: str | None = None,
        scope: Scope | None = None,
    ) -> Element:
        """Add an element behind those that ``parent``, or the document, has.

        Args:
            kind: one of the standard structure types.
            parent: the element that contains it.
            alt: the description of a picture.
            scope: for a table's header, the cells that it describes.
        """
        above = self.doc_struct_elem if parent is None else parent
        made = Element(f"/{kind}", above, [], page_number=self._pdf.page, alt=alt)
        made.a = _SCOPES[scope] if scope else None
        above.k.append(made)
        self._elements.append(made)
        return made

    @contextmanager
    def content(self, element: Element) -> Iterator[None]:
        """Assign everything drawn meanwhile, on one page, to the element."""
        page = self._pdf.page
        number = self.spid_per_page_number.setdefault(page, len(self.spid_per_page_number))
        owners = self.struct_tree_root.parent_tree.nums[number]
        element.k.append(_Marked(self._pdf, page, len(owners)))
        self._pdf.pages[page].struct_parents = number
        with self._marked(f"{element.s} <</MCID {len(owners)}>> BDC"):
            yield
        owners.append(element)

    @contextmanager
    def artifact(self) -> Iterator[None]:
        """Mark everything drawn meanwhile as an artifact."""
        with self._marked("/Artifact BMC"):
            yield

    @contextmanager
    def _marked(self, begin: str) -> Iterator[None]:
        self._pdf._out(begin)  # fpdf2 has no public way to write an operator
        yield
        self._pdf._out("EMC")

    def empty(self) -> bool:
        """Return whether nothing is tagged."""
        return not self._elements

    def __iter__(self) -> Iterator[PDFObject]:
        yield self.struct_tree_root
        yield self.doc_struct_elem
        yield self.struct_tree_root.parent_tree
        yield from self._elements
