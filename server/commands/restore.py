"""``pitwatch restore``: restore a site's backup completely or not at all.

Files are written beside their places first. Once all of them are durable and verified, they are
renamed into place. Meanwhile a file, ``.restoring``, names the backup, so that an interrupted
restore can be distinguished from earlier files, and repeated.
"""

import hashlib
import os
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Final

import msgspec
import typer
from rich.text import Text

from models.errors import OperatorError, TechnicianError
from server.bundle.bundle import Asked, Bundle, Verdict, head_of, read_bundle
from server.bundle.manifest import Head, damaged
from server.house.wording import counted
from server.process.terminal import screen
from stream.files import JournalFiles, sync_folder
from stream.journal import verify_journal

app = typer.Typer()


@app.command("restore", epilog="[dim]pitwatch restore /var/backups/pitwatch/NAME DATA[/dim]")
def restore_site(
    backup: Annotated[
        Path, typer.Argument(metavar="BACKUP", help="A folder that `pitwatch backup make` made.")
    ],
    data: Annotated[
        Path, typer.Argument(metavar="DATA", help="The folder for journals/ and service/.")
    ],
) -> None:
    """Restore a backup's journals and service files into DATA: all of them or none.

    Stop tables and service first. The command verifies the backup before it writes, and every
    file's checksum after. It never overwrites a file. After an interruption, run it again: it
    continues where it stopped.
    """
    restore(backup, data)


_MARK: Final = ".restoring"
FOLDERS: Final = ("journals", "service")


@dataclass(frozen=True, slots=True)
class BackedUp:
    """One file of a backup with its destination."""

    source: Path
    target: Path
    sha256: str

    @property
    def part(self) -> Path:
        """Its temporary place until every file is complete."""
        return self.target.with_name(f".{self.target.name}.restoring")

    @property
    def is_journal(self) -> bool:
        """Whether it is a journal, with a chain to verify."""
        return self.source.suffix == ".journal"


def restore(backup: Path, data: Path) -> None:
    """Restore a backup and report it.

    Raises:
        OperatorError: it is no backup, or a file exists in the place of one of its files.
        TechnicianError: it is damaged, or the disk refuses it; nothing was restored.
    """
    bundle = read_bundle(backup)
    check_backup(bundle, Asked())
    files = tuple(files_of(bundle, data))
    mark, digest = data / _MARK, hashlib.sha256(msgspec.json.encode(bundle.manifest)).hexdigest()
    went_on = mark.exists() and mark.read_text("utf-8") == digest
    left = [file for file in files if not (went_on and _is_in_place(file))]
    for file in left:
        _check_vacant(file)
    with disk_faults("nothing was restored", data):
        _write(left, mark, digest)
    _put(left, mark)
    for file in files:
        _check_file(file.target, file)
    line = Text("restored", style="bold green")
    number = counted(sum(file.is_journal for file in files), "journal")
    line.append(f"  {backup} into {data}: {number}, {counted(len(files), 'file')}, all verified")
    screen().print(line)


@contextmanager
def disk_faults(consequence: str, place: Path) -> Iterator[None]:
    """Convert disk errors into one line with the consequence and the way out."""
    try:
        yield
    except OSError as fault:
        raise TechnicianError(
            f"the disk refused the write ({fault.strerror}), {consequence}",
            where=str(fault.filename or place),
            way_out="Make room, or give this user the right to write there, and run it again",
        ) from fault


def files_of(backup: Bundle, data: Path) -> Iterator[BackedUp]:
    """Yield the files of a backup, with their places in ``data``.

    Raises:
        OperatorError: it is no backup.
    """
    for one in backup.manifest.files:
        folder, _, file = one.name.partition("/")
        is_plain = file not in ("", ".", "..") and "/" not in file and file.isprintable()
        if backup.manifest.kind != "backup" or folder not in FOLDERS or not is_plain:
            raise OperatorError(
                f"this is not a backup: it has the file {one.name!r}",
                where=str(backup.path),
                way_out="Name a folder that `pitwatch backup make` made",
            )
        yield BackedUp(backup.path / folder / file, data / folder / file, one.sha256)


def check_backup(backup: Bundle, asked: Asked) -> Verdict:
    """Verify the chain of every journal in a backup, and those of tables by the tables' keys.

    Raises:
        OperatorError: it is no backup.
        TechnicianError: a journal is damaged, or another key signed it.
    """
    files, heads = tuple(files_of(backup, backup.path)), list[Head]()
    for file in files:
        if file.is_journal:
            is_tables = file.source.parent.name == FOLDERS[0]
            verified = verify_journal(file.source, asked.tables if is_tables else ())
            heads.append(head_of(file.source.name, verified))
    if not files:
        raise damaged(backup.path, "it has no file")
    if backup.manifest.at and tuple(heads) != backup.manifest.journals:
        raise damaged(backup.path, "its journals are not those that its manifest names")
    chains = f"that no chain is broken, of {counted(len(heads), 'journal')}"
    return Verdict((chains,), notes=(counted(len(files), "file"),))


def _check_file(place: Path, file: BackedUp) -> None:
    if _digest(place) != file.sha256:
        raise TechnicianError(
            "it is not what the backup holds",
            where=str(place),
            way_out="Check the disk and restore elsewhere",
        )


def _check_vacant(file: BackedUp) -> None:
    if file.is_journal and not file.target.exists():
        JournalFiles(file.target).check_vacant()
    if file.target.exists():
        raise OperatorError(
            "it exists already; nothing was restored",
            where=str(file.target),
            way_out="Move it away; a journal with `pitwatch journal archive`",
        )


def _is_in_place(file: BackedUp) -> bool:
    return file.target.is_file() and _digest(file.target) == file.sha256


def _write(files: Sequence[BackedUp], mark: Path, digest: str) -> None:
    """Write every file beside its place, durable and verified; leave nothing after a failure."""
    try:
        for folder in FOLDERS:
            (mark.parent / folder).mkdir(parents=True, exist_ok=True)
        mark.write_text(digest, "utf-8")
        for file in files:
            shutil.copyfile(file.source, file.part)
            found = file.source.stat()
            os.utime(file.part, ns=(found.st_atime_ns, found.st_mtime_ns))
            _sync(file.part)
            _check_file(file.part, file)
    except BaseException:  # Ctrl-C too leaves no part of a file
        for file in files:
            with suppress(OSError):
                file.part.unlink(missing_ok=True)
        with suppress(OSError):
            mark.unlink(missing_ok=True)
        raise


def _put(files: Sequence[BackedUp], mark: Path) -> None:
    for file in files:
        if file.is_journal:
            JournalFiles(file.target).remove_companions()
        file.part.rename(file.target)
    for folder in FOLDERS:
        sync_folder(mark.parent / folder)
    mark.unlink()
    sync_folder(mark.parent)


def _sync(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
