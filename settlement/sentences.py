"""Sentences of mistakes that name amounts: written in plain form here, and read back for display.

A violation's detail is stored and compared, so its amounts have one plain form. Code that shows it
to people parses it with the sentence that wrote it, and writes the amounts in the house's format.
"""

import re
from collections.abc import Iterator
from enum import Enum
from functools import cached_property, lru_cache
from typing import Final

from models.money import Cents, dollars

AMOUNT: Final = re.compile(r"-?\d{1,3}(?:,\d{3})*\.\d\d")
"""An amount in its plain form."""
_AMOUNT: Final = "{amount}"
_NUMBER: Final = "{number}"
_WAGER: Final = "{wager}"
_WHO: Final = "{who}"
_PLACE: Final = re.compile(r"(\{amount\}|\{number\}|\{wager\}|\{who\})")
_READ: Final = {
    _AMOUNT: f"({AMOUNT.pattern})",
    _NUMBER: r"(\d+)",
    _WAGER: r"((?:the [a-z ]+ of )?spot \d+(?:, hand \d+)?)",
    _WHO: "(.+)",
}


class Sentence(Enum):
    """A sentence with places: ``{amount}``, ``{number}``, ``{wager}`` where, ``{who}`` whose."""

    STRAY_WAGER = "wager of {amount} on hand {number}, which does not exist; it does not count"
    LATE_WAGER = "wager of {amount} after the first card was dealt; it had to wait"
    ADDED_AFTER_DEAL = "{amount} added to a wager in play; it counts as it was at the deal"
    ADDED_TO_SPLIT = "{amount} added to a wager in play; it counts as it was"
    TAKEN_BACK = "{amount} taken back from a wager in play; it counts as it was"
    NO_SIDE_WAGERS = "side wager of {amount}; this game takes none"
    LATE_SIDE_WAGER = "side wager of {amount} after the first card was dealt"
    STRAY_DOUBLE = "double of {amount} on no hand"
    STRAY_SPLIT = "split wager of {amount} on no hand"
    STRAY_INSURANCE = "insurance of {amount} where no wager is"
    NO_INSURANCE = "insurance of {amount} taken; this game has none"
    INSURANCE_WITHOUT_ACE = "insurance of {amount} taken; the dealer shows no ace"
    INSURANCE_OVER_HALF = "insurance of {amount} on a wager of {amount}; at most {amount} counts"
    INSURANCE_NOT_HALF = "insurance of {amount} on a wager of {amount}; it must be {amount}"
    SPLIT_UNEQUAL = "split wager {amount}; it must be {amount}"
    DOUBLED_OVER = "doubled with {amount}; at most {amount} may be added"
    DOUBLED_FOR_LESS = "doubled with {amount}; it must be {amount}"
    BELOW_MULTIPLE = "wager of {amount} by a player on {number} spots; each must be {amount}"
    BELOW_MINIMUM = "wager of {amount}; the minimum is {amount}"
    ABOVE_MAXIMUM = "wager of {amount}; the maximum is {amount}"
    TRAY_COUNTED = (
        "tray counted at {amount}, due {amount}: difference {amount} "
        "between the counts of entries {number} and {number}"
    )
    PAID_WRONGLY = "due {amount}, paid {amount}, difference {amount}"
    INSURANCE_PAID_WRONGLY = "insurance: due {amount}, paid {amount}, difference {amount}"
    HAND_NOT_PAID = "hand not settled: {amount} should have been paid"
    HAND_NOT_TAKEN = "hand not settled: {amount} should have been taken"
    INSURANCE_NOT_PAID = "insurance not settled: {amount} should have been paid"
    INSURANCE_NOT_TAKEN = "insurance not settled: {amount} should have been taken"
    NO_COUPONS = "coupon of {amount}; this game takes none"
    LATE_BESIDE = "{who}: {amount} after the first card was dealt; it does not count"
    SIDE_BELOW = "side bet {who} of {amount}; its minimum is {amount}"
    SIDE_ABOVE = "side bet {who} of {amount}; its maximum is {amount}"
    BESIDE_PAID_WRONGLY = "{who}: due {amount}, paid {amount}, difference {amount}"
    BESIDE_NOT_PAID = "{who} not settled: {amount} should have been paid"
    BESIDE_NOT_TAKEN = "{who} not settled: {amount} should have been taken"

    OWED = "{wager} is still owed {amount}"
    OVERPAID = "{wager} has {amount} too much"
    PAID_LATER = "{wager} was owed {amount} at the close and got it later"
    GIVEN_BACK = "{wager} had {amount} too much at the close and gave it back later"
    HOUSE_KEPT = "the house kept {amount} where {amount} were due"
    HOUSE_PAID = "the house paid {amount} where {amount} were due"
    HOUSE_KEPT_INSTEAD = "the house kept {amount} where it had to pay {amount}"
    HOUSE_PAID_INSTEAD = "the house paid {amount} where it was due {amount}"

    def write(self, *values: int | str) -> str:
        """Write the sentence with a value for each place, amounts in cents.

        Raises:
            ValueError: the number of values does not match the number of places.
        """
        given = iter(values)
        sentence = "".join(_written(part, given) for part in self._parts)
        if next(given, None) is not None:
            raise ValueError(f"{self.name} has fewer places than {len(values)}")
        return sentence

    def read(self, detail: str) -> tuple[str | Cents, ...] | None:
        """Parse a detail into words and amounts; ``None`` where another sentence wrote it."""
        found = self._shape.fullmatch(detail)
        if found is None:
            return None
        texts = iter(found.groups())
        return tuple(
            cents(next(texts)) if part == _AMOUNT else next(texts) if part in _READ else part
            for part in self._parts
        )

    @cached_property
    def _parts(self) -> tuple[str, ...]:
        return tuple(part for part in _PLACE.split(self.value) if part)

    @cached_property
    def _shape(self) -> re.Pattern[str]:
        return re.compile("".join(_READ.get(part) or re.escape(part) for part in self._parts))


def _written(part: str, given: Iterator[int | str]) -> str:
    if part not in _READ:
        return part
    value = next(given, None)
    if value is None:
        raise ValueError(f"a value for {part} is missing")
    return dollars(value) if part == _AMOUNT and isinstance(value, int) else str(value)


def cents(text: str) -> Cents:
    """Read an amount in its plain form."""
    return int(text.replace(",", "").replace(".", ""))


@lru_cache(maxsize=1 << 10)
def words_and_amounts(detail: str) -> tuple[str | Cents, ...]:
    """Parse a violation's detail: words stay, amounts become cents.

    A detail that no sentence wrote names no amount, or comes from another version of the program:
    it stays text.
    """
    read = (sentence.read(detail) for sentence in Sentence)
    return next((found for found in read if found is not None), (detail,))
