"""Drop days from the floor once their Parquet was verified against what the floor holds."""

import hashlib
from collections.abc import Iterator, Mapping
from datetime import date
from itertools import zip_longest
from pathlib import Path
from typing import Final

import msgspec
from msgspec.structs import replace

from models.errors import OperatorError
from models.events import ReviewResolved
from models.judgements import AnyEvent, ReviewRaised, RoundSettled
from server.archive.history import Day, DayFacts, PartReader
from server.archive.settling import FACTS
from server.bundle.bundle import read_bundle
from server.bundle.manifest import MANIFEST
from server.floor_record.database import FloorDatabase
from stream.reading import UnknownEvent, dated, event_of

_KEPT: Final = FACTS | {ReviewRaised, ReviewResolved, RoundSettled}
"""The types of entries that an archived day holds whole."""


def retire_day(floor: FloorDatabase, day: date, history: Path) -> DayFacts:
    """Verify an archived day, compare its entries with the floor's, and drop the day there.

    Raises:
        PitwatchError: a file of the archived day is not what was written.
        OperatorError: the day is not archived, or does not hold what the floor holds of it.
        TechnicianError: the day is under legal hold.
    """
    folder = history / day.isoformat()
    read_bundle(folder)
    one = Day(folder)
    one.read_all()
    heads = floor.heads_of(day)
    why = _difference(one.about, heads)
    if why is not None:
        raise OperatorError(
            why,
            where=f"{folder} and the floor",
            way_out="Archive all the day's journals, and let their forwarders catch up",
        )
    with one.parts() as parts:
        for part in parts:
            if part.part.journal in heads:
                _compare(part, floor, day, folder)
    floor.retire(day, hashlib.sha256((folder / MANIFEST).read_bytes()).hexdigest())
    return one.about


def _difference(about: DayFacts, heads: Mapping[str, tuple[int, str]]) -> str | None:
    archived = {part.journal: (part.entries, part.head) for part in about.parts}
    if not heads:
        return f"the floor holds nothing of {about.day}"
    for journal, (seq, head) in heads.items():
        if journal not in archived:
            return f"journal {journal} is on the floor and not in the archived day"
        if archived[journal] != (seq, head):
            entries, last = archived[journal]
            return (
                f"journal {journal}: the archived day stands for {entries} entries that end with "
                f"{last[:16]}, the floor holds {seq} that end with {head[:16]}"
            )
    return None


def _compare(part: PartReader, floor: FloorDatabase, day: date, folder: Path) -> None:
    """Compare the facts and judgements of a journal, entry by entry.

    A head stands for the entries of the journal that the day names. Whether the day holds these
    entries, only they tell.
    """
    held = _kept_in_days(floor, day, part.part.journal)
    for archived, due in zip_longest(part.read(), held):
        found = None if archived is None else (archived[0], replace(archived[1], seq=None))
        if found != due:
            entry = min(one[0] for one in (found, due) if one is not None)
            raise OperatorError(
                f"entry {entry} of journal {part.name} is not what the floor holds: "
                f"expected {_shown(due)}, found {_shown(found)}",
                where=str(folder),
                way_out="Do not trust this archive. Write the day again from its journals",
            )


def _kept_in_days(floor: FloorDatabase, day: date, journal: str) -> Iterator[tuple[int, AnyEvent]]:
    """Yield the entries of a journal that archived days hold whole, without their ``seq``."""
    numbers: list[int] = []

    def events() -> Iterator[AnyEvent | UnknownEvent]:
        for seq, body in floor.bodies(day, journal):
            numbers.append(seq)
            yield event_of(body, f"the floor's journal {journal}", seq)

    for event in dated(events(), lambda: None):
        seq = numbers.pop()
        if not isinstance(event, UnknownEvent) and type(event) in _KEPT:
            yield seq, replace(event, seq=None)


def _shown(entry: tuple[int, AnyEvent] | None) -> str:
    return "no such entry" if entry is None else msgspec.json.encode(entry[1]).decode()
