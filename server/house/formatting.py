"""Format dates, times and amounts for people: in the house's zone, locale and currency.

Hours run from 0 to 23 in every locale, since an overlooked *am* or *pm* opens another round. Digits
are 0 to 9 in every locale, since people type them back into Find.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from decimal import Decimal
from fractions import Fraction
from functools import cached_property, lru_cache
from typing import Final

from babel import Locale
from babel.dates import format_date
from babel.numbers import format_decimal

from models.house import House, decimals
from models.judgements import RoundResult
from models.money import Cents
from server.house.wording import capitalised, counted, with_pips
from settlement.balance import ALL_PAID, NOTHING_SEEN, Totals
from settlement.sentences import AMOUNT, cents, words_and_amounts

OPEN: Final = "open"
"""The text of an amount that is not settled yet."""
NEVER: Final = "never"
_NO_BREAK: Final = "\N{NO-BREAK SPACE}"
_LATIN: Final = "latn"


@dataclass(frozen=True)
class Formats:
    """The house's formats. Instants are nanoseconds since the Unix epoch, UTC.

    Amounts are whole minor units of ``currency``, by default the house's: a table with another
    currency passes its own.
    """

    house: House = field(default_factory=House)

    @cached_property
    def locale(self) -> Locale:
        """The locale."""
        return Locale.parse(self.house.locale, sep="-")

    # --- times ----------------------------------------------------------------------------

    def day(self, at_ns: int) -> str:
        """Write the date: ``Oct 25, 2026``."""
        return format_date(self.house.local(at_ns), "medium", self.locale)

    def clock(self, at_ns: int) -> str:
        """Write the time of the day: ``21:14:05``."""
        return f"{self.house.local(at_ns):%H:%M:%S}"

    def fine(self, at_ns: int) -> str:
        """Write the time of the day to the millisecond, truncated: ``21:14:05.123``."""
        local = self.house.local(at_ns)
        return f"{local:%H:%M:%S}.{local.microsecond // 1000:03}"

    def moment(self, at_ns: int | None, *, fine: bool = False) -> str:
        """Write an instant unambiguously: ``Oct 25, 2026, 02:30:00 UTC+01:00``."""
        if at_ns is None:
            return NEVER
        time = self.fine(at_ns) if fine else self.clock(at_ns)
        return f"{self.day(at_ns)}, {time} {self.offset(at_ns)}"

    def offset(self, at_ns: int) -> str:
        """Write the house's offset from UTC at an instant: ``UTC+02:00``."""
        return offset_text(self.house.local(at_ns))

    def zone(self, at_ns: int) -> str:
        """Name the zone and its offset at an instant: ``Europe/Paris, UTC+02:00``."""
        offset = self.offset(at_ns)
        return offset if self.house.zone == offset else f"{self.house.zone}, {offset}"

    # --- money ----------------------------------------------------------------------------

    def amount(self, minor: Cents, currency: str | None = None) -> str:
        """Write an amount without its currency: ``1,234.50``; in yen ``1,234``."""
        return _amount(minor, decimals(currency or self.house.currency), self.house.locale)

    def signed(self, minor: Cents | None, currency: str | None = None) -> str:
        """Write a gain or loss with its sign: ``+15.00``; ``open`` where it is not settled."""
        if minor is None:
            return OPEN
        return ("+" if minor > 0 else "") + self.amount(minor, currency)

    def money(self, minor: Cents, currency: str | None = None) -> str:
        """Write an amount with its currency: ``1,234.50 USD``."""
        return f"{self.amount(minor, currency)}{_NO_BREAK}{currency or self.house.currency}"

    def exactly(self, minor: Fraction) -> str:
        """Write an amount including the part that no chip can pay: ``15.37 1/2``."""
        whole, part = divmod(minor.numerator, minor.denominator)
        odd = f" {part}/{minor.denominator}" if part else ""
        return f"{self.amount(whole)}{odd}"

    def brief(self, minor: Cents, currency: str | None = None) -> str:
        """Write an amount, without decimals where they are all 0: ``15`` and ``7.50``."""
        digits = decimals(currency or self.house.currency)
        whole, part = divmod(minor, 10**digits)
        return self.amount(minor, currency) if part else _amount(whole, 0, self.house.locale)

    def sentences(self, says: Iterable[str], currency: str | None = None) -> str:
        """Write several sentences of a round as one; nothing for none."""
        return capitalised("; ".join(self.sentence(one, currency) for one in says))

    def still_open(self, totals: Totals, currency: str | None = None) -> str:
        """Write what is still to be paid over several rounds, and which it does not count."""
        owed = f"the house still owes {self.amount(totals.underpaid, currency)}"
        extra = f"players have {self.amount(totals.overpaid, currency)} too much"
        parts = [owed] * bool(totals.underpaid) + [extra] * bool(totals.overpaid)
        text = ", ".join(parts) or (ALL_PAID if totals.rounds else NOTHING_SEEN)
        left_out = [
            counted(many, "round") + why
            for many, why in (
                (totals.to_decide, " to decide"),
                (totals.unsettled, " not settled in full"),
                (totals.unobserved if totals.rounds else 0, " without an observed payment"),
            )
            if many
        ]
        return f"{text} (not counted: {', '.join(left_out)})" if left_out else text

    def sentence(self, detail: str, currency: str | None = None) -> str:
        """Write a mistake's detail with amounts and cards in the usual format."""
        parts = words_and_amounts(detail)
        return "".join(
            with_pips(one) if isinstance(one, str) else self.amount(one, currency) for one in parts
        )

    def question(self, asked: str, currency: str | None = None) -> str:
        """Write the question of a suspected mistake with its amounts in the usual format."""
        return AMOUNT.sub(lambda found: self.amount(cents(found[0]), currency), asked)


def offset_text(local: datetime) -> str:
    """Write the offset of a time with a zone: ``UTC``, ``UTC+02:00``, ``UTC-03:30``."""
    minutes = (local.utcoffset() or timedelta()) // timedelta(minutes=1)
    if minutes == 0:
        return "UTC"
    hours, rest = divmod(abs(minutes), 60)
    return f"UTC{'-' if minutes < 0 else '+'}{hours:02}:{rest:02}"


@lru_cache(maxsize=1 << 14)
def _amount(minor: Cents, digits: int, locale: str) -> str:
    parsed = Locale.parse(locale, sep="-")
    whole = parsed.decimal_formats[None].pattern.partition(".")[0]
    pattern = f"{whole}.{'0' * digits}" if digits else whole
    value = Decimal(minor).scaleb(-digits)
    return str(format_decimal(value, pattern, parsed, numbering_system=_LATIN))


def gain_of(result: RoundResult, formats: Formats) -> str:
    """Write the house's gain of one round; under review no total counts it yet."""
    gain = formats.signed(result.net)
    if result.status == "review" and result.net is not None:
        return f"{gain} if the review confirms it"
    return gain
