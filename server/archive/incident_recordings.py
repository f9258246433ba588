"""Compare an incident's recorded files with the journal's hashes."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import msgspec

from models.session import Session
from server.archive.incident import Facts
from server.archive.incident_recorded import (
    FOLDER,
    Hashed,
    Proven,
    Ranged,
    described_by,
    devices_of,
    is_after,
    pieces_of,
    ports_of,
    window,
)
from stream.clock import utc
from stream.excerpt import Proof, faults, signed_by
from stream.recorded import RecordingHashed, recording_hashed
from stream.recording import SESSION_FILE
from stream.verifying import found_tail


class Differs(Exception):
    """A recorded file, or its proving entry, differs from the journal."""


@dataclass(frozen=True, slots=True)
class Recording:
    """One recording of an incident, and its part of the span."""

    place: str
    session: Session
    from_ns: int
    to_ns: int

    @property
    def folder(self) -> str:
        """The name of its folder at the table."""
        return f"{self.session.table}-{self.session.at}"


def proven_entries(data: bytes, main: Proof) -> tuple[tuple[RecordingHashed, ...], tuple[int, ...]]:
    """Verify the entries of ``hashes.json`` against the same journal, and return them.

    Returns:
        the entries, and the ``seq`` of each that a process found unsigned.

    Raises:
        Differs: one has changed, or belongs to another journal.
    """
    try:
        entries = msgspec.json.decode(data, type=tuple[Proven, ...])
    except (msgspec.MsgspecError, UnicodeDecodeError) as fault:
        raise Differs("hashes.json does not follow its format") from fault
    in_order = sorted(entries, key=lambda one: one.proof.first)
    found = tuple(one.proof.first for one in in_order if _was_found(one))
    return tuple(_proven(one, main) for one in in_order), found


def _proven(one: Proven, main: Proof) -> RecordingHashed:
    bodies = [body.encode() for body in one.bodies]
    for fault in faults(one.proof, bodies):
        raise Differs(f"hashes.json: {fault}")
    if signed_by(one.proof) != signed_by(main) or one.proof.identity != main.identity:
        raise Differs("hashes.json: an entry is another journal's")
    entry = recording_hashed(bodies[0])
    if entry is None:
        raise Differs("hashes.json: an entry has no hashes")
    return entry


def _was_found(one: Proven) -> bool:
    tails = (found_tail(body.encode()) for body in one.bodies)
    return any(tail is not None and tail.first <= one.proof.first <= tail.last for tail in tails)


def unproven(
    recording: Recording,
    entries: Sequence[RecordingHashed],
    facts: Facts,
    files: Mapping[str, bytes],
) -> Iterator[str]:
    """Yield the parts of a recording that the proven entries leave open.

    Raises:
        Differs: bytes of it do not match their hashes.
    """
    place, session, folder = recording.place, recording.session, recording.folder
    named = described_by(entries, SESSION_FILE, files[place + SESSION_FILE])
    own = [one for one in entries if one.folder == folder]
    if not any(one.entry.folder == folder for one in named):
        yield f"{place}{SESSION_FILE} and its recordings: the journal has no hash of it"
        return
    if not described_by(own, session.layout, files[place + session.layout]):
        yield f"{place}{session.layout}: the journal has no such hash of it"
    taken = [one for one in facts.recorded if one.name.startswith(place + FOLDER)]
    if any(one.folder != folder for one in taken):
        raise Differs(f"{place}{FOLDER} belongs to another recording")
    held = {(one.folder, one.file): set(_held(one, own, files[one.name])) for one in taken}
    for device in devices_of(session):
        yield from _of_device(recording, device, pieces_of(own, device), held)
    for camera in session.cameras:
        if facts.clips[place + camera.name] is None and _filmed(
            recording, pieces_of(own, camera.name)
        ):
            yield f"{place}clips/{camera.name}.mp4 is missing: the camera gave pictures"


def _filmed(recording: Recording, pieces: Iterable[Hashed]) -> bool:
    """Return whether a camera's first or last picture of a piece lies within the span."""
    times = [at for one in pieces for at in (one.piece.from_ns, one.piece.to_ns)]
    return any(at is not None and recording.from_ns <= at <= recording.to_ns for at in times)


def _held(
    ranged: Ranged, entries: Sequence[RecordingHashed], data: bytes
) -> Iterator[tuple[int, int]]:
    """Yield the pieces of a file; every byte of it is in one of them."""
    pieces = [one for entry in entries for one in entry.pieces if one.file == ranged.file]
    at = 0
    for begin, end in ranged.ranges:
        reached = begin
        inside = [one for one in pieces if begin <= one.from_byte < one.to_byte <= end]
        for piece in sorted(inside, key=lambda one: one.from_byte):
            length = piece.to_byte - piece.from_byte
            if piece.from_byte != reached or not piece.is_of(data[at : at + length]):
                raise Differs(f"{ranged.name} is not what was recorded")
            reached, at = piece.to_byte, at + length
            yield piece.from_byte, piece.to_byte
        if reached != end:
            raise Differs(f"{ranged.name} has bytes that the journal has no hash of")
    if at != len(data):
        raise Differs(f"{ranged.name} has more bytes than its manifest states")


def _of_device(
    recording: Recording,
    device: str,
    pieces: Sequence[Hashed],
    held: Mapping[tuple[str, str], set[tuple[int, int]]],
) -> Iterator[str]:
    from_ns, to_ns = recording.from_ns, recording.to_ns
    is_port = device in ports_of(recording.session)
    shown = window(pieces, from_ns, to_ns, is_port=is_port)
    needed = pieces[shown.start : shown.stop]
    if not needed:
        yield f"{device}: the journal's hashes of it are not in the file"
        return
    for one in needed:
        place = (one.piece.from_byte, one.piece.to_byte)
        if one.touches(from_ns, to_ns) and place not in held.get(
            (one.entry.folder, one.piece.file), ()
        ):
            yield f"{device}: what it gave up to {utc(one.piece.to_ns or 0)} is missing"
    if any(not _follows(one, other) for one, other in pairwise(needed)):
        yield f"{device}: hashes are missing between those of the span"
    first, last = needed[0], needed[-1]
    if not _is_begin(first, recording, device):
        yield f"{device}: that nothing was left out at the span's begin"
    closed = last.piece.closed and (last.entry.at or 0) >= to_ns
    if not (is_after(last, to_ns, is_port=is_port) or closed):
        yield f"{device}: that nothing was left out at the span's end"


def _follows(one: Hashed, other: Hashed) -> bool:
    if one.piece.file == other.piece.file:
        return one.piece.to_byte == other.piece.from_byte
    return one.piece.closed and other.piece.from_byte == 0


def _is_begin(first: Hashed, recording: Recording, device: str) -> bool:
    """Return whether a piece ends before the span, or is the recording's first."""
    piece, session = first.piece, recording.session
    names = {camera.name: camera.file for camera in session.cameras}
    names |= {port.port: port.file for port in session.serial}
    if piece.from_byte == 0 and piece.file == names[device]:
        return True
    return piece.to_ns is not None and piece.to_ns < recording.from_ns
