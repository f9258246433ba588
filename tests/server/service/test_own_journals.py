"""What people did is signed and held to checkpoints elsewhere, as a table's journal is."""

import asyncio
from collections.abc import Iterable
from pathlib import Path

import pytest

from models.errors import OperatorError, TechnicianError
from server.commands.journal import show_verified
from server.process.exit_status import Exit
from server.readmodel.cases import CASES_FILE
from server.service.access.accounts import MINUTE_NS
from server.service.access.activity import PersonActed
from server.service.access.records import ACTIVITY_FILE, Records
from server.service.own_journals import own_journals
from server.service.store import Files
from server.table.sending import target_at
from stream.chaining import E
from stream.clock import SimulatedClock
from stream.journal import Journal, verify_journal
from stream.signing import Signer
from tests.server.service.house import CHEAP, house
from tests.stream.test_checkpoints_away import cut


def public_key(state: Path) -> Path:
    file = state / "public.pem"
    file.write_bytes(Signer.read(state / "report.key").public_pem())
    return file


@pytest.fixture
def state(tmp_path: Path) -> Path:
    """The state of a service that ran and was stopped; its checkpoints are beside it."""
    (tmp_path / "journals").mkdir()
    target = target_at("elsewhere", tmp_path)
    with house(tmp_path / "journals", tmp_path / "state", checkpoints=(target,)) as found:
        found.staff()
    return tmp_path / "state"


@pytest.mark.parametrize("name", [ACTIVITY_FILE, CASES_FILE])
def test_verify_proves_them_by_key_and_checkpoints(state: Path, name: str) -> None:
    key, elsewhere = str(public_key(state)), state.parent / "elsewhere"
    assert show_verified(state / name, [key], [elsewhere], as_json=True) is Exit.CLEAN


def test_a_tail_that_was_cut_is_missed(state: Path) -> None:
    path = state / ACTIVITY_FILE
    entries = verify_journal(path).entries
    cut(path, entries - 2)
    assert verify_journal(path).sealed, "the file alone does not show it"
    with pytest.raises(TechnicianError, match="entries are missing at its end"):
        show_verified(path, [str(public_key(state))], [state.parent / "elsewhere"], as_json=True)


def test_the_service_does_not_go_on_with_a_journal_that_lost_its_end(state: Path) -> None:
    path = state / ACTIVITY_FILE
    cut(path, verify_journal(path).entries - 2)
    signer = Signer.read(state / "report.key")
    with (
        own_journals(
            Files(state, state).own_journal,
            signer,
            (target_at("elsewhere", state.parent),),
            SimulatedClock(),
        ) as own,
        pytest.raises(TechnicianError, match="entries are missing at its end"),
    ):
        own.opened(path)


@pytest.mark.parametrize("name", [ACTIVITY_FILE, CASES_FILE])
def test_an_earlier_unsigned_journal_is_continued_with_a_warning(
    tmp_path: Path, state: Path, name: str
) -> None:
    with Journal.open(state / name) as journal:
        event = next(journal.read(), None)
    (tmp_path / "again").mkdir()
    with Journal.create(tmp_path / "again" / name) as journal:
        if event is not None:
            journal.append(event)
    with house(tmp_path / "journals", tmp_path / "again") as found:
        found.staff()
        with found.signed_in("admin") as client:
            assert found.get(client, "/api/activity")
    after = verify_journal(tmp_path / "again" / name)
    assert after.found == (((1, 1),) if event is not None else ())
    assert after.signed == after.entries


def test_a_second_service_is_not_let_onto_the_checkpoints_of_another(state: Path) -> None:
    target = target_at("elsewhere", state.parent)
    before = (state.parent / "elsewhere").read_bytes()
    other = Signer.create(state.parent / "other.key")
    with (
        pytest.raises(OperatorError, match="the checkpoints of another service") as refused,
        own_journals(Files(state, state).own_journal, other, (target,), SimulatedClock()),
    ):
        pass
    assert "\n" not in str(refused.value)
    assert (state.parent / "elsewhere").read_bytes() == before


class FullNow(Journal):
    """A journal on a disk that is full for a while."""

    is_full = False

    def append_all(self, events: Iterable[E]) -> tuple[E, ...]:
        """Append, or report that the disk is full."""
        if self.is_full:
            raise TechnicianError("the disk is full", where="activity", way_out="Make room")
        return super().append_all(events)


def test_counts_of_strangers_outlive_a_full_disk(tmp_path: Path) -> None:
    clock = SimulatedClock(1)
    journals: list[FullNow] = []

    def begin(path: Path) -> Journal:
        journals.append(FullNow.create(path))
        return journals[0]

    records = Records.open(tmp_path, clock, CHEAP, journal=begin)
    tried = PersonActed(
        at=1,
        person="x",
        by="password",
        action="signed_in",
        target="",
        outcome="refused",
        address="192.0.2.1",
    )

    async def through() -> tuple[PersonActed, ...]:
        for _ in range(5):
            await records.note_stranger(tried)
        journals[0].is_full = True
        await records.note_counted(10 * MINUTE_NS)
        journals[0].is_full = False
        await records.note_counted(11 * MINUTE_NS)
        await records.note_counted(12 * MINUTE_NS)
        found = await records.activity(None, 10)
        await records.close()
        return found

    assert [one.count for one in asyncio.run(through())] == [4, 1]
