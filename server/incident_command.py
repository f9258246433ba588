"""``pitwatch incident``: one file that proves what happened, made here and verified elsewhere."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Final

from rich.text import Text

from devices.cameras.footage import utc
from models.errors import OperatorError, TechnicianError
from models.house import House
from server.console import print_json, screen
from server.exits import Exit
from server.house_file import house_for
from server.incident import entry_asked, hold, packed, recordings, round_asked, span_asked
from server.incident_check import Checked, check_incident
from server.wholefile import check_place, write_whole
from server.wording import counted
from stream.clock import HostClock
from stream.recording import read_description
from stream.signing import Signer, fingerprint, read_public_key

FINGERPRINT_CHARS: Final = 64


@dataclass(frozen=True, slots=True)
class Export:
    """What is to be exported, and how."""

    session: Path
    out: Path
    round: int | None = None
    entry: int | None = None
    """A journal entry's ``seq``: the moment of a violation."""
    from_text: str | None = None
    to_text: str | None = None
    """ISO 8601; without an offset it is the house's time."""
    journal: Path | None = None
    margin_s: float = 5.0
    key: Path | None = None
    held: bool = True
    force: bool = False
    """Whether a file that exists already may be overwritten."""
    house: Path | None = None
    """Its file; ``None`` for the one that :func:`server.house_file.house_for` finds."""


def export_incident(export: Export, *, as_json: bool) -> None:
    """Write an incident's file and put a hold on the recording that it comes from.

    Raises:
        PitwatchError: there is no such round or time, or something cannot be read or written.
    """
    check_place(export.out, force=export.force)
    journal = export.journal or journal_of(export.session)
    signer = None if export.key is None else Signer.read(export.key)
    margin_ns = round(export.margin_s * 1e9)
    if export.round is not None:
        asked = round_asked(journal, export.round, margin_ns)
    elif export.entry is not None:
        asked = entry_asked(journal, export.entry, margin_ns)
    else:
        asked = span_asked(journal, *_span(export))
    made_ns = HostClock().now_ns()
    if export.held:
        what = f"{utc(asked.from_ns)} to {utc(asked.to_ns)}"
        for part in recordings(export.session, asked):
            hold(part.folder, f"{utc(made_ns)}: exported to {export.out.name}: {what}")
    write_whole(export.out, packed(export.session, journal, asked, made_ns, signer))
    _say(export.out, check_incident(export.out), as_json=as_json, done="exported")


def verify_incident(file: Path, key: str | None, *, as_json: bool) -> Exit:
    """Check an incident's file, and that the table's key signed its events.

    Args:
        file: the incident.
        key: the fingerprint that the table's key is known by, the key itself in hex, or the
            file of the public key.
        as_json: print JSON.

    Raises:
        TechnicianError: it is not what was exported, or the events are signed by another key.
    """
    found = check_incident(file)
    if key is not None:
        _check_key(file, found, key)
    _say(file, found, as_json=as_json, done="intact", trusted=key is not None)
    return Exit.CLEAN if key is not None else Exit.FINDINGS


def journal_of(session: Path) -> Path:
    """Return the journal that lies by a session, above its recordings, or in ``journals`` there.

    Raises:
        OperatorError: there is none, or more than one.
    """
    named = f"{read_description(session).table}.journal"
    above = session.resolve().parents[1]
    places = (above, above / "journals")
    beside = [place / named for place in places if (place / named).exists()]
    found = sorted({*session.glob("*.journal"), *beside})
    if len(found) != 1:
        raise OperatorError(
            f"{counted(len(found), 'journal')} found for it",
            where=str(session),
            way_out="Name the table's journal with --journal",
        )
    return found[0]


def _span(export: Export) -> tuple[int, int]:
    if export.from_text is None or export.to_text is None:
        raise OperatorError(
            "neither a round, an entry nor a time was asked for",
            where=str(export.session),
            way_out="Ask with --round N, --entry SEQ, or --from and --to",
        )
    house = house_for(export.house, export.session, export.session.resolve().parent)
    span = _instant_ns(export.from_text, house), _instant_ns(export.to_text, house)
    if span[0] >= span[1]:
        raise OperatorError(
            f"{export.to_text} is not after {export.from_text}",
            where="--to",
            way_out="Ask for a time that goes forwards",
        )
    return span


def _instant_ns(text: str, house: House) -> int:
    """Read ``2026-11-21T14:23:45.5`` with or without an offset, or nanoseconds since the epoch."""
    if text.isascii() and text.isdigit():
        return int(text)
    try:
        moment = datetime.fromisoformat(text)
    except ValueError as fault:
        raise OperatorError(
            f"{text!r} is no time",
            where="--from or --to",
            way_out="Write it like 2026-11-21T14:23:45Z",
        ) from fault
    if moment.tzinfo is not None:
        return int(moment.timestamp()) * 1_000_000_000 + moment.microsecond * 1000
    found = house.instants(moment)
    if len(found) != 1:
        raise OperatorError(
            f"the clocks of {house.zone} showed {text} {'twice' if found else 'never'}",
            where="--from or --to",
            way_out=f"Write it with its offset from UTC, like {text}+01:00",
        )
    return found[0]


def _check_key(file: Path, found: Checked, key: str) -> None:
    by_file = Path(key).is_file()
    expected = fingerprint(read_public_key(Path(key))) if by_file else _fingerprint(key)
    if found.journal_key is None:
        raise _untrusted(file, "its events are signed by nobody")
    if found.journal_key != expected:
        raise _untrusted(file, f"its events are signed by another key, {found.journal_key}")


def _fingerprint(key: str) -> str:
    """Return the fingerprint that a person typed, with or without colons and blanks."""
    bare = key.lower().replace(":", "").replace(" ", "")
    if len(bare) != FINGERPRINT_CHARS or not set(bare) <= set("0123456789abcdef"):
        raise OperatorError(
            f"expected {FINGERPRINT_CHARS} hex digits or a file, found {key!r}",
            where="--key",
            way_out="`pitwatch journal keys` prints the fingerprint",
        )
    return bare


def _untrusted(file: Path, what: str) -> TechnicianError:
    return TechnicianError(
        f"the incident is not the table's own record: {what}",
        where=str(file),
        way_out="Ask the table's house for its key's fingerprint, and for the export again",
    )


def _say(file: Path, found: Checked, *, as_json: bool, done: str, trusted: bool = False) -> None:
    manifest = found.manifest
    if as_json:
        print_json(
            {
                "file": str(file),
                "events": found.events,
                "journal_key": found.journal_key,
                "exporter_key": found.exporter_key,
                "trusted": trusted,
                "manifest": manifest,
            }
        )
        return
    line = Text(done, style="bold green")
    line.append(f"  {file}: table {manifest.table}, ")
    line.append("" if manifest.round is None else f"round {manifest.round}, ")
    line.append(f"{utc(manifest.from_ns)} to {utc(manifest.to_ns)}")
    clips = [name for name, span in manifest.clips.items() if span is not None]
    line.append(f"\n{counted(found.events, 'event')}, {counted(len(clips), 'clip')}")
    for name in sorted(manifest.clips.keys() - set(clips)):
        line.append(f"\ncamera {name} gave no picture then", style="yellow")
    for what in _proved(found, trusted=trusted):
        line.append(f"\n{what}")
    screen().print(line)


def _proved(found: Checked, *, trusted: bool) -> Iterator[str]:
    if found.journal_key is None:
        yield "the journal is not signed up to there: that nobody changed it before is not proved"
    else:
        whose = "the key given" if trusted else f"key {found.journal_key}"
        yield f"its events are signed by {whose}"
    if found.exporter_key is not None:
        yield f"video, bytes and events as exported are signed by key {found.exporter_key}"
    if found.journal_key is not None and not trusted:
        yield "name the table's key with --key to know that it is its own"
