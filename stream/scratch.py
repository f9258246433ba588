"""Folders that hold unfinished work, and are gone however that work ends."""

import secrets
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

_NAME_BYTES: Final = 8  # as hexadecimal digits; two runs never choose one name


@contextmanager
def scratch_folder(prefix: str, inside: Path | None = None) -> Iterator[Path]:
    """Make a new folder for this process alone; remove it at the end.

    A signal that ends the command raises between any two steps (``server.process.signals``).
    ``tempfile`` makes a folder first and knows its name afterwards, so a signal in between left the
    folder behind. Here the name is known first, and a removal that a signal ends begins again.

    Args:
        prefix: how the folder's name begins.
        inside: where it lies; by default where the system keeps temporary files.

    Raises:
        OSError: it cannot be made.
    """
    place = (inside or Path(tempfile.gettempdir())) / f"{prefix}{secrets.token_hex(_NAME_BYTES)}"
    try:
        try:
            place.mkdir(mode=0o700)
            yield place
        finally:
            shutil.rmtree(place, ignore_errors=True)
    finally:
        shutil.rmtree(place, ignore_errors=True)
