"""Figures of journals over time, and their rules, in whole numbers."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from msgspec.structs import replace

from models.events import (
    CameraFault,
    CardSighted,
    Event,
    ReaderFault,
    RoundClosed,
    RoundOpened,
    ShoeCardRead,
)
from models.house import House as Described
from models.judgements import RoundSettled
from server.house.rulebooks import as_stated, rules_for, shipped, stated
from server.service.routes.series import DAY_NS, HOUR_NS
from settlement.rulebooks import KNOBS, differences
from stream.journal import Journal
from stream.reading import read_journal
from tests.server.service.house import House, house, play, until, write

MORNING = 20_000 * DAY_NS + 6 * HOUR_NS


@pytest.fixture(scope="module")
def own(tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    """BJ-07 was played twice: by the sheet of its own limits, then with other rules."""
    place = tmp_path_factory.mktemp("figures")
    journals = place / "journals"
    journals.mkdir()
    play(place / "played.journal", "mistake", "BJ-07")
    events = [one for one in read_journal(place / "played.journal") if isinstance(one, Event)]
    limits = rules_for("kansas-shoe", ["table_min=1000"])
    other = rules_for("kansas-shoe", ["table_min=1000", "dealer_soft17=stand"])
    write(journals / "a.journal", stated(limits, "configuration", MORNING), *moved(events, 0))
    write(
        journals / "b.journal",
        stated(other, "configuration", MORNING + 9 * HOUR_NS),
        *moved(events, 9 * HOUR_NS),
        *faults(MORNING + 9 * HOUR_NS),
    )
    shifts = Described(shifts=("06:00", "14:00", "22:00"))
    with house(journals, place / "state", of=shifts) as found:
        found.staff()
        yield found


def moved(events: list[Any], by_ns: int) -> list[Event]:
    """The session as if it had begun in the morning, ``by_ns`` later."""
    shift = MORNING + by_ns - min(event.at for event in events if event.at)
    return [replace(one, seq=None, at=one.at and one.at + shift) for one in events]


def faults(at: int) -> list[Event]:
    lost = ReaderFault(source="plate:9", at=at, table="BJ-07", kind="link_lost", detail="")
    dark = CameraFault(source="camera:x", at=at, table="BJ-07", kind="black", detail="", frame=1)
    blank = ShoeCardRead(source="shoe:x", at=at, table="BJ-07", card=None, draw=1, raw="")
    return [lost, dark, blank]


@pytest.fixture(scope="module")
def officer(own: House) -> Iterator[httpx.Client]:
    with own.signed_in("surveillance") as client:
        yield client


def series(own: House, client: httpx.Client, name: str, **query: Any) -> dict[str, Any]:
    found = own.get(client, f"/api/series/{name}", **query)
    return {one["label"]: one["points"] for one in found["lines"]}


def settled(own: House) -> list[RoundSettled]:
    found = read_journal(own.journals / "a.journal")
    return [event for event in found if isinstance(event, RoundSettled)]


def test_pace_counts_the_rounds_of_every_hour(own: House, officer: httpx.Client) -> None:
    points = series(own, officer, "pace")["BJ-07"]
    assert [(one["at"], one["value"]) for one in points] == [
        (MORNING, 2),
        (MORNING + 9 * HOUR_NS, 2),
    ]
    day = series(own, officer, "pace", piece_ns=DAY_NS)["BJ-07"]
    assert [one["value"] for one in day] == [4]
    assert day[0]["of"] == sum(one["of"] for one in points)
    early = series(own, officer, "pace", to_ns=MORNING + HOUR_NS)["BJ-07"]
    assert [one["value"] for one in early] == [2]
    assert series(own, officer, "pace", table="BJ-99") == {}


def test_a_table_is_in_play_from_its_first_round_to_the_end_of_its_last(
    own: House, officer: httpx.Client
) -> None:
    rounds = own.get(officer, "/api/rounds", session="a")["items"]
    in_play = max(one["closed_at"] for one in rounds) - min(one["at"] for one in rounds)
    assert 0 < in_play < HOUR_NS // 10
    for piece_ns in (HOUR_NS, DAY_NS):
        (first, *_) = series(own, officer, "pace", session="a", piece_ns=piece_ns)["BJ-07"]
        assert first["of"] == in_play


def test_hold_is_the_houses_gain_of_what_was_staked(own: House, officer: httpx.Client) -> None:
    results = [event.result for event in settled(own)]
    staked = sum(h.stake for r in results for spot in r.spots for h in spot.hands)
    first = series(own, officer, "hold", session="a")["BJ-07"][0]
    assert (first["value"], first["of"]) == (sum(r.net or 0 for r in results), staked)


def test_mistakes_are_counted_by_code_and_shift(own: House, officer: httpx.Client) -> None:
    lines = series(own, officer, "violations", by_shift=True)
    assert set(lines) == {"dealer_hit_hard_17", "wrong_payout"}
    for points in lines.values():
        assert [(one["at"], one["value"], one["of"]) for one in points] == [
            (MORNING, 1, 2),
            (MORNING + 8 * HOUR_NS, 1, 2),
        ]


def test_sensors_errors_stand_beside_their_readings(own: House, officer: httpx.Client) -> None:
    lines = series(own, officer, "sensors", session="b")
    assert [(one["value"], one["of"]) for one in lines["BJ-07 shoe:x"]] == [(1, 1)]
    assert [(one["value"], one["of"]) for one in lines["BJ-07 plate:9"]] == [(1, 0)]
    assert [(one["value"], one["of"]) for one in lines["BJ-07 camera:x"]] == [(1, 0)]
    read = [e for e in read_journal(own.journals / "b.journal") if isinstance(e, CardSighted)]
    faces = sum(one.face == "up" and one.change == "new" for one in read)
    assert sum(one["of"] for one in lines["BJ-07 camera:overhead"]) == faces


def test_a_journal_is_read_on_not_again(tmp_path: Path) -> None:
    path = tmp_path / "t.journal"
    write(path, RoundOpened(round=1, at=1, table="T"), RoundClosed(at=2, table="T"))
    with house(tmp_path, tmp_path / "state") as found:
        found.staff()
        with found.signed_in("pit") as pit:
            assert series(found, pit, "sensors") == {}
            with Journal.open(path) as journal:
                journal.append_all(faults(5))
            until(lambda: found.get(pit, "/api/sessions/t")["last_seq"] == 5)
            assert len(series(found, pit, "sensors")) == 3


def test_the_sheet_in_force_is_shown_with_citations_and_what_the_table_changed(
    own: House, officer: httpx.Client
) -> None:
    found = own.get(officer, "/api/sessions/b/rulebook")
    assert found["in_force"]["rulebook"] == "kansas-shoe"
    assert found["in_force"]["is_stated"]
    overrides = {"dealer_soft17": "stand", "table_min": "1000"}
    assert found["in_force"]["overrides"] == overrides
    assert len(found["in_force"]["rules_hash"]) == 64
    knobs = {one["knob"]: one for one in found["sheet"]["knobs"]}
    assert (knobs["dealer_soft17"]["value"], knobs["dealer_soft17"]["source"]) == (
        "stand",
        "changed",
    )
    assert any(one["quote"] for one in knobs.values() if one["source"] == "stated")


def test_changes_of_rules_are_listed_rule_by_rule(own: House, officer: httpx.Client) -> None:
    first, second = own.get(officer, "/api/tables/BJ-07/rules")
    assert (first["session"], first["changes"]) == ("a", None)
    assert (second["session"], second["at"]) == ("b", MORNING + 9 * HOUR_NS)
    assert second["changes"] == [{"knob": "dealer_soft17", "was": "hit", "now": "stand"}]


def test_sheets_are_listed_shown_and_compared(own: House, officer: httpx.Client) -> None:
    listed = own.get(officer, "/api/rulebooks")
    assert [one["id"] for one in listed] == [book.rules.id for book in shipped()]
    sheet = own.get(officer, "/api/rulebooks/home")
    assert [one["knob"] for one in sheet["knobs"]] == list(KNOBS)
    shown = own.get(officer, "/api/rulebooks/kansas-shoe/differences/home")
    due = differences(rules_for("kansas-shoe"), rules_for("home"))
    assert [(one["knob"], one["was"], one["now"]) for one in shown] == list(due)
    assert officer.get("/api/rulebooks/nowhere").status_code == 404
    assert officer.get("/api/tables/BJ-99/rules").status_code == 404


@pytest.mark.parametrize("book", [one.rules for one in shipped()], ids=lambda rules: rules.id)
def test_rules_stated_in_a_journal_are_read_back_whole(book: Any) -> None:
    assert as_stated(stated(book, "configuration", 1)) == book


def test_a_long_journal_is_read_some_entries_a_request(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("server.service.routes.series.AT_ONCE", 1)
    reads = [
        ShoeCardRead(source="shoe", at=number, table="T", card=None, draw=1, raw="")
        for number in range(1, 4502)
    ]
    write(tmp_path / "t.journal", *reads)
    with house(tmp_path, tmp_path / "state") as found:
        found.staff()
        with found.signed_in("pit") as pit:
            answers = [found.get(pit, "/api/series/sensors") for _ in range(4)]
    assert [one["complete"] for one in answers] == [False, False, True, True]
    counts = [one["lines"][0]["points"][0]["value"] for one in answers]
    assert counts == [2000, 4000, 4501, 4501]


def test_of_very_many_rounds_the_newest_are_counted(
    own: House, officer: httpx.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("server.service.routes.series.MOST_ROUNDS", 3)
    found = own.get(officer, "/api/series/pace")
    assert not found["complete"]
    assert sum(point["value"] for line in found["lines"] for point in line["points"]) == 3
