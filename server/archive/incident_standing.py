"""The proven and unproven parts of an incident, and the keys behind them."""

from collections.abc import Iterator
from dataclasses import dataclass

from server.archive.incident_check import Checked
from server.house.wording import counted
from server.process.exit_status import Exit


@dataclass(frozen=True, slots=True)
class Trusted:
    """The keys that the caller named and that signed an incident."""

    table: bool = False
    """Whether the table's key, as named, signed the journal."""
    exporter: bool = False
    """Whether the exporter's key, as named, signed the file."""


@dataclass(frozen=True, slots=True)
class Open:
    """Something unproven."""

    what: str
    of_recordings: bool = False
    """Whether it concerns video, bytes or the export: ``--allow-unsigned`` accepts it."""


def proven(found: Checked, trusted: Trusted) -> Iterator[str]:
    """Yield the proven parts, with their keys."""
    manifest = found.manifest
    if trusted.table:
        yield (
            f"table, times and {counted(found.events, 'entry', 'entries')} "
            f"{manifest.first} to {manifest.last}, by the table's key"
        )
        if manifest.round is not None:
            yield f"that the entries belong to round {manifest.round}, by the table's key"
        if not found.recordings:
            yield "all video and bytes of that time, in recorded/ and serial/, by the table's key"
    if trusted.exporter:
        yield "that video, bytes and the rest are unchanged since the export, by the exporter's key"


def unproven(found: Checked, trusted: Trusted) -> Iterator[Open]:
    """Yield the unproven parts."""
    if found.journal_key is None:
        yield Open("the entries: no signature of the journal covers them")
    elif not trusted.table:
        yield Open(
            f"the entries: key {found.journal_key} signed them; anybody can sign changed entries "
            "with their own key; give the table's key with --key"
        )
    if not found.names_table:
        yield Open("the table: the journal names none")
    for first, last in found.found:
        yield Open(
            f"entries {first} to {last}: a process found them unsigned when it started, and did "
            "not see them written"
        )
    for what in found.recordings:
        yield Open(what, of_recordings=True)
    if not trusted.exporter:
        yield Open(_not_exported(found.exporter_key), of_recordings=True)


def exit_of(found: Checked, trusted: Trusted, *, allow_unsigned: bool) -> Exit:
    """Return the exit status: 0 only where everything is proven or explicitly accepted."""
    left = (one for one in unproven(found, trusted) if not (allow_unsigned and one.of_recordings))
    return Exit.UNPROVEN if any(left) else Exit.CLEAN


def _not_exported(key: str | None) -> str:
    what = "clips, the time of the export, and that no entry at the span's edges was left out: "
    if key is None:
        return what + "no exporter signed the file"
    return what + f"key {key} signed the file; give the exporter's key with --exporter"
