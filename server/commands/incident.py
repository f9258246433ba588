"""``pitwatch incident``: export an incident as a file that proves itself, and verify one."""

from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Annotated

import typer

from models.errors import OperatorError
from models.house import House
from server.bundle.bundle import Asked
from server.commands.options import Force, HouseFile, Json
from server.commands.verify import as_json_of, asked_for, heading, print_verified, verified
from server.house.house_file import house_for
from server.house.wording import counted
from server.process.atomic_file import check_place, write_whole
from server.process.terminal import print_json, screen
from stream.clock import HostClock, utc
from stream.recording import read_description
from stream.signing import Signer

app = typer.Typer(no_args_is_help=True)


@app.command(
    "export",
    epilog="[dim]pitwatch incident export recordings/BJ-07-1 --round 12 --out 12.zip[/dim]",
)
def export_incident(
    session: Annotated[Path, typer.Argument(metavar="SESSION", help="A recorded session.")],
    *,
    out: Annotated[Path, typer.Option("--out", help="The file to write.")],
    round_number: Annotated[
        int | None, typer.Option("--round", metavar="N", help="Export this round.")
    ] = None,
    entry: Annotated[
        int | None,
        typer.Option("--entry", metavar="SEQ", help="Export the time around this journal entry."),
    ] = None,
    from_text: Annotated[
        str | None,
        typer.Option(
            "--from", metavar="TIME", help="Start: 2026-11-21T14:23:45 in the house's time zone."
        ),
    ] = None,
    to_text: Annotated[str | None, typer.Option("--to", metavar="TIME", help="End.")] = None,
    journal: Annotated[
        Path | None,
        typer.Option("--journal", help="The table's journal. Default: found beside the session."),
    ] = None,
    margin_s: Annotated[
        float, typer.Option("--margin", min=0, help="Seconds to add before and after.")
    ] = 5.0,
    key: Annotated[
        Path | None, typer.Option("--key", help="Sign the file with this private key.")
    ] = None,
    no_hold: Annotated[
        bool, typer.Option("--no-hold", help="Do not protect the recording from removal.")
    ] = False,
    force: Force = False,
    house: HouseFile = None,
    as_json: Json = False,
) -> None:
    """Write video, events, serial bytes and their proofs into one file.

    The recording is then held: retention does not remove it.
    """
    span = (round_number, entry, from_text, to_text)
    asked = Export(
        session,
        out,
        *span,
        journal=journal,
        margin_s=margin_s,
        key=key,
        held=not no_hold,
        force=force,
        house=house,
    )
    run_export(asked, as_json=as_json)


@app.command("verify", epilog="[dim]pitwatch incident verify 12.zip --key 5f3a…[/dim]")
def verify_incident(
    file: Annotated[Path, typer.Argument(help="A file that `incident export` wrote.")],
    key: Annotated[
        str | None,
        typer.Option("--key", help="The table's public key: its fingerprint or its file."),
    ] = None,
    exporter: Annotated[
        str | None,
        typer.Option("--exporter", help="The exporter's public key: its fingerprint or its file."),
    ] = None,
    allow_unsigned: Annotated[
        bool,
        typer.Option("--allow-unsigned", help="Exit 0 even if video and bytes are not proven."),
    ] = False,
    as_json: Json = False,
) -> None:
    """Verify an incident, as `pitwatch verify --key EXPORTER --table-key KEY` does."""
    options = ("--exporter", "--key")
    asked = asked_for((exporter,) if exporter else (), (key,) if key else (), options=options)
    raise typer.Exit(
        print_verified((file,), asked, "incident", allow_unsigned=allow_unsigned, as_json=as_json)
    )


@dataclass(frozen=True, slots=True)
class Export:
    """The content and options of an export."""

    session: Path
    out: Path
    round: int | None = None
    entry: int | None = None
    """A journal entry's ``seq``: the moment of a mistake."""
    from_text: str | None = None
    to_text: str | None = None
    """ISO 8601; without an offset it is the house's time."""
    journal: Path | None = None
    margin_s: float = 5.0
    key: Path | None = None
    held: bool = True
    force: bool = False
    """Whether an existing file may be overwritten."""
    house: Path | None = None
    """Its file; ``None`` for the one that :func:`server.house.house_file.house_for` finds."""


def run_export(export: Export, *, as_json: bool) -> None:
    """Write an incident's file and put a hold on the recording that it comes from.

    Raises:
        PitwatchError: there is no such round or time, or something cannot be read or written.
    """
    from server.archive.incident import (
        entry_asked,
        hold,
        packed,
        recordings,
        round_asked,
        span_asked,
    )

    check_place(export.out, force=export.force)
    journal = export.journal or journal_of(export.session)
    signer = None if export.key is None else Signer.read(export.key)
    margin_ns = round(export.margin_s * 1e9)
    if export.round is not None:
        asked = round_asked(journal, export.round, margin_ns)
    elif export.entry is not None:
        asked = entry_asked(journal, export.entry, margin_ns)
    else:
        asked = span_asked(journal, *_span(export))
    made_ns = HostClock().now_ns()
    if export.held:
        what = f"{utc(asked.from_ns)} to {utc(asked.to_ns)}"
        for part in recordings(export.session, asked):
            hold(part.folder, f"{utc(made_ns)}: exported to {export.out.name}: {what}")
    write_whole(export.out, packed(export.session, journal, asked, made_ns, signer))
    bundle, verdict = verified(export.out, Asked())
    if as_json:
        print_json(as_json_of(bundle, verdict, Asked()))
    else:
        screen().print(heading("exported", bundle, verdict), soft_wrap=True)


def journal_of(session: Path) -> Path:
    """Return the journal beside a session, above its recordings, or in ``journals`` there.

    Raises:
        OperatorError: there is none, or more than one.
    """
    named = f"{read_description(session).table}.journal"
    above = session.resolve().parents[1]
    places = (above, above / "journals")
    beside = [place / named for place in places if (place / named).exists()]
    found = sorted({*session.glob("*.journal"), *beside})
    if len(found) != 1:
        raise OperatorError(
            f"{counted(len(found), 'journal')} found for it",
            where=str(session),
            way_out="Name the table's journal with --journal",
        )
    return found[0]


def _span(export: Export) -> tuple[int, int]:
    if export.from_text is None or export.to_text is None:
        raise OperatorError(
            "no round, entry or time was given",
            where=str(export.session),
            way_out="Give --round N, --entry SEQ, or --from and --to",
        )
    house = house_for(export.house, export.session, export.session.resolve().parent)
    span = _instant_ns(export.from_text, house), _instant_ns(export.to_text, house)
    if span[0] >= span[1]:
        raise OperatorError(
            f"{export.to_text} is not after {export.from_text}",
            where="--to",
            way_out="Give a --to that is later than --from",
        )
    return span


def _instant_ns(text: str, house: House) -> int:
    """Read ``2026-11-21T14:23:45.5`` with or without an offset, or nanoseconds since the epoch."""
    if text.isascii() and text.isdigit():
        return int(text)
    try:
        moment = datetime.fromisoformat(text)
    except ValueError as fault:
        raise OperatorError(
            f"{text!r} is not a time",
            where="--from or --to",
            way_out="Write it like 2026-11-21T14:23:45Z",
        ) from fault
    if moment.tzinfo is not None:
        return int(moment.timestamp()) * 1_000_000_000 + moment.microsecond * 1000
    found = house.instants(moment)
    if len(found) != 1:
        raise OperatorError(
            f"the clocks of {house.zone} showed {text} {'twice' if found else 'never'}",
            where="--from or --to",
            way_out=f"Write it with its offset from UTC, like {text}+01:00",
        )
    return found[0]
