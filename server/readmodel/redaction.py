"""Redaction: hide cards that were not shown, and anything that counts the shoe.

A viewer without the right sees what everybody at the table saw: cards lying face up, but none that
lies face down, was burned or is still in the shoe, nor the number drawn. Of an observation only the
fields listed here are shown, so a new kind of observation reveals nothing until somebody lists its
fields.
"""

from collections.abc import Callable, Mapping
from typing import Any, Final, TypeAlias

import msgspec
from msgspec.structs import replace

from models.events import (
    CardBoxed,
    CardBurned,
    CardDealt,
    ConsoleEntry,
    Dealt,
    Fact,
)
from models.judgements import (
    Account,
    AnyEvent,
    DealerResult,
    HandResult,
    LedgerPosted,
    Review,
    ReviewRaised,
    RoundResult,
    RoundSettled,
    Violation,
)
from server.readmodel.views import HandRow, ReviewRow, RoundRow, Row, ViolationRow
from settlement.questions import question
from stream.reading import UnknownEvent

Hidden: TypeAlias = frozenset[Dealt]
"""The places of a round with a card that lay face down and was never turned up."""

WITHHELD: Final = "withheld: it names a card that was not shown at the table"
_HEAD: Final = frozenset({"type", "seq", "at", "table", "source", "confidence"})
_SHOWN: Final[Mapping[str, frozenset[str]]] = {
    "reader_fault": frozenset({"kind"}),
    "device_returned": frozenset({"away_ns", "tries"}),
    "card_sighted": frozenset({"track", "change", "face", "x_mm", "y_mm", "angle_deg", "frame"}),
    "foreign_card_sighted": frozenset({"track", "face", "deck_fit", "x_mm", "y_mm", "frame"}),
    "card_gone": frozenset({"track", "frame"}),
    "camera_fault": frozenset({"kind", "detail", "frame", "count", "proposed"}),
    "camera_recovered": frozenset({"kind", "lasted_ns", "frame"}),
    "review_resolved": frozenset({"round", "item", "decision", "account"}),
    "rules_stated": frozenset({"rulebook", "rules", "overrides", "rules_hash"}),
    "program_stated": frozenset({"version", "program_hash", "networks", "compiled_hash"}),
    "plate_read": frozenset({"spot", "circle", "amount", "chips"}),
    "clock_anchored": frozenset({"wall_ns", "step_ns"}),
    "clock_synchronisation": frozenset({"state"}),
    "clock_compared": frozenset({"wall_ns", "apart_ns", "step_ns"}),
}


def plain(event: AnyEvent | UnknownEvent) -> bytes:
    """Return an event's JSON, with everything in it."""
    if not isinstance(event, UnknownEvent):
        return msgspec.json.encode(event)
    fields = msgspec.json.decode(event.body, type=dict[str, msgspec.Raw])
    return msgspec.json.encode(fields | {"at": event.at})


def redacted(event: AnyEvent | UnknownEvent, hidden: Hidden) -> bytes:
    """Return an event's JSON as everybody may see it.

    Args:
        event: the event.
        hidden: for a judgement, the places of its round with a card hidden at that time.
    """
    if isinstance(event, UnknownEvent):
        return msgspec.json.encode({"type": event.type, "seq": event.seq, "at": event.at})
    return msgspec.json.encode(_shown(event, hidden))


def redacted_row(row: Row, hidden: Hidden) -> Row:
    """Return a row as everybody may see it; ``hidden`` is its round's."""
    mask = _ROWS.get(type(row))
    return row if mask is None or not hidden else mask(row, hidden)


def _shown(event: AnyEvent, hidden: Hidden) -> object:
    if isinstance(event, Fact):
        return _fact(event)
    if isinstance(event, RoundSettled):
        return replace(event, result=_result(event.result, hidden))
    if isinstance(event, ReviewRaised):
        accounts = msgspec.UNSET if hidden else _accounts(event.accounts)
        return replace(event, review=_review(event.review, hidden), accounts=accounts)
    if isinstance(event, ConsoleEntry):
        return replace(event, fact=_fact(event.fact))
    return event if isinstance(event, LedgerPosted) else _observation(event)


def _accounts(
    accounts: tuple[Account, ...] | msgspec.UnsetType,
) -> tuple[Account, ...] | msgspec.UnsetType:
    """Hide what accounts state of cards that nobody at the table saw."""
    if accounts is msgspec.UNSET:
        return accounts
    return tuple(
        one
        if one.changes is msgspec.UNSET
        else replace(
            one,
            changes=tuple(replace(of, facts=tuple(map(_fact, of.facts))) for of in one.changes),
        )
        for one in accounts
    )


def _fact(fact: Any) -> Any:
    if isinstance(fact, CardBurned | CardBoxed):
        return replace(fact, card=None)
    if isinstance(fact, CardDealt) and fact.face == "down":
        return replace(fact, card=None)
    return fact


def _observation(event: AnyEvent) -> dict[str, object]:
    fields = msgspec.to_builtins(event)
    shown = _HEAD | _SHOWN.get(fields["type"], frozenset())
    return {name: value for name, value in fields.items() if name in shown}


def _result(result: RoundResult, hidden: Hidden) -> RoundResult:
    """Hide every card of a hand with a hidden one: the place of that card is not revealed."""
    if not hidden:
        return result
    return replace(
        result,
        dealer=_dealer(result.dealer) if "dealer" in hidden else result.dealer,
        spots=tuple(
            replace(spot, hands=tuple(map(_hand, spot.hands))) if spot.spot in hidden else spot
            for spot in result.spots
        ),
        violations=tuple(map(_violation, result.violations)),
        reviews=tuple(_review(review, hidden) for review in result.reviews or ()),
    )


def _dealer(dealer: DealerResult) -> DealerResult:
    return replace(
        dealer, cards=_backs(dealer.cards), burned=_backs(dealer.burned), total=None, soft=False
    )


def _hand(hand: HandResult) -> HandResult:
    return replace(
        hand, cards=_backs(hand.cards), burned=_backs(hand.burned), possible=msgspec.UNSET
    )


def _backs(cards: tuple[Any, ...]) -> tuple[None, ...]:
    return (None,) * len(cards)


def _violation(violation: Violation) -> Violation:
    return replace(violation, detail=WITHHELD)


def _review(review: Review, hidden: Hidden) -> Review:
    return replace(review, what=WITHHELD, candidates=()) if hidden else review


def _round_row(row: RoundRow, hidden: Hidden) -> RoundRow:
    return row if row.result is None else replace(row, result=_result(row.result, hidden))


def _hand_row(row: HandRow, hidden: Hidden) -> HandRow:
    return (
        replace(row, cards=_backs(row.cards), burned=_backs(row.burned))
        if row.spot in hidden
        else row
    )


def _violation_row(row: ViolationRow, _: Hidden) -> ViolationRow:
    return replace(row, detail=WITHHELD, question=question(row.code, row.spot, row.hand))


def _review_row(row: ReviewRow, _: Hidden) -> ReviewRow:
    decided = row.decided and replace(row.decided, choice=None, says="", reason=WITHHELD)
    return replace(row, what=WITHHELD, candidates=(), decided=decided)


_ROWS: Final[Mapping[type[Row], Callable[[Any, Hidden], Row]]] = {
    RoundRow: _round_row,
    HandRow: _hand_row,
    ViolationRow: _violation_row,
    ReviewRow: _review_row,
}
