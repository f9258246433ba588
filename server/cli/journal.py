"""The commands of ``pitwatch journal``; what they need is imported when they run."""

from pathlib import Path
from typing import Annotated

import typer

from server.cli.options import Force, Json

journals = typer.Typer(help="The tamper-evident record of a table.")

TheJournal = Annotated[Path, typer.Argument(metavar="JOURNAL", help="The journal of a table.")]


@journals.command(
    "verify",
    epilog="[dim]pitwatch journal verify BJ-07.journal --key BJ-07.key.pub.pem "
    "--against /mnt/records/BJ-07.checkpoints[/dim]",
)
def verify_journal(
    file: TheJournal,
    keys: Annotated[
        list[Path] | None,
        typer.Option("--key", metavar="PUBLIC.pem", help="Who may have signed it; repeatable."),
    ] = None,
    *,
    against: Annotated[
        list[Path] | None,
        typer.Option(metavar="CHECKPOINTS", help="What the table sent elsewhere; repeatable."),
    ] = None,
    as_json: Json = False,
) -> None:
    """Check every entry and the chain between them; one flipped byte is found and named.

    With --key its checkpoints must be signed by that key, so that it is the table's own record
    and not another's in its place. With --against it must have all that the table said elsewhere
    that it had: the file alone cannot show that its end was cut off.

    Exit 0 where all that was asked for is proven; 5 where entries at its end are not signed by
    the key or not covered by the checkpoints, where its write-ahead log is missing, or where it
    has another name than it was made under; 3 where a restart found entries that it did not see
    written, and no checkpoint covers; 2 where it is damaged, signed by somebody else, or lacks
    what a checkpoint covers.
    """
    from server.commands import journal as journal_page

    raise typer.Exit(journal_page.show_verified(file, keys or (), against or (), as_json=as_json))


@journals.command(
    "backup", epilog="[dim]pitwatch journal backup BJ-07.journal /backup/BJ-07.journal[/dim]"
)
def back_up_journal(
    file: Annotated[Path, typer.Argument(help="The journal of a table, at work or at rest.")],
    copy: Annotated[Path, typer.Argument(help="A new file.")],
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
    folder: Annotated[Path, typer.Argument(help="Where it goes; also on another disk.")],
    *,
    config: Annotated[
        Path | None,
        typer.Option(
            metavar="TABLE.toml",
            help="Its table's configuration: what a killed table left unsigned is stated, signed "
            "and told elsewhere, as by the table's next start.",
        ),
    ] = None,
    as_json: Json = False,
) -> None:
    """Move a journal that no table writes, with all of its files, and verify it there.

    The table's next start makes a new one. Moved by hand, entries that are still in the
    write-ahead log beside it would be left behind.
    """
    from server.commands import journal as journal_page

    journal_page.archive(file, folder, config, as_json=as_json)


@journals.command("restore", epilog="[dim]pitwatch journal restore copy BJ-07.journal[/dim]")
def restore_journal(
    copy: Annotated[Path, typer.Argument(help="A backup of it, or the archived journal.")],
    file: Annotated[Path, typer.Argument(help="Its place; nothing may be there.")],
    as_json: Json = False,
) -> None:
    """Put a copy back in its journal's place, and verify it there."""
    from server.commands import journal as journal_page

    journal_page.restore(copy, file, as_json=as_json)


@journals.command("keys", epilog="[dim]pitwatch journal keys BJ-07.key[/dim]")
def make_journal_key(
    file: Annotated[Path, typer.Argument(help="The private key's file; made where it is not.")],
    public: Annotated[
        Path | None,
        typer.Option("--public", help="Where the public key goes; default FILE.pub.pem."),
    ] = None,
    *,
    force: Force = False,
    as_json: Json = False,
) -> None:
    """Make the key that signs a table's journal, and export its public half for auditors."""
    from server.commands import journal as journal_page

    journal_page.export_keys(file, public, as_json=as_json, force=force)
