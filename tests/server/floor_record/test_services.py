"""A service on the floor record tells the same as one over the journals' folder."""

import asyncio
import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from itertools import islice
from pathlib import Path
from typing import Any

import httpx
import psycopg
import pytest

from models.errors import InstallerError, TechnicianError
from models.events import RoundOpened
from models.house import House as Described
from server.commands.serve import Address, run_serve
from server.floor_record import chains
from server.floor_record.database import FloorDatabase
from server.floor_record.decisions import DecisionDelivery
from server.floor_record.folding import LOCK, Folding
from server.floor_record.forwarder import Forwarder
from server.floor_record.migrating import migrate
from server.floor_record.people import SharedJournal
from server.floor_record.store import RecordStore
from server.service.access.accounts import TRIES
from server.service.http.limits import Rate
from server.service.http.patience import Patience
from stream.checkpoints import Checkpoint
from stream.clock import SimulatedClock
from stream.journal import Checkpoints, Journal, verify_journal
from stream.signing import Signer
from tests.server.doubted import play_blinded
from tests.server.floor_record.cluster import NO_ROOT, FloorSite, cluster, new_floor, programs
from tests.server.floor_record.served import forwarded
from tests.server.floor_record.test_intake import journal_at, some
from tests.server.service.house import PASSWORD, House, house, play, until

pytestmark = pytest.mark.slow

QUICK = Patience(idle_ns=200_000_000)

LISTS = ("rounds", "hands", "violations", "reviews", "payments", "ledger", "incidents")


def told(found: House, client: httpx.Client) -> dict[str, Any]:
    """Return all that a service tells of its tables."""
    whole = {kind: found.get(client, f"/api/{kind}", limit=500)["items"] for kind in LISTS}
    sessions = found.get(client, "/api/sessions")
    tables = found.get(client, "/api/tables")
    for one in (*sessions, *(table["now"] for table in tables)):
        one.pop("proven")  # said of the floor alone
    events = {
        one["session"]: found.get(client, f"/api/sessions/{one['session']}/events", limit=500)
        for one in sessions
    }
    return whole | {
        "sessions": sessions,
        "events": events,
        "tables": tables,
    }


def test_both_stores_tell_the_same(site: FloorSite, tmp_path: Path) -> None:
    journals = tmp_path / "journals"
    journals.mkdir()
    play(journals / "bj-07.journal", "mistake", "BJ-07")
    play(journals / "bj-08.journal", "plain", "BJ-08")
    whole = []
    with forwarded(journals, site) as record:
        for name, store in (("folder", None), ("floor", record)):
            with house(journals, tmp_path / name, store=store) as found:
                found.staff()
                with found.signed_in("surveillance") as officer:
                    whole.append(told(found, officer))
    assert whole[0]["violations"]
    assert whole[0] == whole[1]


@pytest.fixture
def evening(tmp_path: Path) -> Path:
    """A folder with BJ-07's journal: two mistakes."""
    journals = tmp_path / "journals"
    journals.mkdir()
    play(journals / "bj-07.journal", "mistake", "BJ-07")
    return journals


@pytest.fixture
def pair(site: FloorSite, evening: Path, tmp_path: Path) -> Iterator[tuple[House, House]]:
    """Two services on one floor, each with the state folder of a machine of its own."""
    with (
        forwarded(evening, site),
        house(evening, tmp_path / "one", QUICK, store=RecordStore(site.reader)) as one,
    ):
        one.staff()
        with house(evening, tmp_path / "two", QUICK, store=RecordStore(site.reader)) as two:
            yield one, two


def with_session_of(client: httpx.Client, other: House) -> httpx.Client:
    """Return a client of the other service with the same cookie, as behind a proxy."""
    moved = other.anyone()
    moved.cookies.update(client.cookies)
    moved.headers.update({"X-CSRF-Token": client.headers["X-CSRF-Token"]})
    return moved


def test_a_session_begun_at_one_service_is_good_at_the_other(pair: tuple[House, House]) -> None:
    one, two = pair
    with one.signed_in("pit") as client, with_session_of(client, two) as moved:
        assert two.get(moved, "/api/me")["name"] == "pit"
        assert moved.post("/api/sign-out").status_code == 204
        assert client.get("/api/me").status_code == 401


def test_wrong_passwords_are_counted_together(pair: tuple[House, House]) -> None:
    for nth in range(TRIES):
        with pair[nth % 2].anyone() as stranger:
            sent = stranger.post("/api/sign-in", json={"name": "pit", "password": "wrong"})
            assert sent.status_code == 401
    for found in pair:
        with found.anyone() as stranger:
            sent = stranger.post("/api/sign-in", json={"name": "pit", "password": PASSWORD})
            assert sent.status_code == 429


def test_attempts_are_limited_together(site: FloorSite) -> None:
    stores = [RecordStore(site.reader) for _ in range(2)]
    gates = [one.turnstile("sign_in", Rate(0.001, 4), 10) for one in stores]

    async def tried() -> list[bool]:
        return [await gates[nth % 2].wait_ns("192.0.2.1") == 0 for nth in range(6)]

    assert asyncio.run(tried()) == [True] * 4 + [False] * 2
    for one in stores:
        one.close()


def test_work_on_an_incident_is_seen_at_the_other_service_at_once(
    pair: tuple[House, House],
) -> None:
    one, two = pair
    with one.signed_in("surveillance") as officer, two.signed_in("pit") as pit:
        queued = one.get(officer, "/api/incidents")["items"][0]["id"]
        with pit.stream("GET", "/api/incidents/stream") as changes:
            lines = changes.iter_lines()
            sent = officer.post(f"/api/incidents/{queued}/comments", json={"text": "look"})
            assert sent.status_code == 200
            told = (json.loads(line[6:]) for line in lines if line.startswith("data: "))
            assert any((one["id"], one["comments"]) == (queued, 1) for one in told)
        sent = pit.post(f"/api/incidents/{queued}/comments", json={"text": "seen"})
        assert sent.json()["comments"] == 2
        history = one.get(officer, f"/api/incidents/{queued}")["history"]
        until(lambda: len(one.get(officer, f"/api/incidents/{queued}")["history"]) == 2)
        assert history[0]["text"] == "look"


def test_both_services_write_one_chain_of_peoples_actions(
    site: FloorSite, pair: tuple[House, House]
) -> None:
    for found in pair * 3:
        with found.signed_in("audit"):
            pass
    with pair[0].admin() as admin:
        rows = pair[0].get(admin, "/api/activity", limit=200)["items"]
    numbers = [row["seq"] for row in rows]
    assert numbers == list(range(numbers[0], 0, -1))
    with FloorDatabase.connected(site.reader) as floor:
        assert floor.verify_own() == {"activity.journal": numbers[0], "cases.journal": 0}


def test_nobody_changes_an_action_in_the_database(
    site: FloorSite, pair: tuple[House, House]
) -> None:
    for role, fault in (
        (site.reader, psycopg.errors.InsufficientPrivilege),
        (site.owner, psycopg.errors.RaiseException),
    ):
        with psycopg.connect(role) as meddler, pytest.raises(fault):
            meddler.execute("UPDATE pitwatch.own_entries SET body = '{}'")


def test_a_viewer_goes_on_at_the_other_service(pair: tuple[House, House]) -> None:
    one, two = pair
    with one.signed_in("pit") as client, with_session_of(client, two) as moved:
        first = ids_of(client, {"Last-Event-ID": "10"}, 5)
        assert ids_of(moved, {"Last-Event-ID": str(first[-1])}, 5) == [16, 17, 18, 19, 20]
        number = changes_of(client, None, 1)
        again = changes_of(moved, str(10**19 - 1), 1)
        assert number == again, "a number of another service's is no reason to miss anything"


def ids_of(client: httpx.Client, headers: dict[str, str], count: int) -> list[int]:
    with client.stream("GET", "/api/sessions/bj-07/stream", headers=headers) as events:
        ids = (int(line[4:]) for line in events.iter_lines() if line.startswith("id: "))
        return list(islice(ids, count))


def changes_of(client: httpx.Client, last: str | None, count: int) -> list[str]:
    headers = {"Last-Event-ID": last or "0"}
    with client.stream("GET", "/api/incidents/stream", headers=headers) as changes:
        told = (json.loads(line[6:]) for line in changes.iter_lines() if line.startswith("data: "))
        return [one["id"] for one in islice(told, count)]


def test_another_service_folds_when_the_first_has_gone(
    site: FloorSite, evening: Path, tmp_path: Path
) -> None:
    with forwarded(evening, site), ExitStack() as first:
        one = first.enter_context(house(evening, tmp_path / "one", store=RecordStore(site.reader)))
        one.staff()
        with house(evening, tmp_path / "two", store=RecordStore(site.reader)) as two:
            first.close()
            play(evening / "bj-08.journal", "mistake", "BJ-08")
            with two.signed_in("surveillance") as officer:
                until(lambda: len(two.get(officer, "/api/tables")) == 2)
                until(lambda: two.get(officer, "/api/violations", table="BJ-08")["items"])


def test_a_start_folds_nothing_again(site: FloorSite, evening: Path, tmp_path: Path) -> None:
    made = "SELECT xmin::text, body FROM pitwatch_read.rounds ORDER BY seq"
    written = []
    with forwarded(evening, site):
        for name in ("one", "two"):
            with house(evening, tmp_path / name, store=RecordStore(site.reader)):
                pass
            with psycopg.connect(site.reader) as reader:
                written.append(reader.execute(made).fetchall())
    assert written[0]
    assert written[0] == written[1], "xmin is the transaction that wrote a row"


def test_rows_of_another_version_are_made_anew(
    site: FloorSite, evening: Path, tmp_path: Path
) -> None:
    with forwarded(evening, site):
        for name in ("one", "two"):
            with house(evening, tmp_path / name, store=RecordStore(site.reader)) as found:
                if name == "one":
                    found.staff()
                with found.signed_in("surveillance") as officer:
                    assert found.get(officer, "/api/violations")["items"]
            with psycopg.connect(site.reader) as meddler:
                meddler.execute("UPDATE pitwatch_read.made SET by = 'another'")
                meddler.execute("DELETE FROM pitwatch_read.violations")


def test_what_needs_a_file_is_refused_with_the_reason(pair: tuple[House, House]) -> None:
    with pair[0].signed_in("surveillance") as officer:
        (missing,) = pair[0].get(officer, "/api/sessions/bj-07/footage")["missing"]
        assert "on the table's machine" in missing
        answer = officer.get("/api/sessions/bj-07/pictures/overhead", params={"at": 1})
        assert (answer.status_code, answer.json()["detail"]) == (404, missing)


def test_a_table_whose_machine_fetches_no_decisions_is_named(
    site: FloorSite, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(chains, "_PATIENCE_NS", 300_000_000)
    journals = tmp_path / "journals"
    journals.mkdir()
    with Journal.create(journals / "bj-09.journal") as journal:
        play_blinded(journal, "BJ-09")
    asked = {"decision": "void", "reason": "the shoe fell"}
    with (
        forwarded(journals, site, decides=False) as store,
        house(journals, tmp_path / "state", store=store) as found,
    ):
        found.staff()
        with found.signed_in("pit") as pit:
            sent = pit.post("/api/incidents/bj-09.1/reviews/0/decision", json=asked)
            assert sent.status_code == 503
            assert "BJ-09 does not fetch decisions" in sent.json()["detail"]
        entries = verify_journal(journals / "bj-09.journal").entries
        with DecisionDelivery(
            site.forwarder, lambda: [journals / "bj-09.journal"], decides=True
        ) as delivery:
            assert delivery.deliver() == 0, "what was taken back is not handed in later"
    assert verify_journal(journals / "bj-09.journal").entries == entries


def test_a_journal_that_is_closed_in_order_is_told_as_such(site: FloorSite, tmp_path: Path) -> None:
    def stands() -> tuple[bool, bool]:
        with psycopg.connect(site.reader) as reader:
            found = reader.execute("SELECT written, sealed FROM pitwatch.chains").fetchone()
            assert found is not None
            return found

    path = tmp_path / "bj-07.journal"
    journal = Journal.create(path, table="BJ-07")
    journal.append(RoundOpened(round=1, at=1, table="BJ-07"))
    with forwarded(tmp_path, site):
        until(lambda: stands() == (True, False))
        journal.close()
        until(lambda: stands() == (False, True))


def test_a_service_on_one_machine_loads_no_database_driver() -> None:
    """`serve FOLDER`, `console` and `run` work where the extra is not installed."""
    words = (
        "import sys; sys.modules.update(psycopg=None, alembic=None)\n"
        "import server.commands.serve, server.commands.console, server.table.live\n"
        "from server.service.app import Setup, make_app\n"
        "from pathlib import Path; from stream.clock import HostClock\n"
        "make_app(Setup(Path(), Path()), HostClock())\n"
        "assert not [one for one in sys.modules if one.startswith('server.floor_record')]"
    )
    subprocess.run([sys.executable, "-c", words], check=True)


def test_serving_the_floor_without_its_driver_names_the_extra(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "server.floor_record.store", None)
    address = Address("127.0.0.1", 0)
    with pytest.raises(InstallerError, match="psycopg") as refused:
        run_serve(None, tmp_path, address, floor="host=nowhere")
    assert "pitwatch[floor]" in refused.value.way_out


def test_a_retired_day_is_shown_no_longer(site: FloorSite, evening: Path, tmp_path: Path) -> None:
    with (
        forwarded(evening, site),
        house(evening, tmp_path / "state", store=RecordStore(site.reader)) as found,
    ):
        found.staff()
        with found.signed_in("surveillance") as officer:
            assert found.get(officer, "/api/rounds")["items"]
            with (
                FloorDatabase.connected(site.owner) as floor,
                psycopg.connect(site.reader) as reader,
            ):
                day = reader.execute("SELECT day FROM pitwatch.chains").fetchone()
                assert day is not None
                floor.retire(day[0], "a manifest")
            until(lambda: found.get(officer, "/api/sessions") == [])
            assert found.get(officer, "/api/rounds")["items"] == []


def test_an_entry_that_was_changed_in_the_database_is_shown_to_nobody(
    site: FloorSite, evening: Path, tmp_path: Path
) -> None:
    with forwarded(evening, site):
        admin = site.cluster.url(site.name, NO_ROOT)
        with psycopg.connect(admin, autocommit=True) as meddler:
            meddler.execute("SET session_replication_role = replica")
            meddler.execute("UPDATE pitwatch.entries SET body = body || ' ' WHERE seq = 40")
        with house(evening, tmp_path / "state", store=RecordStore(site.reader)) as found:
            found.staff()
            with found.signed_in("surveillance") as officer:
                view = found.get(officer, "/api/sessions/bj-07")
            assert (view["state"], view["last_seq"]) == ("unreadable", 0)
            assert "entry 40 is missing or does not match its hash" in view["fault"]


def test_a_database_restored_to_before_an_action_is_refused(
    site: FloorSite, tmp_path: Path
) -> None:
    clock = SimulatedClock(1)
    sent: list[Checkpoint] = []
    due = Checkpoints(
        Signer.create(tmp_path / "key"), clock, send=lambda one: sent.extend(filter(None, [one]))
    )
    journal = SharedJournal(site.reader, "activity.journal", due, ())
    for nth in range(3):
        journal.append(RoundOpened(round=nth + 1, at=nth))
    journal.close()
    (last,) = sent
    assert last.seq == 3
    with psycopg.connect(site.cluster.url(site.name, NO_ROOT), autocommit=True) as meddler:
        meddler.execute("SET session_replication_role = replica")
        meddler.execute("DELETE FROM pitwatch.own_entries WHERE seq > 1")
        meddler.execute(
            "UPDATE pitwatch.own_journals SET seq = 1, head ="
            " (SELECT hash FROM pitwatch.own_entries) WHERE name = 'activity.journal'"
        )
    with pytest.raises(TechnicianError, match="lacks entry 3, which a checkpoint covers"):
        SharedJournal(site.reader, "activity.journal", due, (last,))


def test_a_floor_of_the_first_version_is_upgraded_while_tables_run(
    site: FloorSite, tmp_path: Path
) -> None:
    with psycopg.connect(site.cluster.url(site.name, NO_ROOT), autocommit=True) as admin:
        admin.execute("DROP SCHEMA pitwatch, pitwatch_read, pitwatch_people CASCADE")
        admin.execute("DROP TABLE alembic_version")
    migrate(site.owner, "0001")
    for number in (1, 2):
        (tmp_path / str(number)).mkdir()
        journal_at(tmp_path / str(number) / "t.journal", some(5), f"BJ-0{number}")
    forwarder = Forwarder((tmp_path,), Described())
    with FloorDatabase.connected(site.forwarder) as running:
        assert forwarder.forward_all(running) == 10
        migrate(site.owner)
        for number in (1, 2):
            with Journal.open(tmp_path / str(number) / "t.journal") as journal:
                journal.append_all(some(5))
        assert forwarder.forward_all(running) == 10
    with psycopg.connect(site.reader) as reader:
        names = reader.execute("SELECT session FROM pitwatch.chains ORDER BY 1").fetchall()
    assert names == [("t",), ("t-2",)]


def test_a_database_that_does_not_store_utf8_is_refused(site: FloorSite) -> None:
    name = f"{site.name}_ascii"
    how = "ENCODING 'SQL_ASCII' TEMPLATE template0 LC_COLLATE 'C' LC_CTYPE 'C'"
    with psycopg.connect(site.cluster.url("postgres", NO_ROOT), autocommit=True) as admin:
        admin.execute(f"CREATE DATABASE {name} {how}".encode())
    with pytest.raises(InstallerError, match="expected a database with encoding UTF8, found SQL_"):
        migrate(site.cluster.url(name, NO_ROOT))


def test_an_older_version_does_not_make_the_rows_of_a_newer_one_its_own(
    site: FloorSite, evening: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with forwarded(evening, site):
        folding = Folding(site.reader, lambda *_: False, None)
        with psycopg.connect(site.reader, autocommit=True) as newer:
            newer.execute("SELECT pg_advisory_lock(%s)", (LOCK,))
            folding.start()
            until(folding.has_begun.is_set)
            newer.execute("INSERT INTO pitwatch_read.made VALUES ('a newer version')")
        until(lambda: "another version of Pitwatch folds" in caplog.text)
        folding.close()
        with psycopg.connect(site.reader) as reader:
            assert reader.execute("SELECT count(*) FROM pitwatch_read.rounds").fetchone() == (0,)


def is_told(found: House, client: httpx.Client, wanted: dict[str, Any]) -> bool:
    """Return whether every route answers again, and as before."""
    try:
        return told(found, client) == wanted
    except AssertionError:
        return False


@pytest.mark.skipif(programs() is None, reason="PostgreSQL is not installed")
def test_a_service_outlives_a_database_that_was_killed(evening: Path, tmp_path: Path) -> None:
    with cluster(fsync=True) as made:
        site = new_floor(made)
        with (
            forwarded(evening, site),
            house(evening, tmp_path / "state", store=RecordStore(site.reader)) as found,
        ):
            found.staff()
            with found.signed_in("surveillance") as officer:
                before = told(found, officer)
                made.kill()
                answer = officer.get("/api/tables")
                assert answer.status_code == 503
                assert "database does not answer" in answer.json()["detail"]
                with found.anyone() as anyone:
                    assert anyone.get("/health").status_code == 200
                made.start()
                until(lambda: is_told(found, officer, before))
                play(evening / "bj-08.journal", "plain", "BJ-08")
                until(lambda: len(found.get(officer, "/api/tables")) == 2)
