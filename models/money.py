"""Money in integer cents and odds in integer pairs. No float touches a payout."""

from typing import Final, TypeAlias

import msgspec

Cents: TypeAlias = int
"""An amount in the currency's minor unit."""


_LARGEST_TERM: Final = 100
_STEEPEST: Final = 10
"""Ratio. No house pays more than ten for one, or one for ten, on what this program settles."""


class Odds(msgspec.Struct, frozen=True):
    """A price as the felt prints it: ``3:2`` pays three for every two staked."""

    pays: int
    per: int

    @classmethod
    def parse(cls, text: str) -> "Odds":
        """Read ``"3:2"``.

        Raises:
            ValueError: if ``text`` is not two integers from 1 to 100 with a colon between, or
                the odds are steeper than 10:1 or 1:10.
        """
        pays, colon, per = text.partition(":")
        if not (colon and _is_term(pays) and _is_term(per)):
            raise ValueError(f"odds are written like 3:2, in numbers up to 100, found {text!r}")
        odds = cls(int(pays), int(per))
        if odds.pays > _STEEPEST * odds.per or odds.per > _STEEPEST * odds.pays:
            raise ValueError(f"odds lie between 1:10 and 10:1, found {text!r}")
        return odds

    def __str__(self) -> str:
        return f"{self.pays}:{self.per}"


def _is_term(text: str) -> bool:
    return text.isdecimal() and len(text) <= 3 and 1 <= int(text) <= _LARGEST_TERM


def dollars(amount: Cents) -> str:
    """Write an amount for people: ``-1250`` is ``-12.50``."""
    sign = "-" if amount < 0 else ""
    return f"{sign}{abs(amount) // 100:,}.{abs(amount) % 100:02d}"
