"""Faces that a camera holds back are counted where people look, and are no fault of a device."""

from typing import Final

from models.events import CameraFault, ProgramStated
from models.house import House
from server.house.device_faults import device_faults, held_back
from server.house.formatting import Formats
from server.table.status import Standing

SOURCE: Final = "camera:overhead"


def fault(kind: str, at: int = 5) -> CameraFault:
    return CameraFault(source=SOURCE, at=at, kind=kind, detail="", frame=1)


EVENTS: Final = (
    fault("held_back_misfit"),
    fault("held_back_print"),
    fault("held_back_misfit"),
)


def test_a_replay_says_how_many_and_why() -> None:
    assert [*held_back([*EVENTS, fault("black")])] == [
        f"{SOURCE}: 3 faces held back (outline misfits 2, print of other cards 1), "
        "though read surely"
    ]
    assert [*held_back([fault("black")])] == []


def test_a_face_held_back_is_no_fault_of_a_device() -> None:
    assert [*device_faults(EVENTS, 0)] == []
    (other,) = device_faults([*EVENTS, fault("black")], 0)
    assert "1 time was unreliable (picture black 1;" in str(other)


def test_the_status_line_counts_those_of_this_run() -> None:
    standing, formats = Standing((SOURCE,)), Formats(House())
    for event in EVENTS:
        standing.take(event)
    said = "3 faces held back (outline misfits 2, print of other cards 1)"
    assert said in standing.line(formats)
    standing.take(ProgramStated(source="table", at=9, version="1", program_hash="", networks={}))
    assert "held back" not in standing.line(formats)
