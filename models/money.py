"""Money in integer cents and odds in integer pairs. No float touches a payout."""

from typing import TypeAlias

import msgspec

Cents: TypeAlias = int
"""An amount in the currency's minor unit."""


class Odds(msgspec.Struct, frozen=True):
    """A price as the felt prints it: ``3:2`` pays three for every two staked."""

    pays: int
    per: int

    @classmethod
    def parse(cls, text: str) -> "Odds":
        """Read ``"3:2"``.

        Raises:
            ValueError: if ``text`` is not two positive integers with a colon between.
        """
        pays, colon, per = text.partition(":")
        if not (colon and pays.isdecimal() and per.isdecimal() and int(pays) and int(per)):
            raise ValueError(f"odds are written like 3:2, found {text!r}")
        return cls(int(pays), int(per))

    def __str__(self) -> str:
        return f"{self.pays}:{self.per}"


def dollars(amount: Cents) -> str:
    """Write an amount for people: ``-1250`` is ``-12.50``."""
    sign = "-" if amount < 0 else ""
    return f"{sign}{abs(amount) // 100:,}.{abs(amount) % 100:02d}"
