"""Device faults in words, and in one line for each device."""

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Final

from models.errors import TechnicianError
from models.events import HELD_BACK, CameraFault, Observation, ReaderFault
from server.house.wording import counted

FAULT_WORDS: Final = {
    "link_lost": "no signal",
    "restarts_spent": "lost too often; next try later",
    "overloaded": "overload, pictures are left out",
    "left_out": "pictures left out",
    "damaged": "damaged packets",
    "unwatched": "not watched",
    "size_changed": "picture size changed",
    "black": "picture black",
    "overexposed": "picture overexposed",
    "clock": "clock apart from the shoe's",
    "mirrored": "picture mirrored",
    "incomplete": "part of the picture lost",
    "frozen": "picture frozen",
    "unfocused": "picture unfocused",
    "moved": "camera moved",
    "obstructed": "view obstructed",
    "covered": "felt covered",
    "held_back_misfit": "faces held back, outline misfits",
    "held_back_moving": "faces held back, not at rest",
    "held_back_cut": "faces held back, cut off",
    "held_back_felt": "faces held back, felt shows",
    "held_back_print": "faces held back, print of other cards",
    "held_back_twice": "faces held back, another face there",
    "checksum": "bad checksum",
    "gap": "cards missing",
    "lost_line": "line of the recording lost",
}
OVERLOAD_WAY_OUT: Final = (
    "Let the camera send fewer or smaller pictures (a USB camera: fps and size of cameras.stream; "
    "a network camera: its own settings, or the url of a smaller stream), end other programs on "
    "the table's machine, or use a faster one"
)
_OVERLOAD: Final = ("overloaded", "left_out")
_BY_NAME: Final = {
    "clock": "Set the camera's clock, or time its pictures by their arrival (stamps); rounds dealt "
    "meanwhile wait for a person",
    "mirrored": "Switch off mirroring in the camera's settings, and calibrate it again",
}
"""Faults that their own words name, each with the way out."""


def fault_text(kind: str) -> str:
    """Write the kind of a fault in words; the console has the same ones."""
    return FAULT_WORDS.get(kind, kind.replace("_", " "))


def device_faults(events: Iterable[object], start_ns: int) -> Iterator[TechnicianError]:
    """Yield a fault for the technician for each device with unreadable or unread data.

    Nothing is lost silently: rounds stay open for whatever a fault may have cost.
    """
    by_source: dict[str, list[ReaderFault | CameraFault]] = {}
    for event in events:
        if isinstance(event, ReaderFault | CameraFault) and not event.kind.startswith(HELD_BACK):
            by_source.setdefault(event.source, []).append(event)
    for source, faults in sorted(by_source.items()):
        unread = [fault for fault in faults if fault.kind in _OVERLOAD]
        torn = [fault for fault in faults if fault.kind == "lost_line"]
        for kind, way_out in _BY_NAME.items():
            if named := [fault for fault in faults if fault.kind == kind]:
                yield _named(source, named, start_ns, way_out)
        apart = {*_OVERLOAD, *_BY_NAME, "lost_line"}
        others = [fault for fault in faults if fault.kind not in apart]
        if unread:
            yield _overload(source, unread, start_ns)
        if torn:
            yield _torn(source, torn)
        if others:
            yield _summary(source, others, start_ns)


def held_back(events: Iterable[object]) -> Iterator[str]:
    """Say for each camera how many faces it read surely and held back, and why.

    These are no fault of a device: what a camera is sure of and does not tell, another one or the
    shoe may tell.
    """
    counts: dict[str, Counter[str]] = {}
    for event in events:
        if isinstance(event, CameraFault) and event.kind.startswith(HELD_BACK):
            counts.setdefault(event.source, Counter())[event.kind] += event.count
    for source, kinds in sorted(counts.items()):
        yield f"{source}: {held_back_text(kinds)}, though read surely"


def held_back_text(kinds: Counter[str]) -> str:
    """Say how many faces were held back, and why, by the kinds of their ``camera_fault``."""
    whys = ((fault_text(kind).partition(", ")[2], number) for kind, number in kinds.items())
    each = ", ".join(f"{why} {number}" for why, number in sorted(whys))
    return f"{counted(kinds.total(), 'face')} held back ({each})"


def _overload(
    source: str, faults: list[ReaderFault | CameraFault], start_ns: int
) -> TechnicianError:
    number = sum(fault.count for fault in faults if fault.kind == "left_out")
    return TechnicianError(
        f"{counted(number, 'picture')} left out: the machine could not keep up "
        f"(the first {_since(faults[0], start_ns):.1f} s after the start)",
        where=source,
        way_out=OVERLOAD_WAY_OUT,
    )


def _torn(source: str, faults: list[ReaderFault | CameraFault]) -> TechnicianError:
    number = sum(fault.count for fault in faults)
    return TechnicianError(
        f"{counted(number, 'line')} of the recording lost (the first: {faults[0].detail})",
        where=source,
        way_out="Restore the file if there is a sound copy; the rest was replayed",
    )


def _named(
    source: str, faults: list[ReaderFault | CameraFault], start_ns: int, way_out: str
) -> TechnicianError:
    since_s = _since(faults[0], start_ns)
    what = f"{faults[0].detail} (found {since_s:.1f} s after the start)"
    return TechnicianError(what, where=source, way_out=way_out)


def _summary(
    source: str, faults: list[ReaderFault | CameraFault], start_ns: int
) -> TechnicianError:
    kinds: Counter[str] = Counter()
    for fault in faults:
        kinds[fault.kind] += fault.count
    each = ", ".join(f"{fault_text(kind)} {number}" for kind, number in kinds.items())
    first_s = _since(faults[0], start_ns)
    if isinstance(faults[0], CameraFault):
        what, way_out = "was unreliable", "Check the camera and its view"
        name = counted(kinds.total(), "time")
    else:
        what, way_out = "could not be read", "Check the port's speed, its cable and the reader"
        name = counted(kinds.total(), "message")
    return TechnicianError(
        f"{name} {what} ({each}; the first {first_s:.1f} s after the start)",
        where=source,
        way_out=way_out,
    )


def _since(fault: Observation, start_ns: int) -> float:
    return ((fault.at or start_ns) - start_ns) / 1e9
