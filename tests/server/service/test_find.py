"""Find lands on the asked moment, in the house's zone, and never on another day unasked."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import Any

import httpx
import pytest

from models.events import Event, RoundClosed, RoundOpened
from models.house import House as Described
from tests.server.service.house import House, Standing, house, write

SECOND = 1_000_000_000
PARIS = Described(zone="Europe/Paris", locale="en-GB", currency="EUR", shifts=("06:00", "18:00"))


def ns(text: str) -> int:
    return int(datetime.fromisoformat(text).timestamp()) * SECOND


def rounds(table: str, *spans: tuple[int, str, int]) -> list[Event]:
    """Rounds by number, opening and length in seconds."""
    found: list[Event] = []
    for number, opened, lasted_s in spans:
        at = ns(opened)
        found.append(RoundOpened(round=number, at=at, table=table))
        found.append(RoundClosed(at=at + lasted_s * SECOND, table=table))
    return found


EVENING = rounds(
    "BJ-07",
    (1, "2026-06-01T21:13:30+02:00", 50),
    (2, "2026-06-01T21:14:40+02:00", 40),
    (3, "2026-06-02T21:13:50+02:00", 45),
    (4, "2026-06-02T23:13:30+02:00", 60),
)
NIGHT = rounds(
    "BJ-08",
    (1, "2025-10-26T02:29:30+02:00", 50),
    (2, "2025-10-26T02:29:30+01:00", 50),
)


@contextmanager
def asking(folder: Path, now: str, of: Described = PARIS) -> Iterator[Any]:
    """Yield what asks a service over these tables at a moment."""
    write(folder / "bj-07.journal", *EVENING)
    write(folder / "bj-08.journal", *NIGHT)
    with house(folder, folder / "state", clock=Standing(ns(now)), of=of) as found:
        found.staff()
        with found.signed_in("pit") as pit:
            yield lambda what, **more: found.get(pit, "/api/find", what=what, **more)


@pytest.fixture(scope="module")
def asked(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    with asking(tmp_path_factory.mktemp("find"), "2026-06-02T23:20:00+02:00") as ask:
        yield ask


def rounds_of(found: Any) -> list[list[int | None]]:
    return [
        [one[name] and one[name]["round"] for name in ("round", "before", "after")]
        for one in found["moments"]
    ]


@pytest.mark.parametrize(
    ("what", "number", "instant"),
    [
        ("BJ-07 at 21:14", 3, "2026-06-02T21:14:00+02:00"),
        ("bj7 21:14", 3, "2026-06-02T21:14:00+02:00"),
        ("BJ-07 yesterday 21:14", 1, "2026-06-01T21:14:00+02:00"),
        ("BJ-07 2026-06-01 21:14:45", 2, "2026-06-01T21:14:45+02:00"),
        ("BJ-07 2026-06-01T19:14:45Z", 2, "2026-06-01T21:14:45+02:00"),
    ],
)
def test_the_round_in_play_is_found_by_the_houses_clock(
    asked: Any, what: str, number: int, instant: str
) -> None:
    found = asked(what)
    (moment,) = found["moments"]
    assert (moment["round"]["round"], moment["go_to"]) == (number, ns(instant))
    assert moment["written"] in found["says"]


def test_the_same_words_find_another_round_in_a_house_in_another_zone(tmp_path: Path) -> None:
    with asking(tmp_path, "2026-06-02T23:20:00+02:00", Described(zone="UTC")) as ask:
        (moment,) = ask("BJ-07 at 21:14")["moments"]
        assert moment["round"]["round"] == 4


def test_a_round_that_opens_within_the_minute_is_shown_from_its_opening(asked: Any) -> None:
    (moment,) = asked("BJ-07 2026-06-02 23:13")["moments"]
    assert moment["round"]["round"] == 4
    assert moment["go_to"] == ns("2026-06-02T23:13:30+02:00")


def test_a_time_at_which_nothing_was_dealt_gives_the_rounds_beside_it(asked: Any) -> None:
    found = asked("BJ-07 2026-06-02 22:00")
    assert rounds_of(found) == [[None, 3, 4]]
    assert found["says"] == "Nothing was dealt at BJ-07 at 2 Jun 2026, 22:00:00 UTC+02:00."
    assert rounds_of(asked("BJ-07 2026-06-01 21:14:30")) == [[None, 1, 2]]
    assert rounds_of(asked("BJ-07 2026-05-01 12:00")) == [[None, None, 1]]
    assert rounds_of(asked("BJ-07 2026-06-02 23:19")) == [[None, 4, None]]


def test_a_round_of_another_day_is_offered_and_never_opened_unasked(tmp_path: Path) -> None:
    with asking(tmp_path, "2026-06-05T10:00:00+02:00") as ask:
        found = ask("BJ-07 at 21:14")
        assert rounds_of(found) == [[None, 4, None], [3, None, None]]
        assert "Nothing was dealt at BJ-07 at 4 Jun 2026, 21:14:00" in found["says"]
        assert found["moments"][1]["written"].startswith("2 Jun 2026")


def test_a_time_that_the_clocks_showed_twice_asks_which(asked: Any) -> None:
    found = asked("BJ-08 2025-10-26 02:30")
    assert [one["round"]["round"] for one in found["moments"]] == [1, 2]
    assert [one["written"] for one in found["moments"]] == [
        "26 Oct 2025, 02:30:00 UTC+02:00",
        "26 Oct 2025, 02:30:00 UTC+01:00",
    ]
    assert "twice" in found["says"]


def test_a_time_that_the_clocks_left_out_is_reported(asked: Any) -> None:
    found = asked("BJ-07 2026-03-29 02:30")
    assert "did not exist" in found["says"]
    assert rounds_of(found) == [[None, None, 1]]


def test_a_time_to_come_has_not_come_yet(asked: Any) -> None:
    found = asked("BJ-07 2026-06-03 09:00")
    assert "is in the future" in found["says"]
    assert rounds_of(found) == [[None, 4, None]]


def test_a_table_need_not_be_named_on_its_own_page(asked: Any) -> None:
    assert rounds_of(asked("21:14", table="BJ-07")) == [[3, None, None]]


@pytest.mark.parametrize(
    ("what", "status", "detail"),
    [
        ("21:14", 422, "which table"),
        ("BJ-99 21:14", 422, "a table of the house"),
        ("BJ-07", 422, "BJ-07 at 21:14"),
        ("BJ-07 at noon", 422, "BJ-07 at 21:14"),
    ],
)
def test_what_cannot_be_read_is_refused_with_an_example(
    tmp_path_factory: pytest.TempPathFactory, what: str, status: int, detail: str
) -> None:
    folder = tmp_path_factory.mktemp("refused")
    write(folder / "bj-07.journal", *EVENING)
    write(folder / "bj-08.journal", *NIGHT)
    with house(folder, folder / "state", of=PARIS) as found:
        found.staff()
        with found.signed_in("pit") as pit:
            answer: httpx.Response = pit.get("/api/find", params={"what": what})
            assert answer.status_code == status
            assert detail in answer.json()["detail"]


def test_a_page_gets_the_formats_of_the_house(at_work: House, tmp_path: Path) -> None:
    write(tmp_path / "bj-07.journal", *EVENING)
    with house(tmp_path, tmp_path / "state", of=PARIS) as found:
        found.staff()
        for role in ("pit", "engineer"):
            with found.signed_in(role) as client:
                assert found.get(client, "/api/house") == {
                    "zone": "Europe/Paris",
                    "locale": "en-GB",
                    "currency": {"code": "EUR", "decimals": 2},
                    "shifts": ["06:00", "18:00"],
                    "others": {},
                    "exports": ["csv", "parquet"],
                    "unsigned": None,
                }
