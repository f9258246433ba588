"""A part of the work on many files, and the folder that holds its results.

The process pool, a cluster and machines that share only a folder use the same parts. A part's
folder holds ``text`` (what the part prints), ``reports`` (the totals of its files, MessagePack)
and, where rows are wanted, ``tables`` (record batches). It appears whole or not at all, so that a
part that is settled twice, or whose process dies, does no harm.
"""

import hashlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from pathlib import Path
from shutil import copyfileobj
from typing import Any, Generic, Self, TypeAlias, TypeVar

import msgspec

from models.errors import InstallerError, OperatorError
from server.archive.archives import Source
from server.archive.work import FileReport, Output, Work, parquet_module, settled_in_turn
from server.process.program import program_stated
from server.process.progress import Progress
from stream.scratch import scratch_folder

T = TypeVar("T")
Settle: TypeAlias = "Callable[[Work[T], Sequence[Source], Output], Iterator[FileReport[T]]]"
_TEXT, _TABLES, _REPORTS = "text", "tables", "reports"


class Plan(msgspec.Struct, frozen=True):
    """What the results of all parts depend on; hashes in hex."""

    program: str
    options: str
    """The rules and the options of the command."""
    files: str
    """The names and sizes of all files."""

    @classmethod
    def of(cls, options: object, sources: Sequence[Source]) -> Self:
        """Return the plan of a command with these options (any builtin value) over these files."""
        named = [(one.name, one.size, sorted(one.without)) for one in sources]
        return cls(program_hash(), _hash_of(options), _hash_of(named))

    def differs_from(self, other: Self) -> str:
        """Return in words what differs from another plan; nothing where they are equal."""
        if self.program != other.program:
            return "another version of Pitwatch settled it"
        if self.options != other.options:
            return "it was settled under other rules or with other options"
        return "" if self == other else "it was settled from other files"


class _Left(msgspec.Struct, Generic[T], frozen=True):
    """What ``reports`` holds."""

    plan: Plan | None
    reports: list[FileReport[T]]


@dataclass(frozen=True, slots=True)
class Part(Generic[T]):
    """Some of the files of a command, and where their results belong."""

    work: Work[T]
    sources: tuple[Source, ...]
    has_rows: bool
    """Whether the rows of Parquet tables are wanted."""
    folder: Path
    plan: Plan | None = None
    """What must be the same for all parts; ``None`` where this process alone reads the results."""

    @property
    def size(self) -> int:
        """Bytes of its files."""
        return sum(source.size for source in self.sources)


def shared_out(sources: Sequence[Source], parts: int) -> list[tuple[Source, ...]]:
    """Return the files of each part: neighbours, in order, with nearly equal bytes."""
    shares: list[list[Source]] = [[] for _ in range(parts)]
    whole, before = max(sum(source.size for source in sources), 1), 0
    for source in sources:
        middle = before + source.size // 2
        shares[min(middle * parts // whole, parts - 1)].append(source)
        before += source.size
    return [tuple(share) for share in shares]


def settle_part(
    part: Part[T], settle: "Settle[T]" = settled_in_turn, progress: Progress | None = None
) -> None:
    """Settle a part and leave its results in its folder; a folder with them stays as it is.

    Args:
        part: the files, the work and the folder.
        settle: settles the files in order; by default one after another.
        progress: receives the progress.

    Raises:
        InstallerError: another version of Pitwatch made the part.
        OperatorError: the folder holds the results of other work, or cannot be written.
    """
    if part.plan is not None and part.plan.program != program_hash():
        raise InstallerError(
            "this worker runs another version of Pitwatch than the command",
            where=str(part.folder),
            way_out="Install the same version on every machine, and restart the workers",
        )
    if part.folder.exists():
        _reports_in(part)
        return
    try:
        part.folder.parent.mkdir(parents=True, exist_ok=True)
        with scratch_folder(f".{part.folder.name}.", part.folder.parent) as place:
            done = place / "done"
            done.mkdir()
            with ExitStack() as files:
                text = files.enter_context((done / _TEXT).open("w", encoding="utf-8", newline=""))
                write = None
                if part.has_rows:
                    spooled = parquet_module().spooled(done / _TABLES, part.work.schemas())
                    write = files.enter_context(spooled)
                output = Output(text, write, progress or Progress())
                found = list(settle(part.work, part.sources, output))
            left = msgspec.msgpack.encode(_Left(part.plan, found), enc_hook=_plain)
            (done / _REPORTS).write_bytes(left)
            if not part.folder.exists():
                done.rename(part.folder)
    except OSError as fault:
        raise OperatorError(
            f"the results cannot be written there ({fault.strerror})",
            where=str(part.folder),
            way_out="Name a folder that every machine can write",
        ) from fault


def taken(part: Part[T], output: Output) -> list[FileReport[T]]:
    """Return the reports of a settled part, after its text and rows were passed on.

    Raises:
        OperatorError: the folder holds no results, or those of other work.
    """
    reports = _reports_in(part)
    with (part.folder / _TEXT).open(encoding="utf-8", newline="") as spooled:
        copyfileobj(spooled, output.text)
    if output.write is not None:
        parquet_module().unspool(part.folder / _TABLES, output.write)
    output.progress.done(part.size, sum(part.work.rounds(one.totals) for one in reports))
    return reports


def _reports_in(part: Part[T]) -> list[FileReport[T]]:
    kind: Any = _Left[type(part.work.totals())]  # type: ignore[misc]  # the work's own type
    try:
        data = (part.folder / _REPORTS).read_bytes()
        left: _Left[T] = msgspec.msgpack.decode(data, type=kind, dec_hook=_revived)
    except (OSError, msgspec.DecodeError) as fault:
        raise OperatorError(
            f"it holds no results of a part ({fault})",
            where=str(part.folder),
            way_out="Remove the folder, and settle the part again",
        ) from fault
    differs = left.plan.differs_from(part.plan) if left.plan and part.plan else ""
    if differs:
        raise OperatorError(
            differs,
            where=str(part.folder),
            way_out="Give every part the same command line, or name another folder",
        )
    return left.reports


def _plain(value: object) -> str:
    """Return the form in MessagePack of a value that it has not."""
    if isinstance(value, Fraction):
        return str(value)
    raise NotImplementedError(type(value).__name__)


def _revived(kind: type, found: Any) -> Any:
    """Return a value of a type that MessagePack has not: a fraction, or a counter."""
    return Fraction(found) if kind is Fraction else kind(found)


@cache
def program_hash() -> str:
    """Return the hash of the program that runs here."""
    return str(program_stated(0).program_hash)


def _hash_of(value: object) -> str:
    text = msgspec.json.encode(value, order="deterministic")
    return hashlib.sha256(text).hexdigest()
