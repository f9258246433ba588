"""The table of a round's hands in a report: due and paid."""

from collections.abc import Iterable, Mapping, Sequence

from models.cards import Card
from models.judgements import HandResult, RoundResult, SpotResult
from models.places import hand_name
from server.house.wording import cards_text
from server.readmodel.views import (
    PaymentRow,
)
from server.report.document import (
    Block,
    Table,
    Text,
)
from server.service.evidence.report_words import Words


def hands_table(
    result: RoundResult | None, payments: Iterable[PaymentRow], words: Words
) -> tuple[Block, ...]:
    """Return a round's hands and insurances as rows: cards, stake, outcome, due, paid."""
    if result is None:
        return (Text("The round is not settled yet.", "doubt"),)
    paid = _paid(payments)
    dealer = result.dealer
    points = "" if dealer.total is None else f"{'soft ' if dealer.soft else ''}{dealer.total} "
    text = f"{points}{dealer.outcome.replace('_', ' ')}"
    rows: list[tuple[str, ...]] = [
        ("dealer", hand_cards(dealer.cards, dealer.burned), "", text, "", "")
    ]
    for spot in result.spots:
        rows += [_hand(spot, hand, paid, words) for hand in spot.hands]
        rows += _insurance(spot, paid, words)
    headings = ("Spot", "Cards", "#Stake", "Outcome", "#Due", "#Paid")
    gain = f"The house's gain: {words.signed(result.net)} {words.currency}."
    total = Text(f"{gain} Each hand's amounts are the player's gain.", "quiet")
    return (Table(headings, tuple(rows)), total)


def _hand(
    spot: SpotResult,
    hand: HandResult,
    paid: Mapping[tuple[int, int, str], int],
    words: Words,
) -> tuple[str, ...]:
    name = str(spot.spot) if len(spot.hands) == 1 else f"{spot.spot}, {hand_name(hand.hand)}"
    found = paid.get((spot.spot, hand.hand, "main"))
    return (
        name,
        hand_cards(hand.cards, hand.burned),
        words.amount(hand.stake),
        f"{hand.outcome} ({', '.join(hand.clauses)})" if hand.clauses else hand.outcome,
        words.signed(hand.net),
        "not seen" if found is None else words.signed(found),
    )


def _insurance(
    spot: SpotResult, paid: Mapping[tuple[int, int, str], int], words: Words
) -> list[tuple[str, ...]]:
    if spot.insurance is None:
        return []
    found = paid.get((spot.spot, 0, "insurance"))
    stake, due = words.amount(spot.insurance.stake), words.signed(spot.insurance.net)
    seen = "not seen" if found is None else words.signed(found)
    return [(str(spot.spot), "", stake, "insurance", due, seen)]


def _paid(payments: Iterable[PaymentRow]) -> dict[tuple[int, int, str], int]:
    found: dict[tuple[int, int, str], int] = {}
    for row in payments:
        key = (row.spot, row.hand, row.kind)
        found[key] = found.get(key, 0) + row.amount
    return found


def hand_cards(cards: Sequence[Card | None], burned: Sequence[Card | None]) -> str:
    """Write a hand's cards, the burned ones after them."""
    aside = f" (not counted: {cards_text(burned)})" if burned else ""
    return cards_text(cards) + aside
