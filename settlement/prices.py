"""What odds come to for a stake, payable in the house's chips."""

from fractions import Fraction

from models.money import Odds


class Price:
    """The winnings of a stake at posted odds, payable in the house's chips."""

    def __init__(self, odds: Odds, unit: int, *, up: bool) -> None:
        self.pays = odds.pays
        self.per = odds.per
        self.unit = unit
        self.up = up

    def won(self, stake: int) -> int:
        """Return the winnings of ``stake``, rounded by the house's rule to the smallest chip."""
        exact = stake * self.pays
        whole = self.per * self.unit
        units = -(-exact // whole) if self.up else exact // whole
        return units * self.unit

    def exactly(self, stake: int) -> tuple[int, int]:
        """Return the exact winnings of ``stake``: cents, as numerator and denominator."""
        exact = Fraction(stake * self.pays, self.per)
        return exact.numerator, exact.denominator

    def is_exact(self, stake: int, won: int) -> bool:
        """Return whether ``won`` is to the cent the exact winnings of ``stake``."""
        return won * self.per == stake * self.pays
