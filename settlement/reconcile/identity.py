"""Whether what the shoe said of a card stands against what the camera's looks say of it."""

from typing import Final

from models.cards import Card
from settlement.reconcile.looks import Reading

_SHOE_MISREAD_P: Final = 0.001
"""How often the shoe's reader says a face that the card does not have, at worst."""

_EACH: Final = _SHOE_MISREAD_P / 51

_UPHELD_ODDS: Final = 20_000.0
"""The shoe's word stands once it is so many times likelier than any other face."""


def upheld(said: Card, reading: Reading) -> bool:
    """Tell whether the looks, though one may have named another face, bear the shoe out.

    The other way round looks decide nothing by their number: what makes a camera take a card
    for another may last as long as the card lies there, and every look then errs alike.
    """
    others = max((p for face, p in reading.listed if not _same(said, face)), default=0.0)
    return reading.p(said) * (1.0 - _SHOE_MISREAD_P) >= _UPHELD_ODDS * others * _EACH


def _same(said: Card, face: Card) -> bool:
    return said is face if said.suited else said.rank == face.rank
