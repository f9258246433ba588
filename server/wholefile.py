"""Write a file whole or not at all."""

import os
from pathlib import Path

from models.errors import OperatorError


def write_whole(path: Path, content: bytes) -> None:
    """Put ``content`` at ``path``; until it is complete nothing stands there.

    Raises:
        OperatorError: it cannot be written; ``path`` is as it was.
    """
    half = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        _write(half, content)
        half.replace(path)
    except OSError as fault:
        half.unlink(missing_ok=True)
        raise OperatorError(
            f"the file cannot be written ({fault.strerror})",
            where=str(path),
            way_out="Name a place that exists, may be written and has room",
        ) from fault


def check_place(path: Path | None) -> None:
    """Refuse a place where no file can be put, before the work whose result goes there.

    Raises:
        OperatorError: there is no such folder, or the place is a folder itself.
    """
    if path is not None and (path.is_dir() or not path.parent.is_dir()):
        raise OperatorError(
            "a folder stands there" if path.is_dir() else "there is no such folder to write in",
            where=str(path),
            way_out="Name a file in a folder that exists",
        )


def make_folder(path: Path, way_out: str) -> None:
    """Make sure that there is a folder to write into.

    Raises:
        OperatorError: it cannot be made; ``way_out`` says what to do about it.
    """
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as fault:
        raise OperatorError(
            f"the folder cannot be made ({fault.strerror})", where=str(path), way_out=way_out
        ) from fault


def _write(path: Path, content: bytes) -> None:
    with path.open("wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
