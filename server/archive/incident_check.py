"""Check an exported incident against itself and the table's key; only the file is needed."""

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import msgspec

from models.errors import InputRefused, TechnicianError
from server.archive.incident import (
    EVENTS,
    FORMS,
    HASHED,
    MANIFEST,
    PROOF,
    PURPOSE,
    SIGNED,
    Manifest,
    guard_size,
)
from server.archive.incident_claims import differences, found_unsigned, of_recordings, tables_named
from server.archive.incident_recordings import Differs
from server.archive.incident_zip import NotPlain, unpacked
from stream.excerpt import Proof, faults, signed_by
from stream.signing import fingerprint, is_digest_signed

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Checked:
    """A sound incident."""

    manifest: Manifest
    events: int
    """The number of events of the span."""
    journal_key: str | None
    """Fingerprint of the key that signed the journal; ``None`` for an unsigned one."""
    exporter_key: str | None
    """Fingerprint of the key that signed the whole file; ``None`` for an unsigned one."""
    found: tuple[tuple[int, int], ...] = ()
    """First and last of the entries found unsigned at a start, and signed afterwards."""
    names_table: bool = True
    """Whether the journal names its table."""
    recordings: tuple[str, ...] = ()
    """The parts of the recordings that the journal's hashes do not prove."""


def check_incident(file: Path) -> Checked:
    """Check an incident's file to its last bit.

    The caller compares the signers' keys.

    Raises:
        PitwatchError: naming the difference from the export.
    """
    try:
        data = file.read_bytes()
    except OSError as fault:
        raise _refused(file, f"it cannot be read ({(fault.strerror or '').lower()})") from fault
    return checked(data, file)


def checked(data: bytes, file: Path) -> Checked:
    """Check the content of an incident's file; ``file`` only serves the error message."""
    exporter = _guarded(file, data)
    files = _unpacked(file, data)
    manifest = _decoded(file, files, MANIFEST, Manifest)
    for difference in _listed_otherwise(manifest, files):
        raise _refused(file, difference)
    proof = _decoded(file, files, PROOF, Proof)
    if EVENTS not in files:
        raise _refused(file, f"{EVENTS} is missing")
    bodies = files[EVENTS].split(b"\n")[:-1]
    for difference in _unproven_entries(manifest, proof, bodies):
        raise _refused(file, difference)
    try:
        for difference in differences(manifest, proof, bodies, files):
            raise _refused(file, difference)
        recordings = of_recordings(manifest, proof, bodies, files)
    except Differs as fault:
        raise _refused(file, str(fault)) from fault
    except InputRefused as fault:
        raise _refused(file, f"{fault.where}: {fault.what}") from fault
    return Checked(
        manifest,
        proof.last - proof.first + 1,
        signed_by(proof),
        exporter,
        found_unsigned(proof, bodies),
        bool(tables_named(proof, bodies)),
        recordings,
    )


def _guarded(file: Path, data: bytes) -> str | None:
    """Check the file's guard; return the signer."""
    signed = data[-guard_size(signed=True) :].startswith(HASHED.encode())
    size = guard_size(signed=signed)
    digest = hashlib.sha256(data[:-size]).digest()
    guard = data[-size:].decode("ascii", "replace")
    hashed, *signature = guard.split(SIGNED)
    if hashed != HASHED + digest.hex():
        raise _refused(file, "it is not the file that was exported: its SHA-256 differs")
    if not signature:
        return None
    key, _, under = signature[0].partition(":")
    if guard != guard.lower() or not is_digest_signed(_bytes(key), _bytes(under), PURPOSE, digest):
        raise _refused(file, "its exporter's signature does not fit")
    return fingerprint(_bytes(key))


def _bytes(text: str) -> bytes:
    try:
        return bytes.fromhex(text)
    except ValueError:
        return b""


def _unpacked(file: Path, data: bytes) -> dict[str, bytes]:
    try:
        return unpacked(data)
    except NotPlain as fault:
        raise _refused(file, str(fault)) from fault


def _decoded(file: Path, files: dict[str, bytes], name: str, kind: type[T]) -> T:
    try:
        return msgspec.json.decode(files[name], type=kind)
    except (KeyError, msgspec.MsgspecError, UnicodeDecodeError) as fault:
        raise _refused(file, f"{name} is missing or does not follow its format") from fault


def _listed_otherwise(manifest: Manifest, files: dict[str, bytes]) -> Iterator[str]:
    if manifest.form not in FORMS:
        yield f"it is of another form, {manifest.form!r}"
    names = [one.name for one in manifest.files]
    named = {*names, MANIFEST}
    if len(names) != len(set(names)):
        yield "its manifest names a file twice"
    for name in sorted(named ^ files.keys()):
        yield f"{name} is {'missing' if name in named else 'not in its manifest'}"
    for one in manifest.files:
        data = files[one.name]
        if (len(data), hashlib.sha256(data).hexdigest()) != (one.size, one.sha256):
            yield f"{one.name} is not the file that its manifest names"


def _unproven_entries(manifest: Manifest, proof: Proof, bodies: Sequence[bytes]) -> Iterator[str]:
    if (proof.first, proof.last) != (manifest.first, manifest.last):
        yield "its proof is of other events"
    for difference in faults(proof, bodies):
        yield f"{EVENTS}: {difference}"


def _refused(file: Path, what: str) -> TechnicianError:
    return TechnicianError(
        f"the incident is damaged: {what}",
        where=str(file),
        way_out="Do not use it; ask for the export again",
    )
