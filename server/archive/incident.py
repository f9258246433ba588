"""An incident in one file: its video, serial bytes and events, and their proof.

::

    manifest.json        what it is of, and the SHA-256 of every other file
    clips/overhead.mp4   each camera's video, table and time burned into every picture
    events.jsonl         the journal's entries, a line each as it was hashed
    proof.json           what they are held against: chain, checkpoint, key (stream/excerpt.py)
    serial/shoe.cap      the bytes of each port, times from the session's start
    session.toml         the table as it was recorded, and its felt
    layout.toml
    hashes.json          the journal's hashes of the recorded files, each entry with its proof
    recorded/…           the recorded bytes that they prove (server/archive/incident_recorded.py)
    2/…                  the same of the next recording, where the table started again meanwhile

It is a ZIP that any program opens. Its comment, the file's last bytes, is the SHA-256 of everything
before it and, where the exporter signs, a signature over that. So every bit of the file is covered.
"""

import hashlib
import io
import os
import stat
import zipfile
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
from server.table.recorder import hold_file
from stream.clock import utc
from stream.excerpt import Excerpt, excerpt, excerpts
from stream.reading import UnknownEvent, read_as_written
from stream.recorded import hashed_in
from stream.recording import SESSION_FILE, read_capture, read_description
from stream.signing import Signer

FORM: Final = "pitwatch incident 2"
FORMS: Final = ("pitwatch incident 1", FORM)
"""Form 1 has no recorded files."""
MANIFEST: Final = "manifest.json"
EVENTS: Final = "events.jsonl"
PROOF: Final = "proof.json"
PURPOSE: Final = "incident 1"
"""The purpose of an exporter's signature."""
HASHED: Final = "sha256:"
SIGNED: Final = " ed25519:"
_DIGEST_CHARS: Final = 64
_SIGNED_CHARS: Final = len(SIGNED) + 64 + 1 + 128
_SETTLED_WITHIN_NS: Final = 3_600_000_000_000
_EPOCH: Final = (1980, 1, 1, 0, 0, 0)


class _Named(msgspec.Struct):
    table: str | None = None


class Listed(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A file of an incident."""

    name: str
    size: int
    """Bytes."""
    sha256: str


class Manifest(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The contents of an incident's file."""

    form: str
    table: str
    currency: str
    round: int | None
    """The requested round; ``None`` for a time span."""
    from_ns: int
    to_ns: int
    """End of the span, nanoseconds since the Unix epoch, UTC."""
    made_ns: int
    """Time of the export."""
    first: int
    last: int
    """The journal's last entry of the span; later ones serve the proof."""
    clips: dict[str, Span | None]
    """Each camera's clip: the table's time of its first and last picture. ``None`` where the camera
    gave no picture then. ``2/overhead`` belongs to the second recording."""
    files: tuple[Listed, ...]
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
    manifest = Manifest(
        form=FORM,
        table=session.table,
        currency=session.currency,
        round=asked.round,
        from_ns=asked.from_ns,
        to_ns=asked.to_ns,
        made_ns=made_ns,
        first=asked.first,
        last=asked.last,
        clips=spans,
        recorded=hashed.ranged,
        files=tuple(
            Listed(name=name, size=len(data), sha256=hashlib.sha256(data).hexdigest())
            for name, data in files.items()
        ),
    )
    content = msgspec.json.format(msgspec.json.encode(manifest), indent=1)
    return sealed({MANIFEST: content} | files, signer)


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


def sealed(files: Mapping[str, bytes], signer: Signer | None) -> bytes:
    """Return a ZIP of files whose comment covers every bit before it."""
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w") as archive:
        for name, data in files.items():
            entry = zipfile.ZipInfo(name, _EPOCH)
            filmed = name.endswith(".mp4")
            entry.compress_type = zipfile.ZIP_STORED if filmed else zipfile.ZIP_DEFLATED
            archive.writestr(entry, data)
        archive.comment = b" " * guard_size(signed=signer is not None)
    size = guard_size(signed=signer is not None)
    with target.getbuffer() as whole:  # without a copy: it may hold much video
        digest = hashlib.sha256(whole[:-size]).digest()
    guard = HASHED + digest.hex()
    if signer is not None:
        guard += f"{SIGNED}{signer.public.hex()}:{signer.sign_digest(PURPOSE, digest).hex()}"
    target.seek(-size, io.SEEK_END)
    target.write(guard.encode("ascii"))
    return target.getvalue()


def guard_size(*, signed: bool) -> int:
    """Return the number of bytes of an incident ZIP's comment."""
    return len(HASHED) + _DIGEST_CHARS + (_SIGNED_CHARS if signed else 0)


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
