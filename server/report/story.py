"""Gather a report's content for each round from a session's events."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from models.cards import Card
from models.events import (
    CardDealt,
    CardExposed,
    CardSighted,
    Fact,
    ShoeCardRead,
)
from models.judgements import (
    AnyEvent,
    LedgerPosted,
    RoundResult,
    RoundSettled,
)
from models.layout import TableLayout
from models.session import Session
from server.house.citations import Book
from server.house.formatting import Formats
from server.house.wording import place
from server.table.comparison import Comparison
from settlement.balance import Balance, balance, payments_in


@dataclass(frozen=True, slots=True)
class Crop:
    """A part of a camera's picture, with the card on it."""

    seq: int
    card: Card | None
    caption: str
    detail: str
    jpeg: bytes


@dataclass(frozen=True, slots=True)
class RoundStory:
    """One round: its result, its evidence, and its pictures."""

    result: RoundResult
    facts: tuple[Fact, ...]
    laid: tuple[tuple[int | str, CardSighted], ...]
    """Each card's spot or ``dealer``, with its last sighting, in the order of resting."""
    crops: tuple[Crop, ...]
    balance: Balance
    ledger: tuple[LedgerPosted, ...]
    comparison: Comparison | None


@dataclass(frozen=True, slots=True)
class SessionStory:
    """The content of a report."""

    session: Session
    book: Book
    formats: Formats
    """Formats of times and amounts, with the table's currency."""
    layout: TableLayout
    rounds: tuple[RoundStory, ...]
    events: int
    head: str
    """Hash of the journal's last entry: it covers everything before it."""


def round_stories(
    events: Sequence[AnyEvent],
    results: Sequence[RoundResult],
    jpegs: Mapping[int, bytes],
    comparisons: Sequence[Comparison],
) -> tuple[RoundStory, ...]:
    """Return the story of each round in ``results``.

    Args:
        events: the journal, in order.
        results: the rounds as they ended, reviews included.
        jpegs: pictures of sightings, by the sighting's ``seq``.
        comparisons: each round against the truth; empty where there is none.
    """
    by_seq = {event.seq: event for event in events if event.seq is not None}
    settled = {e.result.round: e for e in events if isinstance(e, RoundSettled)}
    compared = {one.round: one for one in comparisons}
    return tuple(
        _round_story(result, settled[result.round], by_seq, jpegs, compared.get(result.round))
        for result in results
    )


def _round_story(
    result: RoundResult,
    settled: RoundSettled,
    by_seq: Mapping[int, AnyEvent],
    jpegs: Mapping[int, bytes],
    comparison: Comparison | None,
) -> RoundStory:
    known = (by_seq[seq] for seq in settled.because if seq in by_seq)
    facts = tuple(event for event in known if isinstance(event, Fact))
    ledger = (e for e in by_seq.values() if isinstance(e, LedgerPosted))
    return RoundStory(
        result=result,
        facts=facts,
        laid=_last_sightings(facts, by_seq),
        crops=tuple(_crops(facts, by_seq, jpegs)),
        balance=balance(result, payments_in(facts)),
        ledger=tuple(line for line in ledger if line.round == result.round),
        comparison=comparison,
    )


def _last_sightings(
    facts: Sequence[Fact], by_seq: Mapping[int, AnyEvent]
) -> tuple[tuple[int | str, CardSighted], ...]:
    """Find the last place of each card of the round before it was taken up."""
    places = {
        (one.source, one.track): fact.to
        for fact in facts
        if isinstance(fact, CardDealt | CardExposed)
        for one in _sightings(fact, by_seq)
    }
    span = [seq for fact in facts for seq in (fact.seq, *fact.evidence) if seq is not None]
    last: dict[tuple[str, int], CardSighted] = {}
    for seq in range(min(span, default=1), max(span, default=0) + 1):
        event = by_seq.get(seq)
        if isinstance(event, CardSighted) and (event.source, event.track) in places:
            last[event.source, event.track] = event
    return tuple((places[track], sighting) for track, sighting in last.items())


def _sightings(fact: Fact, by_seq: Mapping[int, AnyEvent]) -> list[CardSighted]:
    seen = (by_seq.get(seq) for seq in fact.evidence)
    return [event for event in seen if isinstance(event, CardSighted)]


def _crops(
    facts: Iterable[Fact], by_seq: Mapping[int, AnyEvent], jpegs: Mapping[int, bytes]
) -> Iterable[Crop]:
    shown = set()
    for fact in facts:
        if not isinstance(fact, CardDealt | CardExposed):
            continue
        for sighting in _sightings(fact, by_seq):
            seq = sighting.seq
            if seq is None or seq in shown or seq not in jpegs:
                continue
            shown.add(seq)
            yield Crop(seq, fact.card, _place(fact), _reading(fact, sighting, by_seq), jpegs[seq])


def _place(fact: CardDealt | CardExposed) -> str:
    return place(None if fact.to == "dealer" else fact.to, fact.hand)


def _reading(
    fact: CardDealt | CardExposed, sighting: CardSighted, by_seq: Mapping[int, AnyEvent]
) -> str:
    parts = [f"frame {sighting.frame}"]
    if sighting.face == "down":
        parts.append("back")
    elif sighting.confidence is not None:
        parts.append(f"p {sighting.confidence:.4f}")
    draws = (by_seq.get(seq) for seq in fact.evidence)
    parts += [f"shoe draw {read.draw}" for read in draws if isinstance(read, ShoeCardRead)]
    return " · ".join(parts)
