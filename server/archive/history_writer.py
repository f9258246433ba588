"""Write closed days of journals as Parquet: :mod:`server.archive.history` describes a day."""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any, Final

import msgspec

from models.errors import OperatorError, TechnicianError
from models.events import (
    AnyFact,
    CardBoxed,
    CardBurned,
    CardDealt,
    CardExposed,
    CardMoved,
    HandPlace,
    PaymentMade,
    ReviewResolved,
)
from models.house import House
from models.judgements import ReviewRaised, RoundSettled
from server.archive.archives import Source, feeds
from server.archive.days import Begun
from server.archive.history import (
    FACTS,
    JUDGEMENTS,
    TABLES,
    Day,
    DayFacts,
    Numbered,
    Part,
    content_of,
    heads_of,
)
from server.archive.parquet import Row, Rows, rows_of
from server.archive.settling import FACTS as FACT_TYPES
from server.archive.settling import Settled
from server.bundle.bundle import seal_folder
from server.bundle.manifest import MANIFEST, Manifest, about
from server.process.arrow import pa, pq
from stream.clock import HostClock
from stream.journal import Verified, verify_journal
from stream.scratch import scratch_folder
from stream.signing import Signer

_GROUP_ROWS: Final = 128 * 1024
"""Rows of the largest row group. A table's day of 1,700 rounds is half of it."""
_GROWING: Final = ("entry", "seq", "at", "at_ns")
"""Columns that grow from row to row: their differences take less room."""
_CARDS: Final = (CardDealt, CardExposed, CardBurned, CardBoxed, CardMoved)


@dataclass(frozen=True, slots=True)
class Written:
    """A day after ``archive write``."""

    about: DayFacts
    size: int
    """Bytes of its files."""
    is_new: bool
    """Whether this call wrote it: a day that stands for the same entries stays as it is."""


def write_day(
    journals: Sequence[Begun],
    house: House,
    history: Path,
    signer: Signer | None = None,
    *,
    force: bool = False,
) -> Written:
    """Write the day of ``journals``; its folder appears once every file is complete.

    Args:
        journals: all that began on the day.
        house: its days.
        history: the folder with a folder for each day.
        signer: the key that signs the day's manifest.
        force: whether to write a day again that stands for other entries.

    Raises:
        OperatorError: a journal is still being written, or the day exists and stands for other
            entries.
        TechnicianError: a journal is damaged.
    """
    day = journals[0].day
    folder = history / day.isoformat()
    found = [(one, _closed(one.path)) for one in journals]
    heads = {_identity(one.path, verified).journal: verified.head for one, verified in found}
    if (folder / MANIFEST).exists() and not force:
        before = Day(folder).about
        if {part.journal: part.head for part in before.parts} == heads:
            return Written(before, _size(folder), is_new=False)
        raise OperatorError(
            "the day is archived already, and stands for other journals or entries",
            where=str(folder),
            way_out="Name all the day's journals and write it again with --force",
        )
    history.mkdir(parents=True, exist_ok=True)
    with scratch_folder(f".{day}.", history) as half:
        place = half / "day"
        place.mkdir()
        with _Files(place) as files:
            parts = [_add(files, one, verified) for one, verified in _in_order(found)]
        about_day = DayFacts(
            day=day.isoformat(),
            zone=house.zone,
            begins=house.shifts[0],
            parts=tuple(parts),
            rows={path.name: pq.read_metadata(path).num_rows for path in sorted(place.iterdir())},
        )
        manifest = Manifest(
            kind="day",
            subject=f"day {day}",
            at=HostClock().now_ns(),
            journals=heads_of(parts),
            about=about(about_day),
        )
        seal_folder(place, manifest, signer)
        if folder.exists():
            folder.rename(half / "before")
        place.rename(folder)
    return Written(about_day, _size(folder), is_new=True)


def part_files(place: Path, one: Begun, verified: Verified) -> Part:
    """Write the files of a day that holds one journal alone, without a manifest, into ``place``."""
    with _Files(place) as files:
        return _add(files, one, verified)


def _closed(path: Path) -> Verified:
    verified = verify_journal(path)
    if verified.sealed:
        return verified
    raise OperatorError(
        "the journal is still being written, or was not closed in order: its day is not over",
        where=str(path),
        way_out="Stop its table; after a crash, `pitwatch journal archive --config` closes it",
    )


def _identity(path: Path, verified: Verified) -> Any:
    if verified.identity is not None:
        return verified.identity
    raise TechnicianError(
        "the journal is of an older version and has no identity",
        where=str(path),
        way_out="Open it once with this version of the program, which upgrades it",
    )


def _in_order(found: Iterable[tuple[Begun, Verified]]) -> list[tuple[Begun, Verified]]:
    def place(one: tuple[Begun, Verified]) -> tuple[str, int, str]:
        begun_there, verified = one
        identity = _identity(begun_there.path, verified)
        return identity.table or "", begun_there.at, identity.journal

    return sorted(found, key=place)


@dataclass(slots=True)
class _Gathered:
    """A journal's events, sorted by what becomes of them."""

    facts: list[tuple[int, AnyFact]] = field(default_factory=list)
    judged: list[Numbered] = field(default_factory=list)
    settled: dict[int, RoundSettled] = field(default_factory=dict)
    """The last settlement of each round."""
    rounds: dict[int, int] = field(default_factory=dict)
    """The round of each fact's entry."""

    def take(self, events: Iterable[Numbered]) -> None:
        for entry, event in events:
            if type(event) in FACT_TYPES:
                self.facts.append((entry, event))  # type: ignore[arg-type]  # one of FACTS
            elif isinstance(event, ReviewRaised | ReviewResolved | RoundSettled):
                self.judged.append((entry, event))
            if isinstance(event, RoundSettled):
                self.settled[event.result.round] = event
                self.rounds.update(dict.fromkeys(event.because, event.result.round))

    def results(self) -> Iterator[Settled]:
        """Yield each round as the table settled it last, with its facts."""
        facts: dict[int, list[tuple[int, AnyFact]]] = {number: [] for number in self.settled}
        for entry, fact in self.facts:
            number = self.rounds.get(entry)
            if number is not None:
                facts[number].append((entry, fact))
        for number, event in self.settled.items():
            yield Settled(event.table, event.result, tuple(facts[number]))


def _add(files: "_Files", one: Begun, verified: Verified) -> Part:
    """Write a journal's rows, and return what the day holds of it."""
    identity = _identity(one.path, verified)
    gathered = _Gathered()
    (feed,) = feeds(Source(str(one.path)))
    gathered.take(feed.read())
    tables = {event.table for _, event in (*gathered.facts, *gathered.judged)}
    if len(tables) > 1:
        raise TechnicianError(
            f"the journal holds several tables: {', '.join(sorted(map(str, tables)))}",
            where=str(one.path),
            way_out="Archive the journals of single tables",
        )
    table = next(iter(tables), identity.table)
    key = identity.journal, table
    results: Rows = {name: [] for name in ("hands", "violations", "rounds")}
    for settled in gathered.results():
        for name, rows in rows_of(identity.journal, settled).items():
            # A judgement without a table belongs to the journal's.
            results[name] += [(*key, *row[2:]) for row in rows]
    times = [event.at for _, event in gathered.facts if event.at is not None] or [one.at]
    for name, rows in results.items():
        files.write(name, rows)
    files.write("payments", _payments(key, gathered))
    return Part(
        journal=identity.journal,
        name=identity.name,
        table=table,
        entries=verified.entries,
        head=verified.head,
        signed=verified.signed,
        keys=verified.keys,
        first_at=min(times),
        last_at=max(times),
        facts=len(gathered.facts),
        rounds=len(gathered.settled),
        groups=files.write(FACTS, _fact_rows(key, gathered)),
        judgement_groups=files.write(JUDGEMENTS, _judgement_rows(key, gathered.judged)),
    )


def _fact_rows(key: Row, gathered: _Gathered) -> Iterator[Row]:
    for entry, fact in gathered.facts:
        to = getattr(fact, "to", None)
        if isinstance(fact, CardMoved):
            to = fact.to.to if isinstance(fact.to, HandPlace) else None
        yield (
            *key,
            gathered.rounds.get(entry),
            entry,
            fact.seq,
            fact.at,
            fact.at,
            fact.__struct_config__.tag,
            to == "dealer",
            getattr(fact, "spot", None if to == "dealer" else to),
            getattr(fact, "hand", None),
            _card(fact),
            getattr(fact, "kind", getattr(fact, "action", None)),
            getattr(fact, "amount", None),
            fact.probability if isinstance(fact, CardDealt) else None,
            fact.evidence,
            content_of(fact),
        )


def _card(fact: AnyFact) -> str | None:
    return None if not isinstance(fact, _CARDS) or fact.card is None else str(fact.card)


def _judgement_rows(key: Row, judged: Iterable[Numbered]) -> Iterator[Row]:
    for entry, event in judged:
        number = event.result.round if isinstance(event, RoundSettled) else None
        number = event.round if isinstance(event, ReviewRaised | ReviewResolved) else number
        text = msgspec.json.encode(event).decode()
        yield (*key, number, entry, event.at, event.at, event.__struct_config__.tag, text)


def _payments(key: Row, gathered: _Gathered) -> Iterator[Row]:
    for entry, fact in gathered.facts:
        if isinstance(fact, PaymentMade):
            number, at = gathered.rounds.get(entry), fact.at
            what = fact.spot, fact.hand, fact.kind, fact.amount, fact.bet, fact.bettor
            yield (*key, number, at, at, entry, *what)


class _Files:
    """The Parquet files of a day being written; a row group holds rows of one journal."""

    def __init__(self, place: Path) -> None:
        self._place, self._stack = place, ExitStack()
        self._files: dict[str, pq.ParquetWriter] = {}
        self._groups = dict.fromkeys(TABLES, 0)

    def __enter__(self) -> "_Files":
        for name, schema in TABLES.items():
            writer = pq.ParquetWriter(
                self._place / f"{name}.parquet",
                schema,
                compression="zstd",
                use_dictionary=[one.name for one in schema if pa.types.is_dictionary(one.type)],
                column_encoding={
                    one.name: "DELTA_BINARY_PACKED" for one in schema if one.name in _GROWING
                },
            )
            self._files[name] = self._stack.enter_context(writer)
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def write(self, name: str, rows: Iterable[Row]) -> tuple[int, ...]:
        """Write a journal's rows; return the numbers of their row groups."""
        left, schema, groups = iter(rows), TABLES[name], []
        while group := list(islice(left, _GROUP_ROWS)):
            columns = zip(*group, strict=True)
            arrays = [pa.array(c, f.type) for c, f in zip(columns, schema, strict=True)]
            self._files[name].write_table(pa.Table.from_arrays(arrays, schema=schema))
            groups.append(self._groups[name])
            self._groups[name] += 1
        return tuple(groups)


def _size(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.iterdir())
