"""``pitwatch replay``: run a replay, print it, and write the requested files."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import msgspec
import typer
from msgspec.structs import replace
from rich.console import Console
from rich.text import Text

from models.errors import TechnicianError
from models.events import Fact
from models.house import House
from server.commands.options import (
    RULEBOOK_HELP,
    Force,
    HouseFile,
    Json,
    Knobs,
)
from server.commands.tables import print_rounds, truth_line
from server.house.device_faults import device_faults, held_back
from server.house.formatting import Formats
from server.house.house_file import house_for
from server.house.rules_in_force import name_of
from server.house.wording import counted, is_clean
from server.process.atomic_file import check_place, write_whole
from server.process.exit_status import Exit
from server.process.program import program_stated
from server.process.stopwatch import Stopwatch
from server.process.terminal import print_json, progress_bar, screen
from server.report.page import write_report
from server.report.story import SessionStory, round_stories
from server.table.comparison import tally
from settlement.balance import balances
from stream.clock import elapsed_ns
from stream.copies import whole_journal
from stream.journal import Journal

if TYPE_CHECKING:
    from server.table.replay import Replayed, ReplayOptions

app = typer.Typer()


@app.command(
    "replay",
    epilog="[dim]pitwatch replay evening/ --report report.html[/dim]\n\n"
    "[dim]pitwatch replay evening/ --json | jq .status[/dim]",
)
def replay_session(
    session: Annotated[Path, typer.Argument(metavar="SESSION", help="A session folder.")],
    *,
    report: Annotated[
        Path | None, typer.Option("--report", help="Write a self-contained HTML report.")
    ] = None,
    journal: Annotated[
        Path | None, typer.Option("--journal", help="Write the journal to this new file.")
    ] = None,
    facts: Annotated[
        Path | None, typer.Option("--facts", help="Write the facts to this file, for `settle`.")
    ] = None,
    rulebook: Annotated[
        str | None,
        typer.Option("--rulebook", "-r", help=RULEBOOK_HELP + " Default: the session's."),
    ] = None,
    knobs: Knobs = None,
    speed: Annotated[
        float | None,
        typer.Option(min=0.01, help="Multiple of real time. Default: as fast as possible."),
    ] = None,
    force: Force = False,
    house: HouseFile = None,
    as_json: Json = False,
) -> None:
    """Replay a recorded session: video and serial bytes in, payouts and mistakes out.

    If the session has a truth file, the payouts are compared with it. Exit 0 only if every round
    is final and matches the truth, without mistakes or device faults. Exit 3 if a person must
    check something. Exit 2 if the session is refused.
    """
    from server.table.replay import ReplayOptions

    options = ReplayOptions(
        folder=session,
        rulebook=rulebook,
        knobs=tuple(knobs or ()),
        speed=speed,
        pictures=report is not None,
    )
    found = house_for(house, session)
    outputs = Outputs(report, journal, facts, force, found)
    raise typer.Exit(run_replay(options, outputs, house=found, as_json=as_json))


@dataclass(frozen=True, slots=True)
class Outputs:
    """Files to write in addition to the output."""

    report: Path | None = None
    journal: Path | None = None
    facts: Path | None = None
    force: bool = False
    """Whether existing files may be overwritten."""
    house: House | None = None
    """The report's house; ``None`` for the one of the session's folder or the environment."""


def run_replay(
    options: "ReplayOptions", outputs: Outputs, *, house: House | None = None, as_json: bool
) -> Exit:
    """Replay a session, print its rounds, and return the exit status.

    Amounts have the house's format, in the session's currency. Garbled device data is reported on
    stderr, one line a device.
    """
    replayed, stopwatch = play_and_write(options, outputs)
    for fault in faults_of(replayed):
        print(f"pitwatch: {fault}", file=sys.stderr)
    for line in held_back(replayed.events):
        print(f"pitwatch: {line}", file=sys.stderr)
    if as_json:
        _print_lines(replayed)
    else:
        print_tables(screen(), replayed, stopwatch, outputs, house)
    return exit_for(replayed)


def play_and_write(options: "ReplayOptions", outputs: Outputs) -> "tuple[Replayed, Stopwatch]":
    """Replay a session and write the requested files.

    It prints and writes nothing before the whole session is played. Its entries have the numbers
    that they have in a kept journal and in the console.

    Raises:
        PitwatchError: the session is not sound, or a file cannot be written.
    """
    from server.table.replay import replay
    from vision.reader import Reader

    for place in (outputs.report, outputs.journal, outputs.facts):
        check_place(place, force=outputs.force)
    stopwatch = Stopwatch(elapsed_ns)
    with new_journal(outputs.journal) as journal, progress_bar("replaying") as progress:
        replayed = replay(
            options, journal, Reader.load, stopwatch, progress=progress, stating=program_stated
        )
    if outputs.facts:
        write_whole(outputs.facts, facts_of(replayed))
    if outputs.report:
        house = outputs.house or house_for(None, options.folder)
        write_report(outputs.report, story_of(replayed, house))
    return replayed, stopwatch


def exit_for(replayed: "Replayed") -> Exit:
    """Return the exit status. Clean: all rounds final and true, no mistake, no device fault."""
    as_truth = all(one.verdict == "exact" for one in replayed.comparisons or ())
    clean = as_truth and all(map(is_clean, replayed.rounds)) and not faults_of(replayed)
    return Exit.CLEAN if clean else Exit.FINDINGS


def faults_of(replayed: "Replayed") -> list[TechnicianError]:
    """Return the device faults for the technician."""
    recording = replayed.recording
    cut = [_cut(camera.name) for camera, film in recording.cameras if film.cut]
    silent = [_silent(port.record.port) for port in recording.ports if not port.chunks]
    return [*device_faults(replayed.events, recording.session.at), *silent, *cut]


def _silent(port: str) -> TechnicianError:
    return TechnicianError(
        "it reported nothing in this session: what it watches is missing in the rounds",
        where=port,
        way_out="Restore its capture. Without bet plates no wager is known, and no round opens",
    )


def _cut(camera: str) -> TechnicianError:
    return TechnicianError(
        "the recording was interrupted: its last pictures may be missing",
        where=f"camera:{camera}",
        way_out="Find out what ended the table's process; the next session continues from there",
    )


def facts_of(replayed: "Replayed") -> bytes:
    """Return the facts as JSON Lines, as ``settle`` reads them."""
    encode = msgspec.json.Encoder().encode
    return b"".join(encode(event) + b"\n" for event in replayed.events if isinstance(event, Fact))


def story_of(replayed: "Replayed", house: House) -> SessionStory:
    """Return the content of the report, with the house's times and amounts."""
    return SessionStory(
        session=replayed.recording.session,
        book=replayed.book,
        formats=Formats(replace(house, currency=replayed.recording.session.currency)),
        layout=replayed.recording.layout,
        rounds=round_stories(
            replayed.events, replayed.rounds, replayed.jpegs, replayed.comparisons or ()
        ),
        events=len(replayed.events),
        head=replayed.head,
    )


@contextmanager
def new_journal(path: Path | None) -> Iterator[Journal]:
    """Open a journal in memory, or one that appears at ``path`` only once it is complete.

    An existing journal there is replaced: the caller checks that it may be.
    """
    if path is None:
        with Journal.in_memory() as journal:
            yield journal
        return
    with whole_journal(path, force=True) as journal:
        yield journal


def _print_lines(replayed: "Replayed") -> None:
    for result in replayed.rounds:
        print_json(result)
    if replayed.comparisons is not None:
        print_json({"truth": tally(replayed.comparisons)})


def print_tables(
    console: Console,
    replayed: "Replayed",
    stopwatch: Stopwatch,
    outputs: Outputs,
    house: House | None = None,
) -> None:
    """Print the rounds for people, their comparison with the truth, and the time taken."""
    found, currency = house or House(), replayed.recording.session.currency
    formats = Formats(replace(found, currency=currency))
    print_rounds(console, replayed.rounds, balances(replayed.events, replayed.rounds), formats)
    if currency != found.currency:
        note = f"amounts are in {currency}, the table's currency; the house's is {found.currency}"
        console.print(Text(note, style="dim"))
    console.print(Text(f"rules: {name_of(replayed.book.rules).text}", style="dim"))
    for one in replayed.comparisons or ():
        console.print(truth_line(one))
    if replayed.comparisons is not None:
        counts = tally(replayed.comparisons)
        console.print(
            f"truth: {counted(counts.rounds, 'round')}, {counts.exact} exact, "
            f"{counts.review} for review, {counts.wrong} wrong"
        )
    console.print(Text(speed_line(replayed, stopwatch), style="dim"))
    for name, path in (("report", outputs.report), ("journal", outputs.journal)):
        if path:
            console.print(Text(f"{name}: {path}", style="dim"))


def speed_line(replayed: "Replayed", stopwatch: Stopwatch) -> str:
    """Describe the speed, and the share of each stage."""
    spent_ns = sum(stopwatch.spent_ns.values()) or 1
    shares = ", ".join(f"{name} {share:.0%}" for name, share in stopwatch.shares().items())
    seconds = replayed.duration_ns / 1e9
    return f"{seconds:.1f} s of table at {replayed.duration_ns / spent_ns:.1f}x: {shares}"
