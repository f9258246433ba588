"""Make a bundle, and read one: whatever its kind and container, the same is checked of it."""

import hashlib
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from msgspec.structs import replace

from models.errors import OperatorError
from server.bundle.containers import Container, Files, NoSeal, blank, container_of
from server.bundle.earlier import SUMS, earlier_file, earlier_folder
from server.bundle.manifest import (
    BEGINS,
    MANIFEST,
    File,
    Head,
    Kind,
    Manifest,
    damaged,
    listed,
    opened,
    sealed,
)
from server.bundle.zip_files import NotPlain
from server.process.atomic_file import write_whole
from stream.reading import read_on
from stream.signing import Signer
from stream.verifying import AnotherJournal, Place, Verified

FOLDERS: Final[tuple[Kind, ...]] = ("day", "backup")
"""The kinds of bundles that are folders."""
_SLACK_BYTES: Final = 16
"""Digits that a PDF's size may have, and a few more."""


@dataclass(frozen=True, slots=True)
class Bundle:
    """A bundle with the files that its manifest names, and no others; each is as it was made."""

    path: Path
    manifest: Manifest
    signer: str | None
    """The fingerprint of the key that signed it; ``None`` where nobody did."""
    content: Files = field(default_factory=dict)
    """The files of a bundle in one file; those of a folder stay there."""


@dataclass(frozen=True, slots=True)
class Asked:
    """What a bundle is held against."""

    makers: tuple[str, ...] = ()
    """Fingerprints of the keys of which one must have signed it; none: any key."""
    tables: tuple[str, ...] = ()
    """Fingerprints of the keys that may have signed its journals; none: any key."""
    journals: tuple[tuple[Path, Verified], ...] = ()
    """Verified ones, by these keys."""
    recording: Path | None = None
    """A session whose video must show what it shows."""


@dataclass(frozen=True, slots=True)
class Open:
    """Something unproven."""

    what: str
    of_maker: bool = False
    """Whether the maker's word stands for it: ``--allow-unsigned`` accepts it."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """What is proven of a sound bundle, and what is not."""

    proven: tuple[str, ...] = ()
    left: tuple[Open, ...] = ()
    details: Mapping[str, object] = field(default_factory=dict)
    """What only bundles of its kind have, for programs …"""
    notes: tuple[str, ...] = ()
    """… and for people, a line each."""
    compared: frozenset[Path] = frozenset()
    """The given journals that it rests on."""

    def __add__(self, other: "Verdict") -> "Verdict":
        """Return both."""
        details = {**self.details, **other.details}
        return Verdict(
            self.proven + other.proven,
            self.left + other.left,
            details,
            self.notes + other.notes,
            self.compared | other.compared,
        )


def joined(container: Container, manifest: Manifest, files: Files, signer: Signer | None) -> bytes:
    """Return a bundle in one file; ``manifest.files`` is filled in."""
    lines = tuple(listed(name, data) for name, data in files.items())
    return container.join(files, sealed(replace(manifest, files=lines), signer))


def blank_for(manifest: Manifest, signer: Signer) -> bytes:
    """Return what to put into a PDF in the place of its seal, before :func:`joined` is called."""
    size = len(sealed(replace(manifest, files=(listed("report.pdf", b""),)), signer))
    return blank(size + _SLACK_BYTES)


def seal_folder(folder: Path, manifest: Manifest, signer: Signer | None) -> None:
    """Write the manifest of a folder that is complete; ``manifest.files`` is filled in.

    Raises:
        TechnicianError: the folder holds something else than files and folders.
    """
    whole = replace(manifest, files=tuple(_files_in(folder)))
    write_whole(folder / MANIFEST, sealed(whole, signer))


def manifest_in(folder: Path) -> tuple[Manifest, str | None]:
    """Return the manifest of a folder and who signed it, without reading the other files.

    Raises:
        OperatorError: it cannot be read.
        TechnicianError: it is not as it was made.
    """
    path = folder / MANIFEST
    text = _read(path) if path.exists() else b""
    return opened(text, path) if text.startswith(BEGINS) else earlier_folder(folder)


def is_folder_bundle(path: Path) -> bool:
    """Return whether a folder is a bundle itself."""
    return (path / MANIFEST).is_file() or (path / SUMS).is_file()


def read_bundle(path: Path) -> Bundle:
    """Read a bundle, and compare every byte of it with its manifest.

    Raises:
        OperatorError: it cannot be read.
        TechnicianError: it is not as it was made.
    """
    if path.is_dir():
        manifest, signer = manifest_in(path)
        seal = MANIFEST if (path / MANIFEST).exists() else SUMS
        _compare(path, manifest, tuple(_files_in(path, seal)))
        if manifest.kind not in FOLDERS:
            raise damaged(path, f"it says that it is of kind {manifest.kind}")
        return Bundle(path, manifest, signer)
    return check_bundle(_read(path), path)


def check_bundle(content: bytes, path: Path) -> Bundle:
    """Check the content of a bundle in one file; as :func:`read_bundle`."""
    container = container_of(content)
    try:
        files, seal = container.split(content)
        manifest, signer = opened(seal, path)
        is_whole = container.join(files, seal) == content
    except NotPlain as fault:
        raise damaged(path, str(fault)) from fault
    except NoSeal:
        manifest, signer, files = earlier_file(content, path)
        is_whole = True
    _compare(path, manifest, [listed(name, data) for name, data in files.items()])
    if not is_whole:
        raise damaged(path, "it has bytes beside its files and its seal")
    if manifest.kind != container.kind:
        raise damaged(path, f"it says that it is of kind {manifest.kind}")
    return Bundle(path, manifest, signer, files)


def proven_of(bundle: Bundle, asked: Asked) -> Verdict:
    """Return what every bundle proves: who made it, and the journals that it rests on.

    Raises:
        TechnicianError: another key signed it, or a journal is not the one that it rests on.
    """
    found = _of_maker(bundle, asked.makers) + _of_journals(bundle, asked)
    kind, left = bundle.manifest.kind, list[Open]()
    if asked.tables and not asked.journals and kind not in ("incident", "backup"):
        left.append(Open("the table's part: its key was given, and no journal that it signed"))
    if asked.recording is not None and kind != "snapshot":
        left.append(Open("the recording: only a snapshot is compared with one"))
    return found + Verdict((), tuple(left))


def head_of(name: str, verified: Verified) -> Head:
    """Return a verified journal's last entry; ``name`` is its file's, for one without identity."""
    identity = verified.identity
    return Head(
        journal=None if identity is None else identity.journal,
        name=name if identity is None else identity.name,
        entries=verified.entries,
        head=verified.head,
    )


def held(head: Head, asked: Asked) -> tuple[Path, Verified] | None:
    """Return the given journal that a bundle rests on: by its id, or else by its name."""
    for path, verified in asked.journals:
        own = None if verified.identity is None else verified.identity.journal
        is_named = len(asked.journals) == 1 or Path(head.name).stem == path.stem
        if head.journal == own if head.journal is not None else is_named:
            return path, verified
    return None


def _of_maker(bundle: Bundle, makers: Collection[str]) -> Verdict:
    key = bundle.signer
    if makers and key not in makers:
        who = "it is not signed" if key is None else f"it is signed by another key, {key}"
        raise damaged(bundle.path, who)
    if makers:
        return Verdict((f"that nothing of it changed since the maker signed it, by key {key}",))
    unknown = f"key {key} signed it, and anybody can sign a changed copy; name the maker's key"
    who = "nobody signed it" if key is None else unknown
    return Verdict((), (Open(f"who made it, and when: {who}", of_maker=True),))


def _of_journals(bundle: Bundle, asked: Asked) -> Verdict:
    proven, left, compared = list[str](), list[Open](), set[Path]()
    for head in bundle.manifest.journals if asked.journals else ():
        found = held(head, asked)
        if found is None:
            left.append(Open(f"journal {head.name}: it was not given"))
            continue
        path, _ = found
        try:
            read_on(path, Place(head.entries, bytes.fromhex(head.head)), 1)
        except AnotherJournal as fault:
            why = f"its entry {head.entries} is not the one that {bundle.path} rests on"
            raise damaged(path, why) from fault
        proven.append(f"that journal {head.name} holds the entry {head.entries} that it rests on")
        compared.add(path)
    return Verdict(tuple(proven), tuple(left), compared=frozenset(compared))


def _compare(path: Path, manifest: Manifest, found: Sequence[File]) -> None:
    """Check that a bundle's files are those that its manifest names, in that order."""
    due, there = ({one.name: one for one in files} for files in (manifest.files, found))
    for name in sorted(due.keys() - there.keys()):
        raise damaged(path / name, "it is missing")
    for name in sorted(there.keys() - due.keys()):
        raise damaged(path / name, "it is not in the manifest")
    for name, one in due.items():
        if one != there[name]:
            raise damaged(path / name, "it was changed after it was made")
    if tuple(found) != manifest.files:
        raise damaged(path, "its files are in another order, or named twice")


def _files_in(folder: Path, seal: str = MANIFEST) -> Iterator[File]:
    """Yield every file below a folder but the one with its seal, sorted by name."""
    there = {path.relative_to(folder).as_posix(): path for path in folder.rglob("*")}
    there.pop(seal, None)
    for name, path in sorted(there.items()):
        if path.is_symlink() or not (path.is_file() or path.is_dir()):
            raise damaged(folder, f"{name} is neither a file nor a folder")
        if path.is_dir():
            continue
        try:
            with path.open("rb") as file:
                digest = hashlib.file_digest(file, "sha256").hexdigest()
                yield File(name=name, size=file.tell(), sha256=digest)
        except OSError as fault:
            raise damaged(path, f"it cannot be read ({fault.strerror})") from fault


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as fault:
        raise OperatorError(
            f"it cannot be read ({fault.strerror})", where=str(path), way_out="Check its name"
        ) from fault
