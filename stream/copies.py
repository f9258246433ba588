"""Copy a journal, move it into an archive, or restore it: all of its files, verified.

Every written file is made durable, opened again and compared with the chain and head of its source.
Only then does it appear under its name.
"""

import errno
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from models.errors import OperatorError
from stream.files import JournalFiles, followed, sync_folder
from stream.journal import Journal, Verified, verify_journal
from stream.seal import Seal, write_seal
from stream.sole import Sole
from stream.store import (
    at_rest,
    connected,
    damaged,
    no_journal,
    one_line,
    unusable,
)

_PATIENCE_MS: Final = 5_000


@dataclass(frozen=True, slots=True)
class Archived:
    """The result of moving a journal into an archive."""

    place: Path
    verified: Verified


@contextmanager
def whole_journal(path: Path, *, force: bool = False) -> Iterator[Journal]:
    """Write a new journal that appears at ``path`` only once the block has ended without error.

    Raises:
        OperatorError: a file of a journal is at ``path`` already, and ``force`` does not allow
            replacing it.
        TechnicianError: the disk refuses it, or another program writes the journal at ``path``.
    """
    path = followed(path)
    files = JournalFiles(path)
    if not force:
        files.check_vacant()
    part = JournalFiles(path.with_name(f".{path.name}.part"))
    with _sole(path):
        part.remove()
        try:
            with Journal.create(part.main, name=path.name) as journal:
                yield journal
            with one_line(str(path)):
                files.remove_companions()
                part.main.replace(path)
                sync_folder(path.parent)
        finally:
            part.remove()


def backup_journal(source: Path, target: Path, *, force: bool = False) -> Verified:
    """Copy a journal, also while it is being written, verify the copy and seal it.

    The copy holds every entry that was acknowledged before this was called. It appears under its
    name only when it is whole.

    Raises:
        OperatorError: a file of a journal is at ``target`` already, and ``force`` does not allow
            replacing it.
        TechnicianError: the journal is missing or damaged, or a disk refuses it.
    """
    target = followed(target)
    files = JournalFiles(target)
    if not force:
        files.check_vacant()
    _check_there(source)
    with _sole(target):
        if not force:
            files.check_vacant()
        found = _copied(source, target)
    return _proved(target, found)


def restore_journal(copy: Path, target: Path) -> Verified:
    """Restore a copy to the place of its journal; as :func:`backup_journal`.

    Raises:
        OperatorError: a file of a journal is at ``target`` already, or ``copy`` is a journal of
            another name.
        TechnicianError: the copy is missing or damaged, or the disk refuses it.
    """
    _check_there(copy)
    identity = verify_journal(copy).identity
    if identity is not None and not identity.is_named(target):
        raise OperatorError(
            f"the copy is of {identity.name}",
            where=str(target),
            way_out=f"Restore it as {identity.name}",
        )
    return backup_journal(copy, target)


def archive_journal(path: Path, folder: Path) -> Archived:
    """Move a journal that nobody writes into a folder, with all entries of its log.

    Its name there is its own name with its id. A journal that was not closed in order is closed
    first; where its log is missing, an entry says so. After an interruption, another call continues
    the move.

    Raises:
        OperatorError: it is a link, it is archived in that folder already, or another file is at
            its place there.
        TechnicianError: it is missing, damaged or being written, or a disk refuses it.
    """
    files = JournalFiles(path)
    _check_there(path)
    _check_no_link(path)
    if not _is_closed(verify_journal(path)):
        Journal.open(path).close()
    with _sole(path):
        found = verify_journal(path)
        if not _is_closed(found):
            raise unusable(str(path), "another program reads it", "Try again in a moment")
        assert found.identity is not None
        target = folder / found.identity.archive_name
        _check_elsewhere(path, target)
        if not _is_there_already(target, found):
            _move(files, target)
        else:
            files.remove()
        with one_line(str(path)):
            files.remove_companions()
            sync_folder(path.parent)
    return Archived(target, _proved(target, found))


def _check_there(path: Path) -> None:
    if not path.is_file():
        raise no_journal(path)


def _check_no_link(path: Path) -> None:
    if path.is_symlink():
        raise OperatorError(
            f"it is a link to {followed(path)}", where=str(path), way_out="Name that file"
        )


def _check_elsewhere(path: Path, target: Path) -> None:
    """Raise ``OperatorError`` where a journal would replace itself."""
    if target.exists() and path.samefile(target):
        raise OperatorError(
            "it is in this archive already", where=str(path), way_out="Name another folder"
        )


@contextmanager
def _sole(path: Path) -> Iterator[None]:
    sole = Sole(path)
    try:
        yield
    finally:
        sole.let_go()


def _copied(source: Path, target: Path) -> Verified:
    """Copy a journal to a vacant place; return the verified copy."""
    part = JournalFiles(target.with_name(target.name + ".part"))
    try:
        with one_line(str(part.main)):
            part.remove()
            _copy(source, part.main)
        found = verify_journal(part.main)
        _check_same(source, found)
        with one_line(str(part.main)):
            write_seal(part.main, Seal(found.entries, bytes.fromhex(found.head)))
            JournalFiles(target).remove_companions()
            part.main.replace(target)
            sync_folder(target.parent)
    finally:
        with suppress(OSError):
            part.remove()
    return found


def _copy(source: Path, target: Path) -> None:
    with closing(at_rest(source)) as reading, closing(connected(str(target))) as copy:
        reading.backup(copy)


def _check_same(source: Path, found: Verified) -> None:
    """Compare a copy with its source, which may have grown since."""
    query = "SELECT hash FROM entries WHERE seq = ?"
    with one_line(str(source)), closing(at_rest(source)) as connection:
        row = connection.execute(query, (found.entries,)).fetchone()
    if found.entries and (row is None or row[0].hex() != found.head):
        raise damaged(str(source), f"its copy has another entry {found.entries}")


def _proved(place: Path, expected: Verified) -> Verified:
    """Read and verify the written file."""
    found = verify_journal(place)
    if (found.entries, found.head) != (expected.entries, expected.head):
        raise damaged(str(place), "it does not hold what was written to it")
    return found


def _is_closed(found: Verified) -> bool:
    """Return whether a journal was closed in order, by a version that gave it an identity."""
    return found.sealed and found.identity is not None


def _is_there_already(target: Path, found: Verified) -> bool:
    """Whether an interrupted archiving already wrote that file."""
    if not target.exists():
        JournalFiles(target).check_vacant()
        return False
    there = verify_journal(target)
    if there.sealed and (there.identity, there.head) == (found.identity, found.head):
        return True
    raise OperatorError(
        "another state of this journal is in the archive already",
        where=str(target),
        way_out="Verify both, and move the one that holds less away",
    )


def _move(files: JournalFiles, target: Path) -> None:
    with one_line(str(target)):
        try:
            files.main.rename(target)
            sync_folder(target.parent)
        except OSError as fault:
            if fault.errno != errno.EXDEV:
                raise
        else:
            return
    _proved(target, _copied(files.main, target))
    with one_line(str(files.main)):
        files.remove()
