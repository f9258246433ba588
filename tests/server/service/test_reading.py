"""The service answers what the journals hold: tables, rounds and all that belongs to them."""

import hashlib
from collections.abc import Iterator
from pathlib import Path
from typing import get_args

import httpx
import pytest

from models.events import CardDealt, Event, PaymentMade, RoundClosed, RoundOpened, RulesStated
from models.judgements import LedgerPosted, RoundSettled
from settlement.phases import Phase, RoundPhases
from stream.journal import Journal, verify_journal
from stream.reading import read_journal
from tests.server.service.house import House, house, until, write


@pytest.fixture(scope="module")
def officer(at_work: House) -> Iterator[httpx.Client]:
    with at_work.signed_in("surveillance") as client:
        yield client


def test_every_table_is_shown_with_the_head_of_its_journal(
    at_work: House, officer: httpx.Client
) -> None:
    tables = at_work.get(officer, "/api/tables")
    assert [one["table"] for one in tables] == ["BJ-07", "BJ-08"]
    for one, name in zip(tables, ("bj-07", "bj-08"), strict=True):
        proved = verify_journal(at_work.journals / f"{name}.journal")
        assert (one["now"]["head"], one["now"]["last_seq"]) == (proved.head, proved.entries)
        assert (one["now"]["state"], one["now"]["rounds"]) == ("between rounds", 2)


def test_rounds_are_those_that_were_settled(at_work: House, officer: httpx.Client) -> None:
    events = list(read_journal(at_work.journals / "bj-07.journal"))
    settled = {e.result.round: e.result for e in events if isinstance(e, RoundSettled)}
    rows = at_work.get(officer, "/api/rounds", table="BJ-07")["items"]
    assert [row["round"] for row in rows] == [2, 1]
    for row in rows:
        result = settled[row["round"]]
        assert (row["status"], row["net"]) == (result.status, result.net)
        assert row["violations"] == len(result.violations)


def test_what_happened_at_a_table_at_a_time(at_work: House, officer: httpx.Client) -> None:
    events = list(read_journal(at_work.journals / "bj-07.journal"))
    opened = [e.at or 0 for e in events if isinstance(e, RoundOpened)]
    closed = [e.at or 0 for e in events if isinstance(e, RoundClosed)]

    def asked(at: int | str) -> list[int | None]:
        found = at_work.get(officer, f"/api/tables/BJ-07/rounds/at/{at}")
        rounds = [found[name] for name in ("round", "before", "after")]
        return [None if row is None else row["round"] for row in rounds]

    assert asked(opened[0]) == [1, None, None]
    assert asked(closed[0]) == [1, None, None]
    assert asked(closed[0] + 1) == [None, 1, 2]
    assert asked(opened[1] - 1) == [None, 1, 2]
    assert asked(opened[1]) == [2, None, None]
    assert asked("2026-06-01T12:00:00+00:00") == [None, 2, None]
    assert asked(opened[0] - 1) == [None, None, 1]
    assert officer.get("/api/tables/BJ-07/rounds/at/soon").status_code == 422


def test_mistakes_are_found_by_code_table_spot_and_time(
    at_work: House, officer: httpx.Client
) -> None:
    every = at_work.get(officer, "/api/violations")["items"]
    assert {row["code"] for row in every} == {"dealer_hit_hard_17", "wrong_payout"}
    (hit,) = at_work.get(officer, "/api/violations", code="dealer_hit_hard_17")["items"]
    assert hit["table"] == "BJ-07"
    assert at_work.get(officer, "/api/violations", table="BJ-08")["items"] == []
    (paid,) = at_work.get(officer, "/api/violations", code="wrong_payout")["items"]
    near = {"from_ns": paid["at"], "to_ns": paid["at"]}
    assert at_work.get(officer, "/api/violations", **near)["items"] == [paid]
    assert at_work.get(officer, "/api/violations", spot=paid["spot"])["items"] == [paid]


def test_payments_and_ledger_are_listed_to_the_cent(at_work: House, officer: httpx.Client) -> None:
    events = list(read_journal(at_work.journals / "bj-08.journal"))
    rows = at_work.get(officer, "/api/payments", table="BJ-08")["items"]
    paid = [e.amount for e in events if isinstance(e, PaymentMade)]
    assert [row["amount"] for row in reversed(rows)] == paid
    lines = at_work.get(officer, "/api/ledger", table="BJ-08", limit=500)["items"]
    assert len(lines) == sum(isinstance(e, LedgerPosted) for e in events)
    assert sum(line["amount"] for line in lines) == 0


@pytest.mark.parametrize("kind", ["rounds", "hands", "violations", "payments", "ledger"])
def test_pages_of_one_make_up_the_whole_list(
    at_work: House, officer: httpx.Client, kind: str
) -> None:
    whole = at_work.get(officer, f"/api/{kind}", limit=500)
    assert whole["next"] is None
    items, query = [], {"limit": 1}
    while True:
        found = at_work.get(officer, f"/api/{kind}", **query)
        items += found["items"]
        if found["next"] is None:
            break
        query["cursor"] = found["next"]
    assert items == whole["items"]
    times = [item["at"] for item in items]
    assert times == sorted(times, reverse=True)


def test_events_are_given_in_their_order_from_any_seq_on(
    at_work: House, officer: httpx.Client
) -> None:
    found = at_work.get(officer, "/api/sessions/bj-07/events", after=10, limit=5)
    assert [event["seq"] for event in found["events"]] == [11, 12, 13, 14, 15]
    assert found["last"] == 15
    opened = at_work.get(officer, "/api/sessions/bj-07/events", type="round_opened", limit=500)
    assert [event["round"] for event in opened["events"]] == [1, 2]


def test_nothing_is_written_where_the_journals_lie(evening: Path, tmp_path: Path) -> None:
    def files() -> dict[str, str]:
        return {
            path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in evening.iterdir()
        }

    before = files()
    with house(evening, tmp_path / "state") as found, found.admin() as admin:
        assert len(found.get(admin, "/api/sessions")) == 2
    assert files() == before


def test_a_table_that_is_being_written_is_followed_and_still_sealed(tmp_path: Path) -> None:
    path = tmp_path / "live.journal"
    with house(tmp_path, tmp_path / "state") as found, found.admin() as admin:

        def last() -> int:
            views = found.get(admin, "/api/sessions")
            return views[0]["last_seq"] if views else 0

        with Journal.create(path) as journal:
            for number in range(1, 6):
                journal.append(RoundOpened(round=number, at=number, table="BJ-01"))
                until(lambda due=number: last() == due)
        proved = verify_journal(path)
        assert (proved.entries, proved.sealed) == (5, True)


def test_a_journal_that_is_none_is_named_and_the_others_are_shown(tmp_path: Path) -> None:
    (tmp_path / "broken.journal").write_bytes(b"no database at all" * 400)
    write(tmp_path / "sound.journal", RoundOpened(round=1, at=1, table="BJ-01"))
    with house(tmp_path, tmp_path / "state") as found, found.admin() as admin:
        until(lambda: found.get(admin, "/api/sessions/broken")["fault"] is not None)
        assert found.get(admin, "/api/sessions/broken")["state"] == "unreadable"
        assert found.get(admin, "/api/sessions/sound")["last_seq"] == 1


def test_the_metrics_cover_each_tables_newest_journal_and_the_reading(
    evening: Path, at_work: House
) -> None:
    with at_work.signed_in("engineer") as engineer:
        metrics = dict(
            line.rsplit(" ", 1)
            for line in engineer.get("/metrics").text.splitlines()
            if not line.startswith("#")
        )
    proved = verify_journal(evening / "bj-07.journal")
    assert float(metrics['pitwatch_session_last_seq{session="bj-07"}']) == proved.entries
    assert float(metrics['pitwatch_session_violations{session="bj-07"}']) == 2
    assert float(metrics['pitwatch_session_violations{session="bj-08"}']) == 0
    assert float(metrics["pitwatch_ready"]) == 1
    assert float(metrics["pitwatch_journals_looked_at_seconds"]) < 20
    assert float(metrics["process_resident_memory_bytes"]) > 10**7
    times = [getattr(event, "at", 0) or 0 for event in read_journal(evening / "bj-07.journal")]
    at = float(metrics['pitwatch_session_last_event_time_seconds{session="bj-07"}'])
    assert at == pytest.approx(max(times) / 1e9, abs=0.001)


def test_the_phases_of_a_round_are_those_its_facts_lead_to(
    at_work: House, officer: httpx.Client
) -> None:
    events = [e for e in read_journal(at_work.journals / "bj-07.journal") if isinstance(e, Event)]
    for number in (1, 2):
        row = at_work.get(officer, f"/api/sessions/bj-07/rounds/{number}")
        begun = at_work.get(officer, f"/api/sessions/bj-07/rounds/{number}/phases")
        assert [one["phase"] for one in begun] == list(get_args(Phase))[1:]
        phases, at = RoundPhases(), dict[str, tuple[int | None, int | None]]()
        for event in events[row["seq"] - 1 :]:
            phases.follow_event(event)
            at.setdefault(phases.phase, (event.seq, event.at))
            if phases.phase == "taken_up":
                break
        assert {one["phase"]: (one["seq"], one["at"]) for one in begun} == at
    assert at_work.get(officer, "/api/sessions/bj-07")["phase"] == "taken_up"
    assert officer.get("/api/sessions/bj-07/rounds/99/phases").status_code == 404


def test_a_service_that_starts_anew_goes_on_within_the_deal(tmp_path: Path) -> None:
    """What the index keeps of a session is enough: nothing of its journal is read again."""
    begun = [
        RulesStated(
            source="config", at=1, rulebook="home", rules={"dealer_second_card": "after_players"}
        ),
        RoundOpened(round=1, at=1, table="BJ-01"),
        *(CardDealt(to=to, card=None, at=2) for to in (1, 2, "dealer", 1)),
    ]
    rest = [CardDealt(to=2, card=None, at=3), CardDealt(to="dealer", card=None, at=4)]
    with Journal.create(tmp_path / "t.journal") as journal:
        phases = []
        for events in (begun, rest[:1], rest[1:]):
            journal.append_all(events)
            phases.append(_phase_at(tmp_path, journal.last_seq))
    assert phases == ["deal", "players", "dealer"]


def _phase_at(folder: Path, last_seq: int) -> str:
    """Start a service, and return the phase of the session once it is read so far."""
    is_new = not (folder / "state").exists()
    with house(folder, folder / "state") as found:
        if is_new:
            found.staff()
        with found.signed_in("pit") as pit:
            until(lambda: found.get(pit, "/api/sessions")[:1] != [])
            until(lambda: found.get(pit, "/api/sessions/t")["last_seq"] == last_seq)
            phase: str = found.get(pit, "/api/sessions/t")["phase"]
            return phase
