"""``pitwatch``: find the verb, import its file, run it.

The file of a verb is imported when the verb runs, so that ``--help`` and ``settle`` start at once
and never load a video decoder.
"""

import gc
import sys
from collections.abc import Sequence
from importlib import import_module
from typing import Annotated, Any, Final

import typer
from typer.core import TyperCommand, TyperGroup

from models.errors import PitwatchError
from server.process.exit_status import Exit
from server.process.file_modes import private_files
from server.process.signals import Ended, as_process, leave

VERBS: Final = {
    "settle": (
        "Settle rounds from facts: who wins what, by which clause, and which rules were broken."
    ),
    "resettle": "Settle an archive again under other rules; report what changes.",
    "simulate": ("Simulate a table from a seed; write it as a session with its truth file."),
    "examples": (
        "Write example facts, a picture, a session and configurations for the other commands."
    ),
    "replay": ("Replay a recorded session: video and serial bytes in, payouts and mistakes out."),
    "read": (
        "Find and read the cards in photographs. An uncertain reading is marked as uncertain."
    ),
    "calibrate": (
        "Find a camera's pose and lens from markers on the felt, or from points that you name."
    ),
    "serve": (
        "Serve the tables of a folder, or of the floor: console, REST API, WebSocket and metrics."
    ),
    "console": "Open a recorded session in the console, for this machine only.",
    "export": ("Export a list from journals as CSV or Parquet, newest first. Nothing is redacted."),
    "run": (
        "Run a live table: read the sensors, settle and record until SIGINT, SIGTERM or SIGHUP."
    ),
    "restore": ("Restore a backup's journals and service files into DATA: all of them or none."),
    "verify": (
        "Verify incidents, snapshots, reports, archived days and backups: what is proven of each."
    ),
    "verify-install": (
        "Compare the installed program with the manifest of its wheel; print the program's hash."
    ),
    "forward": (
        "Send tables' entries to the floor record until stopped, in order and each exactly once."
    ),
    "rulebooks": "The shipped rulebooks: every value with its citation.",
    "journal": "Journals: the tamper-evident records of tables.",
    "archive": "Closed days as Parquet, for analysts and for settling them again.",
    "config": "The configuration of a live table.",
    "review": "Review items: questions that the sensors left to a person.",
    "report": "Reports that the service signed.",
    "snapshot": "Pictures saved from the console.",
    "incident": "Incident files: the evidence of a round in one file.",
    "backup": "Copies of a site's journals and service files.",
    "decks": "The site's own decks, which the card reader learns from pictures.",
    "relay": "Messages to other systems: webhooks, brokers, video management.",
    "floor": "The floor record: every table's entries in one PostgreSQL database.",
}
"""Each verb and the first sentences of its help, in the order of ``pitwatch --help``."""

_YOUNG_OBJECTS: Final = 10_000
"""New objects between two searches for garbage cycles (Python's default: 700).

Modules that load make many objects and no garbage: the service starts with a tenth less work.
"""


class _Verbs(TyperGroup):
    """The verbs: each is listed by its line, and its file is imported when it is called."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self.commands.update((name, TyperCommand(name, help=line)) for name, line in VERBS.items())

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Return the verb that the first argument names, and the arguments left for it."""
        name, _, rest = super().resolve_command(ctx, args)
        return name, None if name is None else verb(name), rest


def verb(name: str) -> Any:
    """Import the file of a verb; return its command, or its group where it has several."""
    module = import_module(f".{name.replace('-', '_')}", __package__)
    group = typer.main.get_group(module.app)
    group.help = VERBS[name]
    return group.commands.get(name, group)


app = typer.Typer(
    name="pitwatch",
    cls=_Verbs,
    epilog="Exit status: 0 clean · 2 input refused · 3 findings that a person must check · "
    "4 part of an archive skipped · 5 not proven · 129 SIGHUP · 130 Ctrl-C · "
    "141 stdout closed by its reader · 143 SIGTERM.",
    no_args_is_help=True,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


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
