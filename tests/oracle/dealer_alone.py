"""How a dealer's hand ends from a fresh shoe, to the last digit: every way it can be drawn."""

from collections.abc import Iterator
from typing import Final

from models.judgements import DealerResult

ENDS: Final = ("17", "18", "19", "20", "21", "blackjack", "bust")


def chances(decks: int, soft17: str, up: int) -> dict[str, float]:
    """Return the probability of each end, by the value of the up card, ace 1.

    The dealer has not looked under the card yet: with an ace or a ten a blackjack is among them.
    """
    shoe = [0, *([4 * decks] * 9), 16 * decks]
    shoe[up] -= 1
    found = dict.fromkeys(ENDS, 0.0)
    for end, chance in _drawn(shoe, up, up == 1, 1, soft17 == "H17"):
        found[end] += chance
    return found


def _drawn(
    shoe: list[int], points: int, ace: bool, cards: int, hits: bool
) -> Iterator[tuple[str, float]]:
    end = _end(points, ace, cards, hits)
    if end:
        yield end, 1.0
        return
    left = sum(shoe)
    for card in range(1, 11):
        if shoe[card]:
            chance = shoe[card] / left
            shoe[card] -= 1
            for then, share in _drawn(shoe, points + card, ace or card == 1, cards + 1, hits):
                yield then, chance * share
            shoe[card] += 1


def _end(points: int, ace: bool, cards: int, hits: bool) -> str:
    """Say how the hand ended, if it did."""
    soft = ace and points <= 11
    best = points + 10 if soft else points
    if best > 21:
        return "bust"
    if best == 21 and cards == 2:
        return "blackjack"
    if cards < 2 or best < 17 or (best == 17 and soft and hits):
        return ""
    return str(best)


def ended(dealer: DealerResult) -> str:
    """Say in the same words how the engine saw the dealer's hand end."""
    return str(dealer.total) if dealer.outcome == "stand" else dealer.outcome
