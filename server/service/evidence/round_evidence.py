"""The evidence to show for a round: each of its cards, and chips where money is disputed."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from models.cards import Card
from models.events import (
    AnyFact,
    CardDealt,
    CardExposed,
    CardSighted,
    Dealt,
    PaymentMade,
    PlateRead,
    WagerPlaced,
    WagerRemoved,
)
from server.readmodel.views import ViolationRow

_MISSING: Final = "payment_missing"
_WINDOW_NS: Final = 5_000_000_000
"""Nanoseconds between an event and its picture, at most."""
_REPORT_NS: Final = 700_000_000
"""Nanoseconds before a plate's report during which a hand may already be there. Measured on the
demo: 0.5 s."""


@dataclass(frozen=True, slots=True)
class CardShown:
    """One card of a round, in the order of the deal."""

    to: Dealt
    hand: int
    card: Card | None
    """``None`` where it is hidden or unknown."""
    is_down: bool
    """Whether it lay face down and was not turned up."""
    seq: int
    """The entry of its deal."""
    sighting: CardSighted | None
    """The best look at it; ``None`` where no camera saw it."""


@dataclass(frozen=True, slots=True)
class ChipsMoment:
    """A disputed payment, or missing one, of chips."""

    spot: int
    circle: str
    """As in :class:`models.events.PlateRead`."""
    what: str
    at_ns: int
    from_ns: int
    """Start of the time with the earlier chips."""
    to_ns: int
    """End of the time with the later chips."""
    before: PlateRead | None
    after: PlateRead | None
    """``None`` without a plate's report."""


def cards_of(
    facts: Iterable[AnyFact], sightings: Mapping[int, CardSighted]
) -> tuple[CardShown, ...]:
    """Return every card of a round, each once, with the best look at it.

    A fact names its sightings, and these may be older than the round: a card is seen before the
    wagers that open its round are known.

    Args:
        facts: the round's, in order, as the requester may see them.
        sightings: those of the facts, by ``seq``.
    """
    shown: list[CardShown] = []
    for fact in facts:
        if isinstance(fact, CardDealt):
            shown.append(_dealt(fact, _best(fact, sightings)))
        elif isinstance(fact, CardExposed):
            _turn_up(shown, fact, _best(fact, sightings))
    return tuple(shown)


def _dealt(fact: CardDealt, seen: CardSighted | None) -> CardShown:
    is_down = fact.face == "down"
    card = None if is_down else fact.card
    return CardShown(fact.to, fact.hand, card, is_down, fact.seq or 0, seen)


def _best(
    fact: CardDealt | CardExposed, sightings: Mapping[int, CardSighted]
) -> CardSighted | None:
    """Return the last look at its face, or else at its back."""
    seen = [sightings[seq] for seq in fact.evidence if seq in sightings]
    return max(seen, key=lambda one: (one.face == "up", one.seq or 0), default=None)


def _turn_up(shown: list[CardShown], fact: CardExposed, seen: CardSighted | None) -> None:
    """Replace a dealt card by the one turned up or identified."""
    unknown = [
        at for at, one in enumerate(shown) if one.to == fact.to and (one.is_down or not one.card)
    ]
    own = [at for at in unknown if shown[at].hand == fact.hand]
    for at in (own or unknown)[:1]:
        one = shown[at]
        shown[at] = replace(one, card=fact.card, is_down=False, sighting=seen or one.sighting)


def disputed_chips(
    violations: Iterable[ViolationRow],
    facts: Sequence[AnyFact],
    plates: Sequence[PlateRead],
) -> tuple[ChipsMoment, ...]:
    """Return the times at which chips were disputed, each once.

    Args:
        violations: the round's.
        facts: the round's, in order.
        plates: the bet plates' reports since before its first wager, in order.
    """
    by_seq = {fact.seq: fact for fact in facts}
    found: dict[tuple[int, str, int], ChipsMoment] = {}
    for row in violations:
        fact = by_seq.get(row.seq)
        is_money = isinstance(fact, PaymentMade | WagerPlaced | WagerRemoved)
        if row.spot is None or not (is_money or row.code == _MISSING):
            continue
        circle = "I" if getattr(fact, "kind", "") == "insurance" else str(row.hand or 0)
        moment = _moment(row, circle, () if fact is None else fact.evidence, plates)
        found.setdefault((row.spot, circle, row.at), moment)
    return tuple(found.values())


def _moment(
    row: ViolationRow, circle: str, evidence: Sequence[int], plates: Sequence[PlateRead]
) -> ChipsMoment:
    assert row.spot is not None
    spot = [one for one in plates if one.spot == row.spot]
    own = [one for one in spot if one.circle == circle]
    reported = next((one for one in own if one.seq in evidence), None)
    at_ns = row.at if reported is None else reported.at or row.at
    earlier = [one for one in own if (one.at or 0) < at_ns and one is not reported]
    before = earlier[-1] if earlier else None
    others = [one.at or 0 for one in spot if one is not reported]
    since = max((at for at in others if at < at_ns), default=0)
    until = min((at - _REPORT_NS for at in others if at > at_ns), default=row.at + _WINDOW_NS)
    return ChipsMoment(
        row.spot,
        circle,
        row.code,
        row.at,
        max(since, row.at - _WINDOW_NS),
        max(row.at, min(until, row.at + _WINDOW_NS)),
        before,
        reported or before,
    )
