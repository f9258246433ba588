"""What people type into Find, and the instants that it means."""

from datetime import datetime

import pytest

from models.errors import InputRefused
from models.house import House
from server.house.asked_time import Reading, instants, read_question
from server.house.formatting import Formats

PARIS = House(zone="Europe/Paris", locale="en-GB")
TABLES = ("BJ-07", "BJ-17", "VIP", "12")
SECOND = 1_000_000_000


def ns(text: str) -> int:
    return int(datetime.fromisoformat(text).timestamp()) * SECOND


NOW = ns("2026-06-03T10:00:00+02:00")


def means(text: str, house: House = PARIS, now_ns: int = NOW) -> Reading:
    return instants(read_question(text, TABLES, house, now_ns), house, now_ns)


@pytest.mark.parametrize(
    ("text", "instant"),
    [
        ("BJ-07 21:14", "2026-06-02T21:14:00+02:00"),
        ("BJ-07 at 21:14", "2026-06-02T21:14:00+02:00"),
        ("bj7 at 9:59", "2026-06-03T09:59:00+02:00"),
        ("21:14 at BJ-07", "2026-06-02T21:14:00+02:00"),
        ("BJ-07 yesterday 21:14", "2026-06-02T21:14:00+02:00"),
        ("BJ-07 today at 09:00:05", "2026-06-03T09:00:05+02:00"),
        ("BJ-07 monday 21:14", "2026-06-01T21:14:00+02:00"),
        ("BJ-07 2026-06-01 21:14", "2026-06-01T21:14:00+02:00"),
        ("BJ-07 2026-06-01T21:14", "2026-06-01T21:14:00+02:00"),
        ("BJ-07 2026-06-01T21:14:00Z", "2026-06-01T23:14:00+02:00"),
        ("BJ-07 2026-06-01T21:14:00-04:00", "2026-06-02T03:14:00+02:00"),
        ("BJ-07 01/06/2026 21:14", "2026-06-01T21:14:00+02:00"),
        ("BJ-07 1 Jun 2026, 21:14:00 UTC+02:00", "2026-06-01T21:14:00+02:00"),
        ("BJ-07 June 1 21:14", "2026-06-01T21:14:00+02:00"),
        ("BJ-07 24 December 21:14", "2025-12-24T21:14:00+01:00"),
        ("BJ-07 9:14 pm", "2026-06-02T21:14:00+02:00"),
        ("BJ-07 12:05am", "2026-06-03T00:05:00+02:00"),
        ("BJ-07 21h14", "2026-06-02T21:14:00+02:00"),
    ],
)
def test_a_time_is_read_in_the_houses_zone(text: str, instant: str) -> None:
    found = means(text)
    assert found.shown == "once"
    assert [datetime.fromtimestamp(at / SECOND).astimezone() for at in found.at_ns] == [
        datetime.fromisoformat(instant)
    ]


def test_the_same_words_mean_another_instant_in_another_house() -> None:
    new_york = House(zone="America/New_York", locale="en-US")
    assert means("BJ-07 2026-06-01 21:14", new_york).at_ns == (ns("2026-06-02T01:14:00Z"),)
    assert means("BJ-07 06/01/2026 21:14", new_york).at_ns == (ns("2026-06-02T01:14:00Z"),)


@pytest.mark.parametrize(
    "locale", ["en", "en-GB", "fr-FR", "de-DE", "el-GR", "ja-JP", "bg-BG", "ar-EG"]
)
def test_a_moment_that_the_console_writes_is_read_back(locale: str) -> None:
    house = House(zone="Europe/Paris", locale=locale)
    for at in (ns("2026-06-01T21:14:05+02:00"), ns("2025-10-26T02:30:00+01:00")):
        assert means(f"BJ-07 {Formats(house).moment(at)}", house).at_ns == (at,)


def test_a_minute_is_asked_about_whole_and_a_second_as_a_second() -> None:
    assert means("BJ-07 21:14").span_ns == 60 * SECOND
    assert means("BJ-07 21:14:05").span_ns == SECOND
    assert means("BJ-07 21:14:05.250").at_ns == (ns("2026-06-02T21:14:05+02:00") + SECOND // 4,)


def test_an_hour_that_clocks_repeat_is_both() -> None:
    found = means("BJ-07 2025-10-26 02:30")
    assert found.shown == "twice"
    assert found.at_ns == (ns("2025-10-26T00:30:00Z"), ns("2025-10-26T01:30:00Z"))
    meanings = means("BJ-07 2025-10-26 02:30 UTC+01:00")
    assert (meanings.shown, meanings.at_ns) == ("once", (ns("2025-10-26T01:30:00Z"),))


def test_an_hour_that_clocks_repeat_tonight_is_what_has_been_of_it() -> None:
    between = ns("2025-10-26T02:45:00+02:00")
    found = means("BJ-07 02:30", now_ns=between)
    assert (found.shown, found.at_ns) == ("once", (ns("2025-10-26T00:30:00Z"),))


def test_an_hour_that_clocks_leave_out_was_never_shown() -> None:
    found = means("BJ-07 2026-03-29 02:30")
    assert found.shown == "never"
    assert found.at_ns == (ns("2026-03-29T03:00:00+02:00"),)


def test_nanoseconds_are_an_instant() -> None:
    assert means(f"BJ-07 {NOW}").at_ns == (NOW,)


@pytest.mark.parametrize(
    ("text", "table"),
    [("BJ-07 21:14", "BJ-07"), ("vip 21:14", "VIP"), ("12 at 21:14", "12"), ("21:14", None)],
)
def test_a_table_is_known_by_its_name_however_it_is_written(text: str, table: str | None) -> None:
    assert read_question(text, TABLES, PARIS, NOW).table == table


@pytest.mark.parametrize(
    "text",
    [
        "BJ-07",
        "",
        "BJ-99 21:14",
        "BJ-07 25:14",
        "BJ-07 21:74",
        "BJ-07 2026-02-30 21:14",
        "BJ-07 soon",
        "BJ-07 31 Feb 21:14",
        "BJ-07 13:00 pm",
        "BJ-07 99/99/2026 21:14",
        "BJ-07 21:14 UTC+99:00",
    ],
)
def test_what_is_not_understood_is_refused_with_an_example(text: str) -> None:
    with pytest.raises(InputRefused, match="expected"):
        means(text)


def test_a_table_that_the_house_has_not_is_named() -> None:
    with pytest.raises(InputRefused) as refused:
        read_question("BJ-99 at 21:14", ["BJ-07"], House(), 0)
    assert (refused.value.field, refused.value.found) == ("table", "'BJ-99'")
