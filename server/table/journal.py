"""A table's own journal, opened as its configuration says: who signs it, and who is told."""

from collections.abc import Iterator
from contextlib import contextmanager

from server.table.config import Placed, SentCheckpoints
from server.table.sending import Access, Sender, Target, known_checkpoints, target_at
from stream.checkpoints import trusted
from stream.clock import HostClock
from stream.journal import Checkpoints, Journal
from stream.signing import Signer


@contextmanager
def table_journal(placed: Placed, clock: HostClock) -> Iterator[tuple[Journal, Sender]]:
    """Open the table's journal, or make it; it is sealed at the end."""
    config, path = placed.config, placed.beside(placed.config.journal)
    signer = None if config.signing_key is None else Signer.read(placed.beside(config.signing_key))
    with Sender(_targets(placed)) as sender:
        due = _due(config.checkpoints, signer, clock, sender)
        if path.exists():
            known = trusted(known_checkpoints(_targets(placed)), _keys(signer))
            opened = Journal.open(path, due, config.table, known)
        else:
            opened = Journal.create(path, due, config.table)
        with opened as journal:
            yield journal, sender


def _targets(placed: Placed) -> tuple[Target, ...]:
    sent = placed.config.checkpoints
    if sent is None:
        return ()
    access = access_of(placed)
    return tuple(target_at(to, placed.file.parent, access) for to in sent.to)


def access_of(placed: Placed) -> Access:
    """Return how a table shows a service who it is, where it sends checkpoints to one."""
    sent = placed.config.checkpoints
    return Access() if sent is None else Access(sent.token_file, sent.ca_file)


def _keys(signer: Signer | None) -> tuple[bytes, ...]:
    return () if signer is None else (signer.public,)


def _due(
    sent: SentCheckpoints | None, signer: Signer | None, clock: HostClock, sender: Sender
) -> Checkpoints | None:
    if sent is None:
        return None if signer is None else Checkpoints(signer, clock)
    period_ns = round(sent.seconds * 1e9)
    return Checkpoints(signer, clock, sent.entries, period_ns, sender.send)
