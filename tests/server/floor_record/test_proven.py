"""An entry on the floor is proven by its table's signature, and by no hash that follows."""

from contextlib import closing
from pathlib import Path

import psycopg
import pytest

from models.house import House as Described
from server.commands.app import run
from server.floor_record.database import FloorDatabase, Parcel
from server.floor_record.decisions import DecisionDelivery
from server.floor_record.forwarder import Forwarder
from server.floor_record.store import RecordStore
from server.process.exit_status import Exit
from stream.clock import HostClock, SimulatedClock
from stream.journal import Checkpoints, Journal
from stream.reading import last_signature
from stream.signing import Signer
from tests.server.floor_record.cluster import FloorSite
from tests.server.floor_record.test_intake import AT_NS, entry, opened, some
from tests.server.service.house import house, until

pytestmark = pytest.mark.slow

SIGNED = 12
INVENTED = (
    b'{"type":"payment_made","at":%d,"table":"BJ-07","spot":1,"kind":"main","amount":9}' % AT_NS
)
Printed = pytest.CaptureFixture[str]


@pytest.fixture
def signer(tmp_path: Path) -> Signer:
    return Signer.create(tmp_path / "BJ-07.key")


@pytest.fixture
def journal(tmp_path: Path, signer: Signer) -> Path:
    """A table's journal, signed up to its end."""
    path = tmp_path / "journals" / "bj-07.journal"
    path.parent.mkdir()
    with Journal.create(path, Checkpoints(signer, SimulatedClock(5)), "BJ-07") as written:
        written.append_all(some(SIGNED))
    return path


@pytest.fixture
def forwarded(site: FloorSite, journal: Path) -> FloorSite:
    """The floor once the table's forwarder has sent everything."""
    with FloorDatabase.connected(site.forwarder) as floor:
        assert Forwarder((journal,), Described()).forward_all(floor) == SIGNED
    send_signatures(site, journal)
    return site


def send_signatures(site: FloorSite, journal: Path) -> None:
    with closing(DecisionDelivery(site.forwarder, lambda: [journal])) as delivery:
        delivery.report_states()


def invent(site: FloorSite, journal: Path) -> None:
    """Add an entry as a forwarder can that was taken over: its hash follows."""
    with FloorDatabase.connected(site.forwarder) as floor:
        chain = opened(floor, journal)
        made = entry(chain.place, INVENTED)
        assert floor.take([Parcel(chain, (made,), made.seq)], is_late=False) == ["taken"]


def name_key(site: FloorSite, key: str) -> int:
    return run(["floor", "key", "--floor", site.owner, "--table", "BJ-07", "--key", key])


def verified(site: FloorSite, capsys: Printed) -> str:
    capsys.readouterr()
    assert run(["floor", "verify", "--floor", site.reader]) == Exit.CLEAN
    return " ".join(capsys.readouterr().out.split())


def test_what_the_table_signed_is_proven_once_its_key_is_named(
    forwarded: FloorSite, signer: Signer, capsys: Printed
) -> None:
    printed = verified(forwarded, capsys)
    assert "not proven BJ-07 epoch 1: nothing proven; 12 entries not yet signed" in printed
    assert name_key(forwarded, signer.fingerprint) == Exit.CLEAN
    printed = verified(forwarded, capsys)
    assert "not proven" not in printed
    assert "12 entries, 12 of them proven by their table's signature" in printed


def test_an_invented_entry_with_a_hash_that_follows_is_not_proven(
    forwarded: FloorSite, journal: Path, signer: Signer, capsys: Printed
) -> None:
    name_key(forwarded, signer.fingerprint)
    invent(forwarded, journal)
    said = "proven up to entry 12; 1 entry not yet signed"
    assert f"not proven BJ-07 epoch 1: {said}" in verified(forwarded, capsys)
    run(["floor", "status", "--floor", forwarded.reader])
    assert said in " ".join(capsys.readouterr().out.split())


def test_a_forwarder_can_prove_nothing_by_a_signature_of_its_own(
    forwarded: FloorSite, journal: Path, signer: Signer, tmp_path: Path, capsys: Printed
) -> None:
    name_key(forwarded, signer.fingerprint)
    invent(forwarded, journal)
    stranger = Signer.create(tmp_path / "stranger.key")
    last = last_signature(journal)
    assert last is not None
    made = stranger.sign(SIGNED + 1, 7, bytes(32))
    with psycopg.connect(forwarded.forwarder, autocommit=True) as forger:
        (journal_id,) = _journal_ids(forwarded)
        for key, signature in ((stranger.public, made), (signer.public, last.signature)):
            for seq in (SIGNED, SIGNED + 1):
                values = (journal_id, seq, 7, key, signature)
                forger.execute("SELECT pitwatch.signed(%s, %s, %s, %s, %s)", values)
        for denied in (
            f"INSERT INTO pitwatch.table_keys VALUES ('BJ-07', '{stranger.fingerprint}')",
            "DELETE FROM pitwatch.signatures",
        ):
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                forger.execute(denied)
    assert "proven up to entry 12; 1 entry not yet signed" in verified(forwarded, capsys)


def _journal_ids(site: FloorSite) -> list[str]:
    with psycopg.connect(site.reader) as reader:
        return [row[0] for row in reader.execute("SELECT journal FROM pitwatch.chains").fetchall()]


def test_a_service_says_so_of_a_session_and_goes_on_as_the_table_signs(
    site: FloorSite, forwarded: FloorSite, journal: Path, signer: Signer, tmp_path: Path
) -> None:
    name_key(site, signer.fingerprint)
    with Journal.open(journal, Checkpoints(None, HostClock())) as more:
        more.append_all(some(3))
    with FloorDatabase.connected(site.forwarder) as floor:
        assert Forwarder((journal,), Described()).forward_all(floor) == 3
    store = RecordStore(site.reader)
    with house(tmp_path, tmp_path / "state", store=store) as found:
        found.staff()
        with found.signed_in("audit") as audit:

            def shown() -> tuple[int, int]:
                view = found.get(audit, "/api/sessions/bj-07")
                return view["last_seq"], view["proven"]

            until(lambda: shown() == (15, 12))
            report = audit.get("/api/sessions/bj-07/report.html").text
            assert "proven up to entry 12; 3 entries not yet signed" in report
            with Journal.open(journal, Checkpoints(signer, HostClock(), entries=1)) as more:
                more.append_all(some(1))
                last = more.last_seq
            with FloorDatabase.connected(site.forwarder) as floor:
                Forwarder((journal,), Described()).forward_all(floor)
            send_signatures(site, journal)
            until(lambda: shown() == (last, last))
            assert (
                f"proven up to entry {last}<" in audit.get("/api/sessions/bj-07/report.html").text
            )
