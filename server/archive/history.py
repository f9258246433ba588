"""Closed days as Parquet, and the manifest that proves each: read, verify, settle from.

A history is a folder with one folder for each day, ``2026-03-01``, which is a bundle::

    manifest.json        the day's journals with their last hashes, and the SHA-256 of each file
    facts.parquet        every fact; ``event`` holds its JSON without its number, time and evidence
    judgements.parquet   review items, settlements, and decisions that call a round off
    rounds.parquet  hands.parquet  violations.parquet  payments.parquet

A journal belongs whole to the day on which it began. Rows are sorted by table, journal and entry.
A row group of the facts holds one journal only, so that one table can be read alone.

The distinct ``event`` texts are few. To settle a day, each is decoded once for all facts that share
it; this is what makes settling from a day as fast as from memory.
"""

import hashlib
import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from heapq import merge
from io import BufferedReader
from itertools import chain
from operator import itemgetter
from pathlib import Path
from typing import Any, Final, NamedTuple, TypeAlias

import msgspec
import numpy as np
import numpy.typing as npt
from msgspec.structs import replace

from models.errors import OperatorError
from models.events import AnyFact, CardDealt, HandCalledOff, ReviewResolved, RoundCalledOff
from models.judgements import AnyEvent, ReviewRaised, RoundSettled
from server.archive.columns import AT, CODE, SETTLED
from server.archive.day_rows import DayFile, Rows, refused
from server.bundle.bundle import manifest_in
from server.bundle.manifest import MANIFEST, Head
from server.process.arrow import pa
from settlement.facts import ReadFact, read_once

FACTS: Final = "facts"
JUDGEMENTS: Final = "judgements"

Numbered: TypeAlias = tuple[int, AnyEvent]

_JOURNAL: Final = (("journal", CODE), ("table", CODE))
_ROUND: Final = (*_JOURNAL, ("round", pa.int64()))

TABLES: Final[Mapping[str, pa.Schema]] = {
    FACTS: pa.schema(
        [
            *_ROUND,
            ("entry", pa.int64()),
            ("seq", pa.int64()),
            *AT,
            ("type", CODE),
            ("dealer", pa.bool_()),
            ("spot", pa.int16()),
            ("hand", pa.int16()),
            ("card", CODE),
            ("kind", CODE),
            ("amount", pa.int64()),
            ("probability", pa.float64()),
            ("evidence", pa.list_(pa.int64())),
            ("event", CODE),
        ]
    ),
    JUDGEMENTS: pa.schema(
        [*_ROUND, ("entry", pa.int64()), *AT, ("type", CODE), ("event", pa.string())]
    ),
    "payments": pa.schema(
        [
            *_ROUND,
            *AT,
            ("entry", pa.int64()),
            ("spot", pa.int16()),
            ("hand", pa.int16()),
            ("kind", CODE),
            ("amount", pa.int64()),
            ("bet", CODE),
            ("bettor", CODE),
        ]
    ),
    **{name: pa.schema([*_JOURNAL, *list(schema)[2:]]) for name, schema in sorted(SETTLED.items())},
}
"""The files of a day. ``entry`` is an entry's number in its journal. ``seq`` is null for a card
that a person added; its ``entry`` is that of the fact before it. A fact that belongs to no settled
round has no ``round``. ``rounds``, ``hands`` and ``violations`` are as the table settled them."""


class Part(msgspec.Struct, frozen=True, kw_only=True):
    """What a day holds of one journal."""

    journal: str
    """The journal's id."""
    name: str
    table: str | None
    entries: int
    head: str
    """The hash of its last entry, in hex: it stands for every entry of the journal."""
    signed: int
    """The last entry that a checkpoint signs."""
    keys: tuple[str, ...]
    """The fingerprints of the keys of its checkpoints."""
    first_at: int
    last_at: int
    facts: int
    rounds: int
    """Settled rounds."""
    groups: tuple[int, ...]
    """Its row groups in the file of facts …"""
    judgement_groups: tuple[int, ...]
    """… and in that of judgements."""


class DayFacts(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A closed day: what it holds of each journal."""

    day: str
    zone: str
    """The house's time zone …"""
    begins: str
    """… and the time at which its day begins."""
    parts: tuple[Part, ...]
    rows: dict[str, int]
    """The number of rows of each file."""


def heads_of(parts: Iterable[Part]) -> tuple[Head, ...]:
    """Return the journals that a day rests on."""
    return tuple(
        Head(journal=part.journal, name=part.name, entries=part.entries, head=part.head)
        for part in parts
    )


_PROVED: Final[dict[Path, tuple[object, ...]]] = {}
"""Files of days that this process compared with their hashes, and the state in which they were."""


class Day:
    """One day of a history: verified when it is opened, then read.

    Args:
        folder: the day's folder.

    Raises:
        InputRefused: the manifest or a file of the day is not what it was when it was written.
        OperatorError: a file cannot be read.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        manifest, _ = manifest_in(folder)
        self.about = manifest.about_as(DayFacts, folder)
        self._sums = {one.name: one.sha256 for one in manifest.files}
        for name in TABLES:
            if f"{name}.parquet" not in self._sums:
                raise refused(folder / MANIFEST, "files", f"{name}.parquet", "no such file")
        if manifest.journals != heads_of(self.about.parts):
            raise refused(folder / MANIFEST, "journals", "those of its parts", "others")

    def read_all(self) -> None:
        """Read every fact and judgement; each of the two files is compared with its hash."""
        with self.parts() as parts:
            for part in parts:
                part.items()
                for _ in part.judged():
                    pass

    @contextmanager
    def parts(self) -> Iterator[Iterator["PartReader"]]:
        """Yield a reader of each journal's part; the two files that they read are verified."""
        with (
            self._proved(f"{FACTS}.parquet") as facts,
            self._proved(f"{JUDGEMENTS}.parquet") as judgements,
        ):
            files = self._read(facts, judgements)
            yield (PartReader(part, *files) for part in self.about.parts)

    @contextmanager
    def part(self, number: int) -> Iterator["PartReader"]:
        """Yield a reader of one journal's part.

        A process that reads one part after another compares each file with its hash once, and
        again where the file changed since.
        """
        with (
            self._opened(f"{FACTS}.parquet") as facts,
            self._opened(f"{JUDGEMENTS}.parquet") as judgements,
        ):
            for name, file in ((FACTS, facts), (JUDGEMENTS, judgements)):
                self._compare_once(f"{name}.parquet", file)
            yield PartReader(self.about.parts[number], *self._read(facts, judgements))

    def _read(self, facts: BufferedReader, judgements: BufferedReader) -> tuple[DayFile, DayFile]:
        """Open both files; each row group of theirs must belong to one part."""
        parts = self.about.parts
        files = []
        for name, file, groups in (
            (FACTS, facts, [group for part in parts for group in part.groups]),
            (JUDGEMENTS, judgements, [group for part in parts for group in part.judgement_groups]),
        ):
            read = DayFile(self.folder / f"{name}.parquet", file, TABLES[name])
            if sorted(groups) != [*range(read.groups)]:
                expected = f"each of the {read.groups} row groups of {name}.parquet once"
                found = ", ".join(map(str, groups)) or "none"
                raise refused(self.folder / MANIFEST, "parts.groups", expected, found)
            files.append(read)
        return files[0], files[1]

    def _compare_once(self, name: str, file: BufferedReader) -> None:
        found, stated = os.fstat(file.fileno()), self._sums[name]
        state = (found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns, stated)
        if _PROVED.get(self.folder / name) != state:
            self._compare(name, file)
            _PROVED[self.folder / name] = state

    @contextmanager
    def _proved(self, name: str) -> Iterator[BufferedReader]:
        with self._opened(name) as file:
            self._compare(name, file)
            yield file

    def _compare(self, name: str, file: BufferedReader) -> None:
        found, stated = hashlib.file_digest(file, "sha256").hexdigest(), self._sums[name]
        file.seek(0)
        if found != stated:
            raise refused(self.folder / name, "content", f"SHA-256 {stated}", found)

    @contextmanager
    def _opened(self, name: str) -> Iterator[BufferedReader]:
        path = self.folder / name
        try:
            file = path.open("rb")
        except OSError as fault:
            raise OperatorError(
                f"the day's file cannot be read ({fault.strerror})",
                where=str(path),
                way_out="Restore the day's folder from a copy, or write the day again",
            ) from fault
        with file:
            yield file


class PartReader:
    """Reads what a day holds of one journal; every method raises ``InputRefused`` as the day."""

    def __init__(self, part: Part, facts: DayFile, judgements: DayFile) -> None:
        self.part = part
        self._facts, self._judgements = facts, judgements

    @property
    def name(self) -> str:
        """The part's name for messages and results."""
        return self.part.name

    def items(self) -> tuple[AnyEvent, ...]:
        """Return its review items, and the decisions that call a round off.

        Where the floor called something off, the settlements are among them: they tell which items
        that closed. Every row that settling needs is read: none is refused after a round was
        settled.
        """
        facts, ruled = 0, False
        for entries, found, _ in self._groups():
            facts += len(entries)
            ruled = ruled or any(type(one.fact) in _CALLS_OFF for one in found.distinct)
        if facts != self.part.facts:
            raise refused(self._facts.path, "rows", f"{self.part.facts} facts", str(facts))
        return tuple(event for _, event in self._judged(settlements=ruled))

    def lean(self) -> Iterator[tuple[int, ReadFact]]:
        """Yield its facts, read, without number, time and evidence: enough to settle them.

        Facts with the same content are one object.
        """
        return chain.from_iterable(
            zip(entries[run].tolist(), facts.some(run), strict=True)
            for entries, facts, _ in self._groups()
            for run in _runs(len(entries))
        )

    def timed(self) -> Iterator[tuple[int, ReadFact, int | None]]:
        """Yield its facts as :meth:`lean`, each with its time beside it."""
        return chain.from_iterable(
            zip(entries[run].tolist(), facts.some(run), times[run].to_pylist(), strict=True)
            for entries, facts, rows in self._groups("at_ns")
            for times in (rows.column("at_ns"),)
            for run in _runs(len(entries))
        )

    def _groups(self, *more: str) -> Iterator[tuple[npt.NDArray[Any], "_Repeated", Rows]]:
        """Yield each row group: its entries, the fact of each, and the columns."""
        last = 1
        for group in self.part.groups:
            rows = self._facts.group(group, self.part.journal, "event", *more)
            entries, (facts, codes) = rows.entries(last), rows.facts()
            contents = np.empty(len(facts), object)
            contents[:] = list(map(read_once, facts))
            last = int(entries[-1]) if len(entries) else last
            yield entries, _Repeated(contents, codes), rows

    def read(self) -> Iterator[Numbered]:
        """Yield its facts, and what was judged and decided, whole and in order."""
        return merge(self._whole(), self.judged(), key=itemgetter(0))

    def _whole(self) -> Iterator[Numbered]:
        last = 1
        for group in self.part.groups:
            wanted = ("event", "seq", "at_ns", "probability", "evidence")
            rows = self._facts.group(group, self.part.journal, *wanted)
            entries, (facts, codes) = rows.entries(last).tolist(), rows.facts()
            last = entries[-1] if entries else last
            columns = [rows.column(name).to_pylist() for name in wanted[1:]]
            for entry, code, seq, at, probability, evidence in zip(
                entries, codes.tolist(), *columns, strict=True
            ):
                fact = replace(facts[code], seq=seq, at=at, evidence=tuple(evidence or ()))
                if probability is not None and isinstance(fact, CardDealt):
                    fact = replace(fact, probability=probability)
                yield entry, fact

    def judged(self) -> Iterator[Numbered]:
        """Yield its review items, settlements and decisions in order."""
        return self._judged(settlements=True)

    def _judged(self, *, settlements: bool) -> Iterator[Numbered]:
        last = 1
        for group in self.part.judgement_groups:
            rows = self._judgements.group(group, self.part.journal, "type", "event")
            entries = rows.entries(last).tolist()
            last = entries[-1] if entries else last
            kinds = rows.whole("type").to_pylist()
            for row, event in rows.events(kinds, () if settlements else (_SETTLED,)):
                tag = event.__struct_config__.tag
                if tag != kinds[row] or tag not in _JUDGED:
                    expected = str(tag if tag in _JUDGED else _JUDGED)
                    raise rows.refused(row, "type", expected, kinds[row])
                yield entries[row], event


_RUN: Final = 4096
"""Facts that become objects at once: few enough for a processor's cache."""


class _Repeated(NamedTuple):
    """Facts in order, each the one of the distinct ones that its code names."""

    distinct: npt.NDArray[Any]
    codes: npt.NDArray[Any]

    def some(self, run: slice) -> list[ReadFact]:
        """Return some of them."""
        found: list[ReadFact] = self.distinct[self.codes[run]].tolist()
        return found


_CALLS_OFF: Final = (HandCalledOff, RoundCalledOff)
_SETTLED: Final = str(RoundSettled.__struct_config__.tag)
_JUDGED: Final = tuple(
    str(kind.__struct_config__.tag) for kind in (ReviewRaised, ReviewResolved, RoundSettled)
)


def _runs(rows: int) -> Iterator[slice]:
    return (slice(at, at + _RUN) for at in range(0, rows, _RUN))


def content_of(fact: AnyFact) -> str:
    """Return a fact's JSON without the fields that have columns of their own."""
    bare = replace(fact, seq=None, at=None, evidence=())
    if isinstance(bare, CardDealt):
        bare = replace(bare, probability=None)
    return msgspec.json.encode(bare).decode()
