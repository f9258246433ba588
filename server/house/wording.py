"""Write cards, outcomes and amounts for people, on screen and on paper."""

import re
from collections.abc import Iterable, Sequence
from typing import Final

from models.cards import Card
from models.judgements import DealerResult, RoundResult, SpotResult
from models.money import Cents
from models.places import hand_name
from settlement.balance import BalanceLine

_CARD_CODE: Final = re.compile(r"\b[2-9TJQKA][SHDC]\b")
_BEST: Final = 21
PIPS: Final = {"S": "♠", "H": "♥", "D": "♦", "C": "♣", "?": ""}


def card_text(card: Card | None) -> str:
    """Write a card as ``10♥``; an unknown card is ``??``."""
    if card is None:
        return "??"
    return ("10" if card.rank == "T" else card.rank) + PIPS[card.suit]


def cards_text(cards: Sequence[Card | None]) -> str:
    """Write a hand, first card first."""
    return " ".join(card_text(card) for card in cards)


def hand_text(cards: Sequence[Card | None], burned: Sequence[Card | None]) -> str:
    """Write a hand, and apart what it could not take: ``K♠ 7♥; 2♥ burned, not counted``."""
    return "; ".join(part for part in (cards_text(cards), burned_text(burned)) if part)


def burned_text(burned: Sequence[Card | None]) -> str:
    """Write the cards that a hand could not take; nothing for none."""
    return f"{cards_text(burned)} burned, not counted" if burned else ""


def dealer_text(dealer: DealerResult) -> str:
    """Write the total of the dealer's counted cards and how the hand ended: ``soft 17 stand``."""
    ended = dealer.outcome.replace("_", " ")
    if dealer.total is None or dealer.outcome == "blackjack":
        return ended
    soft = dealer.soft and dealer.total < _BEST
    return f"{'soft ' if soft else ''}{dealer.total} {ended}"


def with_pips(sentence: str) -> str:
    """Write the cards in a journal's sentence, ``2H``, with suit signs: ``2♥``."""
    return _CARD_CODE.sub(lambda found: card_text(Card(found[0])), sentence)


def place(spot: int | None, hand: int | None = 0) -> str:
    """Name a place on the felt; a spot's first hand goes without its number."""
    if spot is None:
        return "dealer"
    return f"spot {spot}, {hand_name(hand)}" if hand else f"spot {spot}"


def place_in(result: RoundResult, spot: int | None, hand: int | None) -> str:
    """Name a place of a round, with the hand's number where its spot has several."""
    several = any(one.spot == spot and len(one.hands) > 1 for one in result.spots)
    if several and hand is not None:
        return f"spot {spot}, {hand_name(hand)}"
    return place(spot)


def wager_name(line: BalanceLine, spot: SpotResult | None) -> str:
    """Name a wager in a list of a round's: ``2``, ``2, hand 1``, ``2 insurance``."""
    if line.kind != "main":
        return f"{line.spot} {line.kind}"
    several = line.hand or (spot is not None and len(spot.hands) > 1)
    return f"{line.spot}, {hand_name(line.hand)}" if several else str(line.spot)


def cards_code(cards: Sequence[Card | None]) -> str:
    """Write a hand in the event format, ``??`` for an unknown card: ``AS KD ??``."""
    return " ".join("??" if card is None else str(card) for card in cards)


def is_red(card: Card | None) -> bool:
    """Return whether the suit is printed in red."""
    return card is not None and card.suit in "HD"


def candidates_text(candidates: Sequence[str]) -> str:
    """Write the alternatives of a doubtful reading."""
    if len(candidates) == 1:
        return with_pips(f"It may be {candidates[0]}.")
    are_cards = all(name in Card._value2member_map_ for name in candidates)
    listed = " or ".join(candidates) if are_cards else "; or ".join(candidates)
    return with_pips(f"Either {listed}." if are_cards else f"Either: {listed}.")


def capitalised(text: str) -> str:
    """Begin a sentence with a capital letter."""
    return text[:1].upper() + text[1:]


def counted(number: int, one: str, many: str | None = None) -> str:
    """Write ``1 round``, ``2 rounds``."""
    return f"{number:,} {one if number == 1 else many or one + 's'}"


def proven_words(proven: int, last: int) -> str:
    """Say up to which entry a table's signature proves a record that ends with ``last``."""
    if proven >= last:
        return f"proven up to entry {proven:,}"
    left = f"{counted(last - proven, 'entry', 'entries')} not yet signed"
    return f"proven up to entry {proven:,}; {left}" if proven else f"nothing proven; {left}"


def events_text(numbers: Sequence[int]) -> str:
    """Write ``event 7``, ``events 7, 9``; nothing for no event."""
    listed = ", ".join(map(str, numbers))
    return f"event{'s' if len(numbers) > 1 else ''} {listed}" if numbers else ""


def settled_net(rounds: Iterable[RoundResult]) -> Cents:
    """Return the house's gain over the final rounds."""
    return sum(result.net or 0 for result in rounds if result.status == "final")


def is_clean(result: RoundResult) -> bool:
    """Return whether a round needs no attention: final, and without a mistake."""
    return result.status == "final" and not result.violations
