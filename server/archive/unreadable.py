"""Why a file of an archive cannot be read, as the person who named it is told."""

import gzip
import tarfile
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from lzma import LZMAError
from typing import Final

from models.errors import InputRefused, OperatorError

_DAMAGED: Final = (
    LZMAError,
    EOFError,
    gzip.BadGzipFile,
    zlib.error,
    zipfile.BadZipFile,
    tarfile.TarError,
)


def unreadable(name: str, fault: OSError) -> OperatorError:
    """Return the error of a file that the system does not let anybody read."""
    return OperatorError(
        f"the facts cannot be read ({fault.strerror or fault})",
        where=name,
        way_out="Name a readable event file, journal, folder or archive, or - for stdin",
    )


def without_parquet(where: str, instead: str = "") -> OperatorError:
    """Return the error of a command that needs Parquet where its library is missing.

    ``instead`` is another way out, such as ``, or name a .csv file``.
    """
    return OperatorError(
        "pyarrow is not installed, which reads and writes Parquet",
        where=where,
        way_out=f"Install it: pip install 'pitwatch[parquet]'{instead}",
    )


@contextmanager
def readable(name: str) -> Iterator[None]:
    """Turn faults of a file, as opposed to faults of a line, into a refusal that names it."""
    try:
        yield
    except _DAMAGED as fault:
        raise InputRefused(
            source=name, field="document", expected="an undamaged archive", found=str(fault)
        ) from fault
    except OSError as fault:
        raise unreadable(name, fault) from fault
