"""``pitwatch snapshot``: verify a saved picture against key, journal and recording."""

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import msgspec
import typer
from rich.text import Text

from models.errors import TechnicianError
from server.commands.options import Json
from server.process.exit_status import Exit
from server.process.memory import within_memory
from server.process.terminal import print_json, screen
from stream.clock import utc
from stream.signing import named_key

if TYPE_CHECKING:
    from server.archive.snapshot import Checked

app = typer.Typer(no_args_is_help=True)


@app.command("verify", epilog="[dim]pitwatch snapshot verify BJ-07-round-1.png[/dim]")
def verify_snapshot(
    file: Annotated[Path, typer.Argument(help="A snapshot from the console: PNG.")],
    key: Annotated[
        str | None,
        typer.Option(help="The key that must have signed it: its fingerprint or its file."),
    ] = None,
    journal: Annotated[
        Path | None, typer.Option(help="Compare it with the table's journal.")
    ] = None,
    recording: Annotated[
        Path | None, typer.Option(help="Compare its pixels with this session's video.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Verify a picture's signature; print which table, round and time it shows.

    A single changed byte is detected. With --journal, the journal must hold the entry that the
    picture names. With --recording, the video must show the same picture at that time.

    Exit 0 if all of it is proven. Exit 5 if no key was named: anybody may have signed it. Exit 2
    if anything differs.
    """
    with within_memory(file):
        proven = print_verified(file, key, journal, recording, as_json=as_json)
    raise typer.Exit(proven)


def print_verified(
    file: Path, key: str | None, journal: Path | None, recording: Path | None, *, as_json: bool
) -> Exit:
    """Check a snapshot, and compare it with journal and recording where given; print the result.

    Without ``key`` the signer is unproven.

    Raises:
        TechnicianError: it, the journal or the recording differs from what was signed.
        InstallerError: the key is invalid.
    """
    from server.archive.snapshot import check_journal, check_recording, check_snapshot

    try:
        content = file.read_bytes()
    except OSError as fault:
        raise TechnicianError(
            f"the snapshot cannot be read ({fault.strerror})",
            where=str(file),
            way_out="Check the file's name",
        ) from fault
    found = check_snapshot(content, str(file), None if key is None else named_key(key, "--key"))
    if journal is not None:
        check_journal(found.facts, journal)
    if recording is not None:
        check_recording(found.facts, recording)
    proved = {
        "key_given": key is not None,
        "journal": journal is not None,
        "recording": recording is not None,
    }
    if as_json:
        print_json({"file": str(file)} | msgspec.to_builtins(asdict(found)) | proved)
    else:
        screen().print(_described(file, found, proved))
    return Exit.UNPROVEN if key is None else Exit.CLEAN


def _described(file: Path, found: "Checked", proved: dict[str, bool]) -> Text:
    facts = found.facts
    line = Text("unchanged", style="bold green")
    line.append(
        f"  {file}: table {facts.table}, round {facts.round}, camera {facts.camera}, "
        f"{utc(facts.at)}, picture {facts.frame} of {facts.file}"
    )
    line.append(f"\nmade by {facts.made_by} at {utc(facts.made_at)}")
    line.append(
        f"\nrests on journal {facts.session} up to entry {facts.journal_seq}, "
        f"hash {facts.journal_hash}"
    )
    if proved["journal"]:
        line.append("\nthe journal holds that entry, and its chain is intact")
    if proved["recording"]:
        line.append("\nthe recording shows the same picture, pixel by pixel")
    line.append(f"\nsigned by {found.key}", style="dim")
    if not proved["key_given"]:
        line.append("\nnot proven: who signed it. Anybody can sign a changed picture", "yellow")
        line.append(" with their own key; give the service's key with --key", "yellow")
    return line
