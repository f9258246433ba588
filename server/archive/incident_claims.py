"""Derive an incident's manifest again from the entries and files beside it.

The proven entries give the table, the round and its time, and the entries of the span; the
session's description gives the files of the incident. A manifest that differs is refused.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

import msgspec

from devices.cameras.footage import Span, picture_times
from models.decode import from_toml
from models.errors import PitwatchError
from models.events import RoundOpened
from models.judgements import AnyEvent
from models.session import Session
from server.archive.incident import EVENTS, PROOF, Facts, end_ns
from server.archive.incident_recorded import FOLDER, HASHES, Hashed
from server.archive.incident_recordings import Differs, Recording, proven_entries, unproven
from stream.excerpt import Proof
from stream.reading import UnknownEvent, event_of
from stream.recorded import RecordingHashed, recording_hashed
from stream.recording import SESSION_FILE
from stream.verifying import found_tail

NO_HASHES: Final = "the recordings: the file has no hashes of them; the journal may have some"
_CLIP_TOLERANCE_NS: Final = 1_000_000
"""A clip's time stamps count microseconds from its first picture, so its length is rounded."""


class _Named(msgspec.Struct):
    table: str | None = None


def differences(
    facts: Facts, proof: Proof, bodies: Sequence[bytes], files: Mapping[str, bytes]
) -> Iterator[str]:
    """Yield the differences of a manifest from the entries and files of its incident."""
    yield from _of_table(facts, proof, bodies)
    yield from _of_time(facts, proof, bodies)
    yield from _of_files(facts, files)


def found_unsigned(proof: Proof, bodies: Sequence[bytes]) -> tuple[tuple[int, int], ...]:
    """Return first and last of the span's entries that a process found unsigned at its start."""
    tails = [tail for body in bodies if (tail := found_tail(body)) is not None]
    spans = ((max(one.first, proof.first), min(one.last, proof.last)) for one in tails)
    return tuple((first, last) for first, last in spans if first <= last)


def tables_named(proof: Proof, bodies: Sequence[bytes]) -> set[str]:
    """Return every table that the journal's identity and its entries name."""
    own = None if proof.identity is None else proof.identity.table
    named = {msgspec.json.decode(body, type=_Named).table for body in bodies}
    return {table for table in named | {own} if table is not None}


def _of_table(facts: Facts, proof: Proof, bodies: Sequence[bytes]) -> Iterator[str]:
    for table in sorted(tables_named(proof, bodies) - {facts.table}):
        yield f"its manifest names table {facts.table}, its journal {table}"


def _of_time(facts: Facts, proof: Proof, bodies: Sequence[bytes]) -> Iterator[str]:
    events = _timed(proof, bodies)
    within = [
        seq for at, seq, _ in events if facts.from_ns <= at <= facts.to_ns and seq is not None
    ]
    if (facts.first, facts.last) != (min(within, default=0), max(within, default=0)):
        yield "its manifest gives another time than its entries"
    elif facts.round is not None and not _is_round(facts, events, facts.round):
        yield f"its manifest names round {facts.round}, its entries do not"


def _is_round(facts: Facts, events: Sequence[tuple[int, int, AnyEvent]], number: int) -> bool:
    """Return whether the span is that round's, with equal margins before and after."""
    for place, (begun_ns, _, one) in enumerate(events):
        if isinstance(one, RoundOpened) and one.round == number:
            margin_ns = begun_ns - facts.from_ns
            ended_ns = end_ns([(at, event) for at, _, event in events[place:]], number)
            if margin_ns >= 0 and facts.to_ns == ended_ns + margin_ns:
                return True
    return False


def _timed(proof: Proof, bodies: Sequence[bytes]) -> list[tuple[int, int, AnyEvent]]:
    events = [event_of(body, EVENTS, seq) for seq, body in enumerate(bodies, start=proof.first)]
    return [
        (event.at, seq, event)
        for seq, event in enumerate(events, start=proof.first)
        if not isinstance(event, UnknownEvent) and event.at is not None
    ]


def _of_files(facts: Facts, files: Mapping[str, bytes]) -> Iterator[str]:
    recordings = tuple(described(files))
    for place, session in recordings:
        if (session.table, session.currency) != (facts.table, facts.currency):
            yield f"its manifest gives another table or currency than {place}{SESSION_FILE}"
    cameras = {place + camera.name for place, session in recordings for camera in session.cameras}
    if cameras != facts.clips.keys():
        yield f"its manifest names other cameras than {SESSION_FILE}"
        return
    filmed = {_clip(name): span for name, span in facts.clips.items() if span is not None}
    proving = {one.name for one in facts.recorded} | ({HASHES} & files.keys())
    expected = {EVENTS, PROOF, *filmed, *proving}.union(*(_kept(*one) for one in recordings))
    for name in sorted(expected ^ files.keys()):
        yield f"{name} {'is missing' if name in expected else 'belongs to no incident'}"
    for name, span in filmed.items():
        if not _is_clip(facts, span, files.get(name, b"")):
            yield f"its manifest gives another time than {name}"


def of_recordings(
    facts: Facts, proof: Proof, bodies: Sequence[bytes], files: Mapping[str, bytes]
) -> tuple[str, ...]:
    """Return the parts of an incident's recordings that the journal's hashes do not prove.

    The hashes are those of ``hashes.json``, and those among the entries of the span.

    Raises:
        Differs: the recorded files do not match their hashes, or lack them.
    """
    own = [hashed for body in bodies if (hashed := recording_hashed(body)) is not None]
    if HASHES not in files:
        if own or facts.recorded:
            raise Differs(f"{HASHES} is missing: {_named(own, facts)}")
        return (NO_HASHES,)
    others, found = proven_entries(files[HASHES], proof)
    entries = sorted(
        {one.seq: one for one in (*others, *own)}.values(), key=lambda one: one.seq or 0
    )
    recordings = _spans(facts, files)
    places = {one.place + FOLDER for one in recordings}
    for ranged in facts.recorded:
        if not any(ranged.name == place + ranged.file for place in places):
            raise Differs(f"{ranged.name} belongs to no recording")
    left = [what for one in recordings for what in unproven(one, entries, facts, files)]
    left += _left_out(facts, recordings, entries)
    if recordings and recordings[0].from_ns > facts.from_ns:
        left.append("that nothing was recorded before the first recording of the span")
    left += [what for one in recordings for what in _unhashed_reads(one, files)]
    left += [f"the hashes of entry {seq}: a process found it unsigned" for seq in found]
    return tuple(left)


def _named(hashed: Sequence[RecordingHashed], facts: Facts) -> str:
    """Return what shows that an incident had hashes."""
    if not hashed:
        return f"{facts.recorded[0].name} is proven by it"
    folders = ", ".join(sorted({one.folder for one in hashed}))
    return f"the entries have hashes of the recording {folders}"


def _left_out(
    facts: Facts, recordings: Sequence[Recording], entries: Sequence[RecordingHashed]
) -> Iterator[str]:
    """Yield the recordings with data of the span, by the entries, that are not in the file."""
    there = {one.folder for one in recordings}
    for folder in sorted({one.folder for one in entries} - there):
        own = [one for one in entries if one.folder == folder]
        pieces = [Hashed(one, piece) for one in own for piece in one.pieces]
        if any(one.touches(facts.from_ns, facts.to_ns) for one in pieces):
            yield f"{folder}: the recording is missing"
    if not recordings:
        yield f"the recordings: {SESSION_FILE} is missing"


def _spans(facts: Facts, files: Mapping[str, bytes]) -> tuple[Recording, ...]:
    """Return the recordings, each with its part of the span."""
    parts = tuple(described(files))
    ends = [*(session.at - 1 for _, session in parts[1:]), facts.to_ns][: len(parts)]
    return tuple(
        Recording(place, session, max(facts.from_ns, session.at), min(facts.to_ns, end))
        for (place, session), end in zip(parts, ends, strict=True)
    )


def _unhashed_reads(recording: Recording, files: Mapping[str, bytes]) -> Iterator[str]:
    """Yield the ports with bytes beyond the hashed ones.

    Raises:
        Differs: the readable bytes are not the recorded ones.
    """
    for port in recording.session.serial:
        recorded = files.get(f"{recording.place}{FOLDER}{port.file}", b"")
        begin, end = (at - recording.session.at for at in (recording.from_ns, recording.to_ns))
        hashed = b"".join(
            line
            for line in recorded.splitlines(keepends=True)
            if begin <= int(line.split(b" ", 1)[0]) <= end
        )
        name = f"{recording.place}serial/{port.file}"
        shown = files.get(name, b"")
        if not shown.startswith(hashed):
            raise Differs(f"{name} is not what was recorded")
        if shown != hashed:
            yield f"{name}: the journal has no hash of its last reads"


def _kept(place: str, session: Session) -> set[str]:
    """Return an incident's files of a recording, without its clips."""
    heard = {f"{place}serial/{port.file}" for port in session.serial}
    return {place + SESSION_FILE, place + session.layout} | heard


def described(files: Mapping[str, bytes]) -> Iterator[tuple[str, Session]]:
    """Yield each recording's place in an incident, with its description."""
    number, place = 1, ""
    while (text := files.get(place + SESSION_FILE)) is not None:
        yield place, from_toml(text.decode("utf-8", "replace"), Session, place + SESSION_FILE)
        number += 1
        place = f"{number}/"


def _clip(camera: str) -> str:
    place, slash, name = camera.rpartition("/")
    return f"{place}{slash}clips/{name}.mp4"


def _is_clip(facts: Facts, span: Span, mp4: bytes) -> bool:
    try:
        times = picture_times(mp4)
    except PitwatchError:
        return False
    within = facts.from_ns <= span.begin_ns <= span.end_ns <= facts.to_ns
    lasts_ns = times[-1] - times[0] if times else -1
    return within and abs(span.end_ns - span.begin_ns - lasts_ns) <= _CLIP_TOLERANCE_NS
