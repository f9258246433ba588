"""Situations that a session may be asked to contain, produced by rigged cards."""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Final

from models.cards import Card
from models.errors import OperatorError
from models.rulebook import Rulebook
from settlement.houserules import HouseRules
from settlement.play import double_fault, hand_with, split_fault, surrender_fault
from simulation.round import Round
from simulation.steps import HandKey, Rig
from simulation.table import Table

_DEALER: Final[Mapping[str, str]] = {
    "dealer_blackjack": "X A",
    "dealer_blackjack_insured": "A X",
    "insurance_lost": "A 8",
    "dealer_bust": "6 X X",
    "dealer_soft_17": "6 A 3",
    "dealer_many_cards": "2 3 2 4 6",
}
_PLAYER: Final[Mapping[str, tuple[str, ...]]] = {
    "split": ("8 8 3 X", "X"),
    "resplit": ("8 8 8 X", "X", "X"),
    "split_aces": ("A A 7", "9"),
    "double": ("6 5 8",),
    "soft_double": ("A 6 3",),
    "player_blackjack": ("A X",),
    "bust": ("X 4 X",),
    "surrender": ("X 6",),
    "push": ("X 9",),
    "many_cards": ("2 3 4 2 5 4",),
}

_OPTIONS: Final[Mapping[str, Callable[[HouseRules], object]]] = {
    "surrender": partial(surrender_fault, hand_with((Card("TS"), Card("6S")))),
    "split": partial(split_fault, hand_with((Card("8S"), Card("8D")))),
    "resplit": partial(split_fault, hand_with((Card("8S"), Card("8D")), split=True), hands=2),
    "double": partial(double_fault, hand_with((Card("6S"), Card("5S")))),
    "soft_double": partial(double_fault, hand_with((Card("AS"), Card("6S")))),
}
"""The fault of a situation where a house does not offer it."""


def scene_names() -> tuple[str, ...]:
    """Return every available situation."""
    return (*_PLAYER, *_DEALER)


def scene_for(name: str, table: Table) -> Callable[[Table], None]:
    """Return a function that plays a round with ``name``; ``a+b`` combines several.

    Raises:
        OperatorError: there is no such situation, the house's rules exclude it, or the table has
            too few spots for all of them.
    """
    parts = name.split("+")
    for part in parts:
        _refuse_impossible(part, table.rules)
    players = [part for part in parts if part in _PLAYER]
    dealers = [part for part in parts if part in _DEALER]
    if len(players) > len(table.spots) or len(dealers) > 1:
        raise OperatorError(
            "so many situations do not fit into one round",
            where=f"include {name}",
            way_out="Ask for them one by one, or let more spots play",
        )
    rig = _rig(players, dealers, table)
    return lambda at: Round(at, rig, peek=at.peek).play()


def _rig(players: list[str], dealers: list[str], table: Table) -> Rig:
    cards: dict[HandKey, str] = {("dealer", 0): _DEALER[dealers[0]] if dealers else _up(players)}
    for spot, part in zip(_spread(table.spots), players, strict=False):
        cards |= {(spot, number): wish for number, wish in enumerate(_PLAYER[part])}
    insured = {"dealer_blackjack_insured", "insurance_lost"} & set(dealers)
    return Rig(
        cards=cards,
        others=("X X", "9 X", "8 X"),
        insured=tuple(table.spots[:2]) if insured else (),
    )


def _up(players: list[str]) -> str:
    """Return a dealer's up card against which basic strategy acts as requested."""
    if {"surrender", "bust"} & set(players):
        return "X 9"
    return "6 X 5" if "push" not in players else "9 X"


def _spread(spots: tuple[int, ...]) -> tuple[int, ...]:
    """Order spots from the middle outward: the middle is the most visible in a picture."""
    middle = (len(spots) - 1) / 2
    return tuple(sorted(spots, key=lambda spot: abs(spots.index(spot) - middle)))


def _refuse_impossible(part: str, rules: Rulebook) -> None:
    if part not in scene_names():
        raise OperatorError(
            f"no situation is called {part!r}",
            where="include",
            way_out=f"Choose among {', '.join(scene_names())}",
        )
    insured = part in ("dealer_blackjack_insured", "insurance_lost")
    fault = _OPTIONS.get(part)
    ruled_out = fault is not None and fault(HouseRules(rules)) is not None
    if ruled_out or (insured and rules.insurance == "none"):
        raise OperatorError(
            f"{rules.id} does not offer it",
            where=f"include {part}",
            way_out="Choose another rulebook (`pitwatch rulebooks list`)",
        )
