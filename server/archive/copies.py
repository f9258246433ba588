"""Files that were given twice: each journal and each file counts once.

A journal is known by its id, wherever its copy lies: beside it, below it, in an archive or in an
archived day. Of its copies the one with the most entries counts. Other files are known by their
content, which is read here only where two are of the same size.
"""

import gzip
import hashlib
import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from shutil import copyfileobj
from typing import Final, TypeAlias

from models.errors import PitwatchError
from server.archive.archives import (
    Open,
    Source,
    day_parts,
    is_day,
    is_journal,
    is_packed,
    members,
    opened_members,
)
from server.archive.unreadable import readable
from stream.reading import journal_id, last_place
from stream.scratch import scratch_folder

_SIZE_AT_END: Final = 4
"""Bytes at the end of a gzip file that hold the size of its content."""
_BLOCK: Final = 1 << 20

_Key: TypeAlias = tuple[str, object]


@dataclass(frozen=True, slots=True)
class Copy:
    """What does not count, as it was given before or elsewhere."""

    name: str
    of: str
    """The file that counts."""

    def __str__(self) -> str:
        elsewhere = f"it is a copy of {self.of}" if self.of != self.name else "it is named twice"
        return f"{self.name}: passed over: {elsewhere}"


@dataclass(frozen=True, slots=True)
class _Unit:
    """A file on disk, a member of an archive, or a part of an archived day."""

    source: Source
    member: str
    name: str
    key: _Key
    """What copies have in common; for a file its size, until its content is needed."""
    entries: int = 0


def without_copies(given: Sequence[Source]) -> tuple[tuple[Source, ...], tuple[Copy, ...]]:
    """Return the sources without what was given twice, and that."""
    once = {_place(source): source for source in reversed(given)}
    left = [source for source in given if once[_place(source)] is source]
    again = [source for source in given if once[_place(source)] is not source]
    named_twice = [Copy(source.name, once[_place(source)].name) for source in again]
    if len(left) == 1 and not is_packed(left[0].name):
        return tuple(left), tuple(named_twice)
    units = list(_by_content([unit for source in left for unit in _units(source)]))
    copies = dict(_copies(units))
    kept = [_less(source, units, copies) for source in left]
    return tuple(one for one in kept if one is not None), (*named_twice, *copies.values())


def say(copies: Iterable[Copy]) -> None:
    """Name on stderr what was passed over."""
    for copy in copies:
        print(f"pitwatch: {copy}", file=sys.stderr)


def _place(source: Source) -> object:
    return source.name if source.is_stdin else Path(source.name).resolve()


def _less(source: Source, units: Sequence[_Unit], copies: dict[_Unit, Copy]) -> Source | None:
    """Return a source without its copies; ``None`` where nothing of it is left."""
    own = [unit for unit in units if unit.source is source]
    again = frozenset(unit.member for unit in own if unit in copies)
    if own and len(again) == len(own):
        return None
    return replace(source, without=again) if again else source


def _copies(units: Iterable[_Unit]) -> Iterator[tuple[_Unit, Copy]]:
    alike = defaultdict[_Key, list[_Unit]](list)
    for unit in units:
        alike[unit.key].append(unit)
    for same in alike.values():
        best = max(same, key=lambda unit: unit.entries)
        yield from ((unit, Copy(unit.name, best.name)) for unit in same if unit is not best)


# --- what makes two files the same --------------------------------------------------------


def _units(source: Source) -> Iterator[_Unit]:
    """Yield what a source holds; nothing of one that cannot be read, which is refused later."""
    try:
        if source.is_stdin:
            return
        if is_journal(source.name):
            yield _journal(source, "", source.name, Path(source.name))
        elif is_day(source.name):
            for part in day_parts(source.name):
                name = f"{Path(source.name).parent}/{part.name}"
                yield _Unit(source, part.journal, name, ("journal", part.journal), part.entries)
        elif is_packed(source.name):
            yield from _packed(source)
        else:
            yield _Unit(source, "", source.name, ("size", _size(source)))
    except (PitwatchError, OSError):
        return


def _packed(source: Source) -> Iterator[_Unit]:
    sizes = members(source.name)
    for member, size in sizes.items():
        if not is_journal(member):
            yield _Unit(source, member, f"{source.name}/{member}", ("size", size))
    if any(map(is_journal, sizes)):
        for member, opened in opened_members(source.name):
            if is_journal(member):
                with scratch_folder("pitwatch-") as folder:
                    copy = folder / "copy.journal"
                    with readable(source.name), opened() as file, copy.open("wb") as into:
                        copyfileobj(file, into)
                    yield _journal(source, member, f"{source.name}/{member}", copy)


def _journal(source: Source, member: str, name: str, path: Path) -> _Unit:
    last = last_place(path)
    return _Unit(source, member, name, ("journal", journal_id(path) or last.head), last.seq)


def _size(source: Source) -> int:
    """Return the size of a file's content."""
    if not source.name.endswith(".gz"):
        return source.size
    with Path(source.name).open("rb") as file:
        file.seek(-_SIZE_AT_END, 2)
        return int.from_bytes(file.read(), "little")


def _by_content(units: Sequence[_Unit]) -> Iterator[_Unit]:
    """Tell files of one size apart by their content."""
    many = defaultdict[_Key, int](int)
    for unit in units:
        many[unit.key] += 1
    unsure = {(one.source.name, one.member) for one in units if _unsure(one, many)}
    hashes = dict(_hashes(unsure))
    for unit in units:
        found = hashes.get((unit.source.name, unit.member))
        yield unit if found is None else replace(unit, key=("content", found))


def _unsure(unit: _Unit, many: dict[_Key, int]) -> bool:
    return unit.key[0] == "size" and many[unit.key] > 1


def _hashes(wanted: set[tuple[str, str]]) -> Iterator[tuple[tuple[str, str], bytes]]:
    for name in sorted({name for name, _ in wanted}):
        with suppress(PitwatchError, OSError):  # a damaged file is refused once it is settled
            if not is_packed(name):
                yield (name, ""), _hash(name, partial(Path(name).open, "rb"))
                continue
            for member, opened in opened_members(name):
                if (name, member) in wanted:
                    yield (name, member), _hash(member, opened)


def _hash(name: str, opened: Open) -> bytes:
    digest = hashlib.sha256()
    with readable(name), opened() as file:
        content = gzip.GzipFile(fileobj=file, mode="rb") if name.endswith(".gz") else file
        while block := content.read(_BLOCK):
            digest.update(block)
    return digest.digest()
