"""Files in, values out: settle facts, replay a session, read a journal."""

from collections.abc import Iterator, Sequence
from os import PathLike, fspath
from pathlib import Path
from typing import TypeAlias

from models.errors import OperatorError
from models.judgements import AnyEvent
from models.rulebook import Rulebook
from server.archive.archives import feeds, sources
from server.archive.copies import without_copies
from server.archive.settling import Settled, checked
from server.house.rulebooks import rules_for
from server.process.program import program_stated
from server.process.stopwatch import Stopwatch
from server.table.replay import Replayed, ReplayOptions
from server.table.replay import replay as play_again
from stream.clock import elapsed_ns
from stream.journal import Journal
from stream.reading import UnknownEvent, read_journal
from vision.reader import Reader

FileName: TypeAlias = str | PathLike[str]


def settle(file: FileName, rulebook: str, knobs: Sequence[str] = ()) -> Iterator[Settled]:
    """Yield the settled rounds of facts or of a journal, as ``pitwatch settle`` prints them.

    A round with an open review item waits for a person: its result contains the item.

    Args:
        file: JSON lines, a journal, or a folder or an archive of them.
        rulebook: a shipped rulebook's id, or a TOML file.
        knobs: rules that replace the rulebook's, each ``KNOB=VALUE``.

    Raises:
        PitwatchError: a file or the rulebook is missing, or does not match its format.
    """
    return _settled(fspath(file), rules_for(rulebook, knobs))


def _refuse_member(member: str, why: str) -> None:
    raise OperatorError(
        f"a member of the archive cannot be settled: {why}",
        where=member,
        way_out="Unpack the archive and name the file",
    )


def _settled(name: str, rules: Rulebook) -> Iterator[Settled]:
    given, _ = without_copies(sources([name]))
    for source in given:
        for feed in feeds(source, passed_over=_refuse_member):
            yield from checked(feed).rounds(rules)


def replay(
    session: FileName,
    *,
    rulebook: str | None = None,
    knobs: Sequence[str] = (),
    journal: FileName | None = None,
) -> Replayed:
    """Replay a recorded session: from its pixels and bytes to settled rounds.

    Args:
        session: the session's folder.
        rulebook: replaces the session's own.
        knobs: rules that replace the rulebook's, each ``KNOB=VALUE``.
        journal: the file to write the journal to; by default it stays in memory.

    Raises:
        PitwatchError: the session is missing, damaged or impossible, or the journal exists.
    """
    options = ReplayOptions(Path(session), rulebook=rulebook, knobs=tuple(knobs))
    kept = Journal.in_memory() if journal is None else Journal.create(Path(journal))
    with kept:
        stating = None if journal is None else program_stated
        return play_again(options, kept, Reader.load, Stopwatch(elapsed_ns), stating=stating)


def read(journal: FileName) -> Iterator[AnyEvent | UnknownEvent]:
    """Verify a journal and yield its events in order; write nothing.

    Raises:
        PitwatchError: it is missing or damaged; no event was yielded.
    """
    return read_journal(Path(journal))
