"""Compare the installed program with its wheel.

The wheel's manifest, ``RECORD``, lies beside the program: it shows damage and careless changes.
Somebody who can write both can make them agree. The program's hash, compared with that of another
machine or of the release, shows that too.
"""

import base64
import hashlib
import importlib.util
import marshal
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.metadata import Distribution, PackagePath
from pathlib import Path
from types import CodeType
from typing import Final

from models.errors import TechnicianError
from server.process.program import ROOT, compiled_files, program_files

_REINSTALL: Final = "Install the release again, from a wheel whose origin is known"
_CACHE_HEADER_BYTES: Final = 16
_OPTIMIZED: Final = (("", 0), ("1", 1), ("2", 2))
"""Names and levels of Python's bytecode caches."""


@dataclass(frozen=True, slots=True)
class InstallDifferences:
    """The differences of the files from the manifest; names are relative to the packages."""

    checked: int
    changed: tuple[str, ...]
    missing: tuple[str, ...]
    added: tuple[str, ...]

    @property
    def altered(self) -> bool:
        """Whether anything differs."""
        return bool(self.changed or self.missing or self.added)


def check_install(root: Path = ROOT) -> InstallDifferences | None:
    """Compare the program's files with the manifest; ``None`` where no wheel was installed.

    Raises:
        TechnicianError: the manifest is missing, or there are several.
    """
    folders = sorted(root.glob("pitwatch-*.dist-info"))
    if not folders:
        return None
    listed = {str(file): file for file in _manifest(root, folders) if file.hash is not None}
    there = program_files(root)
    changed = [name for name, file in listed.items() if _differs(root / name, file)]
    missing = [name for name in listed if not (root / name).is_file()]
    added = [name for name in there if name not in listed]
    caches = [cache.relative_to(root).as_posix() for cache in _altered_caches(root, there)]
    loaded = [str(path) for path in compiled_files()] if root == ROOT else []
    return InstallDifferences(
        checked=len(listed),
        changed=(*sorted(changed), *caches),
        missing=tuple(sorted(missing)),
        added=(*added, *loaded),
    )


def _manifest(root: Path, folders: list[Path]) -> list[PackagePath]:
    if len(folders) > 1:
        names = ", ".join(folder.name for folder in folders)
        raise TechnicianError(
            f"several versions are installed over each other: {names}",
            where=str(root),
            way_out=_REINSTALL,
        )
    distribution = Distribution.at(folders[0])
    files = distribution.files if distribution.read_text("RECORD") else None
    if not files or PackagePath("pitwatch/__init__.py") not in files:
        raise TechnicianError(
            "the manifest of the installed program is missing or does not list it",
            where=str(folders[0] / "RECORD"),
            way_out=_REINSTALL,
        )
    return files


def _differs(path: Path, listed: PackagePath) -> bool:
    if not path.is_file() or listed.hash is None:
        return False
    digest = hashlib.new(listed.hash.mode, path.read_bytes()).digest()
    return base64.urlsafe_b64encode(digest).rstrip(b"=").decode() != listed.hash.value


def _altered_caches(root: Path, names: list[str]) -> Iterator[Path]:
    """Yield the caches that Python would run instead of a source and that differ from it."""
    for name in names:
        if not name.endswith(".py"):
            continue
        for optimization, level in _OPTIMIZED:
            place = importlib.util.cache_from_source(str(root / name), optimization=optimization)
            if Path(place).is_file() and not _is_cache_of(Path(place), root / name, level):
                yield Path(place)


def _is_cache_of(cache: Path, source: Path, level: int) -> bool:
    try:
        cached = marshal.loads(cache.read_bytes()[_CACHE_HEADER_BYTES:])
    except (EOFError, TypeError, ValueError):
        return False
    code = compile(source.read_bytes(), str(source), "exec", dont_inherit=True, optimize=level)
    return isinstance(cached, CodeType) and cached == code
