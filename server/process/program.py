"""The running program: its version and hashes of its files, as every journal states them.

The program's hash is the SHA-256 of the output of ``sha256sum`` for its files in order of their
names, so that it can be checked without this program. Files are read from disk; code that a running
process loaded earlier is not examined.
"""

import hashlib
from collections.abc import Iterable, Iterator
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Final

import msgspec

import models
from models.events import ProgramStated
from settlement.native import ENGINE, RECONCILER, found

_ABOVE, _, _ = models.__name__.rpartition("models")
"""``pitwatch.`` where the wheel was installed; nothing in a checkout."""
_OF_CHECKOUT: Final = (
    *("devices", "models", "pitwatch", "server", "settlement", "simulation", "stream", "vision"),
)
PACKAGES: Final = ("pitwatch",) if _ABOVE else _OF_CHECKOUT
"""The top-level packages: the one that the wheel installs, or those of a checkout."""
ROOT: Final = Path(__file__).resolve().parents[__name__.count(".")]
"""The folder of the packages: ``site-packages``, or a checkout."""
CACHES: Final = "__pycache__"
_NETWORKS: Final = f"{_ABOVE.replace('.', '/')}models/networks/"


class Program(msgspec.Struct, frozen=True, kw_only=True):
    """A journal's statement on the program that writes it."""

    version: str
    program_hash: str
    networks: dict[str, str]
    """SHA-256 of every network, by the name of its file."""
    compiled_hash: str = ""
    """As ``program_hash``, of the compiled libraries in use; empty where there are none."""


def program_files(root: Path = ROOT) -> list[str]:
    """Return the program's files relative to ``root``, ordered by name, without Python's caches."""
    return sorted(
        path.relative_to(root).as_posix()
        for package in PACKAGES
        for path in (root / package).rglob("*")
        if path.is_file() and CACHES not in path.relative_to(root).parts
    )


def compiled_files() -> list[Path]:
    """Return the compiled libraries in use, ordered by name."""
    folders = (found(form) for form in (ENGINE, RECONCILER))
    return sorted(path for folder in folders if folder for path in Path(folder).iterdir())


@cache
def this_program() -> Program:
    """Hash the files of the running program, once per process."""
    hashes = {name: sha256_of(ROOT / name) for name in program_files()}
    compiled = [(path.name, sha256_of(path)) for path in compiled_files()]
    return Program(
        version=this_version(),
        program_hash=hash_of_list(hashes.items()),
        networks=dict(_networks(hashes)),
        compiled_hash=hash_of_list(compiled) if compiled else "",
    )


def this_version() -> str:
    """Return the installed version; ``unknown`` where only the files were copied."""
    try:
        return version("pitwatch")
    except PackageNotFoundError:
        return "unknown"


def program_stated(at_ns: int) -> ProgramStated:
    """Return the journal entry that states the program."""
    return ProgramStated(source="program", at=at_ns, **msgspec.structs.asdict(this_program()))


def sha256_of(path: Path) -> str:
    """Return the SHA-256 of a file, in hex."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def hash_of_list(hashes: Iterable[tuple[str, str]]) -> str:
    """Return the SHA-256 of the lines that ``sha256sum`` prints for files of these hashes."""
    lines = "".join(f"{digest}  {name}\n" for name, digest in hashes)
    return hashlib.sha256(lines.encode()).hexdigest()


def _networks(hashes: dict[str, str]) -> Iterator[tuple[str, str]]:
    for name, digest in hashes.items():
        if name.startswith(_NETWORKS) and name.endswith(".onnx"):
            yield name.removeprefix(_NETWORKS), digest
