"""Session folders on disk: the description, the serial captures, the people's entries."""

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from itertools import count, takewhile
from pathlib import Path
from types import TracebackType
from typing import Final, Self, TextIO

import msgspec

from models.chip_set import ChipSet
from models.decode import decode_event, decode_events, from_toml
from models.errors import InputRefused, InstallerError, TechnicianError
from models.events import Event
from models.judgements import AnyEvent
from models.layout import TableLayout, faults
from models.session import CameraRecord, Session
from stream import library
from stream.toml import to_toml

SESSION_FILE: Final = "session.toml"
"""A folder with this file is a session."""

_OFFSET: Final = re.compile(r"[0-9]{1,18}")


class Chunk(msgspec.Struct, frozen=True):
    """The bytes of one read of a port."""

    offset_ns: int
    """Nanoseconds since the session's start."""
    data: bytes


class LostLines(msgspec.Struct, frozen=True):
    """Lines of a recorded stream that say nothing: torn, misplaced or overwritten."""

    offset_ns: int
    """Of the line before them, nanoseconds since the session's start."""
    count: int
    what: str
    """File, line, and what is wrong with the first of them."""


def read_session(folder: Path) -> Session:
    """Read and check a session's description; check that every file that it names exists.

    Raises:
        InputRefused: a field does not match the format.
        InstallerError: the folder is no session, or its layout is missing or impossible.
        TechnicianError: a recorded file that it names is missing.
    """
    session = read_description(folder)
    read_layout(folder / session.layout)
    for file in _recorded_files(session):
        if not (folder / file).is_file():
            raise TechnicianError(
                "the recording is missing",
                where=str(folder / file),
                way_out=f"Restore the file, or take it out of {SESSION_FILE}",
            )
    return session


def read_description(folder: Path) -> Session:
    """Read a session's own description, also during recording; check no other file.

    Raises:
        InputRefused: a field does not match the format.
        InstallerError: the folder is no session.
    """
    source = folder / SESSION_FILE
    text = _text(source, "Give the folder of a recorded session")
    return from_toml(text, Session, str(source))


def video_files(folder: Path, camera: CameraRecord) -> tuple[Path, ...]:
    """Return the segments of a camera's video, in order; of an unclosed one, the existing ones.

    The first is returned even where it does not exist.
    """
    if camera.segments is not None:
        return tuple(folder / camera.segment(number) for number in range(camera.segments))
    later = (folder / camera.segment(number) for number in count(1))
    return (folder / camera.file, *takewhile(Path.is_file, later))


def write_session(folder: Path, session: Session) -> None:
    """Write the description; the caller writes the files that it names."""
    (folder / SESSION_FILE).write_text(to_toml(session), encoding="utf-8")


def table_layout(name: str) -> TableLayout:
    """Return a shipped layout by its id, or read it from a TOML file.

    Raises:
        InstallerError: there is none such, or it is impossible.
        InputRefused: a field does not match the format.
    """
    if Path(name).suffix == ".toml":
        return read_layout(Path(name))
    return from_toml(library.layout_text(name), TableLayout, name)


def table_chips(name: str) -> ChipSet:
    """Return a shipped chip set by its id, or read it from a TOML file.

    Raises:
        InstallerError: there is none such.
        InputRefused: a field does not match the format.
    """
    if Path(name).suffix == ".toml":
        file = Path(name)
        return from_toml(_text(file, "Restore the chip set of this table"), ChipSet, str(file))
    return from_toml(library.chip_set_text(name), ChipSet, name)


def read_layout(file: Path) -> TableLayout:
    """Read a table layout and check that it can be a real felt.

    Raises:
        InputRefused: a field does not match the format.
        InstallerError: the file is missing, or the layout is impossible.
    """
    layout = from_toml(_text(file, "Restore the layout of this table"), TableLayout, str(file))
    if found := faults(layout):
        raise InstallerError(
            f"the layout is impossible: {'; '.join(found)}",
            where=str(file),
            way_out="Measure the felt again and correct the layout",
        )
    return layout


def read_events(file: Path) -> Iterator[AnyEvent]:
    """Yield the events of a JSON Lines file.

    Raises:
        InputRefused: at the first line that is no event.
        TechnicianError: the file is missing.
    """
    try:
        with file.open("rb") as lines:
            for _, event in decode_events(lines, str(file)):
                yield event
    except OSError as fault:
        raise _unreadable(file, fault) from fault


def read_event_log(file: Path) -> tuple[tuple[AnyEvent, ...], tuple[LostLines, ...]]:
    """Read the events that a table recorded; a line that is no JSON costs that line alone.

    The times of the lost lines are those of the events before them, since the epoch; 0 at first.

    Raises:
        InputRefused: at the first line that is JSON and no event.
        TechnicianError: the file is missing.
    """
    events: list[AnyEvent] = []
    lost: list[LostLines] = []
    try:
        lines = file.read_bytes().splitlines()
    except OSError as fault:
        raise _unreadable(file, fault) from fault
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            msgspec.json.decode(line)
        except (msgspec.DecodeError, UnicodeDecodeError):
            at_ns = events[-1].at or 0 if events else 0
            lost.append(LostLines(at_ns, 1, f"{file.name}:{number}: the line is torn"))
        else:
            events.append(decode_event(line, str(file), number))
    return tuple(events), tuple(lost)


def write_events(file: Path, events: Iterable[Event]) -> None:
    """Write events as JSON Lines."""
    with file.open("wb") as lines:
        for event in events:
            lines.write(msgspec.json.encode(event) + b"\n")


class Capture(msgspec.Struct, frozen=True):
    """A serial capture: the reads in their order, and the lines that are none."""

    chunks: tuple[Chunk, ...]
    lost: tuple[LostLines, ...]


def read_capture(file: Path) -> Capture:
    """Read a serial capture. A line that is no ``<ns since start> <hex>`` costs that line alone.

    A line is misplaced where its time does not fit most others: they are what must not go back.

    Raises:
        InputRefused: not one line of it is sound.
        TechnicianError: the file is missing.
    """
    try:
        with file.open("r", encoding="ascii", errors="replace") as lines:
            read = [
                (number, _chunk(line, str(file), number))
                for number, line in enumerate(lines, start=1)
                if line.strip()
            ]
    except OSError as fault:
        raise _unreadable(file, fault) from fault
    sound = [(number, one) for number, one in read if isinstance(one, Chunk)]
    in_order = {sound[at][0] for at in _rising([one.offset_ns for _, one in sound])}
    chunks: list[Chunk] = []
    lost: list[LostLines] = []
    gone = 0
    for number, one in read:
        if isinstance(one, Chunk) and number in in_order:
            chunks.append(one)
            gone = 0
            continue
        last_ns = chunks[-1].offset_ns if chunks else 0
        gone += 1
        if gone > 1:
            lost[-1] = LostLines(last_ns, gone, lost[-1].what)
            continue
        refused = _misplaced(str(file), number, last_ns, one) if isinstance(one, Chunk) else one
        if not in_order:
            raise refused
        lost.append(LostLines(last_ns, 1, f"{file.name}:{number}: {refused.what}"))
    return Capture(tuple(chunks), tuple(lost))


def _rising(times_ns: Sequence[int]) -> list[int]:
    """Return the places of the most times that never go back; of two that differ, the first."""
    ends: list[int] = []
    firsts: list[int] = []
    after = [-1] * len(times_ns)
    for place in reversed(range(len(times_ns))):
        at = bisect_right(ends, -times_ns[place])
        after[place] = firsts[at - 1] if at else -1
        ends[at : at + 1] = [-times_ns[place]]
        firsts[at : at + 1] = [place]
    found: list[int] = []
    place = firsts[-1] if firsts else -1
    while place >= 0:
        found.append(place)
        place = after[place]
    return found


class CaptureWriter:
    """Writes a serial capture, one line a read; each line is handed to the disk at once."""

    def __init__(self, file: Path) -> None:
        self._lines: TextIO = file.open("w", encoding="ascii", buffering=1)

    def add(self, chunk: Chunk) -> bytes:
        """Write one read; return its line as written."""
        line = f"{chunk.offset_ns} {chunk.data.hex()}\n"
        self._lines.write(line)
        return line.encode("ascii")

    def close(self) -> None:
        """Finish the file."""
        self._lines.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        fault: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


def write_capture(file: Path, chunks: Iterable[Chunk]) -> None:
    """Write a whole serial capture."""
    with CaptureWriter(file) as writer:
        for chunk in chunks:
            writer.add(chunk)


def _chunk(line: str, source: str, number: int) -> Chunk | InputRefused:
    offset, _, payload = line.strip().partition(" ")
    if not _OFFSET.fullmatch(offset):
        return _refused(source, number, "ns", "nanoseconds since the start", offset)
    try:
        data = bytes.fromhex(payload)
    except ValueError:
        return _refused(source, number, "hex", "pairs of hex digits", payload)
    if not data:
        return _refused(source, number, "hex", "at least one byte", payload)
    return Chunk(int(offset), data)


def _misplaced(source: str, number: int, last_ns: int, one: Chunk) -> InputRefused:
    expected = f"a time that fits the lines around it, after {last_ns}"
    return _refused(source, number, "ns", expected, str(one.offset_ns))


def _refused(source: str, line: int, field: str, expected: str, found: str) -> InputRefused:
    shown = repr(found if len(found) <= 60 else found[:59] + "…")
    return InputRefused(source=source, line=line, field=field, expected=expected, found=shown)


def _recorded_files(session: Session) -> Iterator[str]:
    for camera in session.cameras:
        yield from (camera.segment(number) for number in range(camera.segments or 1))
    yield from (port.file for port in session.serial)
    named = (session.console, session.links, session.truth)
    yield from (file for file in named if file is not None)


def _text(file: Path, way_out: str) -> str:
    if not file.is_file():
        raise InstallerError("there is no such file", where=str(file), way_out=way_out)
    try:
        return file.read_text(encoding="utf-8")
    except UnicodeDecodeError as fault:
        raise InputRefused(
            source=str(file), field="document", expected="UTF-8 text", found=f"byte {fault.start}"
        ) from fault
    except OSError as fault:
        raise InstallerError(
            f"the file cannot be read: {fault.strerror}", where=str(file), way_out=way_out
        ) from fault


def _unreadable(file: Path, fault: OSError) -> TechnicianError:
    return TechnicianError(
        f"the file cannot be read: {fault.strerror}",
        where=str(file),
        way_out="Restore it from the recording",
    )
