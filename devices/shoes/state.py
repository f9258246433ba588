"""A shoe reader's reports since its shoe was loaded, in any protocol."""

from collections.abc import Iterator

from models.cards import Card
from models.events import ReaderFault, ShoeCardRead, ShoeCutCard, ShoeLoaded


class ShoeState:
    """Counts one shoe's cards, and distinguishes a new shoe from a restarted reader."""

    def __init__(self, source: str) -> None:
        self._source = source
        self.draws = 0
        self.loaded = False
        self.cut_card_seen = False
        self.last_card: Card | None = None

    def drawn(self, card: Card | None, raw: bytes, at_ns: int, draw: int) -> ShoeCardRead:
        """Report one more card drawn, number ``draw``."""
        self.draws, self.last_card = draw, card
        return ShoeCardRead(
            source=self._source, at=at_ns, card=card, draw=self.draws, raw=raw.hex()
        )

    def cut(self, raw: bytes, at_ns: int) -> Iterator[ShoeCutCard]:
        """Report the cut card, once a shoe."""
        if not self.cut_card_seen:
            self.cut_card_seen = True
            yield ShoeCutCard(source=self._source, at=at_ns, raw=raw.hex())

    def started(self, raw: bytes, at_ns: int) -> Iterator[ShoeLoaded | ReaderFault]:
        """Report a new shoe, once: after the cut card, or before any card.

        A start in the middle of a shoe means a restarted reader; the drawn cards stay drawn.
        """
        if self.draws and not self.cut_card_seen:
            detail = f"the reader started again after {self.draws} cards and no cut card"
            yield ReaderFault(
                source=self._source, at=at_ns, kind="restart", detail=detail, raw=raw.hex()
            )
        elif self.cut_card_seen or not self.loaded:
            yield self.load(raw, at_ns)

    def returned(self, at_ns: int) -> Iterator[ReaderFault]:
        """Report the draws that may have been missed while the link was lost."""
        due = self.draws + 1
        detail = f"cards from {due} on may have left the shoe while it could not be heard"
        yield ReaderFault(
            source=self._source, at=at_ns, kind="uncounted", detail=detail, missing_from=due
        )

    def load(self, raw: bytes, at_ns: int) -> ShoeLoaded:
        """Report a new shoe."""
        self.draws, self.last_card = 0, None
        self.loaded, self.cut_card_seen = True, False
        return ShoeLoaded(source=self._source, at=at_ns, raw=raw.hex())
