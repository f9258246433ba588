"""Read what the version before bundles wrote, each artefact in a form of its own.

The ZIP of an incident ends in its SHA-256 and the exporter's signature, if there was one. A
snapshot has a chunk with a signature over all bytes before it. A report ends in a line with a
signature. A PDF has that line in its PDF signature; its hash is over the file with the digits of
hash and signature all 0. The manifest of a day has its own hash, and a backup has ``SHA256SUMS``;
nobody signed these.

The next version can remove this file.
"""

import hashlib
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final, TypeAlias

import msgspec

from models.errors import OperatorError
from server.bundle.containers import PNG_END, chunk, in_hex
from server.bundle.manifest import MANIFEST, File, Head, Manifest, damaged, listed
from server.bundle.zip_files import NotPlain, unpacked
from stream.excerpt import Proof
from stream.signing import fingerprint, is_digest_signed

SUMS: Final = "SHA256SUMS"
_INCIDENTS: Final = ("pitwatch incident 1", "pitwatch incident 2")
_GUARD: Final = re.compile(rb"sha256:([0-9a-f]{64})(?: ed25519:([0-9a-f]{64}):([0-9a-f]{128}))?\Z")
_GUARDS: Final = 273, 71
"""Bytes of a ZIP's comment with a signature, and without."""
_SNAPSHOT: Final = re.compile(rb"Pitwatch signature\0ed25519 ([0-9a-f]{64}) ([0-9a-f]{128})")
_SNAPSHOT_END_BYTES: Final = 12 + 220 + 12
"""The chunk of the signature, and the one that ends a PNG."""
_FACTS: Final = b"iTXtPitwatch snapshot\0\0\0\0\0"
_REPORT: Final = re.compile(
    rb"pitwatch report 1 at=(0|[1-9]\d{0,18}) sha256=([0-9a-f]{64}) key=([0-9a-f]{64})"
    rb" signature=([0-9a-f]{128})"
)
_REPORT_BEGINS: Final = b"pitwatch report 1 at="
_LONGEST_LINE: Final = 512
_DAY: Final = "pitwatch-history-1"
_MALFORMED: Final = (
    NotPlain,
    msgspec.MsgspecError,
    UnicodeDecodeError,
    KeyError,
    TypeError,
    AttributeError,
)

Read: TypeAlias = tuple[Manifest, str | None, dict[str, bytes]]


def earlier_file(content: bytes, path: Path) -> Read:
    """Return an incident, a snapshot or a report; raises ``TechnicianError`` for anything else."""
    begins = content[:4]
    read = {b"PK\3\4": _incident, b"\x89PNG": _snapshot}.get(begins, _report)
    try:
        return read(content, path)
    except _MALFORMED as fault:
        raise damaged(path, f"it does not follow its format: {fault}") from fault


def earlier_folder(folder: Path) -> tuple[Manifest, str | None]:
    """Return the manifest of an archived day or a backup; nobody signed it.

    Raises:
        OperatorError: it is neither.
        TechnicianError: it is not as it was made.
    """
    try:
        if (folder / MANIFEST).exists():
            return _day(folder, (folder / MANIFEST).read_bytes()), None
        return _backup(folder, (folder / SUMS).read_text("utf-8")), None
    except (OSError, UnicodeDecodeError) as fault:
        raise OperatorError(
            f"this is neither an archived day nor a backup: no {MANIFEST} of it can be read",
            where=str(folder),
            way_out="Name an archived day, a backup, or the folder of several",
        ) from fault


def _incident(content: bytes, path: Path) -> Read:
    guards = [found for size in _GUARDS if (found := _GUARD.fullmatch(content[-size:]))]
    if not guards:
        raise damaged(path, "it has neither a seal nor a SHA-256 at its end")
    guard = guards[0]
    digest = hashlib.sha256(content[: -len(guard[0])]).digest()
    if guard[1].decode() != digest.hex():
        raise damaged(path, "its SHA-256 differs: it was changed after it was made")
    signer = None if guard[2] is None else _signer(guard[2], guard[3], "incident 1", digest, path)
    files = unpacked(content)
    old: dict[str, Any] = msgspec.json.decode(files.pop(MANIFEST))
    if old.pop("form") not in _INCIDENTS:
        raise damaged(path, "it is of another form")
    proof = msgspec.json.decode(files["proof.json"], type=Proof)
    at, lines = old.pop("made_ns"), msgspec.convert(old.pop("files"), tuple[File, ...])
    identity = proof.identity
    head = Head(
        journal=None if identity is None else identity.journal,
        name=old["table"] if identity is None else identity.name,
        entries=proof.to,
        head=proof.head,
    )
    manifest = Manifest(
        kind="incident",
        subject=f"table {old['table']}",
        at=at,
        journals=(head,),
        files=lines,
        about=_about(old),
    )
    return manifest, signer, files


def _snapshot(content: bytes, path: Path) -> Read:
    picture, end = content[:-_SNAPSHOT_END_BYTES], content[-_SNAPSHOT_END_BYTES:]
    found = _SNAPSHOT.search(end)
    begin = picture.rfind(_FACTS)
    if found is None or begin < 0 or end != chunk(b"tEXt", found[0]) + PNG_END:
        raise damaged(path, "it has neither a seal nor a signature at its end")
    digest = hashlib.sha256(picture).digest()
    signer = _signer(found[1], found[2], "snapshot 1", digest, path)
    size = int.from_bytes(picture[begin - 4 : begin], "big")
    facts: dict[str, Any] = msgspec.json.decode(picture[begin + len(_FACTS) : begin + 4 + size])
    head = Head(
        name=facts.pop("session"),
        entries=facts.pop("journal_seq"),
        head=facts.pop("journal_hash"),
    )
    files = {"picture.png": picture}
    manifest = Manifest(
        kind="snapshot",
        subject=f"table {facts['table']}, round {facts['round']}",
        at=facts.pop("made_at"),
        journals=(head,),
        files=_listed(files),
        about=_about(facts),
    )
    return manifest, signer, files


def _report(content: bytes, path: Path) -> Read:
    is_paper = content.startswith(b"%PDF")
    place = content.find(in_hex(_REPORT_BEGINS)) if is_paper else -1
    if place >= 0:
        digits = re.match(rb"(?:[0-9A-F]{2})*", content[place : place + 2 * _LONGEST_LINE])
        found = _REPORT.match(bytes.fromhex(digits[0].decode())) if digits else None
        name = "report.pdf"
    else:
        place = content.rfind(b"\n", max(0, len(content) - _LONGEST_LINE), len(content) - 1) + 1
        begin, end = (b"%", b"\n") if is_paper else (b"<!-- ", b" -->\n")
        found = _REPORT.fullmatch(content[place:].removeprefix(begin).removesuffix(end))
        name = "uncertified.pdf" if is_paper else "report.html"
        if found is not None and content[place:] != begin + found[0] + end:
            found = None
    if found is None:
        raise damaged(path, "it has no signature, or its signature was changed")
    covered = content[:place]
    if name == "report.pdf":
        blank = found[0].replace(found[2], b"0" * 64).replace(found[4], b"0" * 128)
        covered += in_hex(blank) + content[place + 2 * len(blank) :]
    digest, at = hashlib.sha256(covered).digest(), int(found[1])
    if digest.hex() != found[2].decode():
        raise damaged(path, "it was changed after it was made")
    both = hashlib.sha256(at.to_bytes(8, "big") + digest).digest()
    signer = _signer(found[3], found[4], "pitwatch report 1", both, path)
    files = {name: content}
    manifest = Manifest(
        kind="report",
        subject="a report",
        at=at,
        journals=(),
        files=_listed(files),
    )
    return manifest, signer, files


def _day(folder: Path, content: bytes) -> Manifest:
    try:
        old: dict[str, Any] = msgspec.json.decode(content)
        own = old.pop("sha256")
        is_own = hashlib.sha256(msgspec.json.encode(old)).hexdigest() == own
        written = msgspec.json.format(msgspec.json.encode({**old, "sha256": own}), indent=1)
        if old.pop("format") != _DAY or not is_own or content != written + b"\n":
            raise damaged(folder / MANIFEST, "it was changed after it was made")
        files: dict[str, dict[str, Any]] = old.pop("files")
        heads = tuple(
            Head(journal=one["journal"], name=one["name"], entries=one["entries"], head=one["head"])
            for one in old["parts"]
        )
        rows = {name: file["rows"] for name, file in files.items()}
        sums = {name: file["sha256"] for name, file in files.items()}
        subject = f"day {old['day']}"
    except _MALFORMED as fault:
        raise damaged(folder / MANIFEST, f"it does not follow its format: {fault}") from fault
    return Manifest(
        kind="day",
        subject=subject,
        at=0,
        journals=heads,
        files=_summed(folder, sums),
        about=_about({**old, "rows": rows}),
    )


def _backup(folder: Path, text: str) -> Manifest:
    lines = re.findall(r"([0-9a-f]{64})  \./([^/\n]+/[^/\n]+)\n", text)
    if "".join(f"{sha256}  ./{name}\n" for sha256, name in lines) != text:
        raise damaged(folder / SUMS, "it does not follow its format")
    sums = {name: sha256 for sha256, name in lines}
    return Manifest(
        kind="backup",
        subject="a backup",
        at=0,
        journals=(),
        files=_summed(folder, sums),
    )


def _about(facts: object) -> msgspec.Raw:
    return msgspec.Raw(msgspec.json.encode(facts))


def _listed(files: Mapping[str, bytes]) -> tuple[File, ...]:
    return tuple(listed(name, data) for name, data in files.items())


def _summed(folder: Path, sums: Mapping[str, str]) -> tuple[File, ...]:
    """Return the files of a folder with the hashes that it states; it states no sizes."""
    sizes = {name: (folder / name).stat().st_size for name in sums if (folder / name).is_file()}
    return tuple(
        File(name=name, size=sizes.get(name, 0), sha256=sums[name]) for name in sorted(sums)
    )


def _signer(key: bytes, signature: bytes, purpose: str, digest: bytes, path: Path) -> str:
    public = bytes.fromhex(key.decode())
    if not is_digest_signed(public, bytes.fromhex(signature.decode()), purpose, digest):
        raise damaged(path, "its signature does not fit")
    return fingerprint(public)
