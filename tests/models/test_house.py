"""A house's clocks over the days on which they are put forward and back."""

from datetime import UTC, datetime

import msgspec
import pytest

from models.house import House, decimals

PARIS = House(zone="Europe/Paris", locale="fr-FR", currency="EUR")
HOUR_NS = 3600 * 1_000_000_000


def ns(text: str) -> int:
    return int(datetime.fromisoformat(text).timestamp()) * 1_000_000_000


def local(text: str) -> datetime:
    return datetime.fromisoformat(text)


def test_a_house_without_a_file_is_in_utc_english_and_dollars() -> None:
    assert (House().zone, House().locale, House().currency) == ("UTC", "en", "USD")


def test_a_time_of_the_day_is_one_instant_in_the_houses_zone() -> None:
    assert PARIS.instants(local("2026-06-01T21:14:00")) == (ns("2026-06-01T19:14:00Z"),)
    assert House().instants(local("2026-06-01T21:14:00")) == (ns("2026-06-01T21:14:00Z"),)


def test_the_hour_that_clocks_repeat_is_two_instants_an_hour_apart() -> None:
    first, second = PARIS.instants(local("2026-10-25T02:30:00"))
    assert (first, second) == (ns("2026-10-25T00:30:00Z"), ns("2026-10-25T01:30:00Z"))
    assert PARIS.local(first).replace(tzinfo=None) == PARIS.local(second).replace(tzinfo=None)


def test_the_hour_that_clocks_leave_out_is_no_instant() -> None:
    assert PARIS.instants(local("2026-03-29T02:30:00")) == ()
    assert PARIS.instants(local("2026-03-29T01:59:59")) == (ns("2026-03-29T00:59:59Z"),)
    assert PARIS.instants(local("2026-03-29T03:00:00")) == (ns("2026-03-29T01:00:00Z"),)


def test_half_hours_and_the_date_line_follow_the_zone() -> None:
    lord_howe = House(zone="Australia/Lord_Howe")
    assert lord_howe.instants(local("2026-10-04T02:15:00")) == ()
    assert len(lord_howe.instants(local("2026-04-05T01:45:00"))) == 2
    kiritimati = House(zone="Pacific/Kiritimati").local(ns("2026-01-01T12:00:00Z"))
    assert kiritimati.isoformat() == "2026-01-02T02:00:00+14:00"


def test_a_shift_is_as_long_as_the_clocks_make_it() -> None:
    night = House(zone="Europe/Paris", shifts=("04:00", "12:00", "20:00"))
    began, ended = night.shift_of(ns("2026-10-25T02:30:00Z"))
    assert (began, ended) == (ns("2026-10-24T18:00:00Z"), ns("2026-10-25T03:00:00Z"))
    assert (ended - began) // HOUR_NS == 9
    assert night.shift_of(ended - 1) == (began, ended)
    assert night.shift_of(ended)[0] == ended


def test_a_shift_may_go_past_midnight() -> None:
    house = House(shifts=("10:00", "18:00"))
    assert house.shift_of(ns("2026-06-02T03:00:00Z"))[0] == ns("2026-06-01T18:00:00Z")


def test_a_piece_of_time_counts_from_local_midnight() -> None:
    four_hours = PARIS.piece_of(ns("2026-06-01T19:14:00Z"), 4 * HOUR_NS)
    assert four_hours == (ns("2026-06-01T18:00:00Z"), ns("2026-06-01T22:00:00Z"))
    day = PARIS.piece_of(ns("2026-10-25T12:00:00Z"), 24 * HOUR_NS)
    assert day == (ns("2026-10-24T22:00:00Z"), ns("2026-10-25T23:00:00Z"))
    cut = PARIS.piece_of(ns("2026-10-25T22:30:00Z"), 4 * HOUR_NS)
    assert cut == (ns("2026-10-25T22:00:00Z"), ns("2026-10-25T23:00:00Z"))


@pytest.mark.parametrize(
    ("fields", "named"),
    [
        ({"zone": "Paris"}, "zone"),
        ({"zone": "../etc/passwd"}, "zone"),
        ({"zone": "right/Europe/Paris"}, "zone"),
        ({"locale": "xx-YY"}, "locale"),
        ({"locale": "fr_FR"}, "locale"),
        ({"currency": "ZZZ"}, "currency"),
        ({"shifts": ("12:00", "04:00")}, "shifts"),
        ({"shifts": ("04:00", "04:00")}, "shifts"),
    ],
)
def test_a_house_that_cannot_be_is_refused_by_field(fields: dict[str, object], named: str) -> None:
    with pytest.raises(ValueError, match=named):
        House(**fields)  # type: ignore[arg-type]
    with pytest.raises(msgspec.ValidationError):
        msgspec.convert(fields | {"shifts": list(fields.get("shifts", ("04:00",)))}, House)  # type: ignore[call-overload]


@pytest.mark.parametrize(("currency", "digits"), [("USD", 2), ("JPY", 0), ("KWD", 3)])
def test_a_currency_has_its_number_of_decimals(currency: str, digits: int) -> None:
    assert decimals(currency) == digits


def test_an_instant_is_the_same_whatever_the_zone() -> None:
    at_ns = ns("2026-06-01T19:14:00Z")
    assert PARIS.local(at_ns) == House().local(at_ns) == datetime(2026, 6, 1, 19, 14, tzinfo=UTC)
