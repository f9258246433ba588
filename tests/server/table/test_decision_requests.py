"""What a person hands in at a live table is acknowledged once it stands in the journal."""

import asyncio
import socket
import stat
from pathlib import Path

import msgspec
import pytest
from msgspec.structs import replace

from models.errors import InputRefused, OperatorError, TechnicianError
from models.events import (
    ClockChecked,
    ConsoleEntry,
    ReviewResolved,
    RoundClosed,
    TrayChanged,
    TrayCounted,
)
from server.process.file_modes import GROUP_READS
from server.table.decision_requests import Words, hand_in, open_for_requests, socket_of
from server.table.persons import Word
from server.table.playing import played
from server.table.resolving import decide_closed
from simulation.session import simulate
from stream.journal import Journal
from stream.reading import UnknownEvent
from tests.server.live_tables import SETTINGS, Run

STANDS = ReviewResolved(source="console:ann", at=7, round=1, item=0, decision="stands")


@pytest.fixture
def journal(tmp_path: Path) -> Path:
    return tmp_path / "BJ-01.journal"


def test_what_is_handed_in_is_answered_with_its_place_in_the_journal(journal: Path) -> None:
    taken: list[Word] = []

    async def take(word: Word) -> int:
        taken.append(word)
        return 40 + len(taken)

    async def asked() -> list[int | None]:
        tray = ConsoleEntry(source="console:bob", at=8, fact=TrayCounted(amount=5))
        async with open_for_requests(journal, take):
            return [await hand_in(journal, STANDS), await hand_in(journal, tray)]

    assert asyncio.run(asked()) == [41, 42]
    assert taken[0] == STANDS
    assert not socket_of(journal).exists()


def test_a_refusal_gives_the_reason_and_an_unknown_word_is_refused(journal: Path) -> None:
    async def take(_: Word) -> int:
        raise OperatorError("round 1 has no item 0", where="review", way_out="Name another")

    async def asked() -> bytes:
        async with open_for_requests(journal, take):
            with pytest.raises(OperatorError, match=r"no item 0\. Name another"):
                await hand_in(journal, STANDS)
            reader, writer = await asyncio.open_unix_connection(str(socket_of(journal)))
            writer.write(b'{"type":"round_closed"}\nno json\n')
            answers = await reader.readline() + await reader.readline()
            writer.close()
            return answers

    answers = asyncio.run(asked())
    assert b"expected a console_entry, a review_resolved or a clock_checked" in answers
    assert answers.count(b"refused") == 2


@pytest.mark.parametrize("longer_by", [1, 1 << 17], ids=["a-little", "much"])
def test_a_line_that_is_too_long_is_refused_and_the_next_one_taken(
    journal: Path, longer_by: int
) -> None:
    async def asked() -> tuple[bytes, bytes]:
        async with open_for_requests(journal, _taken):
            reader, writer = await asyncio.open_unix_connection(str(socket_of(journal)))
            writer.write(
                b"x" * ((1 << 16) + longer_by) + b"\n" + msgspec.json.encode(STANDS) + b"\n"
            )
            answers = await reader.readline(), await reader.readline()
            writer.close()
            return answers

    refused, answered = asyncio.run(asked())
    assert b"at most 65536 bytes" in msgspec.json.decode(refused)["refused"].encode()
    assert msgspec.json.decode(answered) == {"seq": 3}


def test_who_hands_in_too_long_an_entry_learns_why(journal: Path) -> None:
    async def asked() -> None:
        async with open_for_requests(journal, _taken):
            with pytest.raises(OperatorError, match="at most 65536 bytes"):
                await hand_in(journal, replace(STANDS, reason="x" * (1 << 20)))

    asyncio.run(asked())


@pytest.mark.parametrize(
    "source", ["shoe", "camera:overhead", "plate:3", "", "console", "console: "]
)
@pytest.mark.parametrize(
    "word",
    [STANDS, ConsoleEntry(source="console:bob", fact=RoundClosed()), ClockChecked(source="x")],
    ids=lambda word: type(word).__name__,
)
def test_only_a_person_states_anything_here(journal: Path, word: Word, source: str) -> None:
    async def asked() -> None:
        async with open_for_requests(journal, _taken):
            with pytest.raises(OperatorError, match="expected console:NAME"):
                await hand_in(journal, replace(word, source=source))

    asyncio.run(asked())


def test_only_a_person_decides_on_a_closed_journal(journal: Path) -> None:
    with pytest.raises(InputRefused, match="expected console:NAME"):
        decide_closed(journal, replace(STANDS, source="shoe"))


async def _taken(_: Word) -> int:
    return 3


@pytest.mark.parametrize(("is_shared", "mode"), [("0", 0o600), ("1", 0o660)])
def test_the_desk_is_its_users_alone_unless_its_group_reads(
    journal: Path, monkeypatch: pytest.MonkeyPatch, is_shared: str, mode: int
) -> None:
    monkeypatch.setenv(GROUP_READS, is_shared)

    async def found() -> int:
        async with open_for_requests(journal, _taken):
            return stat.S_IMODE(socket_of(journal).stat().st_mode)

    assert asyncio.run(found()) == mode


def test_where_no_table_is_at_work_nothing_is_handed_in(journal: Path) -> None:
    assert asyncio.run(hand_in(journal, STANDS)) is None
    with socket.socket(socket.AF_UNIX) as left_by_a_killed_run:
        left_by_a_killed_run.bind(str(socket_of(journal)))
    assert asyncio.run(hand_in(journal, STANDS)) is None


def test_a_table_that_ends_without_an_answer_is_reported(journal: Path) -> None:
    async def asked() -> None:
        async def hang_up(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            writer.close()

        server = await asyncio.start_unix_server(hang_up, str(socket_of(journal)))
        async with server:
            with pytest.raises(TechnicianError, match="did not acknowledge"):
                await hand_in(journal, STANDS)

    asyncio.run(asked())


def test_a_journal_in_a_deep_folder_has_a_socket_too(tmp_path: Path) -> None:
    deep = tmp_path / ("a" * 60) / ("b" * 60)
    deep.mkdir(parents=True)

    async def take(_: Word) -> int:
        return 3

    async def asked() -> int | None:
        async with open_for_requests(deep / "t.journal", take):
            return await hand_in(deep / "t.journal", STANDS)

    assert asyncio.run(asked()) == 3


def test_the_same_word_is_known_again() -> None:
    async def entered() -> None:
        words = Words([replace(STANDS, seq=5), RoundClosed(seq=6)])
        assert words.seq_of(STANDS) == 5
        later = replace(STANDS, at=9)
        assert words.seq_of(later) is None
        first, is_new = words.expect(later)
        assert is_new
        assert words.expect(later) == (first, False)
        words.journalled(replace(later, seq=12, table="BJ-01"))
        assert await first == 12

    asyncio.run(entered())


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return simulate(SETTINGS, tmp_path_factory.mktemp("dealt") / "session")


@pytest.mark.slow
def test_a_review_of_a_live_table_is_resolved_while_it_runs(session: Path, tmp_path: Path) -> None:
    """The table was stopped in the round, so a person must decide whether the record stands."""
    journal = tmp_path / "BJ-01.journal"
    with played(session, tmp_path) as playing:
        first = Run(playing, SETTINGS, journal)
        asyncio.run(first.until(lambda found: found.in_play() and found.cards() >= 3))
        second = Run(playing, SETTINGS, journal)
        asyncio.run(_decided(second, journal))
        assert [result.status for result in second.settled[:1]] == ["review"]
        assert (second.settled[-1].status, second.settled[-1].reviews) == ("final", ())
        third = Run(playing, SETTINGS, journal)
        asyncio.run(third.until(lambda _: True, begin=False))
        assert third.settled == [], "what was settled is known again"
    with Journal.open(journal) as written:
        events = [event for event in written.read() if not isinstance(event, UnknownEvent)]
    decisions = [event for event in events if isinstance(event, ReviewResolved)]
    assert {one.source for one in decisions} == {"console:ann"}


async def _decided(run: Run, journal: Path) -> None:
    """Run on until the round is final, and let each of its items stand meanwhile."""
    running = asyncio.create_task(run.until(_is_final, begin=False))
    while not (run.settled or running.done()):
        await asyncio.sleep(0.05)
    if running.done():
        running.result()
    with pytest.raises(OperatorError, match="no review item 99"):
        await hand_in(journal, replace(STANDS, item=99))
    await _entered(run, journal)
    for item in range(len(run.settled[0].reviews or ())):
        word = replace(STANDS, item=item, at=None)
        seq = await hand_in(journal, word)
        with_it = [event for event in run.entries() if event.seq == seq]
        assert [type(event) for event in with_it] == [ReviewResolved]
    await running


async def _entered(run: Run, journal: Path) -> None:
    """A change of the tray is in the journal and in the recording; no other spot is taken."""
    buy_in = TrayChanged(amount=-20000, reason="buy_in", spot=3)
    with pytest.raises(OperatorError, match="no spot 9"):
        await hand_in(journal, ConsoleEntry(source="console:ann", fact=replace(buy_in, spot=9)))
    seq = await hand_in(journal, ConsoleEntry(source="console:ann", fact=buy_in))
    (written,) = [event for event in run.entries() if event.seq == seq]
    assert isinstance(written, ConsoleEntry)
    assert run.recording is not None
    kept = (run.recording / "console.jsonl").read_bytes()
    assert msgspec.json.encode(replace(written, seq=None, table=None)) in kept.splitlines()


def _is_final(run: Run) -> bool:
    return [result.status for result in run.settled[-1:]] == ["final"]
