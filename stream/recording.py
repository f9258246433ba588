"""Session folders on disk: the description, the serial captures, the people's entries."""

import re
from collections.abc import Iterable, Iterator
from itertools import count, takewhile
from pathlib import Path
from types import TracebackType
from typing import Final, Self, TextIO

import msgspec

from models.decode import decode_events, from_toml
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


def write_events(file: Path, events: Iterable[Event]) -> None:
    """Write events as JSON Lines."""
    with file.open("wb") as lines:
        for event in events:
            lines.write(msgspec.json.encode(event) + b"\n")


def read_capture(file: Path) -> Iterator[Chunk]:
    """Yield the reads of a serial capture in their order.

    Raises:
        InputRefused: at the first line that is not ``<ns since start> <hex>``.
        TechnicianError: the file is missing.
    """
    try:
        with file.open("r", encoding="ascii", errors="replace") as lines:
            last_ns = 0
            for number, line in enumerate(lines, start=1):
                if line.strip():
                    chunk = _chunk(line, str(file), number, last_ns)
                    last_ns = chunk.offset_ns
                    yield chunk
    except OSError as fault:
        raise _unreadable(file, fault) from fault


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


def _chunk(line: str, source: str, number: int, last_ns: int) -> Chunk:
    offset, _, payload = line.strip().partition(" ")
    if not (_OFFSET.fullmatch(offset) and int(offset) >= last_ns):
        expected = f"nanoseconds since the start, {last_ns} or later"
        raise _refused(source, number, "ns", expected, offset)
    try:
        data = bytes.fromhex(payload)
    except ValueError as fault:
        raise _refused(source, number, "hex", "pairs of hex digits", payload) from fault
    if not data:
        raise _refused(source, number, "hex", "at least one byte", payload)
    return Chunk(int(offset), data)


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
