"""Open a table's own journal as configured, with its signer and checkpoint targets."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from server.table.config import Placed, SentCheckpoints, rules_of
from server.table.kept_rest import RestFile, made_by
from server.table.sending import Access, Sender, Target, known_checkpoints, target_at
from stream.checkpoints import trusted
from stream.clock import HostClock
from stream.journal import Checkpoints, Journal
from stream.signing import Signer


def _print_line(line: str) -> None:
    print(line, file=sys.stderr)


@contextmanager
def table_journal(
    placed: Placed, clock: HostClock, warn: Callable[[str], None] = _print_line
) -> Iterator[tuple[Journal, Sender, RestFile | None]]:
    """Open the table's journal, or create it; seal it at the end.

    ``warn`` receives a line for every target whose checkpoints cannot be read, and for a kept rest
    that is not used.

    Raises:
        TechnicianError: the journal is damaged, or lacks what a target's checkpoints cover.
    """
    config, path = placed.config, placed.beside(placed.config.journal)
    signer = None if config.signing_key is None else Signer.read(placed.beside(config.signing_key))
    targets = _targets(placed, signer)
    rests = _rests(placed, signer, warn)
    with Sender(targets) as sender:
        due = _due(config.checkpoints, signer, clock, sender)
        if path.exists():
            known = trusted(known_checkpoints(targets, warn), _keys(signer))
            if rests is None:
                opened = Journal.open(path, due, config.table, known)
            else:
                opened = rests.open_journal(due, config.table, known)
        else:
            opened = Journal.create(path, due, config.table)
        with opened as journal:
            yield journal, sender, rests


def _rests(placed: Placed, signer: Signer | None, warn: Callable[[str], None]) -> RestFile | None:
    """Return the file of the table's rests; ``None`` where a start needs the whole journal.

    It does where every start reads people's entries from the beginning of a file: each is compared
    with those in the journal.
    """
    config, place = placed.config, placed.config.console
    if place not in (None, "-") and placed.beside(place).is_file():
        return None
    made = made_by(rules_of(placed), config.dealing)
    return RestFile(placed.beside(config.journal), signer, made, warn)


def _targets(placed: Placed, signer: Signer | None) -> tuple[Target, ...]:
    sent = placed.config.checkpoints
    if sent is None:
        return ()
    access = access_of(placed, signer)
    return tuple(target_at(to, placed.file.parent, access) for to in sent.to)


def access_of(placed: Placed, signer: Signer | None = None) -> Access:
    """Return a table's credentials for the service that receives its checkpoints."""
    sent, table = placed.config.checkpoints, placed.config.table
    key = None if signer is None else signer.public.hex()
    return Access() if sent is None else Access(sent.token_file, sent.ca_file, table, key)


def _keys(signer: Signer | None) -> tuple[str, ...]:
    return () if signer is None else (signer.fingerprint,)


def _due(
    sent: SentCheckpoints | None, signer: Signer | None, clock: HostClock, sender: Sender
) -> Checkpoints | None:
    if sent is None:
        return None if signer is None else Checkpoints(signer, clock)
    period_ns = round(sent.seconds * 1e9)
    return Checkpoints(signer, clock, sent.entries, period_ns, sender.send)
