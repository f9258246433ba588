"""The last shoe opens once its session has ended, and never while it may be dealt from."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from msgspec.structs import replace

from models.events import ReviewResolved, RoundOpened
from models.house import House as Described
from server.readmodel.ending import RESTART_NS
from stream.journal import Journal
from tests.server.service.house import House, Standing, house, until, write
from tests.server.service.test_redaction import BURNED, HOLE, shoe

HOUR_NS = 3600 * 1_000_000_000
LAST_FACT_NS = 1_008
"""When the round of the shoe was closed."""
WITHHELD = [None]
SHOWN = [BURNED]


@contextmanager
def looking(folder: Path, clock: Standing, of: Described | None = None) -> Iterator[House]:
    with house(folder, folder / "state", clock=clock, of=of, wait=False) as found:
        with found.anyone() as client:
            until(lambda: client.get("/ready").status_code == 200)
        found.staff()
        yield found


def burned(found: House, who: str = "surveillance") -> list[str | None]:
    with found.signed_in(who) as client:
        events = found.get(client, "/api/sessions/redacted/events", limit=500)["events"]
    return [one["card"] for one in events if one["type"] == "card_burned"]


def dealers_cards(found: House) -> list[str | None]:
    with found.signed_in("surveillance") as client:
        cards: list[str | None] = found.get(client, "/api/sessions/redacted/rounds/1")["result"][
            "dealer"
        ]["cards"]
        return cards


@pytest.fixture
def sealed(tmp_path: Path) -> Path:
    write(tmp_path / "redacted.journal", *shoe(1_000, 1))
    return tmp_path


def test_the_last_shoe_of_a_closed_journal_opens_to_surveillance_alone(sealed: Path) -> None:
    with looking(sealed, Standing(LAST_FACT_NS + RESTART_NS)) as found:
        assert (burned(found), dealers_cards(found)) == (SHOWN, ["TS", HOLE])
        for who in ("pit", "audit"):
            assert burned(found, who) == WITHHELD


def test_a_table_that_was_just_stopped_may_be_started_again_with_its_shoe(sealed: Path) -> None:
    clock = Standing(LAST_FACT_NS + RESTART_NS - 1)
    with looking(sealed, clock) as found:
        assert (burned(found), dealers_cards(found)) == (WITHHELD, [None, None])
        clock.at_ns += 1
        assert burned(found) == SHOWN


def test_a_journal_that_is_gone_on_with_is_veiled_again(sealed: Path) -> None:
    clock = Standing(LAST_FACT_NS + RESTART_NS)
    with looking(sealed, clock) as found:
        assert burned(found) == SHOWN
        with Journal.open(sealed / "redacted.journal") as journal:
            journal.append(RoundOpened(round=2, at=clock.at_ns, table="BJ-03"))
            assert burned(found) == WITHHELD


def test_a_decision_on_a_closed_journal_does_not_veil_it_again(tmp_path: Path) -> None:
    now_ns = LAST_FACT_NS + RESTART_NS
    decided = ReviewResolved(
        source="console:ann", at=now_ns, table="BJ-03", round=1, item=0, decision="stands"
    )
    write(tmp_path / "redacted.journal", *shoe(1_000, 1), decided)
    with looking(tmp_path, Standing(now_ns)) as found:
        assert burned(found) == SHOWN


def test_a_round_that_lies_on_the_felt_when_its_table_stops_keeps_the_shoe_veiled(
    tmp_path: Path,
) -> None:
    broken_off = RoundOpened(round=2, at=1_020, table="BJ-03")
    write(tmp_path / "redacted.journal", *shoe(1_000, 1), broken_off)
    with looking(tmp_path, Standing(1_020 + 20 * HOUR_NS)) as found:
        assert burned(found) == WITHHELD


def test_a_session_that_stands_still_for_as_long_as_the_house_sets_has_ended(
    tmp_path: Path,
) -> None:
    of = Described(ended_after_hours=2)
    clock = Standing(LAST_FACT_NS + 2 * HOUR_NS - 1)
    with (
        Journal.create(tmp_path / "redacted.journal") as journal,
        looking(tmp_path, clock, of) as found,
    ):
        journal.append_all([replace(one, seq=None) for one in shoe(1_000, 1)])
        until(lambda: burned(found) == WITHHELD)
        clock.at_ns += 1
        assert (burned(found), dealers_cards(found)) == (SHOWN, ["TS", HOLE])
