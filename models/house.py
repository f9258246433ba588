"""The house: its time zone, its formats, its currency and its shifts.

These values govern every time that a person reads or types, and every amount that a person reads.
Storage keeps nanoseconds (UTC) and whole minor units of the currency.
"""

import re
import zoneinfo
from bisect import bisect_right
from collections.abc import Callable, Mapping
from datetime import UTC, date, datetime, time, timedelta
from functools import cache
from typing import Final

import msgspec
from babel import Locale, UnknownLocaleError
from babel.numbers import get_currency_precision, is_currency

SECOND_NS: Final = 1_000_000_000
DAY_NS: Final = 86_400 * SECOND_NS
MOST_HOURS: Final = 8760
DECISIONS: Final = ("void", "override")
"""Decisions that can require two people: voiding a round, and overriding an earlier decision."""
_TIME_OF_DAY: Final = re.compile(r"([01][0-9]|2[0-3]):[0-5][0-9]")


class House(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A house, as ``house.toml`` describes it.

    Raises:
        ValueError: the zone, locale or currency is not known, or no shift starts.
    """

    zone: str = "UTC"
    """IANA name of the time zone of its clocks: ``Europe/Paris``."""
    locale: str = "en"
    """Format of dates and amounts (BCP 47): ``fr-FR``."""
    currency: str = "USD"
    """The three letters of its currency (ISO 4217)."""
    shifts: tuple[str, ...] = ("04:00", "12:00", "20:00")
    """Start times of its shifts, local time, in the order of the day."""
    ended_after_hours: float = 24.0
    """Hours without a card, a wager or a payment after which a session has ended."""
    two_people: tuple[str, ...] = ()
    """Decisions that take effect once a second person approves: ``void``, ``override``."""

    def __post_init__(self) -> None:
        for field, (expected, is_sound) in FIELDS.items():
            if not is_sound(found := getattr(self, field)):
                raise ValueError(f"{field}: expected {expected}, found {found!r}")

    @property
    def tz(self) -> zoneinfo.ZoneInfo:
        """The time zone."""
        return zoneinfo.ZoneInfo(self.zone)

    def local(self, at_ns: int) -> datetime:
        """Return an instant in the house's local time, to the microsecond."""
        seconds, rest_ns = divmod(at_ns, SECOND_NS)
        whole = datetime.fromtimestamp(seconds, UTC)
        return whole.replace(microsecond=rest_ns // 1000).astimezone(self.tz)

    def instants(self, shown: datetime) -> tuple[int, ...]:
        """Return every instant at which the house's clocks show a date and time, in order.

        Usually there is one. An hour that clocks repeat gives two; one that they skip gives none.

        Args:
            shown: a date and time without a zone.
        """
        found = {
            _instant(shown.replace(tzinfo=self.tz, fold=fold))
            for fold in (0, 1)
            if _is_shown(shown.replace(tzinfo=self.tz, fold=fold))
        }
        return tuple(sorted(found))

    def shift_of(self, at_ns: int) -> tuple[int, int]:
        """Return the start of the shift that holds an instant, and the start of the next one.

        A start that the clocks skip moves one hour later; of one that they repeat the first counts.
        """
        day = self.local(at_ns).date()
        days = (day + timedelta(days=away) for away in (-1, 0, 1, 2))
        times = tuple(map(time.fromisoformat, self.shifts))
        starts = [
            _instant(datetime.combine(one, start, self.tz)) for one in days for start in times
        ]
        number = bisect_right(starts, at_ns)
        return starts[number - 1], starts[number]

    def piece_of(self, at_ns: int, piece_ns: int) -> tuple[int, int]:
        """Return the start of the interval that holds an instant, and the start of the next one.

        Intervals count from local midnight. Whole days follow the clocks' changes; shorter
        intervals end at midnight at the latest.
        """
        number, days = self.local(at_ns).toordinal(), max(1, piece_ns // DAY_NS)
        first = number // days * days
        begin, end = self._midnight(first), self._midnight(first + days)
        if piece_ns < DAY_NS:
            begin += (at_ns - begin) // piece_ns * piece_ns
            end = min(end, begin + piece_ns)
        return begin, end

    def _midnight(self, ordinal: int) -> int:
        return _instant(datetime.combine(date.fromordinal(ordinal), time(), self.tz))


def decimals(currency: str) -> int:
    """Return the number of decimals of a currency: 2 for USD, 0 for JPY, 3 for KWD."""
    return get_currency_precision(currency)


@cache
def _zones() -> frozenset[str]:
    return frozenset(zoneinfo.available_timezones())


def _is_zone(name: object) -> bool:
    return name in _zones() if isinstance(name, str) else False


def _is_locale(name: object) -> bool:
    try:
        return isinstance(name, str) and bool(Locale.parse(name, sep="-"))
    except (ValueError, UnknownLocaleError):
        return False


def _is_currency(name: object) -> bool:
    return isinstance(name, str) and is_currency(name)


def _are_shifts(starts: object) -> bool:
    if not isinstance(starts, list | tuple) or not starts:
        return False
    each = all(isinstance(one, str) and _TIME_OF_DAY.fullmatch(one) for one in starts)
    return each and list(starts) == sorted(set(starts))


def _is_wait(hours: object) -> bool:
    is_number = isinstance(hours, float | int) and not isinstance(hours, bool)
    return is_number and 0 < hours <= MOST_HOURS  # type: ignore[operator]


def _are_decisions(names: object) -> bool:
    if not isinstance(names, list | tuple):
        return False
    return all(name in DECISIONS for name in names) and len(set(names)) == len(names)


FIELDS: Final[Mapping[str, tuple[str, Callable[[object], bool]]]] = {
    "zone": ("an IANA time zone such as Europe/Paris", _is_zone),
    "locale": ("a BCP 47 locale such as fr-FR", _is_locale),
    "currency": ("the three letters of a currency such as EUR", _is_currency),
    "shifts": ("times of the day such as 04:00, in their order, each once", _are_shifts),
    "two_people": (f"decisions of {', '.join(DECISIONS)}, each once", _are_decisions),
    "ended_after_hours": (f"a number above 0, at most {MOST_HOURS}", _is_wait),
}
"""For each field, its description and a check of its value."""


def _is_shown(local: datetime) -> bool:
    """Whether a local time exists: one in a gap comes back from UTC as another."""
    back = local.astimezone(UTC).astimezone(local.tzinfo)
    return back.replace(tzinfo=None) == local.replace(tzinfo=None)


def _instant(local: datetime) -> int:
    since = local.astimezone(UTC) - datetime(1970, 1, 1, tzinfo=UTC)
    return (since // timedelta(microseconds=1)) * 1000
