"""``pitwatch verify``: recognise a bundle, verify it, and print what is proven and what is not."""

import re
import sys
from collections.abc import Iterator, Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import Annotated, Final

import typer
from rich.text import Text

from models.errors import OperatorError, PitwatchError
from server.archive.unreadable import without_parquet
from server.bundle.bundle import Asked, Bundle, Verdict, is_folder_bundle, proven_of, read_bundle
from server.bundle.manifest import Kind
from server.commands.options import Json
from server.process.exit_status import Exit
from server.process.memory import within_memory
from server.process.terminal import print_json, screen
from stream.clock import utc
from stream.signing import named_key
from stream.verifying import verify_journal

app = typer.Typer()

_NAMES: Final = re.compile(r"\d{4}-\d\d-\d\d|\d{8}T\d{6}Z")
"""The names of archived days and of backups: one without its manifest is found by its name."""

Makers = Annotated[
    list[str] | None,
    typer.Option(
        "--key",
        help="The maker's public key: its fingerprint or its file; repeatable: any of them.",
    ),
]
Tables = Annotated[
    list[str] | None,
    typer.Option(
        "--table-key", help="A table's public key: its fingerprint or its file; repeatable."
    ),
]
Journals = Annotated[
    list[Path] | None,
    typer.Option("--journal", help="A journal to compare with; repeatable."),
]


@app.command("verify", epilog="[dim]pitwatch verify 12.zip --key service.pem[/dim]")
def verify_bundles(
    places: Annotated[
        list[Path],
        typer.Argument(
            metavar="PLACES…",
            help="Incidents, snapshots, reports, archived days and backups, or folders of them.",
        ),
    ],
    key: Makers = None,
    table_key: Tables = None,
    journal: Journals = None,
    recording: Annotated[
        Path | None, typer.Option(help="Compare a snapshot's pixels with this session's video.")
    ] = None,
    *,
    allow_unsigned: Annotated[
        bool,
        typer.Option("--allow-unsigned", help="Exit 0 even if it is not proven who made it."),
    ] = False,
    as_json: Json = False,
) -> None:
    """Verify incidents, snapshots, reports, archived days and backups: what is proven of each.

    Every byte is covered. With --journal, the journal must hold the entry that the bundle rests
    on; an archived day must have its cells.

    Exit 0 if all of it is proven. Exit 5 if a part is not: no key was named, or a journal that it
    rests on was not given. Exit 2 if anything differs from what was made, or another key signed it.
    """
    asked = asked_for(key, table_key, journal, recording)
    found = tuple(bundles_in(places))
    status = print_verified(found, asked, allow_unsigned=allow_unsigned, as_json=as_json)
    raise typer.Exit(status)


def asked_for(
    makers: Sequence[str] | None = None,
    tables: Sequence[str] | None = None,
    journals: Sequence[Path] | None = None,
    recording: Path | None = None,
    *,
    options: tuple[str, str] = ("--key", "--table-key"),
) -> Asked:
    """Return what bundles are held against: keys as a person names them, verified journals.

    Raises:
        PitwatchError: a key is invalid, or a journal damaged or signed by another key.
    """
    own, of_tables = (
        tuple(named_key(text, option) for text in keys or ())
        for keys, option in zip((makers, tables), options, strict=True)
    )
    verified = tuple((path, verify_journal(path, of_tables)) for path in journals or ())
    return Asked(own, of_tables, verified, recording)


def bundles_in(places: Sequence[Path]) -> Iterator[Path]:
    """Yield the bundles at places; a folder that is none itself has the days and backups in it.

    Raises:
        OperatorError: there is none.
    """
    for place in places:
        if not place.is_dir() or is_folder_bundle(place):
            yield place
            continue
        found = [path for path in sorted(place.rglob("*")) if _is_bundle(path, place)]
        if not found:
            raise OperatorError(
                "there is no archived day and no backup",
                where=str(place),
                way_out="Name the folder that `archive write` or `backup make` wrote",
            )
        yield from found


def verified(path: Path, asked: Asked, kind: Kind | None = None) -> tuple[Bundle, Verdict]:
    """Verify a bundle.

    Raises:
        PitwatchError: it is not as it was made, differs from what was asked, or is of another
            kind than ``kind``.
    """
    # The files of a folder are read piece by piece, and as large as a house's day is.
    with nullcontext() if path.is_dir() else within_memory(path):
        bundle = read_bundle(path)
        if kind not in (None, bundle.manifest.kind):
            raise OperatorError(
                f"it is of another kind, {bundle.manifest.kind}",
                where=str(path),
                way_out="`pitwatch verify` verifies every kind",
            )
        return bundle, proven_of(bundle, asked) + _of_kind(bundle, asked)


def _of_kind(bundle: Bundle, asked: Asked) -> Verdict:
    match bundle.manifest.kind:
        case "incident":
            from server.archive.incident_check import check_incident

            return check_incident(bundle, asked)
        case "snapshot":
            from server.archive.snapshot import check_snapshot

            return check_snapshot(bundle, asked)
        case "report":
            from server.report.signature import check_report

            return check_report(bundle)
        case "day":
            try:
                from server.archive.day_against_journal import check_day
            except ImportError as fault:
                raise without_parquet("pitwatch verify") from fault

            return check_day(bundle, asked)
        case "backup":
            from server.commands.restore import check_backup

            return check_backup(bundle, asked)


def print_verified(
    places: Sequence[Path],
    asked: Asked,
    kind: Kind | None = None,
    *,
    allow_unsigned: bool = False,
    as_json: bool,
) -> Exit:
    """Verify bundles and print what is proven of each.

    Raises:
        PitwatchError: the only bundle is not as it was made, or none rests on a given journal.
    """
    status, unused = Exit.CLEAN, {path for path, _ in asked.journals}
    for place in places:
        try:
            bundle, verdict = verified(place, asked, kind)
        except PitwatchError as fault:
            if len(places) == 1:
                raise
            print(f"pitwatch: {fault}", file=sys.stderr)
            status = Exit.REFUSED
            continue
        left = [one for one in verdict.left if not (allow_unsigned and one.of_maker)]
        if left and status is Exit.CLEAN:
            status = Exit.UNPROVEN
        unused -= verdict.compared
        if as_json:
            print_json(as_json_of(bundle, verdict, asked))
            continue
        line = heading("intact", bundle, verdict, "green" if not left else "yellow")
        for what in verdict.proven:
            line.append(f"\nproven: {what}", "green")
        for one in verdict.left:
            line.append(f"\nnot proven: {one.what}", "yellow")
        screen().print(line, soft_wrap=True)
    if unused and status is not Exit.REFUSED:
        raise OperatorError(
            "nothing that was verified rests on this journal",
            where=str(min(unused)),
            way_out="Name the journals of the same tables and days",
        )
    return status


def as_json_of(bundle: Bundle, verdict: Verdict, asked: Asked) -> dict[str, object]:
    """Return what is known of a bundle, for programs."""
    manifest = bundle.manifest
    return {
        "file": str(bundle.path),
        "kind": manifest.kind,
        "subject": manifest.subject,
        "at": manifest.at,
        "key": bundle.signer,
        "key_given": bool(asked.makers),
        "journals": manifest.journals,
        "files": len(manifest.files),
        "proven": verdict.proven,
        "not_proven": [one.what for one in verdict.left],
        **verdict.details,
    }


def heading(word: str, bundle: Bundle, verdict: Verdict, colour: str = "green") -> Text:
    """Return what a bundle is of, what it rests on, and who signed it."""
    manifest = bundle.manifest
    made = f", made {utc(manifest.at)}" if manifest.at else ""
    line = Text(word, style=f"bold {colour}")
    line.append(f"  {bundle.path}: {manifest.kind}: {manifest.subject}{made}", "default")
    for note in verdict.notes:
        line.append(f"\n{note}", "default")
    for head in manifest.journals:
        rests = f"journal {head.name} up to entry {head.entries}, hash {head.head}"
        line.append(f"\nrests on {rests}", "dim")
    if bundle.signer is not None:
        line.append(f"\nsigned by {bundle.signer}", "dim")
    return line


def _is_bundle(path: Path, place: Path) -> bool:
    """Return whether a path is a day or a backup by its manifest or its name, and not hidden."""
    if any(part.startswith(".") for part in path.relative_to(place).parts):
        return False
    return is_folder_bundle(path) or _NAMES.fullmatch(path.name) is not None
