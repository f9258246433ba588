"""Cards leaving the shoe, as its reader counts them: gaps, repetitions and faults."""

import dataclasses
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from msgspec.structs import replace

from models.cards import Card
from models.events import ReaderFault, ShoeCardRead
from settlement.reconcile.timing import BETWEEN_CARDS_NS, CARRY_NS, MS

_NO_CARD_LOST: Final = frozenset(
    {
        "gap",
        "repeat",
        "retransmission",
        "refusal",
        "unknown_report",
        "restarts_spent",
        "link_lost",
        "uncounted",
    }
)
"""Faults that say nothing of a further card: a gap shows in the numbers that follow, and what
comes while nobody hears the reader the camera tells."""

LARGEST_GAP: Final = 12
"""More missed cards than this the camera has not seen come one by one: a shoe was changed."""

_UNHEARD_NS: Final = 1_000 * MS
"""A line is found dead only some time after the last byte that came through it."""


@dataclass(frozen=True, slots=True)
class Draw:
    """A card that left the shoe, or may have."""

    at: int
    earliest: int
    """Where the moment itself was missed, it lies from here on: a card between two others."""
    card: Card | None
    seqs: tuple[int, ...]
    certain: bool = True
    """False for a fault of the reader, behind which a card may have passed."""
    latest: int = 0
    """Where the moment itself was missed, the next card left the shoe then."""

    def left_at(self, rested_at: int) -> int:
        """Return when it left the shoe by when it came to rest, where the moment was missed."""
        if self.timed:
            return self.at
        if not self.latest:
            return min(self.at, rested_at - CARRY_NS)
        return max(self.earliest, min(rested_at - CARRY_NS, self.latest - 1))

    @property
    def timed(self) -> bool:
        """Whether the moment itself is known."""
        return self.earliest == self.at


class ShoeCount:
    """The reader's own count, turned into draws."""

    def __init__(self) -> None:
        self._last: ShoeCardRead | None = None
        self._deaf: list[tuple[int, int | None]] = []

    def lost(self, at: int) -> None:
        """The reader cannot be heard from now on."""
        if not self._deaf or self._deaf[-1][1] is not None:
            self._deaf = [*self._deaf[-8:], (at, None)]

    def returned(self, at: int) -> None:
        """The reader is heard again, and cannot say what it read meanwhile."""
        if self._deaf and self._deaf[-1][1] is None:
            self._deaf[-1] = (self._deaf[-1][0], at)

    def disconnected(self, at: int) -> bool:
        """Tell whether nobody heard the reader at a moment."""
        return any(
            since - _UNHEARD_NS <= at and (until is None or at <= until + _UNHEARD_NS)
            for since, until in self._deaf
        )

    @property
    def last_ns(self) -> int:
        """When the last card was read."""
        return 0 if self._last is None else self._last.at or 0

    def loaded(self) -> None:
        """A fresh shoe: the count starts again."""
        self._last = None

    def read(self, read: ShoeCardRead) -> tuple[Draw, ...]:
        """Return the draws that a reading tells of: those it missed, then its own."""
        last, self._last = self._last, read
        if last is not None and last.card is read.card and _again(last, read):
            self._last = replace(read, at=last.at)
            return ()
        at, seqs = read.at or 0, _seqs(read)
        missed = 0 if last is None else read.draw - last.draw - 1
        if last is None or not 1 <= missed <= LARGEST_GAP:
            return (Draw(at, at, read.card, seqs),)
        since = last.at or 0
        gap = tuple(
            Draw(since + (at - since) * (n + 1) // (missed + 1), since, None, seqs, latest=at)
            for n in range(missed)
        )
        return (*gap, Draw(at, at, read.card, seqs))


def _again(last: ShoeCardRead, read: ShoeCardRead) -> bool:
    """Tell whether one card was read twice: by its number, or sooner than another can come."""
    soon = (read.at or 0) - (last.at or 0) < BETWEEN_CARDS_NS
    return last.draw == read.draw or soon


def unread(fault: ReaderFault) -> int:
    """Return how many cards a fault says the reader missed."""
    if fault.missing_from is None or fault.missing_to is None:
        return 0
    return fault.missing_to - fault.missing_from + 1


def possible_draw(fault: ReaderFault) -> Draw | None:
    """Return the draw that may have passed behind a fault of the reader."""
    if fault.kind in _NO_CARD_LOST:
        return None
    at = fault.at or 0
    return Draw(at, at, None, _seqs(fault), certain=False)


def merged(pending: list[Draw], new: tuple[Draw, ...]) -> list[Draw]:
    """Add new draws; a fault noted within a gap is one of the cards the gap tells of."""
    draws = list(pending)
    for draw in new:
        faults = (d for d in draws if not d.certain and draw.earliest <= d.at <= draw.at)
        missed = draw.certain and draw.card is None
        fault = next(faults, None) if missed else None
        if fault is None:
            draws.append(draw)
        else:
            draws.remove(fault)
            draws.append(dataclasses.replace(fault, certain=True, seqs=fault.seqs + draw.seqs))
    return sorted(draws, key=lambda d: d.at)


class Composition:
    """What the shoe can still hold: its decks less every card that left it.

    Args:
        decks: how many it holds.
        without: the ranks that the house takes out of each deck.
        continuous: whether the cards of a finished round return to it.
    """

    def __init__(
        self, decks: int, *, without: Sequence[str] = (), continuous: bool = False
    ) -> None:
        self._decks, self._without, self._continuous = decks, without, continuous
        self._out: Counter[Card] = Counter()
        self._unsure: Counter[Card] = Counter()
        self._doubted: Counter[Card] = Counter()
        """Those of the unsure that were stated as such: of a face-down card no doubt is stated."""
        self._past: Counter[Card] = Counter()
        """Those of the doubted that were dealt in rounds that are over."""
        self._before = (self._out.copy(), self._unsure.copy(), self._doubted.copy())
        """What was counted as the last round was over."""

    def shuffled(self, decks: int) -> None:
        """All cards are back in the shoe."""
        self._decks = decks
        self._out.clear()
        self._unsure.clear()
        self._doubted.clear()
        self._past.clear()

    def reshuffled(self, lying: Iterable[Card]) -> None:
        """The discards are shuffled and go on being dealt; the cards that lie stay out."""
        self._out = Counter(lying)
        self._unsure &= self._out
        self._doubted &= self._out
        self._past.clear()

    def left_shoe(self, card: Card | None, *, sure: bool = True, down: bool = False) -> None:
        """Count a card out, dealt face ``down`` or up; ``sure`` where two sensors read it."""
        if card is not None:
            self._out[card] += 1
            self._unsure[card] += not sure
            self._doubted[card] += not (sure or down)

    def doubt(self, cards: Iterable[Card]) -> None:
        """Note cards of a round that a person is asked about: one may have been another."""
        self._unsure.update(cards)

    def miscounts(self, card: Card | None) -> bool:
        """Tell whether one more of ``card`` only seems too many: another may have been misread."""
        return card is not None and self._unsure[card] > 0 and not self.holds(card)

    def round_over(self) -> None:
        """Whatever was counted so far is of rounds that are over."""
        if self._continuous:
            self.shuffled(self._decks)
        self._past = self._doubted.copy()
        self._before = (self._out.copy(), self._unsure.copy(), self._doubted.copy())

    def take_back(self) -> None:
        """Uncount what was counted since the last round was over: it is counted anew."""
        self._out, self._unsure, self._doubted = (counted.copy() for counted in self._before)
        self._past = self._doubted.copy()

    def disproved(self, card: Card | None) -> bool:
        """Uncount one of ``card`` that was stated as doubtful in a round that is over.

        Now that two sensors read one more than the shoe held, it was another. ``False`` where
        there was none.
        """
        if card is None or not self._past[card]:
            return False
        for counted in (self._out, self._unsure, self._doubted, self._past, *self._before):
            counted[card] -= 1
        return True

    def holds(self, card: Card) -> bool:
        """Tell whether one more of ``card`` can come."""
        return self.room(card) > 0

    def room(self, card: Card) -> int:
        """Return how many more of ``card`` can come; below nought: so many too many came."""
        each = 0 if card.rank in self._without else 1 if card.suited else 4
        return self._decks * each - self._out[card]


def _seqs(event: ShoeCardRead | ReaderFault) -> tuple[int, ...]:
    return () if event.seq is None else (event.seq,)
