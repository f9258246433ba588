"""When no camera saw the felt."""

import pytest

from models.events import (
    AnyObservation,
    CameraFault,
    CameraRecovered,
    CardGone,
    DeviceReturned,
    PlateRead,
    ProgramStated,
)
from settlement.reconcile.blindness import SEES_AGAIN_NS, Blindness, Span
from settlement.reconcile.timing import SECOND

OVERHEAD, LEFT = "camera:overhead", "camera:left"
LEAD_NS = SECOND


def at(second: float) -> int:
    return round((1000 + second) * SECOND)


def fault(second: float, kind: str = "black", source: str = OVERHEAD) -> CameraFault:
    return CameraFault(source=source, at=at(second), kind=kind, detail="", frame=0)


def over(
    second: float, lasted_s: float, kind: str = "black", source: str = OVERHEAD
) -> CameraRecovered:
    lasted_ns = round(lasted_s * SECOND)
    return CameraRecovered(source=source, at=at(second), kind=kind, lasted_ns=lasted_ns, frame=0)


def gone(second: float, source: str = OVERHEAD) -> CardGone:
    return CardGone(source=source, at=at(second), track=1, frame=0)


def plate(second: float, amount: int) -> PlateRead:
    return PlateRead(source="plate:1", at=at(second), spot=1, circle="0", amount=amount)


def blind(*said: AnyObservation, from_s: float = 0, until_s: float = 100) -> list[Span]:
    known = Blindness()
    for one in said:
        known.take(one)
    return known.during(at(from_s), at(until_s))


def test_a_camera_without_a_fault_is_never_blind() -> None:
    assert blind(gone(1)) == []


def test_it_is_blind_from_before_its_fault_is_reported_until_that_is_over() -> None:
    assert blind(fault(10), over(20, 10)) == [Span(at(10) - LEAD_NS, at(20))]


def test_a_fault_that_lasts_hides_all_up_to_now() -> None:
    assert blind(fault(10), until_s=30) == [Span(at(10) - LEAD_NS, at(30))]


def test_two_kinds_at_once_are_one_time() -> None:
    spans = blind(fault(10), fault(11, "frozen"), over(20, 10), over(21, 9, "frozen"))
    assert spans == [Span(at(10) - LEAD_NS, at(21))]


@pytest.mark.parametrize(
    ("kind", "silent_s"), [("covered", 8), ("link_lost", 60), ("frozen", 0.8), ("obstructed", 0.6)]
)
def test_a_fault_may_have_begun_as_long_before_as_its_report_may_take(
    kind: str, silent_s: float
) -> None:
    (span,) = blind(fault(70, kind))
    assert span.from_ns < at(70 - silent_s)


@pytest.mark.parametrize("kind", ["left_out", "damaged", "unwatched", "held_back_misfit"])
def test_a_fault_without_an_end_hides_nothing(kind: str) -> None:
    assert blind(fault(10, kind)) == []


@pytest.mark.parametrize(
    "returned", [DeviceReturned(source=OVERHEAD, at=at(20), away_ns=0, tries=1), gone(20)]
)
def test_a_lost_link_lasts_until_the_camera_is_heard_of(returned: AnyObservation) -> None:
    (span,) = blind(fault(10, "link_lost"), returned)
    assert span.until_ns == at(20)


def test_a_black_picture_lasts_though_a_card_is_still_reported() -> None:
    (span,) = blind(fault(10), gone(12), until_s=30)
    assert span.until_ns == at(30)


def test_the_end_of_a_fault_tells_since_when_it_was() -> None:
    assert blind(over(20, 10)) == [Span(at(10) - LEAD_NS, at(20))]


def test_a_table_that_starts_again_looks_anew() -> None:
    stated = ProgramStated(source="program", at=at(15), version="", program_hash="", networks={})
    (span,) = blind(fault(10), stated)
    assert span.until_ns == at(15)


def test_where_another_camera_saw_nothing_is_hidden() -> None:
    assert blind(gone(1, LEFT), fault(10), over(20, 10)) == []
    hidden = blind(fault(10), fault(15, source=LEFT), over(20, 10), over(30, 15, source=LEFT))
    assert hidden == [Span(at(15) - LEAD_NS, at(20))]


def test_only_what_bears_on_a_round_counts() -> None:
    said = (fault(10), over(20, 10))
    seen_again_s = 20 + SEES_AGAIN_NS / SECOND
    assert blind(*said, from_s=seen_again_s)
    assert not blind(*said, from_s=seen_again_s + 0.1)
    assert not blind(*said, until_s=8)


def test_a_wager_that_went_meanwhile_is_told_once_and_chips_of_an_earlier_round_are_not() -> None:
    known = Blindness()
    for one in (plate(1, 500), fault(10), plate(12, 0), plate(13, 700), plate(14, 0), over(20, 10)):
        known.take(one)
    (span,) = known.during(at(0), at(30))
    assert [read.at for read in span.went] == [at(12), at(14)]
    known.round_over(at(30))
    assert known.during(at(30.5), at(60)) == []
    known.take(plate(31, 900))
    known.round_over(at(32))
    for one in (fault(40), plate(42, 0), over(45, 5)):
        known.take(one)
    (span,) = known.during(at(33), at(60))
    assert not span.went
