"""What people read: times in the house's zone, amounts in its currency, both in its locale."""

from datetime import datetime

import pytest

from models.house import House
from server.house.formatting import Formats

PARIS = Formats(House(zone="Europe/Paris", locale="en-GB", currency="EUR"))
NARROW = "\N{NARROW NO-BREAK SPACE}"
NO_BREAK = "\N{NO-BREAK SPACE}"


def ns(text: str) -> int:
    return int(datetime.fromisoformat(text).timestamp()) * 1_000_000_000


def test_an_instant_is_written_with_its_offset() -> None:
    assert PARIS.moment(ns("2026-06-01T19:14:05Z")) == "1 Jun 2026, 21:14:05 UTC+02:00"
    assert PARIS.moment(ns("2026-12-01T19:14:05Z")) == "1 Dec 2026, 20:14:05 UTC+01:00"
    assert Formats().moment(ns("2026-06-01T19:14:05Z")) == "Jun 1, 2026, 19:14:05 UTC"


def test_the_two_instants_of_a_repeated_hour_are_written_apart() -> None:
    first, second = ns("2026-10-25T00:30:00Z"), ns("2026-10-25T01:30:00Z")
    assert PARIS.clock(first) == PARIS.clock(second) == "02:30:00"
    assert PARIS.moment(first) == "25 Oct 2026, 02:30:00 UTC+02:00"
    assert PARIS.moment(second) == "25 Oct 2026, 02:30:00 UTC+01:00"


def test_an_instant_is_cut_off_and_never_rounded_into_the_next_second() -> None:
    assert PARIS.fine(ns("2026-06-01T19:14:05Z") + 999_999_999) == "21:14:05.999"
    assert PARIS.clock(ns("2026-06-01T19:14:05Z") + 999_999_999) == "21:14:05"


@pytest.mark.parametrize(
    ("zone", "text"),
    [
        ("UTC", "UTC"),
        ("Europe/Paris", "Europe/Paris, UTC+02:00"),
        ("Asia/Kolkata", "Asia/Kolkata, UTC+05:30"),
        ("America/St_Johns", "America/St_Johns, UTC-02:30"),
    ],
)
def test_a_zone_is_named_with_its_offset(zone: str, text: str) -> None:
    assert Formats(House(zone=zone)).zone(ns("2026-06-01T19:14:05Z")) == text


@pytest.mark.parametrize(
    ("locale", "currency", "minor", "text"),
    [
        ("en", "USD", 123456, "1,234.56"),
        ("en", "USD", -1250, "-12.50"),
        ("en", "USD", 5, "0.05"),
        ("en", "USD", 0, "0.00"),
        ("en", "JPY", 123456, "123,456"),
        ("en", "KWD", 123456, "123.456"),
        ("fr-FR", "EUR", 123456789, f"1{NARROW}234{NARROW}567,89"),
        ("hi-IN", "INR", 1234567800, "1,23,45,678.00"),
        ("ar-EG", "EGP", 123456, "1,234.56"),
        ("de-CH", "CHF", 123456, "1\N{RIGHT SINGLE QUOTATION MARK}234.56"),
    ],
)
def test_an_amount_has_the_currencys_decimals_and_the_locales_signs(
    locale: str, currency: str, minor: int, text: str
) -> None:
    assert Formats(House(locale=locale, currency=currency)).amount(minor) == text


def test_a_table_may_deal_in_another_currency_than_its_house() -> None:
    assert PARIS.money(1250) == f"12.50{NO_BREAK}EUR"
    assert PARIS.money(1250, "JPY") == f"1,250{NO_BREAK}JPY"


def test_a_gain_has_its_sign() -> None:
    assert [PARIS.signed(one) for one in (1500, 0, -1500, None)] == [
        "+15.00",
        "0.00",
        "-15.00",
        "open",
    ]


@pytest.mark.parametrize(("minor", "text"), [(1500, "15"), (750, "7.50"), (-1200, "-12")])
def test_little_room_leaves_off_decimals_that_are_nothing(minor: int, text: str) -> None:
    assert PARIS.brief(minor) == text


def test_other_letters_keep_the_digits_that_are_typed_back() -> None:
    cairo = Formats(House(zone="Africa/Cairo", locale="ar-EG", currency="EGP"))
    assert cairo.clock(ns("2026-06-01T19:14:05Z")) == "22:14:05"
    greek = Formats(House(locale="el-GR", currency="EUR"))
    assert greek.day(ns("2026-06-01T19:14:05Z")) == "1 Ιουν 2026"  # noqa: RUF001
