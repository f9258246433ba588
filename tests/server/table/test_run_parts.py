"""The parts of a live table alone: order, identities, entries, retention, the status line."""

import os
import queue
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from models.errors import InputRefused
from models.events import (
    AnyObservation,
    CameraFault,
    CardGone,
    CardSighted,
    ConsoleEntry,
    DeviceReturned,
    ReaderFault,
    RoundOpened,
    ShoeCutCard,
)
from server.house.formatting import Formats
from server.table.config import Recorder
from server.table.entries import Entries
from server.table.order import Observed, Order
from server.table.resume import Identities, Past, unwatched
from server.table.retention import Kept, alarm, to_go
from server.table.status import Standing
from stream.proven_time import Evidence, ProvenTime
from stream.replay import Timed

CAMERA = "camera:overhead"
DAY_NS = 86_400_000_000_000
GB = 1_000_000_000
MS = 1_000_000


# --- order --------------------------------------------------------------------------------


def cut_card(at_ns: int, source: str = "shoe") -> Observed:
    return Timed(at_ns, source, (ShoeCutCard(source=source, at=at_ns, raw=""),))


def test_the_shoe_waits_for_a_camera_that_is_behind() -> None:
    order = Order((CAMERA,), hold_ns=3000)
    order.seen(CAMERA, 10_000)
    order.take(cut_card(10_500))
    assert order.due(10_600) == ()
    order.take(cut_card(10_400, CAMERA))
    order.seen(CAMERA, 10_550)
    assert [one.at_ns for one in order.due(10_700)] == [10_400, 10_500]


def test_a_lost_camera_holds_up_nobody_for_longer_than_its_patience() -> None:
    order = Order((CAMERA,), hold_ns=3000)
    order.seen(CAMERA, 10_000)
    order.take(cut_card(10_500))
    assert order.due(13_000) == ()
    assert [one.at_ns for one in order.due(13_001)] == [10_500]


@given(
    st.lists(st.tuples(st.integers(0, 1000), st.sampled_from(["shoe", "plates", CAMERA]))),
    st.integers(0, 100),
)
def test_what_comes_in_time_comes_out_in_the_order_of_its_time(
    arrivals: list[tuple[int, str]], late: int
) -> None:
    order, out = Order((CAMERA,), hold_ns=2000), list[Observed]()
    for at_ns, source in sorted(arrivals):
        order.take(cut_card(at_ns, source))
        order.seen(CAMERA, at_ns)
        out += order.due(at_ns + late)
    out += order.rest(10_000)
    assert [one.at_ns for one in out] == sorted(at_ns for at_ns, _ in arrivals)


# --- cards keep their identity ----------------------------------------------------------------


def sighted(track: int, x_mm: float, *, at: int = 0, face: str = "up") -> CardSighted:
    return CardSighted(
        source=CAMERA,
        at=at,
        track=track,
        change="new",
        face="up" if face == "up" else "down",
        card=None,
        x_mm=x_mm,
        y_mm=400.0,
        angle_deg=0.0,
        frame=0,
        crop=(0, 0, 1, 1),
    )


PAST = Past(
    (
        sighted(1, -300.0),
        CardGone(source=CAMERA, at=5, track=1, frame=1),
        sighted(2, 0.0, at=6),
        sighted(3, 200.0, at=7),
    ),
    end_ns=7,
    tracks={CAMERA: 3},
)


def renamed(identities: Identities, at_ns: int, *seen: AnyObservation) -> list[tuple[str, int]]:
    renumbered = identities.of(seen, at_ns, 0)
    return [
        (type(one).__name__, one.track)
        for one in renumbered
        if isinstance(one, CardSighted | CardGone)
    ]


def test_a_card_that_still_lies_there_keeps_its_number_and_a_new_one_gets_a_fresh_one() -> None:
    identities = Identities(CAMERA, PAST)
    assert renamed(identities, 10, sighted(1, 4.0), sighted(2, -300.0)) == [
        ("CardSighted", 2),
        ("CardSighted", 5),
    ]
    assert renamed(identities, 11, CardGone(source=CAMERA, at=11, track=1, frame=2)) == [
        ("CardGone", 2)
    ]


def test_a_card_taken_up_meanwhile_is_reported_gone_once_the_felt_was_seen() -> None:
    identities = Identities(CAMERA, PAST)
    assert renamed(identities, 7, sighted(1, 4.0)) == [("CardSighted", 2)]
    assert renamed(identities, 2500 * MS) == []
    (gone,) = identities.of((), 2508 * MS, 0)
    assert isinstance(gone, CardGone)
    assert (gone.track, gone.at) == (3, 8), "it was not there when the watch began again"
    assert renamed(identities, 6000 * MS) == []


def test_cards_laid_while_others_were_taken_up_are_another_rounds_which_nobody_saw_begin() -> None:
    identities = Identities(CAMERA, PAST)
    identities.of((sighted(1, -300.0), sighted(2, 333.0)), 5000 * MS, 0)
    *gone, fault = identities.of((), 7501 * MS, 0)
    assert [(type(one), one.at) for one in gone] == [(CardGone, 4000 * MS)] * 2
    assert isinstance(fault, CameraFault)
    assert (fault.kind, fault.at) == ("unwatched", 4000 * MS + 1)
    assert "2 cards were laid" in fault.detail


def test_a_card_of_another_face_is_another_card() -> None:
    identities = Identities(CAMERA, PAST)
    assert renamed(identities, 10, sighted(1, 4.0, face="down")) == [("CardSighted", 4)]


def test_cards_that_lay_unwatched_are_reported_and_an_empty_felt_is_not() -> None:
    (fault,) = unwatched(PAST, (CAMERA, "camera:side"), 9_000_000_007)
    assert (fault.source, fault.kind) == (CAMERA, "unwatched")
    assert "9.0 s while 2 cards" in fault.detail


# --- entries ------------------------------------------------------------------------------


def test_entries_come_through_a_pipe_and_what_is_none_is_refused_by_line(tmp_path: Path) -> None:
    pipe = tmp_path / "console"
    os.mkfifo(pipe)
    came: queue.Queue[ConsoleEntry | InputRefused] = queue.Queue()
    entries = Entries(str(pipe), came.put, came.put, lambda: 777)
    entries.start()
    with pipe.open("wb", buffering=0) as writing:
        writing.write(b'{"type":"console_entry","source":"console:ann",')
        writing.write(b'"fact":{"type":"round_opened","round":4}}\n{"type":"round_closed"}\n')
        entry, refused = came.get(timeout=5), came.get(timeout=5)
        entries.stop()
        writing.write(b"\n")
    assert isinstance(entry, ConsoleEntry)
    assert (entry.at, entry.fact) == (777, RoundOpened(round=4))
    assert isinstance(refused, InputRefused)
    assert (refused.line, refused.field, refused.found) == (2, "type", "round_closed")


def test_an_entry_that_names_no_person_or_never_ends_is_refused(tmp_path: Path) -> None:
    written = tmp_path / "console.jsonl"
    fact = b'"fact":{"type":"round_opened","round":4}}\n'
    lines = [
        b'{"type":"console_entry","source":"shoe",' + fact,
        b"x" * (3 << 20) + b"\n",
        b'{"type":"console_entry","source":"console:ann",' + fact,
    ]
    written.write_bytes(b"".join(lines))
    came: queue.Queue[ConsoleEntry | InputRefused] = queue.Queue()
    entries = Entries(str(written), came.put, came.put, lambda: 777)
    entries.start()
    stranger, endless, entry = (came.get(timeout=5) for _ in range(3))
    entries.stop()
    assert isinstance(stranger, InputRefused)
    assert (stranger.line, stranger.field, stranger.found) == (1, "source", "'shoe'")
    assert isinstance(endless, InputRefused)
    assert (endless.line, endless.field) == (2, "line")
    assert isinstance(entry, ConsoleEntry)


# --- what is kept -----------------------------------------------------------------------------

KEEP = Recorder(folder="r", keep_days=10, most_gb=3.0, least_free_gb=1.0)
TIME = ProvenTime(start_ns=0, stated="synchronised")
"""What a journal proves whose clocks agree."""


def kept(name: str, age_days: int, size: int = GB, *, held: bool = False) -> Kept:
    return Kept(Evidence(name, (100 - age_days) * DAY_NS, size), held)


def going(sessions: list[Kept], time: ProvenTime = TIME, others_bytes: int = 0) -> tuple[str, ...]:
    all_bytes = others_bytes + sum(one.evidence.size_bytes for one in sessions)
    verdict = to_go(sessions, all_bytes, KEEP, time, 100 * DAY_NS)
    return tuple(one.name for one in verdict.going)


def test_what_is_too_old_goes_unless_it_is_held() -> None:
    assert going([kept("a", 30), kept("b", 20, held=True), kept("c", 5), kept("d", 1, 0)]) == ("a",)


def test_the_oldest_go_until_the_rest_fits_and_the_newest_never() -> None:
    lying = [kept("a", 9), kept("b", 8, held=True), kept("c", 7), kept("d", 1, 4 * GB)]
    assert going(lying) == ("a", "c")
    assert going([kept("a", 9), kept("b", 1)], others_bytes=3 * GB) == ("a",)


def test_a_clock_in_doubt_keeps_what_is_too_old_and_room_asks_no_clock() -> None:
    in_doubt = ProvenTime(start_ns=0, stated="unsynchronised")
    lying = [kept("a", 30, 0), kept("b", 20, 0), kept("c", 1)]
    assert going(lying, in_doubt) == ()
    found = to_go(lying, GB, KEEP, in_doubt, 100 * DAY_NS)
    assert found.in_words() == "2 past keep_days: the clock is not synchronised"
    assert going([kept("a", 2), kept("b", 2, 2 * GB), kept("c", 1)], in_doubt) == ("a",)


@given(st.lists(st.tuples(st.integers(0, 40), st.integers(0, 3 * GB), st.booleans()), max_size=12))
def test_nothing_held_ever_goes_and_nothing_goes_without_need(
    sessions: list[tuple[int, int, bool]],
) -> None:
    lying = [kept(f"{n:02}", age, size, held=held) for n, (age, size, held) in enumerate(sessions)]
    gone = going(lying)
    assert not {one.evidence.name for one in lying if one.stays} & {*gone}
    if sum(one.evidence.size_bytes for one in lying) <= 3 * GB:
        old = {one.evidence.name for one in lying if one.evidence.made_ns < 90 * DAY_NS}
        assert set(gone) <= old


def test_the_alarm_gives_free_and_required_space() -> None:
    assert alarm(2 * GB, KEEP) is None
    assert alarm(GB // 2, KEEP) == "0.5 GB free, 1 GB wanted"


# --- the status line --------------------------------------------------------------------------


def test_the_status_line_names_a_lost_device_until_it_returns() -> None:
    standing = Standing(("shoe", CAMERA))
    standing.take(RoundOpened(round=7))
    assert "round 7 in play" in standing.line(Formats())
    standing.take(ReaderFault(source="shoe", at=1, kind="link_lost", detail="gone"))
    assert "LOST: shoe" in standing.line(Formats())
    standing.take(DeviceReturned(source="shoe", at=2, away_ns=1, tries=1))
    assert "0 of 2 devices heard" in standing.line(Formats())
