"""``pitwatch``: the command line. Commands parse, call and print; the work is elsewhere.

What a command needs is imported when it runs, so that ``--help`` and ``settle`` start at
once and never load a video decoder.
"""

import gc
import sys
from collections.abc import Sequence
from typing import Annotated, Final

import typer

from models.errors import PitwatchError
from server.cli import (
    archive,
    backup,
    decks,
    floor_record,
    incident,
    journal,
    relay,
    replay,
    review,
    rulebooks,
    serve,
    settle,
    simulate,
    tables,
    verify,
)
from server.process.exit_status import Exit
from server.process.file_modes import private_files
from server.process.signals import Ended, as_process, leave

_YOUNG_OBJECTS: Final = 10_000
"""New objects between two searches for garbage cycles (Python's default: 700).

Modules that load make many objects and no garbage: the service starts with a tenth less work.
"""

app = typer.Typer(
    name="pitwatch",
    epilog="Exit status: 0 clean · 2 input refused · 3 findings that a person must check · "
    "4 part of an archive skipped · 5 not proven · 129 SIGHUP · 130 Ctrl-C · "
    "141 stdout closed by its reader · 143 SIGTERM.",
    no_args_is_help=True,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
for _commands in (settle, simulate, replay, serve, tables, backup, verify, floor_record):
    app.add_typer(_commands.commands)
for _name, _group in (
    ("rulebooks", rulebooks.rulebooks),
    ("journal", journal.journals),
    ("archive", archive.archives),
    ("config", tables.configs),
    ("review", review.reviews),
    ("report", verify.reports),
    ("snapshot", verify.snapshots),
    ("incident", incident.incident_files),
    ("backup", backup.backups),
    ("decks", decks.decks),
    ("relay", relay.relay),
    ("floor", floor_record.floors),
):
    app.add_typer(_group, name=_name, no_args_is_help=True)


def _print_version(*, asked: bool) -> None:
    if asked:
        from importlib.metadata import version

        typer.echo(f"pitwatch {version('pitwatch')}")
        raise typer.Exit


@app.callback()
def options(
    *,
    _version: Annotated[
        bool,
        typer.Option(
            "--version", help="Print the version.", is_eager=True, callback=_print_version
        ),
    ] = False,
) -> None:
    """Watch a blackjack table and prove every payout."""


def main() -> None:
    """Run ``pitwatch`` and leave with its exit status."""
    gc.set_threshold(_YOUNG_OBJECTS)
    try:
        status = as_process(lambda: run(sys.argv[1:]))
    finally:
        gc.freeze()  # Python looks through every object at its end, a fifth of the service's start
    leave(status)


def run(arguments: Sequence[str]) -> int:
    """Run one command; a refusal is one line on stderr, never a traceback."""
    try:
        with private_files():
            app(args=list(arguments), prog_name="pitwatch")
    except Ended:
        raise
    except SystemExit as leaving:
        return leaving.code if isinstance(leaving.code, int) else Exit.REFUSED
    except PitwatchError as refusal:
        print(f"pitwatch: {refusal}", file=sys.stderr)
    except MemoryError:
        way_out = "free some, or run it on a larger machine"
        print(f"pitwatch: this command needs more memory than there is: {way_out}", file=sys.stderr)
    except OSError as fault:
        place = fault.filename or "this machine"
        print(f"pitwatch: {place}: {fault.strerror or fault}", file=sys.stderr)
    return Exit.REFUSED
