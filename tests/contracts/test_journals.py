"""What every journal keeps to, on disk and in memory."""

from collections.abc import Callable, Iterator
from pathlib import Path

import msgspec
import pytest

from models.cards import Card
from models.errors import InputRefused
from models.events import CardDealt, CardSighted, ReaderFault, RoundClosed, RoundOpened
from models.judgements import AnyEvent, LedgerPosted
from stream.journal import Journal
from stream.reading import UnknownEvent

MAKERS: dict[str, Callable[[Path], Journal]] = {
    "file": lambda folder: Journal.create(folder / "table.journal"),
    "memory": lambda _folder: Journal.in_memory(),
}
LEDGER = LedgerPosted(round=1, account="tray", amount=-1500, memo="é—漢")
EVENTS: tuple[AnyEvent, ...] = (
    RoundOpened(round=1, at=5, table="BJ-07"),
    CardDealt(to="dealer", card=None, face="down", evidence=(1,)),
    CardSighted(
        source="camera:overhead",
        track=3,
        change="new",
        face="up",
        card=None,
        candidates={"8S": 0.6, "6S": 0.4},
        x_mm=-12.25,
        y_mm=1 / 3,
        angle_deg=0.1,
        frame=9,
        crop=(1, 2, 3, 4),
    ),
    LEDGER,
)


@pytest.fixture(params=MAKERS)
def journal(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Journal]:
    with MAKERS[request.param](tmp_path) as made:
        yield made


def test_a_new_journal_is_empty_and_sound(journal: Journal) -> None:
    assert journal.last_seq == 0
    assert list(journal.read()) == []
    assert journal.verify().entries == 0


def test_events_are_numbered_from_1_without_gaps(journal: Journal) -> None:
    first = journal.append(EVENTS[0])
    rest = journal.append_all(EVENTS[1:])
    assert [event.seq for event in (first, *rest)] == [1, 2, 3, 4]
    assert journal.last_seq == 4


def test_what_was_appended_is_read_back(journal: Journal) -> None:
    appended = journal.append_all(EVENTS)
    assert tuple(journal.read()) == appended
    assert [msgspec.structs.replace(event, seq=None) for event in appended] == [*EVENTS]


@pytest.mark.parametrize("after", [0, 1, 3, 4, 9])
def test_reading_goes_on_after_any_entry(journal: Journal, after: int) -> None:
    journal.append_all(EVENTS)
    assert [event.seq for event in journal.read(after)] == [1, 2, 3, 4][after:]


def test_a_long_journal_is_read_whole_while_it_grows(journal: Journal) -> None:
    journal.append_all(RoundOpened(round=n) for n in range(1, 1202))
    reading = journal.read()
    next(reading)
    journal.append(RoundClosed())
    assert [event.seq for event in reading] == list(range(2, 1203))


def test_the_number_an_event_came_with_gives_way(journal: Journal) -> None:
    assert journal.append(RoundOpened(round=1, seq=77)).seq == 1


def test_the_head_stands_for_every_entry_before_it(journal: Journal) -> None:
    journal.append_all(EVENTS)
    other = Journal.in_memory()
    other.append_all((EVENTS[0], EVENTS[1]))
    other.append_all((EVENTS[2], msgspec.structs.replace(LEDGER, amount=-1501)))
    assert journal.verify().entries == other.verify().entries
    assert journal.verify().head != other.verify().head


def test_the_same_events_make_the_same_head(journal: Journal) -> None:
    journal.append_all(EVENTS)
    other = Journal.in_memory()
    for event in EVENTS:
        other.append(event)
    assert journal.verify().head == other.verify().head


def test_nothing_of_a_batch_that_fails_is_kept(journal: Journal) -> None:
    def failing() -> Iterator[RoundOpened]:
        yield RoundOpened(round=1)
        raise LookupError("the source broke")

    journal.append(EVENTS[0])
    with pytest.raises(LookupError):
        journal.append_all(failing())
    assert journal.append(RoundClosed()).seq == 2
    assert journal.verify().entries == 2


def test_an_event_of_a_later_version_survives_word_for_word(journal: Journal) -> None:
    body = b'{"type":"chip_tray_weighed","seq":9,"at":5,"grams":[1.50,{"a":null}]}'
    appended = journal.append(UnknownEvent(seq=9, type="chip_tray_weighed", body=body, at=5))
    (found,) = journal.read()
    assert found == appended
    assert isinstance(found, UnknownEvent)
    assert found.type == "chip_tray_weighed"
    assert msgspec.json.decode(found.body) == msgspec.json.decode(body) | {"seq": 1}
    assert journal.verify().entries == 1


def test_an_unknown_event_copied_to_another_journal_stays_as_it_is(journal: Journal) -> None:
    journal.append(UnknownEvent(seq=None, type="later", body=b'{"type":"later","x":1}'))
    other = Journal.in_memory()
    other.append_all(journal.read())
    assert list(other.read()) == list(journal.read())
    assert other.verify().head == journal.verify().head


def test_a_known_event_with_an_impossible_field_is_refused_on_reading(journal: Journal) -> None:
    body = b'{"type":"card_dealt","to":"dealer","card":"1X"}'
    journal.append(UnknownEvent(seq=None, type="card_dealt", body=body))
    with pytest.raises(InputRefused, match="card"):
        list(journal.read())


def test_a_fault_keeps_the_bytes_it_rests_on(journal: Journal) -> None:
    fault = ReaderFault(source="shoe", kind="checksum", detail="", raw="05314481b8033430")
    assert journal.append(fault).raw == fault.raw
    assert [each.raw for each in journal.read() if isinstance(each, ReaderFault)] == [fault.raw]


def test_a_whole_shoe_of_cards_is_sound(journal: Journal) -> None:
    journal.append_all(CardDealt(to=n % 7 + 1, card=Card("8S")) for n in range(416))
    assert journal.verify().entries == 416
