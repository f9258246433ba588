"""Amounts as chips: the fewest pieces that make them up."""

from collections.abc import Sequence
from types import MappingProxyType
from typing import Final

from models.money import Cents

VALUES: Final = (50, 100, 500, 2500, 10000)
"""The chips of the simulated house, in cents."""


def pieces(amount: Cents, values: Sequence[Cents] = VALUES) -> MappingProxyType[int, int]:
    """Return chip value → count, largest first.

    An amount that the values cannot make gets pieces of odd value, so that the sum is always right.
    """
    found: dict[int, int] = {}
    for value in sorted(values, reverse=True):
        count, amount = divmod(amount, value)
        if count:
            found[value] = count
    if amount:
        found[amount] = 1
    return MappingProxyType(found)
