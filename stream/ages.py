"""A journal's proven time, and when it first named each recording or backup."""

from pathlib import Path
from typing import Final, TypeAlias

import msgspec

from models.events import ClockAnchored, ClockChecked, ClockCompared, ClockSynchronisation, Event
from stream.proven_time import ProvenTime, followed
from stream.reading import entries_of
from stream.store import damaged


class BackupMade(Event, frozen=True, kw_only=True, tag="backup_made"):
    """A backup is complete; in the journal of a folder of backups."""

    folder: str
    """Its folder's name."""


class _Recorded(Event, frozen=True, kw_only=True, tag="recording_hashed"):
    """What is read here of :class:`stream.recorded.RecordingHashed`."""

    folder: str


_Read: TypeAlias = (
    ClockAnchored | ClockCompared | ClockSynchronisation | ClockChecked | _Recorded | BackupMade
)
_READ: Final[msgspec.json.Decoder[_Read]] = msgspec.json.Decoder(_Read)


class Ages:
    """Follows a journal that was verified when it was opened.

    Args:
        journal: its file.
    """

    def __init__(self, journal: Path) -> None:
        self._journal, self._seq = journal, 0
        self.time = ProvenTime()
        self.made_ns: dict[str, int] = {}
        """The proven time of the first entry about each folder, in the order of these entries."""

    def follow(self) -> None:
        """Read the entries since the last call, also while the journal is written.

        Raises:
            TechnicianError: it cannot be read.
        """
        for seq, body in entries_of(self._journal, _Read.__args__, self._seq):
            try:
                event = _READ.decode(body)
            except msgspec.MsgspecError as fault:
                raise damaged(str(self._journal), f"entry {seq}: {fault}") from fault
            self.time = followed(self.time, event)
            if isinstance(event, _Recorded | BackupMade):
                now_ns = self.time.latest_ns if event.at is None else event.at
                self.made_ns.setdefault(event.folder, self.time.at(now_ns))
            self._seq = seq
