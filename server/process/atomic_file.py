"""Write a file whole or not at all."""

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from models.errors import OperatorError


def write_whole(path: Path, content: bytes) -> None:
    """Write ``content`` to ``path``, which appears only once it is complete.

    Raises:
        OperatorError: it cannot be written; ``path`` is unchanged.
    """
    with whole_file(path) as file:
        file.write(content)


@contextmanager
def whole_file(path: Path) -> Iterator[BinaryIO]:
    """Open a file that appears at ``path`` only once it is complete; else ``path`` is unchanged.

    Raises:
        OperatorError: it cannot be written.
    """
    half = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        with half.open("wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        half.replace(path)
    except OSError as fault:
        raise OperatorError(
            f"the file cannot be written ({fault.strerror})",
            where=str(path),
            way_out="Name a place that exists, may be written and has room",
        ) from fault
    finally:
        with suppress(OSError):
            half.unlink(missing_ok=True)


def check_place(path: Path | None, *, force: bool = False) -> None:
    """Check that a file can be written, before the work for it.

    Raises:
        OperatorError: there is no such folder, the place is a folder itself, or a file exists there
            and ``force`` does not allow replacing it.
    """
    if path is None:
        return
    if path.is_dir() or not path.parent.is_dir():
        raise OperatorError(
            "a folder exists there" if path.is_dir() else "there is no such folder to write in",
            where=str(path),
            way_out="Name a file in a folder that exists",
        )
    if path.exists() and not force:
        raise OperatorError(
            "the file exists already",
            where=str(path),
            way_out="Name a new file, or overwrite this one with --force",
        )


def check_tables(place: Path | None, *, force: bool = False) -> None:
    """Check a place for tables: ``F.parquet`` for one, any other name a folder for all.

    Raises:
        OperatorError: no table can be written there, or a file exists there and ``force`` does not
            allow replacing it.
    """
    if place is None or place.suffix == ".parquet" or not place.exists():
        check_place(place, force=force)
    elif not force or not place.is_dir():
        kind = "folder" if place.is_dir() else "file"
        raise OperatorError(
            f"a {kind} exists there",
            where=str(place),
            way_out="Name a new folder, or write into one that exists with --force",
        )


def make_folder(path: Path, way_out: str) -> None:
    """Make sure that a folder exists for writing.

    Raises:
        OperatorError: it cannot be created; ``way_out`` names the remedy.
    """
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as fault:
        raise OperatorError(
            f"the folder cannot be made ({fault.strerror})", where=str(path), way_out=way_out
        ) from fault
