"""The signing key and checkpoint targets of the service's own journals.

A table's journal has a key and targets of its table. People's actions (``activity.journal``) and
their work on incidents (``cases.journal``) use the service's key, the one of its reports.
"""

import asyncio
import logging
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from models.errors import OperatorError, TechnicianError
from server.readmodel.cases import Cases
from server.readmodel.own_journal import OwnJournal
from server.service.access.records import Records
from server.table.sending import Sender, Target, known_checkpoints
from stream.checkpoints import Checkpoint, trusted
from stream.clock import Clock
from stream.journal import Checkpoints
from stream.signing import Signer

_EVERY_S: Final = 60
log: Final = logging.getLogger("pitwatch.service")


@dataclass(frozen=True, slots=True)
class OwnJournals:
    """Opens the service's own journals."""

    opener: Callable[[Path, Checkpoints, Collection[Checkpoint]], OwnJournal]
    due: Checkpoints
    sender: Sender
    known: Collection[Checkpoint]
    """The checkpoints of earlier runs: a journal that lacks some of them is not continued."""

    def opened(self, path: Path) -> OwnJournal:
        """Open a journal, or create it.

        Raises:
            TechnicianError: it is damaged or lacks its end, or the disk refuses it.
        """
        return self.opener(path, self.due, self.known)


@contextmanager
def own_journals(
    opener: Callable[[Path, Checkpoints, Collection[Checkpoint]], OwnJournal],
    signer: Signer,
    targets: Sequence[Target],
    clock: Clock,
) -> Iterator[OwnJournals]:
    """Send checkpoints to ``targets`` until the block ends.

    Raises:
        OperatorError: a file of checkpoints cannot be read, or holds another service's.
        TechnicianError: it is damaged.
    """
    for target in targets:
        _check_own(target, signer)
    known = trusted(known_checkpoints(targets), (signer.fingerprint,))
    with Sender(targets) as sender:
        yield OwnJournals(opener, Checkpoints(signer, clock, send=sender.send), sender, known)


def _check_own(target: Target, signer: Signer) -> None:
    """Refuse a file of another service: its journals have the same names as this one's."""
    others = {
        one.fingerprint
        for one in known_checkpoints([target])
        if one.identity.table is None and one.fingerprint not in (None, signer.fingerprint)
    }
    if others:
        raise OperatorError(
            f"it holds the checkpoints of another service, of key {min(map(str, others))}",
            where=target.name,
            way_out="Name a file of its own for each service, or a new one after a change of key",
        )


async def keep_covered(own: OwnJournals, records: Records, cases: Cases) -> None:
    """Make a checkpoint of the new entries every minute, even when none follows."""
    while True:
        await asyncio.sleep(_EVERY_S)
        try:
            await records.checkpoint()
            await cases.checkpoint()
        except TechnicianError as fault:
            log.warning("no checkpoint of the service's journals: %s", fault)
        if own.sender.fault is not None:
            log.warning("checkpoints are not taken: %s", own.sender.fault)
