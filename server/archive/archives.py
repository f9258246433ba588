"""An auditor's files, as streams of numbered events.

A name stands for:

- ``.jsonl``, ``.ndjson``: an event file; with ``.gz`` behind it, a compressed one. So does any name
  that is not in this list; ``-`` is stdin.
- ``.journal``: a table's journal, verified before a fact of it is used.
- ``.zip``, ``.tar``: an archive of such files; a tar may be compressed.
- ``facts.parquet``: an archived day, by the manifest beside it.
- A folder: every such file, day and archive below it, in the order of their names.
- ``*``, ``?``, ``[``: a pattern that the shell did not expand.

Where a folder is a session's (it holds a ``session.toml``), its journals are read, or else its
``facts.jsonl``, or else its ``truth.jsonl``; the other files there hold no facts.
"""

import gzip
import stat
import sys
import tarfile
import zipfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from functools import partial
from glob import glob, has_magic
from itertools import groupby
from pathlib import Path, PurePosixPath
from tempfile import SpooledTemporaryFile
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from models.decode import LONGEST_LINE, decode_batches
from models.errors import OperatorError, TechnicianError
from models.judgements import AnyEvent
from server.archive.decided_journal import DECISION, with_decisions
from server.archive.unreadable import readable, unreadable, without_parquet
from stream.reading import UnknownEvent, holds, read_journal
from stream.recording import SESSION_FILE
from stream.scratch import scratch_folder

if TYPE_CHECKING:
    from server.archive.history import Part, PartReader

STDIN: Final = "-"
Events: TypeAlias = Iterator[tuple[int, AnyEvent]]
Open: TypeAlias = Callable[[], AbstractContextManager[Any]]
OnBytes: TypeAlias = Callable[[int], None]
"""Receives the number of bytes read so far of a file on disk."""
Passed: TypeAlias = Callable[[str, str], None]
"""Receives the name of a skipped archive member, and the reason."""

_EVENTS: Final = (".jsonl", ".ndjson", ".jsonl.gz", ".ndjson.gz")
_JOURNAL: Final = ".journal"
DAY_FACTS: Final = "facts.parquet"
"""The file of an archived day that names the day among others."""
_UNPACKED_BYTES: Final = 1 << 30
"""Bytes that a member of an archive may always have on this machine's disk."""
_UNPACKED_TIMES: Final = 100
"""How many times as long as its archive a member may be beyond that; journals become a fifth."""
_TAR: Final = (".tar", ".tar.gz", ".tgz", ".tar.bz2", ".tar.xz")
_ARCHIVES: Final = (*_TAR, ".zip")
_LINK: Final = "it is a link"
_BLOCK: Final = 1 << 17
_KEPT: Final = 8 << 20
"""Bytes of an archive member that are kept in memory; a longer one is spooled to disk. Not
measured."""


@dataclass(frozen=True, slots=True)
class Source:
    """A file on disk or stdin, with its size in bytes."""

    name: str
    size: int = 0
    without: frozenset[str] = frozenset()
    """What of it is passed over: members of an archive; parts of a day, by their journals' ids."""

    @property
    def is_stdin(self) -> bool:
        """Whether it can be read only once, as a stream."""
        return self.name == STDIN


@dataclass(frozen=True, slots=True)
class Feed:
    """The events of one file. Each call of ``read`` starts from the beginning."""

    name: str
    read: Callable[[], Events]
    once: bool = False
    """Whether they can be read only once."""
    day: "PartReader | None" = None
    """Where it is a part of an archived day: its reader. The file is verified already."""


def sources(names: Sequence[str]) -> tuple[Source, ...]:
    """Return every file that ``names`` stand for, in order; the module lists the forms.

    Raises:
        OperatorError: one is missing or unreadable, or none holds anything to settle.
    """
    return tuple(found for name in names for found in _found(name))


def is_archive(name: str) -> bool:
    """Return whether ``name`` may stand for several files."""
    return name.endswith(_ARCHIVES) or Path(name).is_dir() or _is_pattern(name)


def _unwatched(read: int) -> None:
    """Ignore the reading progress."""


def _unheeded(member: str, why: str) -> None:
    """Ignore skipped members."""


def is_journal(name: str) -> bool:
    """Return whether a file's name is that of a journal."""
    return name.endswith(_JOURNAL)


def is_day(name: str) -> bool:
    """Return whether a file's name is that of an archived day's facts."""
    return PurePosixPath(name).name == DAY_FACTS


def is_packed(name: str) -> bool:
    """Return whether a file's name is that of an archive."""
    return name.endswith(_ARCHIVES)


def members(archive: str) -> dict[str, int]:
    """Return the members of an archive that hold facts, with their sizes in bytes."""
    with readable(archive):
        if archive.endswith(".zip"):
            with zipfile.ZipFile(archive) as zipped:
                sizes = {info.filename: info.file_size for info in zipped.infolist()}
        else:
            with tarfile.open(archive) as tarred:
                sizes = {member.name: member.size for member in tarred}
        by_path = {str(PurePosixPath(name)): size for name, size in sizes.items()}
        return {name: by_path[name] for name in chosen(by_path)}


def opened_members(archive: str) -> Iterator[tuple[str, Open]]:
    """Yield each member of an archive that holds facts, to be opened before the next one."""
    inside = _zipped if archive.endswith(".zip") else _tarred
    with readable(archive):
        yield from inside(Path(archive), _unwatched, _unheeded)


def day_parts(facts: str) -> tuple["Part", ...]:
    """Return what an archived day holds, by the file of its facts; raises ``PitwatchError``."""
    folder = Path(facts).parent
    parts: tuple[Part, ...] = _history(folder).Day(folder).about.parts
    return parts


def feeds(
    source: Source, on_bytes: OnBytes = _unwatched, passed_over: Passed = _unheeded
) -> Iterator[Feed]:
    """Yield the events of each file in ``source``; read each of an archive's before the next.

    Raises:
        InputRefused: an archive is damaged; the files before the damage were yielded.
        OperatorError: it cannot be read.
    """
    if source.is_stdin:
        yield Feed("stdin", partial(_lines, "stdin", _stdin), once=True)
    elif is_packed(source.name):
        with readable(source.name):
            yield from _members(source, on_bytes, passed_over)
    elif is_journal(source.name):
        yield Feed(source.name, partial(_entries, Path(source.name)))
    elif is_day(source.name):
        yield from _of_day(Path(source.name).parent, source.without)
    else:
        opened = partial(Path(source.name).open, "rb")
        at = partial(_lines, source.name, opened, lambda file: on_bytes(file.tell()))
        yield Feed(source.name, at)


# --- finding files ------------------------------------------------------------------------


def _found(name: str) -> Iterable[Source]:
    if name == STDIN:
        return [Source(STDIN)]
    if _is_pattern(name):
        return [Source(found, _size(found)) for found in _some(_matching(name), name)]
    if Path(name).is_dir():
        return _in_folder(Path(name))
    return [Source(name, _size(name))]


def _is_pattern(name: str) -> bool:
    return has_magic(name) and not Path(name).exists()


def _matching(pattern: str) -> list[str]:
    return sorted(glob(pattern))  # noqa: PTH207 - pathlib's own accepts no absolute pattern


def _size(name: str) -> int:
    try:
        with Path(name).open("rb") as file:
            return file.seek(0, 2) if file.seekable() else 0
    except OSError as fault:
        raise unreadable(name, fault) from fault


def _in_folder(folder: Path) -> Iterator[Source]:
    files = [path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()]
    for name in _some(chosen(files, archives=True), str(folder)):
        path = str(folder / name)
        yield Source(path, _size(path))


def _some(names: Sequence[str], where: str) -> Sequence[str]:
    if names:
        return names
    raise OperatorError(
        "there is no event file, journal, session or archive",
        where=where,
        way_out="Name a path that holds .jsonl, .jsonl.gz, .journal, .zip or .tar files",
    )


def chosen(names: Iterable[str], *, archives: bool = False) -> list[str]:
    """Return a folder's files that hold facts, in order of their names.

    Args:
        names: relative to the folder, with ``/``.
        archives: whether archives count too.
    """
    endings = (*_EVENTS, _JOURNAL, *(_ARCHIVES if archives else ()))
    seen = sorted(map(PurePosixPath, names), key=lambda path: (path.parent.parts, path.name))
    found: list[str] = []
    for _, group in groupby(seen, key=lambda path: path.parent):
        beside = [path for path in group if not _hidden(path)]
        within = _of_session(beside) if any(p.name == SESSION_FILE for p in beside) else beside
        found += [
            str(path)
            for path in within
            if path.name.endswith(endings) or (archives and path.name == DAY_FACTS)
        ]
    return found


def _hidden(path: PurePosixPath) -> bool:
    return any(part.startswith(".") or part == "__MACOSX" for part in path.parts)


def _of_session(beside: Sequence[PurePosixPath]) -> Sequence[PurePosixPath]:
    journals = [path for path in beside if path.name.endswith(_JOURNAL)]
    facts = [path for path in beside if path.name == "facts.jsonl"]
    return journals or facts or [path for path in beside if path.name == "truth.jsonl"]


# --- reading them -------------------------------------------------------------------------


def _stdin() -> AbstractContextManager[Any]:
    if sys.stdin is None:
        raise OperatorError(
            "it is closed", where="stdin", way_out="Send facts to it, or name a file instead of -"
        )
    return nullcontext(sys.stdin.buffer)


def _lines(name: str, opened: Open, on_bytes: Callable[[Any], None] | None = None) -> Events:
    with readable(name), opened() as file:
        lines = gzip.GzipFile(fileobj=file, mode="rb") if name.endswith(".gz") else file
        events = decode_batches(_batches(lines, on_bytes and partial(on_bytes, file)), name)
        first = next(events, None)
        if first is None:
            raise OperatorError(
                "there is nothing in it",
                where=name,
                way_out="Name a file of events, one JSON object a line",
            )
        yield first
        yield from events


def _batches(file: Any, on_bytes: Callable[[], None] | None) -> Iterator[list[bytes]]:
    """Yield a file's lines without their ends, in groups as they are read."""
    rest = b""
    while block := file.read1(_BLOCK):
        if on_bytes is not None:
            on_bytes()
        *lines, rest = (rest + block).split(b"\n")
        if lines:
            yield lines
        if len(rest) > LONGEST_LINE:
            break
    if rest:
        yield [rest]


def _of_day(folder: Path, without: frozenset[str]) -> Iterator[Feed]:
    with _history(folder).Day(folder).parts() as parts:
        for part in parts:
            if part.part.journal not in without:
                yield Feed(f"{folder}/{part.name}", part.read, day=part)


def _history(folder: Path) -> Any:
    try:
        from server.archive import history  # noqa: PLC0415 - it is an extra, and slow to load
    except ImportError as fault:
        raise without_parquet(str(folder)) from fault
    return history


def _entries(path: Path) -> Events:
    entries = enumerate(read_journal(path), start=1)
    known = ((number, event) for number, event in entries if not isinstance(event, UnknownEvent))
    if path.is_file() and holds(path, DECISION):
        yield from with_decisions(event for _, event in known)
    else:
        yield from known


def _members(source: Source, on_bytes: OnBytes, passed_over: Passed) -> Iterator[Feed]:
    name = source.name
    inside = _zipped if name.endswith(".zip") else _tarred
    found = False
    for member, opened in inside(
        Path(name), on_bytes, lambda one, why: passed_over(f"{name}/{one}", why)
    ):
        found, within = True, f"{name}/{member}"
        if member in source.without:
            continue
        if is_journal(member):
            yield Feed(within, partial(_copied_entries, within, opened, _size(name)))
        else:
            yield Feed(within, partial(_lines, within, opened))
    if not found:
        _some((), name)


def _copied_entries(name: str, opened: Open, packed: int) -> Events:
    """Copy a journal out of its archive to a temporary folder, and yield its events."""
    with scratch_folder("pitwatch-") as folder:
        copy = folder / f"copy{_JOURNAL}"
        with readable(name), opened() as file, copy.open("wb") as into:
            _copy(file, into, name, packed)
        try:
            yield from _entries(copy)
        except TechnicianError as fault:
            raise TechnicianError(fault.what, where=name, way_out=fault.way_out) from fault


def _copy(content: Any, into: Any, name: str, packed: int) -> None:
    """Copy a member to this machine's disk, unless it unpacks to more than records do.

    Raises:
        OperatorError: it does.
    """
    copied, most = 0, max(_UNPACKED_BYTES, _UNPACKED_TIMES * packed)
    while block := content.read(_BLOCK):
        copied += len(block)
        if copied > most:
            raise OperatorError(
                f"it unpacks to more than {most:,} bytes, and its archive has {packed:,}",
                where=name,
                way_out="Do not use it; if it is what it should be, unpack it and name the folder",
            )
        into.write(block)


def _taken(members: Iterable[tuple[str, str | None]], passed_over: Passed) -> dict[str, int]:
    """Return the archive's members that hold facts, each with its index; report skipped ones.

    Args:
        members: the name of each, and the reason where it cannot be read.
        passed_over: receives links, archives, paths that lead out of the archive, and members that
            another one of the same name replaces.
    """
    places: dict[str, int] = {}
    replaced: list[str] = []
    for place, (name, odd) in enumerate(members):
        path = PurePosixPath(name)
        why = odd or _why_not(path)
        if why is not None:
            passed_over(str(path), why)
            continue
        if str(path) in places:
            replaced.append(str(path))
        places[str(path)] = place
    taken = {name: places[name] for name in chosen(places)}
    for name in replaced:
        if name in taken:
            passed_over(name, "another member of the same name follows it")
    return taken


def _why_not(path: PurePosixPath) -> str | None:
    if ".." in path.parts and path.name.endswith((*_EVENTS, _JOURNAL, *_ARCHIVES)):
        return "its path leads out of the archive"
    if path.name.endswith(_ARCHIVES) and not _hidden(path):
        return "it is an archive in an archive"
    return None


def _zipped(path: Path, on_bytes: OnBytes, passed_over: Passed) -> Iterator[tuple[str, Open]]:
    with path.open("rb") as file, zipfile.ZipFile(file) as archive:
        members = [info for info in archive.infolist() if not info.is_dir()]
        odd = ((info.filename, _LINK if _is_link(info) else None) for info in members)
        for name, place in _taken(odd, passed_over).items():
            on_bytes(members[place].header_offset)
            yield name, partial(_unzipped, archive, members[place], str(path))


def _is_link(info: zipfile.ZipInfo) -> bool:
    return stat.S_ISLNK(info.external_attr >> 16)


def _unzipped(archive: zipfile.ZipFile, member: zipfile.ZipInfo, where: str) -> Any:
    try:
        return archive.open(member)
    except RuntimeError as fault:
        raise OperatorError(
            str(fault), where=where, way_out="Unpack it, and name the folder"
        ) from fault


def _tarred(path: Path, on_bytes: OnBytes, passed_over: Passed) -> Iterator[tuple[str, Open]]:
    with tarfile.open(path) as listing:
        members = ((member.name, _odd(member)) for member in listing if not member.isdir())
        wanted = _taken(members, passed_over)
    with path.open("rb") as file, tarfile.open(fileobj=file, mode="r|*") as archive:
        for place, member in enumerate(one for one in archive if not one.isdir()):
            on_bytes(file.tell())
            name = str(PurePosixPath(member.name))
            content = archive.extractfile(member) if wanted.get(name) == place else None
            if content is not None:
                with SpooledTemporaryFile(max_size=_KEPT) as copy:
                    _copy(content, copy, f"{path}/{name}", path.stat().st_size)
                    yield name, partial(_rewound, copy)


def _odd(member: tarfile.TarInfo) -> str | None:
    if member.issym() or member.islnk():
        return _LINK
    return None if member.isfile() else "it is a device, not a file"


@contextmanager
def _rewound(copy: Any) -> Iterator[Any]:
    """Yield a member of a stream of members, rewound to its start."""
    copy.seek(0)
    yield copy
