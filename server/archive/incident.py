"""An incident in one file: its video, serial bytes and events, and their proof.

It is a bundle in a ZIP that any program opens::

    manifest.json        what it is of, the SHA-256 of every other file, the exporter's signature
    clips/overhead.mp4   each camera's video, table and time burned into every picture
    events.jsonl         the journal's entries, a line each as it was hashed
    proof.json           what they are held against: chain, checkpoint, key (stream/excerpt.py)
    serial/shoe.cap      the bytes of each port, times from the session's start
    session.toml         the table as it was recorded, and its felt
    layout.toml
    hashes.json          the journal's hashes of the recorded files, each entry with its proof
    recorded/…           the recorded bytes that they prove (server/archive/incident_recorded.py)
    2/…                  the same of the next recording, where the table started again meanwhile
"""

import os
import stat
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import msgspec

from devices.cameras.footage import Span
from models.errors import OperatorError, TechnicianError
from models.events import RoundClosed, RoundOpened
from models.judgements import AnyEvent, RoundSettled
from models.session import Session
from server.archive.clips import Clips
from server.archive.incident_recorded import HASHES, Cut, Ranged, cut, proofs
from server.bundle.bundle import joined
from server.bundle.containers import ZIP
from server.bundle.manifest import Head, Manifest, about
from server.table.recorder import hold_file
from stream.clock import utc
from stream.excerpt import Excerpt, Proof, excerpt, excerpts
from stream.reading import UnknownEvent, read_as_written
from stream.recorded import hashed_in
from stream.recording import SESSION_FILE, read_capture, read_description
from stream.signing import Signer

EVENTS: Final = "events.jsonl"
PROOF: Final = "proof.json"
_SETTLED_WITHIN_NS: Final = 3_600_000_000_000


class _Named(msgspec.Struct):
    table: str | None = None


class Facts(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What an incident is of."""

    table: str
    currency: str
    round: int | None
    """The requested round; ``None`` for a time span."""
    from_ns: int
    to_ns: int
    """End of the span, nanoseconds since the Unix epoch, UTC."""
    first: int
    last: int
    """The journal's last entry of the span; later ones serve the proof."""
    clips: dict[str, Span | None]
    """Each camera's clip: the table's time of its first and last picture. ``None`` where the camera
    gave no picture then. ``2/overhead`` belongs to the second recording."""
    recorded: tuple[Ranged, ...] = ()
    """The files of ``recorded/``; none where the journal has no hashes of them."""


@dataclass(frozen=True, slots=True)
class Part:
    """A recorded session of the table, and its part of the requested span."""

    folder: Path
    from_ns: int
    to_ns: int


@dataclass(frozen=True, slots=True)
class Asked:
    """The requested span of a table's time, and its journal entries."""

    from_ns: int
    to_ns: int
    first: int
    last: int
    round: int | None = None


def round_asked(journal: Path, number: int, margin_ns: int) -> Asked:
    """Return a round's span, from its opening to its settlement, with a margin.

    Raises:
        OperatorError: the journal has no such round.
        TechnicianError: it is damaged.
    """
    events = _timed(journal)
    opened = [
        place
        for place, (_, one) in enumerate(events)
        if isinstance(one, RoundOpened) and one.round == number
    ]
    if not opened:
        raise OperatorError(
            f"there is no round {number}",
            where=str(journal),
            way_out="Give a round that exists, or a time with --from and --to",
        )
    begun_ns = events[opened[-1]][0]
    ended_ns = end_ns(events[opened[-1] :], number)
    return _asked(events, begun_ns - margin_ns, ended_ns + margin_ns, number, journal)


def end_ns(events: Sequence[tuple[int, AnyEvent]], number: int) -> int:
    """Return when a round that opens ``events`` settled; for one in play, its last time."""
    ended_ns = begun_ns = events[0][0]
    in_play = True
    for at, event in events[1:]:
        in_play = in_play and not isinstance(event, RoundOpened)
        settled = isinstance(event, RoundSettled) and event.result.round == number
        if in_play or (settled and at - begun_ns <= _SETTLED_WITHIN_NS):
            ended_ns = max(ended_ns, at)
        in_play = in_play and not isinstance(event, RoundClosed)
    return ended_ns


def entry_asked(journal: Path, seq: int, margin_ns: int) -> Asked:
    """Return the span around an entry, such as the fact that a mistake names.

    Raises:
        OperatorError: the journal has no such entry, or the entry has no time.
        TechnicianError: it is damaged.
    """
    events = _timed(journal)
    moments = [at for at, one in events if one.seq == seq]
    if not moments:
        raise OperatorError(
            f"there is no entry {seq} with a time",
            where=str(journal),
            way_out="Give the seq that the mistake names",
        )
    return _asked(events, moments[0] - margin_ns, moments[0] + margin_ns, None, journal)


def span_asked(journal: Path, from_ns: int, to_ns: int) -> Asked:
    """Return a span of the table's time.

    Raises:
        OperatorError: the journal has no entry of that time.
        TechnicianError: it is damaged.
    """
    return _asked(_timed(journal), from_ns, to_ns, None, journal)


def _timed(journal: Path) -> list[tuple[int, AnyEvent]]:
    return [
        (event.at, event)
        for event in read_as_written(journal)
        if not isinstance(event, UnknownEvent) and event.at is not None
    ]


def _asked(
    events: Sequence[tuple[int, AnyEvent]],
    from_ns: int,
    to_ns: int,
    number: int | None,
    journal: Path,
) -> Asked:
    found = [one.seq for at, one in events if from_ns <= at <= to_ns and one.seq is not None]
    if not found:
        raise OperatorError(
            "the journal has no entry of that time",
            where=str(journal),
            way_out="Give a time when the table ran",
        )
    return Asked(from_ns, to_ns, min(found), max(found), number)


def recordings(folder: Path, asked: Asked) -> tuple[Part, ...]:
    """Return the table's recordings that cover a span, in order: a restart begins a new one.

    Args:
        folder: one of them; the others lie beside it.
        asked: the requested span.

    Raises:
        OperatorError: that recording began after the span.
        PitwatchError: one of them does not match its format.
    """
    named = read_description(folder)
    if asked.to_ns < named.at:
        raise OperatorError(
            f"the session was recorded from {utc(named.at)} on",
            where=str(folder),
            way_out=f"Name the recording of {utc(asked.from_ns)}",
        )
    beside = [file.parent for file in folder.resolve().parent.glob(f"*/{SESSION_FILE}")]
    begun = {folder.resolve(): named.at} | {
        other: session.at
        for other in beside
        if (session := read_description(other)).table == named.table
    }
    in_order = sorted(begun, key=lambda one: (begun[one], one.name))
    ends = [*(begun[one] - 1 for one in in_order[1:]), asked.to_ns]
    spans = zip(in_order, ends, strict=True)
    parts = (Part(one, max(asked.from_ns, begun[one]), min(asked.to_ns, end)) for one, end in spans)
    return tuple(part for part in parts if part.from_ns <= part.to_ns)


def packed(
    folder: Path, journal: Path, asked: Asked, made_ns: int, signer: Signer | None = None
) -> bytes:
    """Return an incident's file, signed where a key is given.

    Args:
        folder: a recorded session that holds the span; further ones are found beside it.
        journal: the table's.
        asked: the requested span.
        made_ns: now.
        signer: the exporter's key, which covers the clips: the journal's proof covers the events,
            and the recorded files where it has their hashes.

    Raises:
        OperatorError: the session was not recorded then, or is another table's.
        TechnicianError: a recording is damaged.
    """
    session, piece = read_description(folder), excerpt(journal, asked.first, asked.last)
    _check_table(folder, session, piece)
    spans: dict[str, Span | None] = {}
    files = {EVENTS: b"".join(body + b"\n" for body in piece.bodies)}
    files[PROOF] = msgspec.json.format(msgspec.json.encode(piece.proof), indent=1)
    parts = {
        f"{number}/" if number > 1 else "": part
        for number, part in enumerate(recordings(folder, asked), start=1)
    }
    for place, part in parts.items():
        files.update(_recorded(part, place, spans))
    hashed = _hashed(journal, parts)
    files.update(hashed.files)
    facts = Facts(
        table=session.table,
        currency=session.currency,
        round=asked.round,
        from_ns=asked.from_ns,
        to_ns=asked.to_ns,
        first=asked.first,
        last=asked.last,
        clips=spans,
        recorded=hashed.ranged,
    )
    manifest = Manifest(
        kind="incident",
        subject=subject_of(facts),
        at=made_ns,
        journals=(_head(piece.proof, session.table),),
        about=about(facts),
    )
    return joined(ZIP, manifest, files, signer)


def subject_of(facts: Facts) -> str:
    """Return what an incident is of, for people."""
    of_round = "" if facts.round is None else f"round {facts.round}, "
    return f"table {facts.table}, {of_round}{utc(facts.from_ns)} to {utc(facts.to_ns)}"


def _head(proof: Proof, table: str) -> Head:
    identity = proof.identity
    if identity is None:
        return Head(name=table, entries=proof.to, head=proof.head)
    return Head(journal=identity.journal, name=identity.name, entries=proof.to, head=proof.head)


def _hashed(journal: Path, parts: Mapping[str, Part]) -> Cut:
    """Return the recorded files of the parts that the journal hashed, and ``hashes.json``."""
    entries = hashed_in(journal)
    cuts = []
    for place, part in parts.items():
        own = [one for one in entries if one.folder == part.folder.name]
        if own:
            session = read_description(part.folder)
            cuts.append(cut(part.folder, place, session, own, (part.from_ns, part.to_ns)))
    files = {name: data for one in cuts for name, data in one.files.items()}
    seqs = sorted(frozenset[int]().union(*(one.seqs for one in cuts)))
    if seqs:
        files[HASHES] = proofs(excerpts(journal, [(seq, seq) for seq in seqs]))
    return Cut(files, tuple(ranged for one in cuts for ranged in one.ranged), frozenset(seqs))


def hold(folder: Path, why: str) -> None:
    """Put a legal hold on a recorded session: it is never removed for age or room.

    Raises:
        TechnicianError: the folder cannot be written.
    """
    file = hold_file(folder)
    try:
        with file.open("a", encoding="utf-8") as lines:
            # Who shares the folder of holds adds to another user's.
            if lines.tell() == 0 and file.parent.stat().st_mode & stat.S_IWGRP:
                os.fchmod(lines.fileno(), 0o660)
            lines.write(why + "\n")
    except OSError as fault:
        raise TechnicianError(
            f"the recording cannot be held ({(fault.strerror or str(fault)).lower()})",
            where=str(file),
            way_out="Give this user the right to write there, or export with --no-hold",
        ) from fault


def _check_table(folder: Path, session: Session, piece: Excerpt) -> None:
    named = {msgspec.json.decode(body, type=_Named).table for body in piece.bodies}
    for table in named - {session.table, None}:
        raise OperatorError(
            f"the journal is of table {table}, the recording of {session.table}",
            where=str(folder),
            way_out="Name the recording of the journal's table",
        )


def _recorded(part: Part, place: str, spans: dict[str, Span | None]) -> Iterator[tuple[str, bytes]]:
    """Yield the files of one recording, each under ``place``; note the span of each clip."""
    clips = Clips(part.folder)
    for camera in clips.cameras:
        try:
            clip = clips.stamped_clip(part.from_ns, part.to_ns, camera)
        except OperatorError:
            spans[place + camera] = None
        else:
            spans[place + camera] = clip.span
            yield f"{place}clips/{camera}.mp4", clip.mp4
    for name, data in (*_heard(part, clips.session), *_described(part.folder, clips.session)):
        yield place + name, data


def _heard(part: Part, session: Session) -> Iterator[tuple[str, bytes]]:
    for port in session.serial:
        lines = [
            f"{chunk.offset_ns} {chunk.data.hex()}\n"
            for chunk in read_capture(part.folder / port.file).chunks
            if part.from_ns <= session.at + chunk.offset_ns <= part.to_ns
        ]
        yield f"serial/{port.file}", "".join(lines).encode("ascii")


def _described(folder: Path, session: Session) -> Iterator[tuple[str, bytes]]:
    for name in (SESSION_FILE, session.layout):
        yield name, (folder / name).read_bytes()
