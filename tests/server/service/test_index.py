"""What was read is kept: a start goes on where the last one stopped, with the same answers."""

import asyncio
import logging
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any
from unittest.mock import patch

import httpx
import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from models.events import CardDealt, RoundClosed, RoundOpened
from server.readmodel import folder_floor as floors
from server.readmodel.file_index import FileIndex
from server.readmodel.folder_floor import FolderFloor
from server.readmodel.rows import newest_first
from server.readmodel.selection import Sought
from server.readmodel.views import HandRow, LedgerRow, PaymentRow, ReviewRow, RoundRow, ViolationRow
from server.service.store import INDEX_FILE
from stream.journal import Journal
from stream.reading import read_journal
from tests.server.service.house import House, house, play, until, write

KINDS = (RoundRow, HandRow, ViolationRow, ReviewRow, PaymentRow, LedgerRow)
LISTS = ("rounds", "hands", "violations", "reviews", "payments", "ledger", "incidents")


def answered(found: House, client: httpx.Client) -> dict[str, Any]:
    """Return all that the service answers about its journals."""
    whole = {kind: found.get(client, f"/api/{kind}", limit=500)["items"] for kind in LISTS}
    return whole | {"sessions": found.get(client, "/api/sessions")}


def read_in(journals: Path, index: Path | None, *, at_once: int = 200) -> tuple[Any, ...]:
    """Follow the journals once; return every row, and how each session stands."""

    async def reading() -> tuple[Any, ...]:
        floor = FolderFloor(journals, index=FileIndex(index))
        floor.open()
        for _ in range(2):
            await floor.poll()
        rows = [
            [placed async for placed in newest_first(floor.index, Sought(kind))] for kind in KINDS
        ]
        stand = [
            (one.view(), one.rounds.hidden(1), one.rounds.hidden(2)) for one in floor.sessions()
        ]
        floor.index.close()
        return rows, stand

    with patch.multiple(floors, AT_ONCE=at_once, _AT_ONCE_BEHIND=at_once):
        return asyncio.run(reading())


def test_a_table_goes_on_and_another_starts_while_an_archive_is_read(tmp_path: Path) -> None:
    for number in range(6):
        write(tmp_path / f"old-{number}.journal", RoundOpened(table="BJ-01", at=0, round=1))
    read: list[str] = []

    def on_read(name: str, _: int) -> None:
        read.append(name)
        if len(read) == 2:
            writer.append(RoundOpened(table="BJ-07", at=1, round=2))
            started.append(Journal.create(tmp_path / "new.journal"))
            started[0].append(RoundOpened(table="BJ-08", at=1, round=2))

    started: list[Journal] = []
    floor = FolderFloor(tmp_path, on_read)
    floor.open()
    with (
        Journal.create(tmp_path / "live.journal") as writer,
        patch.object(floors, "_SIDE_BY_SIDE", 1),
    ):
        writer.append(RoundOpened(table="BJ-07", at=0, round=1))
        asyncio.run(floor.poll())
        started[0].close()
    assert read[0] == "live"
    assert read[2:4] in (["live", "new"], ["new", "live"])
    assert len(read) == 9
    kept = {one.name: len(one.recent) for one in floor.sessions()}
    assert kept == {"live": 2, "new": 1} | {f"old-{number}": 0 for number in range(6)}


def test_a_service_started_again_answers_the_same_and_reads_nothing_again(
    evening: Path, tmp_path: Path
) -> None:
    state = tmp_path / "state"
    with house(evening, state) as found:
        found.staff()
        with found.signed_in("surveillance") as officer:
            first = answered(found, officer)
    assert first["violations"]
    with house(evening, state) as found, found.signed_in("surveillance") as officer:
        assert answered(found, officer) == first
        with found.signed_in("engineer") as engineer:
            assert "pitwatch_events_read_total{" not in engineer.get("/metrics").text


@pytest.mark.slow
@pytest.mark.parametrize("name", ["mistake", "plain"])
@settings(
    max_examples=8, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(cut=st.integers(0, 94), at_once=st.integers(1, 60))
def test_wherever_the_reading_was_broken_off_it_comes_to_the_same(
    tmp_path_factory: pytest.TempPathFactory, name: str, cut: int, at_once: int
) -> None:
    whole, part = (tmp_path_factory.mktemp(kind) for kind in ("whole", "part"))
    play(whole / "t.journal", name, "BJ-01")
    events = list(read_journal(whole / "t.journal"))
    index = part / "index.sqlite"
    with Journal.create(part / "t.journal") as journal:
        journal.append_all(events[:cut])
        read_in(part, index, at_once=at_once)
        journal.append_all(events[cut:])
        assert read_in(part, index, at_once=at_once) == read_in(whole, None)


def test_a_card_that_was_never_turned_up_stays_hidden_over_a_start(tmp_path: Path) -> None:
    index = tmp_path / "index.sqlite"
    events = [
        RoundOpened(round=1),
        CardDealt(to="dealer", card=None, face="down"),
        RoundClosed(),
        RoundOpened(round=2),
    ]
    with Journal.create(tmp_path / "t.journal") as journal:
        journal.append_all(
            msgspec.structs.replace(event, at=at, table="T") for at, event in enumerate(events, 1)
        )
    for _ in range(2):
        _, ((_, of_1, of_2),) = read_in(tmp_path, index)
        assert (of_1, of_2) == (frozenset({"dealer"}), frozenset())


def test_a_journal_that_is_another_one_is_read_anew(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.WARNING)
    index, path, other = tmp_path / "i", tmp_path / "t.journal", tmp_path / "other"
    play(path, "plain", "T")
    play(other, "mistake", "T")
    read_in(tmp_path, index)
    other.replace(path)
    again = read_in(tmp_path, index)
    assert again == read_in(tmp_path, None)
    assert again[0][2], "its mistakes are listed"
    assert "not the one that was read before" in caplog.text


@pytest.mark.parametrize("spoil", ["no database", "another version", "gone"])
def test_an_index_of_no_use_is_made_anew(tmp_path: Path, spoil: str) -> None:
    index = tmp_path / "i"
    play(tmp_path / "t.journal", "mistake", "T")
    first = read_in(tmp_path, index)
    if spoil == "no database":
        index.write_bytes(b"no database at all" * 400)
    elif spoil == "another version":
        with closing(sqlite3.connect(index)) as meddler, meddler:
            meddler.execute("UPDATE made SET by = 'another'")
            meddler.execute("DELETE FROM rounds")
    else:
        index.unlink()
    assert read_in(tmp_path, index) == first


def test_the_index_is_its_users_alone_and_lies_with_the_state(
    evening: Path, tmp_path: Path
) -> None:
    with house(evening, tmp_path / "state"):
        file = tmp_path / "state" / INDEX_FILE
        assert file.stat().st_mode & 0o077 == 0


def test_a_round_is_found_among_those_of_many_journals(tmp_path: Path) -> None:
    for day in range(30):
        with Journal.create(tmp_path / f"day-{day:02}.journal") as journal:
            journal.append_all(
                RoundOpened(round=number, at=day * 1000 + number, table="BJ-01")
                for number in range(1, 41)
            )
    with house(tmp_path, tmp_path / "state") as found:
        found.staff()
        with found.signed_in("pit") as pit:
            at = found.get(pit, "/api/tables/BJ-01/rounds/at/17020")["round"]
            assert (at["session"], at["round"]) == ("day-17", 20)
            named = found.get(pit, "/api/rounds", round=7, limit=500)["items"]
            assert [row["session"] for row in named] == [
                f"day-{day:02}" for day in range(29, -1, -1)
            ]
            own = found.get(pit, "/api/rounds", session="day-03", limit=500)["items"]
            assert [row["round"] for row in own] == list(range(40, 0, -1))
            assert found.get(pit, "/api/rounds", session="none")["items"] == []


def test_a_journal_that_appears_and_one_that_grows_are_noticed(tmp_path: Path) -> None:
    with house(tmp_path, tmp_path / "state") as found, found.admin() as admin:
        with Journal.create(tmp_path / "t.journal") as journal:
            journal.append(RoundOpened(round=1, at=1, table="T"))
            until(lambda: len(found.get(admin, "/api/sessions")) == 1)
        with Journal.open(tmp_path / "t.journal") as journal:
            journal.append(RoundOpened(round=2, at=2, table="T"))
        until(lambda: found.get(admin, "/api/sessions/t")["last_seq"] == 2)
