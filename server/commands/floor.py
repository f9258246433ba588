"""``pitwatch floor``: look at the floor record, and keep it small."""

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from models.errors import InstallerError, OperatorError
from server.archive.unreadable import without_parquet
from server.commands.options import FloorUrl, Json
from server.house.wording import counted, proven_words
from server.process.exit_status import Exit
from server.process.terminal import print_json, screen
from stream.signing import named_key

if TYPE_CHECKING:
    from server.floor_record.database import FloorDatabase

app = typer.Typer(no_args_is_help=True)

Day = Annotated[str, typer.Argument(metavar="YYYY-MM-DD", help="The house's day.")]

Table = Annotated[str, typer.Option("--table", help="The table's id.")]

Reason = Annotated[str, typer.Option("--reason", help="Why, for the record.")]


@app.command(
    "migrate", epilog="[dim]pitwatch floor migrate --floor postgresql://owner@floor/pit[/dim]"
)
def migrate(*, floor: FloorUrl) -> None:
    """Create the floor record in a database, or bring it to this version."""
    run_migrate(floor)


@app.command("status", epilog="[dim]pitwatch floor status --floor postgresql://floor/pit[/dim]")
def status(*, floor: FloorUrl, as_json: Json = False) -> None:
    """Print how far the floor is behind each table, and what is in quarantine. Exit 3 if any is."""
    raise typer.Exit(show_status(floor, as_json=as_json))


@app.command("verify", epilog="[dim]pitwatch floor verify --floor postgresql://floor/pit[/dim]")
def verify(*, floor: FloorUrl) -> None:
    """Compute every hash of every chain again, as after a restore. Exit 3 if one is damaged.

    It names the chains with entries that their table's signature does not prove, and how many:
    those since the last checkpoint, and all where no key of the table was named (`floor key`).
    """
    raise typer.Exit(run_verify(floor))


@app.command("key", epilog="[dim]pitwatch floor key --table BJ-07 --key BJ-07.key.pub.pem[/dim]")
def name_key(
    *,
    floor: FloorUrl,
    table: Table,
    key: Annotated[str, typer.Option("--key", help="Its public key: its fingerprint or its file.")],
) -> None:
    """Name the key that a table signs with, as the record's owner.

    The floor counts entries as proven up to the last checkpoint that a named key signed. After a
    change of key name the new one too.
    """
    run_name_key(floor, table, key)


@app.command(
    "epoch",
    epilog="[dim]pitwatch floor epoch --table BJ-07 --journal 4bbc… --reason 'new disk'[/dim]",
)
def begin_epoch(
    *,
    floor: FloorUrl,
    table: Table,
    journal: Annotated[str, typer.Option("--journal", help="The journal's id.")],
    reason: Reason,
) -> None:
    """Begin a new epoch after a table's journal was restored from a backup.

    The floor takes the journal in again from its first entry. The old epoch stays as it is.
    """
    start_epoch(floor, table, journal, reason)


@app.command("retire", epilog="[dim]pitwatch floor retire 2026-03-01 history/[/dim]")
def retire_day(
    day: Day,
    history: Annotated[Path, typer.Argument(help="The folder that `archive write` wrote.")],
    *,
    floor: FloorUrl,
) -> None:
    """Drop a day from the floor once its Parquet is verified and stands for the same entries."""
    retire(floor, day, history)


@app.command("hold", epilog="[dim]pitwatch floor hold 2026-03-01 2026-03-07 --reason …[/dim]")
def hold(
    first: Day,
    last: Day,
    *,
    floor: FloorUrl,
    reason: Reason,
    table: Annotated[str | None, typer.Option("--table", help="Only this table's days.")] = None,
) -> None:
    """Place a legal hold: these days stay on the floor until it is lifted."""
    place_hold(floor, first, last, table, reason)


@app.command("lift", epilog="[dim]pitwatch floor lift 3[/dim]")
def lift(
    number: Annotated[int, typer.Argument(help="The hold's number.")], *, floor: FloorUrl
) -> None:
    """Lift a legal hold."""
    raise typer.Exit(lift_hold(floor, number))


@contextmanager
def without_database() -> Iterator[None]:
    """Name the extra where what is imported within needs one that is not installed.

    Raises:
        InstallerError: the floor record's packages are missing.
    """
    try:
        yield
    except ImportError as fault:
        raise InstallerError(
            "psycopg or alembic is not installed, which the floor record needs",
            where="this command",
            way_out="Install them: pip install 'pitwatch[floor]'",
        ) from fault


def connected(url: str) -> AbstractContextManager["FloorDatabase"]:
    """Connect to the floor's database; raises as ``FloorDatabase.connected`` does."""
    with without_database():
        from server.floor_record.database import FloorDatabase
    return FloorDatabase.connected(url)


def run_migrate(url: str) -> None:
    """Create the floor record or bring it to this version; raises as ``migrate`` does."""
    with without_database():
        from server.floor_record import migrating
    migrating.migrate(url)
    screen().print("the floor record is of this version")


def show_status(url: str, *, as_json: bool) -> Exit:
    """Print how far the floor is behind each table, and what is in quarantine.

    Returns ``FINDINGS`` where a table's chain is refused or something is in quarantine.
    """
    with connected(url) as floor:
        lags, aside = floor.lag(), floor.quarantine()
    if as_json:
        tables = [
            {
                "table": one.table,
                "epoch": one.epoch,
                "journal": one.journal,
                "state": one.state,
                "seq": one.seq,
                "behind": one.behind,
                "proven": one.proven,
                "silent_s": round(one.silent.total_seconds(), 3),
            }
            for one in lags
        ]
        print_json({"tables": tables, "quarantine": aside})
    else:
        for one in lags:
            screen().print(
                f"{one.table}  epoch {one.epoch}  {one.state}  entry {one.seq}, "
                f"{one.behind} behind, last heard {one.silent.total_seconds():.0f} s ago, "
                f"{proven_words(one.proven, one.seq)}",
                soft_wrap=True,
            )
        for each in aside:
            where = f"{each.table} epoch {each.epoch} entry {each.seq}"
            screen().print(f"quarantine {each.number}  {where}: {each.reason}, {each.detail}")
    refused = any(one.state != "sound" for one in lags)
    return Exit.FINDINGS if refused or aside else Exit.CLEAN


def run_verify(url: str) -> Exit:
    """Compute every hash again, and print up to where each chain is proven by signatures.

    Returns ``FINDINGS`` where a chain is not what was hashed.

    Raises:
        TechnicianError: a chain of the services' own is damaged.
    """
    chains = entries = proven = 0
    faults, unsigned = [], []
    with connected(url) as floor:
        for chain, fault in floor.verify():
            chains, entries = chains + 1, entries + chain.place.seq
            name = f"{chain.table} epoch {chain.epoch}"
            if fault is not None:
                faults.append(f"{name}: {fault}")
            else:
                proven += chain.proven
            if chain.proven < chain.place.seq:
                unsigned.append(f"{name}: {proven_words(chain.proven, chain.place.seq)}")
        own = floor.verify_own()
    for one in unsigned:
        screen().print(f"not proven  {one}", soft_wrap=True)
    for fault in faults:
        screen().print(f"damaged  {fault}", soft_wrap=True)
    screen().print(
        f"{counted(chains - len(faults), 'chain')} of {chains} are whole, "
        f"{counted(entries, 'entry', 'entries')}, {proven} of them proven by their table's "
        "signature; " + ", ".join(f"{name} is whole, {seq}" for name, seq in own.items()),
        soft_wrap=True,
    )
    return Exit.FINDINGS if faults else Exit.CLEAN


def run_name_key(url: str, table: str, key: str) -> None:
    """Name the key that a table signs with, by its fingerprint or public file."""
    fingerprint = named_key(key, "--key")
    with connected(url) as floor:
        floor.name_key(table, fingerprint)
    screen().print(f"entries of {table} that {fingerprint} signed are proven", soft_wrap=True)


def start_epoch(url: str, table: str, journal: str, reason: str) -> None:
    """Begin a new epoch of a table with a journal; raises as ``begin_epoch`` does."""
    with connected(url) as floor:
        epoch = floor.begin_epoch(table, journal, reason)
    screen().print(f"{table} is in epoch {epoch}")


def retire(url: str, day: str, history: Path) -> None:
    """Drop a day from the floor; raises as ``retire_day`` does."""
    try:
        from server.floor_record import retention
    except ImportError as fault:
        raise without_parquet("pitwatch floor retire") from fault
    with connected(url) as floor:
        about = retention.retire_day(floor, day_from(day), history)
    journals = counted(len(about.parts), "journal")
    screen().print(f"{day}: {journals} verified in {history} and dropped from the floor")


def place_hold(url: str, first: str, last: str, table: str | None, reason: str) -> None:
    """Place a legal hold, and print its number."""
    with connected(url) as floor:
        number = floor.hold(day_from(first), day_from(last), table, reason)
    screen().print(f"legal hold {number} is placed")


def lift_hold(url: str, number: int) -> Exit:
    """Lift a legal hold; ``REFUSED`` where none of that number stands."""
    with connected(url) as floor:
        lifted = floor.lift(number)
    screen().print(f"legal hold {number} is lifted" if lifted else f"no legal hold {number} stands")
    return Exit.CLEAN if lifted else Exit.REFUSED


def day_from(text: str) -> date:
    """Read a day; raises ``OperatorError`` where it is none."""
    try:
        return date.fromisoformat(text)
    except ValueError as fault:
        raise OperatorError(
            "this is no day", where=text, way_out="Write it as YYYY-MM-DD"
        ) from fault
