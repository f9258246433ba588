"""Parse the input of Find: ``BJ-07 at 21:14``, ``bj-07 yesterday 21:14:05``.

Times are in the house's zone, unless an offset from UTC is given. A day may be a date
(``2026-06-01``, ``1 Jun 2026``, ``01/06/2026`` in the order of the house's locale), ``today``,
``yesterday`` or a day of the week. Without a day, the last time that the clocks showed that time is
meant. Without a year, the last one in which that date is not in the future is meant.
"""

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, time, timedelta, timezone
from typing import Final, Literal, TypeAlias

from babel import Locale
from babel.dates import parse_date

from models.errors import InputRefused
from models.house import SECOND_NS, House

EXAMPLE: Final = "BJ-07 at 21:14"
MINUTE_NS: Final = 60 * SECOND_NS
_DAYS_BACK: Final = 2
"""Days. The clocks show every time of the day within two days, even where they skip it once."""
_FILLERS: Final = frozenset({"at", "on", "the", "table"})
_TIME: Final = re.compile(
    r"(?P<hour>\d{1,2})[:h](?P<minute>\d{2})(?::(?P<second>\d{2})(?:[.,](?P<rest>\d{1,9}))?)?"
    r"(?P<half>am|pm)?(?P<zone>z|(?:utc|gmt)?[+-]\d{1,2}(?::?\d{2})?)?"
)
_ZONE: Final = re.compile(r"z|(?:utc|gmt)(?:(?P<s>[+-])(?P<h>\d{1,2})(?::?(?P<m>\d{2}))?)?")
_OFFSET: Final = re.compile(r"(?:utc|gmt)?(?P<s>[+-])(?P<h>\d{1,2})(?::?(?P<m>\d{2}))?")
_ISO_DATE: Final = re.compile(r"\d{4}-\d{2}-\d{2}")
_NUMBERS: Final = re.compile(r"\d{1,4}[./-]\d{1,2}(?:[./-]\d{1,4})?[./]?")
_INSTANT: Final = re.compile(r"\d{16,19}")
_MARKS: Final = re.compile("[\N{LEFT-TO-RIGHT MARK}\N{RIGHT-TO-LEFT MARK}]")

Shown: TypeAlias = Literal["once", "twice", "never"]


@dataclass(frozen=True, slots=True)
class Asked:
    """The table and time of a question, as typed."""

    table: str | None = None
    day: date | None = None
    clock: time | None = None
    span_ns: int = MINUTE_NS
    """Duration of the typed time: a minute for ``21:14``, a second for ``21:14:05``."""
    offset: timezone | None = None
    at_ns: int | None = None
    """The typed nanoseconds since the epoch, where there were any."""


@dataclass(frozen=True, slots=True)
class Reading:
    """The instants that a question means, and whether the clocks showed them."""

    shown: Shown
    at_ns: tuple[int, ...]
    """In order; for a time that the clocks skipped, the instant at which they were put forward."""
    span_ns: int


_LIKE_A_TABLE: Final = re.compile(r"[a-z]+-?\d+")


def read_question(text: str, tables: Collection[str], house: House, now_ns: int) -> Asked:
    """Parse a table and a time.

    Args:
        text: as typed.
        tables: the house's tables.
        house: gives zone and locale.
        now_ns: the origin of ``today`` and ``yesterday``.

    Raises:
        InputRefused: it names no time, a word of it is unknown, or the table is.
    """
    words = _MARKS.sub("", text).replace(",", " ").split()
    asked, dated = Asked(), list[str]()
    today = house.local(now_ns).date()
    names = {_bare(name): name for name in tables}
    for typed in words:
        word = typed.casefold()
        if asked.table is None and _bare(word) in names and not _TIME.fullmatch(word):
            asked = replace(asked, table=names[_bare(word)])
        elif word in _FILLERS:
            continue
        else:
            taken = _timed(asked, word)
            if taken is None:
                dated.append(word)
            asked = taken or asked
    asked = replace(asked, day=asked.day or _dated(dated, house, today, text))
    if asked.clock is None and asked.at_ns is None:
        raise _refused("time", f"a time such as {EXAMPLE}", text)
    return asked


def instants(asked: Asked, house: House, now_ns: int) -> Reading:
    """Return the instants that are meant.

    A time without a day is the last one not in the future.
    """
    if asked.at_ns is not None:
        return Reading("once", (asked.at_ns,), 1)
    clock = asked.clock or time()
    if asked.day is not None:
        return _on(asked, datetime.combine(asked.day, clock), house)
    today = house.local(now_ns).date()
    for back in range(_DAYS_BACK + 1):
        shown = datetime.combine(today - timedelta(days=back), clock)
        found = _on(asked, shown, house)
        past = tuple(at for at in found.at_ns if at <= now_ns)
        if past and found.shown != "never":
            return Reading("twice" if len(past) == 2 else "once", past, asked.span_ns)
    return _on(asked, datetime.combine(today - timedelta(days=1), clock), house)


def _on(asked: Asked, shown: datetime, house: House) -> Reading:
    if asked.offset is not None:
        at_ns = _ns(shown.replace(tzinfo=asked.offset))
        return Reading("once", (at_ns,), asked.span_ns)
    found = house.instants(shown)
    if not found:
        return Reading("never", (_put_forward(shown, house),), asked.span_ns)
    return Reading("twice" if len(found) == 2 else "once", found, asked.span_ns)


def _put_forward(shown: datetime, house: House) -> int:
    """Return the first instant after the clocks skipped ``shown``."""
    low = _ns(shown.replace(tzinfo=house.tz, fold=1))
    high = _ns(shown.replace(tzinfo=house.tz, fold=0))
    before = house.local(low).utcoffset()
    while high - low > SECOND_NS:
        middle = (low + high) // 2 // SECOND_NS * SECOND_NS
        if house.local(middle).utcoffset() == before:
            low = middle
        else:
            high = middle
    return high


# --- words ----------------------------------------------------------------------------------


def _timed(asked: Asked, word: str) -> Asked | None:
    """Apply a word with a time, an offset or both; ``None`` for any other word."""
    if _INSTANT.fullmatch(word) and int(word) < 2**63:
        return replace(asked, at_ns=int(word))
    day, _, rest = word.partition("t")
    if rest and _ISO_DATE.fullmatch(day) and (found := _timed(asked, rest)) is not None:
        return replace(found, day=date.fromisoformat(day))
    if zone := (_ZONE.fullmatch(word) or _OFFSET.fullmatch(word)):
        return replace(asked, offset=_offset(zone))
    if word in ("am", "pm") and asked.clock is not None:
        return replace(asked, clock=_half(asked.clock, word, word))
    parts = _TIME.fullmatch(word)
    if parts is None:
        return None
    clock = _clock(parts, word)
    if parts["half"]:
        clock = _half(clock, parts["half"], word)
    span_ns = MINUTE_NS if parts["second"] is None else SECOND_NS
    if parts["rest"]:
        span_ns = SECOND_NS // 10 ** min(len(parts["rest"]), 6)
    beside = _ZONE.fullmatch(parts["zone"] or "") or _OFFSET.fullmatch(parts["zone"] or "")
    offset = _offset(beside) if beside else asked.offset
    return replace(asked, clock=clock, span_ns=span_ns, offset=offset)


def _clock(parts: re.Match[str], word: str) -> time:
    micros = int((parts["rest"] or "").ljust(6, "0")[:6])
    try:
        return time(int(parts["hour"]), int(parts["minute"]), int(parts["second"] or 0), micros)
    except ValueError as fault:
        raise _refused("time", "a time from 00:00 to 23:59", word) from fault


def _half(clock: time, half: str, word: str) -> time:
    if not 1 <= clock.hour <= 12:
        raise _refused("time", "an hour from 1 to 12 before am or pm", word)
    return clock.replace(hour=clock.hour % 12 + (12 if half == "pm" else 0))


def _offset(zone: re.Match[str]) -> timezone:
    found = zone.groupdict()
    if not found.get("s"):
        return UTC
    ahead = timedelta(hours=int(found["h"]), minutes=int(found["m"] or 0))
    if ahead >= timedelta(hours=24):
        raise _refused("offset", "less than a day from UTC", zone.string)
    return timezone(-ahead if found["s"] == "-" else ahead)


def _dated(words: Sequence[str], house: House, today: date, text: str) -> date | None:
    """Parse the words that are no time: one date, or none."""
    if not words:
        return None
    locale = Locale.parse(house.locale, sep="-")
    found = (
        _named_day(words, locale, today)
        or _numbers(words, locale)
        or _written(words, locale, today)
    )
    if found is None:
        _refuse_table(words, text)
        raise _refused("time", f"a table of the house, a day and a time, such as {EXAMPLE}", text)
    return found


def _refuse_table(words: Sequence[str], text: str) -> None:
    """Refuse a word that looks like a table but is none of the house's."""
    for word in filter(_LIKE_A_TABLE.fullmatch, words):
        at = text.casefold().find(word)
        raise _refused("table", "a table of the house", text[at : at + len(word)])


def _named_day(words: Sequence[str], locale: Locale, today: date) -> date | None:
    if len(words) != 1:
        return None
    (word,) = words
    back = {"today": 0, "yesterday": 1}.get(word)
    if back is None:
        number = _names(locale.days, word)
        back = None if number is None else (today.weekday() - number) % 7
    return None if back is None else today - timedelta(days=back)


def _numbers(words: Sequence[str], locale: Locale) -> date | None:
    """Parse ``2026-06-01``, or numbers in the locale's order; ignore other words."""
    numbers = [word for word in words if _ISO_DATE.fullmatch(word) or _NUMBERS.fullmatch(word)]
    if len(numbers) != 1 or any(
        any(map(str.isdigit, word)) for word in words if word not in numbers
    ):
        return None
    try:
        if _ISO_DATE.fullmatch(numbers[0]):
            return date.fromisoformat(numbers[0])
        return parse_date(numbers[0], locale, "short")
    except (ValueError, IndexError) as fault:
        raise _refused("date", "a date that exists", numbers[0]) from fault


def _written(words: Sequence[str], locale: Locale, today: date) -> date | None:
    """Parse ``1 jun 2026`` or ``june 1``, in the locale's words or in English."""
    months = [number for word in words if (number := _names(locale.months, word)) is not None]
    digits = [int(word.strip(".")) for word in words if word.strip(".").isdigit()]
    if len(months) != 1 or not 1 <= len(digits) <= 2:
        return None
    days = [one for one in digits if one <= 31]
    years = [one for one in digits if one >= 1970]
    if len(days) != 1 or len(days) + len(years) != len(digits):
        return None
    try:
        found = date(years[0] if years else today.year, months[0], days[0])
    except ValueError as fault:
        raise _refused("date", "a date that exists", " ".join(words)) from fault
    return found if years or found <= today else found.replace(year=found.year - 1)


def _names(own: Mapping[str, Mapping[str, Mapping[int, str]]], word: str) -> int | None:
    """Return the number of a month or a day of the week, by its long or short name."""
    english = Locale("en")
    other = english.months if len(own["format"]["wide"]) == 12 else english.days
    for names in (own, other):
        for width in ("wide", "abbreviated"):
            for context in ("format", "stand-alone"):
                for number, name in names.get(context, {}).get(width, {}).items():
                    if word.strip(".") == name.casefold().strip("."):
                        return number
    return None


def _bare(name: str) -> str:
    """Return the distinctive part of a table's name: ``BJ-07`` and ``bj7`` are the same."""
    pieces = re.findall(r"[a-z]+|\d+", name.casefold())
    return " ".join(piece.lstrip("0") or "0" if piece.isdigit() else piece for piece in pieces)


def _ns(local: datetime) -> int:
    since = local.astimezone(UTC) - datetime(1970, 1, 1, tzinfo=UTC)
    return (since // timedelta(microseconds=1)) * 1000


def _refused(field: str, expected: str, found: str) -> InputRefused:
    return InputRefused(source="question", field=field, expected=expected, found=repr(found))
