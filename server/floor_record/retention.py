"""Drop days from the floor once their Parquet was verified against what the floor holds."""

from collections.abc import Mapping
from datetime import date
from pathlib import Path

from models.errors import OperatorError
from server.archive.history import Day, Manifest
from server.floor_record.database import FloorDatabase


def retire_day(floor: FloorDatabase, day: date, history: Path) -> Manifest:
    """Verify an archived day, compare its chain heads with the floor's, and drop the day there.

    Raises:
        InputRefused: a file of the archived day is not what was written.
        OperatorError: the day is not archived, or does not hold what the floor holds of it.
        TechnicianError: the day is under legal hold.
    """
    one = Day(history / day.isoformat())
    one.verify()
    heads = floor.heads_of(day)
    why = _difference(one.manifest, heads)
    if why is not None:
        raise OperatorError(
            why,
            where=f"{one.folder} and the floor",
            way_out="Archive all the day's journals, and let their forwarders catch up",
        )
    floor.retire(day, str(one.manifest.sha256))
    return one.manifest


def _difference(manifest: Manifest, heads: Mapping[str, tuple[int, str]]) -> str | None:
    archived = {part.journal: (part.entries, part.head) for part in manifest.parts}
    if not heads:
        return f"the floor holds nothing of {manifest.day}"
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
