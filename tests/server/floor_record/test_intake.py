"""The floor takes in each table's entries once and in order, and nothing that does not follow."""

import hashlib
import shutil
import threading
from collections.abc import Sequence
from pathlib import Path

import msgspec
import psycopg
import pytest

from models.errors import InstallerError
from models.events import Event, WagerPlaced
from models.house import House
from models.judgements import LedgerPosted, Review, ReviewRaised, RoundSettled
from server.archive.days import begun
from server.commands.app import run
from server.floor_record.database import Chain, FloorDatabase, FloorDown, Parcel
from server.floor_record.forwarder import Forwarder
from server.floor_record.forwarding import AT_ONCE
from server.process.exit_status import Exit
from stream.journal import Journal, Place, link
from stream.reading import Entry, entries_after, journal_identity, last_place
from tests.server.doubted import let_stand, play_without_shoe
from tests.server.evenings import evening, judged
from tests.server.floor_record.cluster import FloorSite
from tests.server.service.house import until

pytestmark = pytest.mark.slow

AT_NS = 1_772_366_400_000_000_000  # 2026-03-01 12:00 UTC


_OLDER_OPEN_CHAIN = """
    CREATE FUNCTION pitwatch.open_chain(of_table text, of_journal text, its_name text, its_day date)
    RETURNS TABLE (epoch integer, seq bigint, head bytea, state text)
    LANGUAGE sql SECURITY DEFINER AS
    'SELECT * FROM pitwatch.open_chain_anew(of_table, of_journal, its_name, its_day)'
"""


def some(entries: int, *, amount: int = 500, table: str = "BJ-07") -> list[Event]:
    return [
        WagerPlaced(at=AT_NS + nth, table=table, spot=1, kind="main", amount=amount)
        for nth in range(entries)
    ]


def journal_at(path: Path, events: list[Event], table: str | None = "BJ-07") -> Path:
    with Journal.create(path, table=table) as journal:
        journal.append_all(events)
    return path


@pytest.fixture
def journal(tmp_path: Path) -> Path:
    return journal_at(tmp_path / "a.journal", some(12))


def forward(site: FloorSite, *names: Path) -> tuple[int, dict[Path, str]]:
    forwarder = Forwarder(names, House())
    with FloorDatabase.connected(site.forwarder) as floor:
        return forwarder.forward_all(floor), forwarder.refused


def on_floor(site: FloorSite, epoch: int = 1, table: str = "BJ-07") -> list[Entry]:
    with FloorDatabase.connected(site.reader) as floor:
        return floor.entries(table, epoch)


def in_journal(path: Path) -> list[Entry]:
    entries, _ = entries_after(path, Place(), 10_000_000)
    return list(entries)


def put_aside(site: FloorSite) -> list[tuple[int, str]]:
    with FloorDatabase.connected(site.reader) as floor:
        return [(one.seq, one.reason) for one in reversed(floor.quarantine())]


def opened(floor: FloorDatabase, journal: Path) -> Chain:
    first, identity = begun(journal, House()), journal_identity(journal)
    assert first is not None
    assert identity is not None
    chain = floor.open_chain("BJ-07", identity, first, last_place(journal).seq)
    assert chain is not None
    return chain


def take(floor: FloorDatabase, chain: Chain, entries: Sequence[Entry], last_there: int) -> str:
    (outcome,) = floor.take([Parcel(chain, entries, last_there)])
    return outcome


def entry(place: Place, body: bytes) -> Entry:
    seq = place.seq + 1
    return Entry(seq, link(place.head, seq, body), body, 3)


def test_the_floor_holds_what_the_table_wrote(site: FloorSite, journal: Path) -> None:
    assert forward(site, journal) == (12, {})
    assert on_floor(site) == in_journal(journal)
    with Journal.open(journal) as more:
        more.append_all(some(3))
    assert forward(site, journal.parent) == (3, {})
    assert on_floor(site) == in_journal(journal)


def test_each_journal_of_a_table_is_an_epoch(site: FloorSite, journal: Path) -> None:
    other = journal_at(journal.with_name("b.journal"), some(4))
    elsewhere = journal_at(journal.with_name("c.journal"), some(2), table="BJ-08")
    unnamed = journal_at(journal.with_name("d.journal"), some(2), table=None)
    assert forward(site, journal.parent) == (20, {})
    assert on_floor(site, 2) == in_journal(other)
    assert on_floor(site, 1, "BJ-08") == in_journal(elsewhere)
    assert on_floor(site, 3) == in_journal(unnamed)  # its events name the table


def test_what_is_asked_has_columns(site: FloorSite, tmp_path: Path) -> None:
    played = judged(evening(3, 1, mistakes=("wrong_payout",), table="BJ-07"))
    timed = [msgspec.structs.replace(event, at=AT_NS + nth) for nth, event in enumerate(played)]
    posted = LedgerPosted(at=AT_NS, table="BJ-07", round=3, account="spot:3", amount=5, memo="")
    journal = journal_at(tmp_path / "a.journal", [*timed, posted])
    assert forward(site, journal)[1] == {}
    with psycopg.connect(site.reader) as reader:
        columns = "seq, type, at, round, spot, codes, account"
        rows = reader.execute(f"SELECT {columns} FROM pitwatch.entries ORDER BY seq").fetchall()
    for row, event in zip(rows, [*timed, posted], strict=True):
        tag = event.__struct_config__.tag
        number, codes = getattr(event, "round", None), None
        if isinstance(event, RoundSettled):
            number, codes = event.result.round, [one.code for one in event.result.violations]
        spot = getattr(event, "spot", getattr(event, "to", None))
        account = getattr(event, "account", None)
        assert row[1:5] == (tag, event.at, number, spot if spot != "dealer" else None)
        assert (row[5] or None, row[6]) == (codes or None, account)


def test_mistakes_are_those_of_each_rounds_last_settlement_and_suspected_ones_are_marked(
    site: FloorSite, tmp_path: Path
) -> None:
    path = tmp_path / "a.journal"
    with Journal.create(path, table="BJ-07") as record:
        play_without_shoe(record, "BJ-07")
    forward(site, path)
    assert mistakes(site) == [("wrong_payout", 5, 1, 0, True)]
    let_stand(path)
    forward(site, path)
    assert mistakes(site) == [("wrong_payout", 5, 1, 0, False)]
    with Journal.open(path) as record:
        record.append(ReviewRaised(round=5, review=Review("a card fits nothing", (), ())))
    forward(site, path)
    assert mistakes(site) == [("wrong_payout", 5, 1, 0, True)]


def mistakes(site: FloorSite) -> list[tuple[object, ...]]:
    with psycopg.connect(site.reader) as reader:
        asked = "SELECT code, round, spot, hand, suspected FROM pitwatch.mistakes"
        return reader.execute(asked).fetchall()


def test_a_repeat_is_ignored(site: FloorSite, journal: Path) -> None:
    entries = in_journal(journal)
    with FloorDatabase.connected(site.forwarder) as floor:
        chain = opened(floor, journal)
        for part in (entries[:5], entries[2:4], entries[3:9], entries, entries[:1]):
            assert take(floor, chain, part, 12) == "taken"
    assert on_floor(site) == entries
    assert put_aside(site) == []


def test_another_hash_for_the_same_entry_is_a_fork(site: FloorSite, journal: Path) -> None:
    forward(site, journal)
    forged = journal.with_name("forged.journal")
    shutil.copy(journal, forged)
    journal.unlink()
    with FloorDatabase.connected(site.forwarder) as floor:
        chain = opened(floor, forged)
        before = in_journal(forged)[10]
        other = entry(Place(before.seq, before.hash), b'{"type":"card_boxed","card":null}')
        assert take(floor, chain, [other], 12) == "fork"
        good = entry(Place(12, on_floor(site)[-1].hash), b'{"type":"card_boxed","card":null}')
        assert take(floor, chain, [good], 13) == "forked"  # a person decides first
    assert put_aside(site) == [(12, "fork")]
    assert len(on_floor(site)) == 12


def test_the_forwarder_shows_the_floor_a_fork(
    site: FloorSite, journal: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The table came back from a backup and went on: its entries differ from those it sent."""
    copy = journal.with_name("backup")
    shutil.copy(journal, copy)
    with Journal.open(journal) as went_on:
        went_on.append_all(some(3))
    forward(site, journal)
    shutil.copy(copy, journal)
    with Journal.open(journal) as restored:
        restored.append_all(some(5, amount=700))
    assert forward(site, journal)[1] == {journal: "fork at entry 15 or one after it"}
    assert put_aside(site) == [(15, "fork")]
    assert forward(site, journal)[1] == {journal: "the floor says forked"}
    assert run(["floor", "status", "--floor", site.reader]) == Exit.FINDINGS
    assert "quarantine 1  BJ-07 epoch 1 entry 15: fork" in capsys.readouterr().out
    identity = journal_identity(journal)
    assert identity is not None
    words = ["--table", "BJ-07", "--journal", identity.journal, "--reason", "restored"]
    assert run(["floor", "epoch", "--floor", site.owner, *words]) == Exit.CLEAN
    assert forward(site, journal) == (17, {})
    assert on_floor(site, 2) == in_journal(journal)
    assert len(on_floor(site, 1)) == 15


def test_a_table_that_ends_before_the_floor_is_alarmed(site: FloorSite, journal: Path) -> None:
    copy = journal.with_name("backup")
    shutil.copy(journal, copy)
    with Journal.open(journal) as went_on:
        went_on.append_all(some(3))
    forward(site, journal)
    shutil.copy(copy, journal)
    forward(site, journal)
    assert put_aside(site) == [(12, "behind")]
    with FloorDatabase.connected(site.reader) as floor:
        assert [one.state for one in floor.lag()] == ["behind"]


def test_what_does_not_follow_is_put_aside(site: FloorSite, journal: Path) -> None:
    entries = in_journal(journal)
    with FloorDatabase.connected(site.forwarder) as floor:
        chain = opened(floor, journal)
        assert take(floor, chain, entries[3:6], 12) == "gap"
        broken = [entries[0], entries[1]._replace(body=entries[1].body + b" "), entries[2]]
        assert take(floor, chain, broken, 12) == "broken_link"
        odd = entry(Place(), b"no JSON")
        assert take(floor, chain, [odd], 12) == "no_event"
        odd = entry(Place(), b'{"type":"\xff"}')
        assert take(floor, chain, [odd], 12) == "no_event"
        assert on_floor(site) == []
        assert take(floor, chain, entries, 12) == "taken"
    assert put_aside(site) == [(4, "gap"), (2, "broken_link"), (1, "no_event"), (1, "no_event")]


def test_an_entry_of_an_unknown_kind_is_taken_as_it_is(site: FloorSite, journal: Path) -> None:
    odd = b'{"type":"new_kind","at":"soon","round":"nine","spot":-4,"to":{"a":[1]},"x":"\\u0000"}'
    with FloorDatabase.connected(site.forwarder) as floor:
        assert take(floor, opened(floor, journal), [entry(Place(), odd)], 1) == "taken"
    assert on_floor(site)[0].body == odd


def test_quarantine_is_announced_once(site: FloorSite, journal: Path) -> None:
    entries = in_journal(journal)
    with (
        psycopg.connect(site.reader, autocommit=True) as listener,
        FloorDatabase.connected(site.forwarder) as floor,
    ):
        listener.execute("LISTEN pitwatch_alarms")
        chain = opened(floor, journal)
        for _ in range(3):
            assert take(floor, chain, entries[3:6], 12) == "gap"
        told = list(listener.notifies(timeout=0.5))
    assert [msgspec.json.decode(one.payload) for one in told] == [
        {"table": "BJ-07", "epoch": 1, "seq": 4, "reason": "gap"}
    ]


def test_tables_share_a_transaction(site: FloorSite, tmp_path: Path) -> None:
    for number in range(4):
        journal_at(tmp_path / f"{number}.journal", some(3), table=f"BJ-0{number}")
    assert forward(site, tmp_path) == (12, {})
    with psycopg.connect(site.reader) as reader:
        ((transactions,),) = reader.execute(
            "SELECT count(DISTINCT xmin::text) FROM pitwatch.entries"
        ).fetchall()
    assert transactions == 1


def test_a_refused_table_holds_up_no_other(site: FloorSite, tmp_path: Path) -> None:
    paths = [
        journal_at(tmp_path / f"{number}.journal", some(6), table="BJ-07") for number in range(4)
    ]
    with FloorDatabase.connected(site.forwarder) as floor:
        chains = [opened(floor, path) for path in paths]
        there = [in_journal(path) for path in paths]
        odd = [entry(Place(), b"no JSON")]
        unknown = Chain("BJ-99", 1, Place(), "sound")
        parcels = [
            Parcel(chains[0], there[0][:4], 6),
            Parcel(chains[1], there[1][1:4], 6),
            Parcel(unknown, there[0][:1], 1),
            Parcel(chains[2], odd, 1),
            Parcel(chains[0], there[0][4:], 6),
            Parcel(chains[3], there[3], 6),
        ]
        assert floor.take(parcels) == ["taken", "gap", "unknown", "no_event", "taken", "taken"]
    assert on_floor(site, 1) == there[0]
    assert on_floor(site, 2) == on_floor(site, 3) == []
    assert on_floor(site, 4) == there[3]
    assert put_aside(site) == [(2, "gap"), (1, "no_event")]


def test_a_table_that_is_behind_waits_while_others_catch_up(
    site: FloorSite, tmp_path: Path
) -> None:
    late = journal_at(tmp_path / "a.journal", some(AT_ONCE + 20), table="BJ-01")
    live = journal_at(tmp_path / "b.journal", some(5), table="BJ-02")
    over = threading.Event()
    forwarder = Forwarder((tmp_path,), House())
    with psycopg.connect(site.forwarder) as others:
        for slot in (1, 2):
            query = "SELECT pg_advisory_xact_lock(hashtextextended('pitwatch catches up', %s))"
            others.execute(query, (slot,))
        running = threading.Thread(target=forwarder.run, args=(site.forwarder, over.is_set))
        running.start()
        try:
            until(lambda: on_floor(site, table="BJ-02") == in_journal(live))
            with Journal.open(live) as more:
                more.append_all(some(3, table="BJ-02"))
                until(lambda: on_floor(site, table="BJ-02") == in_journal(live))
            assert on_floor(site, table="BJ-01") == []
            until(lambda: behind(site)["BJ-01"] == AT_ONCE + 20)
            others.rollback()
            until(lambda: on_floor(site, table="BJ-01") == in_journal(late))
        finally:
            over.set()
            running.join()
    assert forwarder.refused == {}


def behind(site: FloorSite) -> dict[str, int]:
    with FloorDatabase.connected(site.reader) as floor:
        return {one.table: one.behind for one in floor.lag()}


def test_a_chain_shows_from_its_first_moment_how_far_the_floor_is_behind(
    site: FloorSite, journal: Path
) -> None:
    with FloorDatabase.connected(site.forwarder) as floor:
        opened(floor, journal)
    with FloorDatabase.connected(site.reader) as floor:
        (lag,) = floor.lag()
    assert (lag.seq, lag.behind) == (0, 12)


def test_an_epoch_that_a_person_begins_knows_when_the_table_was_last_heard(
    site: FloorSite, journal: Path
) -> None:
    with FloorDatabase.connected(site.forwarder) as floor:
        take(floor, opened(floor, journal), in_journal(journal)[:5], 12)
    identity = journal_identity(journal)
    assert identity is not None
    with psycopg.connect(site.owner, autocommit=True) as owner:
        owner.execute("UPDATE pitwatch.chains SET seen_at = now() - interval '1 hour'")
    with FloorDatabase.connected(site.owner) as floor:
        assert floor.begin_epoch("BJ-07", identity.journal, "restored") == 2
        anew = next(one for one in floor.lag() if one.epoch == 2)
    assert (anew.seq, anew.behind) == (0, 12)
    assert 3600 <= anew.silent.total_seconds() < 3660


def test_a_floor_of_an_older_version_opens_a_chain(site: FloorSite, journal: Path) -> None:
    with psycopg.connect(site.owner, autocommit=True) as owner:
        owner.execute(
            "ALTER FUNCTION pitwatch.open_chain(text, text, text, date, bigint)"
            " RENAME TO open_chain_anew"
        )
        owner.execute(_OLDER_OPEN_CHAIN)
    with FloorDatabase.connected(site.forwarder) as floor:
        assert opened(floor, journal).epoch == 1


def test_the_floor_shows_how_far_behind_it_is(site: FloorSite, journal: Path) -> None:
    with FloorDatabase.connected(site.forwarder) as floor:
        take(floor, opened(floor, journal), in_journal(journal)[:5], 12)
    with FloorDatabase.connected(site.reader) as floor:
        (lag,) = floor.lag()
    assert (lag.table, lag.seq, lag.behind, lag.state) == ("BJ-07", 5, 7, "sound")
    assert 0 <= lag.silent.total_seconds() < 60


@pytest.mark.parametrize(
    "statement",
    [
        "INSERT INTO pitwatch.entries (day, table_id, epoch, seq, hash, body, version)"
        " VALUES ('2026-03-01', 'BJ-07', 1, 99, '', '{\"type\":\"x\"}', 3)",
        'UPDATE pitwatch.entries SET body = \'{"type":"x"}\'',
        "DELETE FROM pitwatch.entries",
        "TRUNCATE pitwatch.entries",
        "UPDATE pitwatch.chains SET seq = 0",
        "DELETE FROM pitwatch.quarantine",
        "SELECT pitwatch.begin_epoch('BJ-07', 'x', 'x', '2026-03-01', '')",
        "SELECT pitwatch.retire_day('2026-03-01', '')",
        "DROP TABLE pitwatch.entries_20260301",
        "ALTER TABLE pitwatch.entries DISABLE TRIGGER ALL",
    ],
)
def test_nobody_changes_the_record(site: FloorSite, journal: Path, statement: str) -> None:
    forward(site, journal)
    for url in (site.forwarder, site.reader):
        with (
            psycopg.connect(url) as connection,
            pytest.raises(psycopg.errors.InsufficientPrivilege),
        ):
            connection.execute(statement.encode())
    if statement.startswith(("UPDATE pitwatch.entries", "DELETE", "TRUNCATE")):
        with (
            psycopg.connect(site.owner) as connection,
            pytest.raises(psycopg.errors.RaiseException, match="never changes"),
        ):
            connection.execute(statement.encode())
    assert on_floor(site) == in_journal(journal)


def test_a_forwarder_reads_nothing_and_a_reader_sends_nothing(
    site: FloorSite, journal: Path
) -> None:
    with FloorDatabase.connected(site.forwarder) as floor, pytest.raises(InstallerError):
        floor.lag()
    with FloorDatabase.connected(site.reader) as floor, pytest.raises(InstallerError):
        opened(floor, journal)


def test_a_forwarder_cannot_ask_for_less_durability(site: FloorSite, journal: Path) -> None:
    with psycopg.connect(f"{site.forwarder} options='-c synchronous_commit=off'") as connection:
        floor = FloorDatabase(connection, "floor")
        connection.row_factory = psycopg.rows.namedtuple_row
        take(floor, opened(floor, journal), in_journal(journal), 12)
        ((kept,),) = connection.execute("SHOW synchronous_commit").fetchall()
    assert kept == "on"


def test_a_damaged_journal_stops_alone(site: FloorSite, journal: Path) -> None:
    (journal.parent / "b.journal").write_bytes(b"no journal")
    sent, refused = forward(site, journal.parent)
    assert (sent, [path.name for path in refused]) == (12, ["b.journal"])


def test_a_floor_that_is_down_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    journal = journal_at(tmp_path / "a.journal", some(1))
    url = f"host={tmp_path} dbname=pit password=hidden"
    with pytest.raises(FloorDown), FloorDatabase.connected(url):
        pass
    assert run(["forward", str(journal), "--once", "--floor", url]) == Exit.REFUSED
    told = capsys.readouterr().err
    assert "does not answer" in told
    assert "hidden" not in told


def test_the_chain_on_the_floor_proves_itself(site: FloorSite, journal: Path) -> None:
    """Any reader can compute it with SHA-256 alone."""
    forward(site, journal)
    head = bytes(32)
    for one in on_floor(site):
        head = hashlib.sha256(head + one.seq.to_bytes(8, "big") + one.body).digest()
        assert one.hash == head
