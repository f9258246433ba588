"""``pitwatch forward`` and ``pitwatch floor``: fill the floor record, look at it, keep it small."""

import logging
import signal
from collections.abc import Sequence
from contextlib import closing
from datetime import date
from pathlib import Path

from models.errors import InstallerError, OperatorError
from models.house import House
from server.archive.unreadable import without_parquet
from server.house.wording import counted, proven_words
from server.process.exit_status import Exit
from server.process.signals import stop_signals
from server.process.terminal import print_json, screen
from stream.clock import HostClock
from stream.signing import named_key


def without_database() -> InstallerError:
    """Return the refusal where an extra of the floor record is not installed."""
    return InstallerError(
        "psycopg or alembic is not installed, which the floor record needs",
        where="this command",
        way_out="Install them: pip install 'pitwatch[floor]'",
    )


try:
    from server.floor_record.database import FloorDatabase
    from server.floor_record.forwarder import Forwarder, journals_in
except ImportError as fault:
    raise without_database() from fault


def run_forward(
    names: Sequence[Path],
    url: str,
    house: House,
    table: str | None,
    *,
    once: bool,
    decisions: bool = False,
) -> Exit:
    """Forward journals until stopped; with ``once``, until the floor has everything there is now.

    With ``decisions``, also hand in what services on the floor decided on these journals.

    Raises:
        FloorDown: with ``once``, the floor cannot be reached.
        InstallerError: the database is no floor record, or refuses the role.
        OperatorError: a named file or folder is missing.
    """
    for name in names:
        if not name.exists():
            raise OperatorError(
                "there is no such file or folder",
                where=str(name),
                way_out="Name the tables' journals, or their folder",
            )
    from server.floor_record.decisions import DecisionDelivery
    from server.service.json_log import log_as_json

    forwarder = Forwarder(tuple(names), house, table)
    delivery = DecisionDelivery(url, lambda: journals_in(tuple(names)), decides=decisions)
    if once:
        with FloorDatabase.connected(url) as floor:
            sent = forwarder.forward_all(floor)
        with closing(delivery):
            delivery.report_states()
        screen().print(f"{counted(sent, 'entry', 'entries')} forwarded")
        for path, why in forwarder.refused.items():
            screen().print(f"not forwarded  {path}: {why}", soft_wrap=True)
        return Exit.FINDINGS if forwarder.refused else Exit.CLEAN
    log_as_json(HostClock())
    stopped: list[int] = []
    for stop in stop_signals():
        signal.signal(stop, lambda number, _: stopped.append(number))
    logging.getLogger("pitwatch.forward").info("started")
    with delivery:
        forwarder.run(url, lambda: bool(stopped))
    return Exit.CLEAN


def run_migrate(url: str) -> None:
    """Create the floor record or bring it to this version; raises as ``migrate`` does."""
    try:
        from server.floor_record.migrating import migrate
    except ImportError as fault:
        raise without_database() from fault
    migrate(url)
    screen().print("the floor record is of this version")


def show_status(url: str, *, as_json: bool) -> Exit:
    """Print how far the floor is behind each table, and what is in quarantine.

    Returns ``FINDINGS`` where a table's chain is refused or something is in quarantine.
    """
    with FloorDatabase.connected(url) as floor:
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
    with FloorDatabase.connected(url) as floor:
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


def name_key(url: str, table: str, key: str) -> None:
    """Name the key that a table signs with, by its fingerprint or public file."""
    fingerprint = named_key(key, "--key")
    with FloorDatabase.connected(url) as floor:
        floor.name_key(table, fingerprint)
    screen().print(f"entries of {table} that {fingerprint} signed are proven", soft_wrap=True)


def start_epoch(url: str, table: str, journal: str, reason: str) -> None:
    """Begin a new epoch of a table with a journal; raises as ``begin_epoch`` does."""
    with FloorDatabase.connected(url) as floor:
        epoch = floor.begin_epoch(table, journal, reason)
    screen().print(f"{table} is in epoch {epoch}")


def retire(url: str, day: str, history: Path) -> None:
    """Drop a day from the floor; raises as ``retire_day`` does."""
    try:
        from server.floor_record.retention import retire_day
    except ImportError as fault:
        raise without_parquet("pitwatch floor retire") from fault
    with FloorDatabase.connected(url) as floor:
        manifest = retire_day(floor, day_from(day), history)
    journals = counted(len(manifest.parts), "journal")
    screen().print(f"{day}: {journals} verified in {history} and dropped from the floor")


def place_hold(url: str, first: str, last: str, table: str | None, reason: str) -> None:
    """Place a legal hold, and print its number."""
    with FloorDatabase.connected(url) as floor:
        number = floor.hold(day_from(first), day_from(last), table, reason)
    screen().print(f"legal hold {number} is placed")


def lift_hold(url: str, number: int) -> Exit:
    """Lift a legal hold; ``REFUSED`` where none of that number stands."""
    with FloorDatabase.connected(url) as floor:
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
