"""Money in integer cents and odds in integer pairs. No float touches a payout."""

from collections.abc import Iterable
from typing import Final, TypeAlias

import msgspec

Cents: TypeAlias = int
"""An amount in the currency's minor unit."""


_LARGEST_TERM: Final = 100
_STEEPEST: Final = 10
"""Ratio. No house pays more than ten for one, or one for ten, on a main wager or an insurance."""

STEEPEST_SIDE_BET: Final = 10_000
"""Ratio. The steepest published pay tables of side bets pay a few thousand for one."""


class Odds(msgspec.Struct, frozen=True):
    """A price as the felt prints it: ``3:2`` pays three for every two staked."""

    pays: int
    per: int

    @classmethod
    def parse(cls, text: str, steepest: int = _STEEPEST) -> "Odds":
        """Read ``"3:2"``.

        Raises:
            ValueError: if ``text`` is not two integers from 1 to 100, or to ``steepest`` where that
                is more, with a colon between, or the odds are steeper than ``steepest`` for one.
        """
        most = max(steepest, _LARGEST_TERM)
        pays, colon, per = text.partition(":")
        if not (colon and _is_term(pays, most) and _is_term(per, most)):
            raise ValueError(f"odds are written like 3:2, in numbers up to {most}, found {text!r}")
        odds = cls(int(pays), int(per))
        if odds.pays > steepest * odds.per or odds.per > steepest * odds.pays:
            raise ValueError(f"odds lie between 1:{steepest} and {steepest}:1, found {text!r}")
        return odds

    def __str__(self) -> str:
        return f"{self.pays}:{self.per}"


def _is_term(text: str, most: int) -> bool:
    return text.isdecimal() and len(text) <= len(str(most)) and 1 <= int(text) <= most


def dollars(amount: Cents) -> str:
    """Write an amount for people: ``-1250`` is ``-12.50``."""
    sign = "-" if amount < 0 else ""
    return f"{sign}{abs(amount) // 100:,}.{abs(amount) % 100:02d}"


def net_sum(amounts: Iterable[Cents | None]) -> Cents | None:
    """Return the sum of amounts; ``None`` where one of them is open."""
    summed = 0
    for amount in amounts:
        if amount is None:
            return None
        summed += amount
    return summed
