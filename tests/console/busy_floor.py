"""A busy house to look at: many tables, some dealing now, some in trouble, some recorded."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Final

from msgspec.structs import replace

from models.events import CameraFault, DeviceReturned, Event, ReaderFault
from stream.clock import HostClock
from stream.journal import Journal
from tests.golden.sessions import Heard, heard
from tests.server.doubted import blinded, table

_SECOND_NS: Final = 1_000_000_000
_PLAYED: Final = ("plain", "mistake", "line-shoe")


def shifted(observations: list[Heard], last_ns: int) -> list[Heard]:
    """Return a recorded session as if its last observation came at ``last_ns``."""
    by_ns = last_ns - observations[-1].now_ns
    return [
        Heard(one.now_ns + by_ns, replace(one.observation, at=(one.observation.at or 0) + by_ns))
        for one in observations
    ]


@contextmanager
def busy_floor(folder: Path, tables: int, now_ns: int | None = None) -> Iterator[None]:
    """Fill ``folder`` with journals of ``tables`` tables, and hold those that deal open."""
    now = HostClock().now_ns() if now_ns is None else now_ns
    with ExitStack() as dealing:
        for number in range(1, tables + 1):
            _one(folder, number, now, dealing)
        yield


def _one(folder: Path, number: int, now_ns: int, dealing: ExitStack) -> None:
    name = f"BJ-{number + 20}"
    last_ns = now_ns - (number % 7) * 9 * _SECOND_NS
    path = folder / f"{name.lower()}.journal"
    if number % 11 == 10:
        path.write_bytes(b"this is no journal")
        return
    journal = Journal.create(path)
    observations = list(blinded()) if number % 9 == 4 else heard(_PLAYED[number % 3])
    observations = shifted(observations, last_ns)
    played = observations[: len(observations) * (2 + number % 3) // 4]
    live = table(journal, name)
    for one in played:
        live.observe((one.observation,), one.now_ns)
    journal.append_all(_device_events(number, name, played[-1].now_ns))
    if number % 8 == 5:
        live.finish()
        journal.close()
    else:
        dealing.callback(journal.close)


def _device_events(number: int, name: str, at_ns: int) -> list[Event]:
    """Say what became of a table's devices: one lost, one with a picture left out, one back."""
    source = "camera:overhead"
    lost = ReaderFault(table=name, at=at_ns, source="shoe", kind="link_lost", detail="unplugged")
    match number % 6:
        case 1:
            return [lost]
        case 2:
            dropped = {"kind": "left_out", "detail": "too fast", "frame": 7}
            return [CameraFault(table=name, at=at_ns, source=source, **dropped)]  # type: ignore[arg-type]
        case 4:
            kinds = {"overloaded": 1, "left_out": 26}
            return [
                CameraFault(
                    table=name, at=at_ns, source=source, kind=kind, detail="", frame=7, count=count
                )
                for kind, count in kinds.items()
            ]
        case 3:
            back = DeviceReturned(table=name, at=at_ns, source="shoe", away_ns=1, tries=1)
            return [lost, back]
    return []
