"""``pitwatch journal``: verify a record and its signer, and copy, archive or restore it."""

import asyncio
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Annotated

import typer
from rich.text import Text

from models.errors import OperatorError
from models.events import ClockChecked
from server.commands.options import Force, Json
from server.house.wording import counted
from server.process.atomic_file import check_place, write_whole
from server.process.exit_status import Exit
from server.process.terminal import print_json, screen
from server.table.config import Placed, read_config
from server.table.decision_requests import hand_in
from stream.checkpoints import read_checkpoints, trusted, utc
from stream.clock import HostClock
from stream.copies import archive_journal, backup_journal, restore_journal
from stream.identity import Identity
from stream.journal import Verified, verify_journal
from stream.signing import Signer, named_key

app = typer.Typer(no_args_is_help=True)

TheJournal = Annotated[Path, typer.Argument(metavar="JOURNAL", help="The journal of a table.")]


@app.command(
    "verify",
    epilog="[dim]pitwatch journal verify BJ-07.journal --key BJ-07.key.pub.pem "
    "--against /mnt/records/BJ-07.checkpoints[/dim]",
)
def verify(
    file: TheJournal,
    keys: Annotated[
        list[str] | None,
        typer.Option(
            "--key",
            help="A public key that may have signed it: its fingerprint or its file; repeatable.",
        ),
    ] = None,
    *,
    against: Annotated[
        list[Path] | None,
        typer.Option(
            metavar="CHECKPOINTS", help="A file of checkpoints that the table sent; repeatable."
        ),
    ] = None,
    as_json: Json = False,
) -> None:
    """Verify every entry of a journal and its hash chain. A single flipped byte is detected.

    With --key, that key must have signed the journal's checkpoints: then it is the table's own
    record and no substitute. With --against, the journal must hold every entry that those
    checkpoints cover. The file alone cannot show that its end was cut off.

    Exit 0 if everything that was asked for is proven. Exit 5 if entries at its end are not signed
    by the key or not covered by the checkpoints, if its write-ahead log is missing, or if the
    file was renamed. Exit 3 if a restart found entries that it did not see written and that no
    checkpoint covers. Exit 2 if it is damaged, signed by another key, or lacks entries that a
    checkpoint covers.
    """
    raise typer.Exit(show_verified(file, keys or (), against or (), as_json=as_json))


@app.command(
    "backup", epilog="[dim]pitwatch journal backup BJ-07.journal /backup/BJ-07.journal[/dim]"
)
def backup(
    file: Annotated[Path, typer.Argument(help="A table's journal; the table may run.")],
    copy: Annotated[Path, typer.Argument(help="The file to write.")],
    *,
    force: Force = False,
    as_json: Json = False,
) -> None:
    """Copy a journal while it is being written, and verify the copy."""
    back_up(file, copy, as_json=as_json, force=force)


@app.command("archive", epilog="[dim]pitwatch journal archive BJ-07.journal /archive[/dim]")
def archive(
    file: TheJournal,
    folder: Annotated[Path, typer.Argument(help="The target folder; another disk is possible.")],
    *,
    config: Annotated[
        Path | None,
        typer.Option(
            metavar="TABLE.toml",
            help="The table's configuration. If the table was killed, the command signs the last "
            "entries and sends their checkpoint, as the table's next start would.",
        ),
    ] = None,
    as_json: Json = False,
) -> None:
    """Move a journal with all its files, and verify it there. No table may be writing it.

    The table's next start creates a new journal. Do not move a journal by hand: entries may still
    be in the write-ahead log beside it.
    """
    move_away(file, folder, config, as_json=as_json)


@app.command("restore", epilog="[dim]pitwatch journal restore copy BJ-07.journal[/dim]")
def restore(
    copy: Annotated[Path, typer.Argument(help="A backup of the journal, or the archived one.")],
    file: Annotated[Path, typer.Argument(help="The journal's path; it must not exist.")],
    as_json: Json = False,
) -> None:
    """Restore a journal from a copy, and verify it."""
    put_back(copy, file, as_json=as_json)


@app.command(
    "clock-checked", epilog="[dim]pitwatch journal clock-checked BJ-07.journal --by ann[/dim]"
)
def clock_checked(
    file: TheJournal,
    *,
    by: Annotated[str, typer.Option(help="Who compared the clock. The journal records the name.")],
    as_json: Json = False,
) -> None:
    """State that the host's clock shows the right time. The table must be running.

    Until the clock jumps or its synchronisation changes, recordings go by their age again.
    """
    state_clock_checked(file, by, as_json=as_json)


@app.command("keys", epilog="[dim]pitwatch journal keys BJ-07.key[/dim]")
def keys(
    file: Annotated[
        Path, typer.Argument(help="The private key's file; created if it does not exist.")
    ],
    public: Annotated[
        Path | None,
        typer.Option("--public", help="The public key's file. Default: FILE.pub.pem."),
    ] = None,
    *,
    force: Force = False,
    as_json: Json = False,
) -> None:
    """Create the key that signs a table's journal, and export its public key for auditors."""
    export_keys(file, public, as_json=as_json, force=force)


def show_verified(
    file: Path, keys: Iterable[str], against: Sequence[Path], *, as_json: bool
) -> Exit:
    """Check a journal and print its proven and unproven parts.

    Args:
        file: the journal.
        keys: the public keys that may have signed it, each by fingerprint or file.
        against: files of checkpoints that left the table.
        as_json: print JSON.

    Raises:
        TechnicianError: naming the first bad entry, or what is missing.
        InstallerError: a public key is invalid.
    """
    named = [named_key(key, "--key") for key in keys]
    known = [one for place in against for one in read_checkpoints(place)]
    asked = trusted(known, named) if against else None
    found = verify_journal(file, named, asked)
    doubts = tuple(_doubts(file, found, is_key_given=bool(named)))
    if as_json:
        facts = _facts(file, found) | {"keys_given": named}
        print_json(facts | {"unproven": doubts})
    else:
        screen().print(_story(file, found, trusted=bool(named), doubts=doubts))
    if doubts:
        return Exit.UNPROVEN
    return Exit.FINDINGS if found.gaps or (named and found.found) else Exit.CLEAN


def state_clock_checked(file: Path, by: str, *, as_json: bool) -> None:
    """Have the running table journal that a person found the host's clock right.

    Raises:
        OperatorError: no table writes this journal.
    """
    clock = HostClock()
    checked = ClockChecked(source=f"console:{by}", at=clock.now_ns())
    seq = asyncio.run(hand_in(file, checked))
    if seq is None:
        raise OperatorError(
            "no table writes this journal",
            where=str(file),
            way_out="Start the table: only a running one removes recordings",
        )
    if as_json:
        print_json({"seq": seq})
    else:
        screen().print(Text("recorded", style="bold green").append(f"  entry {seq}"))


def back_up(file: Path, copy: Path, *, as_json: bool, force: bool) -> None:
    """Copy a journal, verify the copy and report it; raises as :func:`backup_journal`."""
    check_place(copy, force=force)
    _show_written(copy, backup_journal(file, copy, force=force), as_json=as_json)


def move_away(file: Path, folder: Path, config: Path | None, *, as_json: bool) -> None:
    """Move a journal, verify it and report it.

    With its table's configuration, the unsigned entries of a killed table are first stated, signed
    and sent away, as by the table's next start.

    Raises:
        OperatorError: the configuration names another journal; or as :func:`archive_journal`.
        TechnicianError: as :func:`archive_journal`.
    """
    if config is not None:
        _close_as_its_table(file, read_config(config))
    moved = archive_journal(file, folder)
    _show_written(moved.place, moved.verified, as_json=as_json)


def _close_as_its_table(file: Path, placed: Placed) -> None:
    own = placed.beside(placed.config.journal)
    if own.resolve() != file.resolve():
        raise OperatorError(
            f"it names another journal, {own}",
            where=str(placed.file),
            way_out="Name the configuration of the table whose journal it is",
        )
    found = verify_journal(file)
    if not found.sealed or found.signed < found.entries:
        from server.table.journal import table_journal

        with table_journal(placed, HostClock()):
            pass


def put_back(copy: Path, file: Path, *, as_json: bool) -> None:
    """Restore a copy, verify it and report it; raises as :func:`restore_journal`."""
    _show_written(file, restore_journal(copy, file), as_json=as_json)


def _show_written(place: Path, found: Verified, *, as_json: bool) -> None:
    if as_json:
        print_json(_facts(place, found))
    else:
        screen().print(_story(place, found, trusted=False, doubts=()))


def export_keys(file: Path, public: Path | None, *, as_json: bool, force: bool) -> None:
    """Create the private key where there is none, and write its public half.

    Raises:
        InstallerError: the private key's file is no key, or others can read it.
        OperatorError: a file cannot be written, or a file exists in the public key's place.
    """
    target = public or file.with_name(file.name + ".pub.pem")
    made = not file.exists()
    if made:
        check_place(target, force=force)
    signer = Signer.create(file) if made else Signer.read(file)
    _write_public(target, signer, force=force)
    if as_json:
        output = {"private": str(file), "public": str(target), "made": made}
        print_json(output | {"fingerprint": signer.fingerprint})
        return
    line = Text("made" if made else "kept", style="bold green")
    line.append(f"  {file}: keep it on the table's machine, readable by its user alone")
    line.append(f"\n      {target}: give it to auditors over a separate channel")
    line.append(f"\nfingerprint {signer.fingerprint}", style="dim")
    screen().print(line)


def _write_public(target: Path, signer: Signer, *, force: bool) -> None:
    text = signer.public_pem()
    is_there = target.is_file() and target.read_bytes() == text
    check_place(target, force=force or is_there)
    write_whole(target, text)


def _facts(file: Path, found: Verified) -> dict[str, object]:
    return {
        "file": str(file),
        "identity": found.identity,
        "entries": found.entries,
        "head": found.head,
        "sealed": found.sealed,
        "signed": found.signed,
        "keys": list(found.keys),
        "found_not_witnessed": found.found,
        "log_missing_after": found.gaps,
        "checkpoints": found.held,
    }


def _doubts(file: Path, found: Verified, *, is_key_given: bool) -> Iterator[str]:
    """Yield the unproven parts that the caller asked about."""
    if found.lacks_log:
        yield (
            "it was not closed cleanly and its write-ahead log is missing: "
            "entries may be missing too"
        )
    if found.identity is not None and not found.identity.is_named(file):
        yield f"it was created as {found.identity.name} and renamed since"
    covered = 0 if found.held is None else found.held.seq
    if is_key_given and max(found.signed, covered) < found.entries:
        yield f"{_from(max(found.signed, covered), found.entries)} not signed"
    if found.held is not None and not found.held.known:
        yield "no checkpoint belongs to this journal"
    elif found.held is not None and found.held.seq < found.entries:
        yield f"{_from(found.held.seq, found.entries)} not covered by the checkpoints"


def _from(proven: int, entries: int) -> str:
    if entries == proven + 1:
        return f"entry {entries} is"
    return f"entries {proven + 1} to {entries} are"


def _story(file: Path, found: Verified, *, trusted: bool, doubts: Sequence[str]) -> Text:
    line = Text("not proven", "bold yellow") if doubts else Text("intact", "bold green")
    line.append(f"  {file}: {counted(found.entries, 'entry', 'entries')}, chain unbroken")
    line.append(f"\nhead {found.head}", style="dim")
    if found.identity is not None:
        line.append(f"\n{_named(found.identity)}", style="dim")
    if found.signed:
        whose = "the key given" if trusted else f"key {', '.join(found.keys)}"
        line.append(f"\nsigned up to entry {found.signed} by {whose}")
    if found.held is not None and found.held.at is not None:
        last = f"entry {found.held.seq}, the last one of {utc(found.held.at)}"
        line.append(f"\ncheckpoints cover it up to {last}")
    for doubt in doubts:
        line.append(f"\n{doubt}", style="bold yellow")
    for note in _notes(found, trusted=trusted):
        line.append(f"\n{note}", style="yellow")
    return line


def _named(identity: Identity) -> str:
    table = "" if identity.table is None else f" of table {identity.table}"
    return f"journal {identity.journal}, created as {identity.name}{table}"


def _notes(found: Verified, *, trusted: bool) -> Iterator[str]:
    for first, last in found.found:
        yield (
            f"{_from(first - 1, last)} signed by a restart that found them and did not see them "
            "written"
        )
    for last in found.gaps:
        yield f"a restart found its write-ahead log missing: entries after {last} may be lost"
    if found.held is not None and found.held.earlier:
        yield f"other journals had this name before it: {', '.join(found.held.earlier)}"
    if found.signed and not trusted:
        yield "only --key PUBLIC.pem proves that the table signed it"
    if found.held is None:
        yield "only --against CHECKPOINTS shows whether its end was cut off"
    if not found.sealed:
        unproved = "unused bytes of its pages may have changed unnoticed"
        yield f"not closed cleanly: its entries are proven, {unproved}"
