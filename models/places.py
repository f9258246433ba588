"""Names of hands for people, who count hands from 1; facts count them from 0."""

from models.events import Dealt


def hand_name(hand: int) -> str:
    """Name a hand by its number in a fact: hand 0 is ``hand 1`` for people."""
    return f"hand {hand + 1}"


def spot_hand(spot: int, hand: int) -> str:
    """Name a hand and its spot: ``spot 3 hand 1``."""
    return f"spot {spot} {hand_name(hand)}"


def zone_name(owner: Dealt) -> str:
    """Name whose zone of the felt it is: ``spot 3``, or ``dealer``."""
    return "dealer" if owner == "dealer" else f"spot {owner}"


def whose(to: Dealt, hand: int | None = 0) -> str:
    """Name who has a hand: ``the dealer``, ``spot 3``; of a split, ``spot 3, hand 2``."""
    if to == "dealer":
        return "the dealer"
    return f"spot {to}, {hand_name(hand)}" if hand else f"spot {to}"
