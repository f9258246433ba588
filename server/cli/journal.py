"""The commands of ``pitwatch journal``; what they need is imported when they run."""

from pathlib import Path
from typing import Annotated

import typer

from server.cli.options import Force, Json

journals = typer.Typer(help="Journals: the tamper-evident records of tables.")

TheJournal = Annotated[Path, typer.Argument(metavar="JOURNAL", help="The journal of a table.")]


@journals.command(
    "verify",
    epilog="[dim]pitwatch journal verify BJ-07.journal --key BJ-07.key.pub.pem "
    "--against /mnt/records/BJ-07.checkpoints[/dim]",
)
def verify_journal(
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
    from server.commands import journal as journal_page

    raise typer.Exit(journal_page.show_verified(file, keys or (), against or (), as_json=as_json))


@journals.command(
    "backup", epilog="[dim]pitwatch journal backup BJ-07.journal /backup/BJ-07.journal[/dim]"
)
def back_up_journal(
    file: Annotated[Path, typer.Argument(help="A table's journal; the table may run.")],
    copy: Annotated[Path, typer.Argument(help="The file to write.")],
    *,
    force: Force = False,
    as_json: Json = False,
) -> None:
    """Copy a journal while it is being written, and verify the copy."""
    from server.commands import journal as journal_page

    journal_page.back_up(file, copy, as_json=as_json, force=force)


@journals.command("archive", epilog="[dim]pitwatch journal archive BJ-07.journal /archive[/dim]")
def archive_journal(
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
    from server.commands import journal as journal_page

    journal_page.archive(file, folder, config, as_json=as_json)


@journals.command("restore", epilog="[dim]pitwatch journal restore copy BJ-07.journal[/dim]")
def restore_journal(
    copy: Annotated[Path, typer.Argument(help="A backup of the journal, or the archived one.")],
    file: Annotated[Path, typer.Argument(help="The journal's path; it must not exist.")],
    as_json: Json = False,
) -> None:
    """Restore a journal from a copy, and verify it."""
    from server.commands import journal as journal_page

    journal_page.restore(copy, file, as_json=as_json)


@journals.command(
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
    from server.commands import journal as journal_page

    journal_page.clock_checked(file, by, as_json=as_json)


@journals.command("keys", epilog="[dim]pitwatch journal keys BJ-07.key[/dim]")
def make_journal_key(
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
    from server.commands import journal as journal_page

    journal_page.export_keys(file, public, as_json=as_json, force=force)
