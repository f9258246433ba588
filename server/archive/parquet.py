"""Settled rounds as Parquet tables for analysts: rows, record batches, files."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, Final, TypeAlias

from msgspec import UNSET, to_builtins

from models.judgements import HandResult, OddCents, RoundResult, SpotResult, Violation
from server.archive.columns import SIDE_BETS, Schemas
from server.archive.resettling import Resettled, fates
from server.archive.settling import Settled
from server.house.rules_in_force import name_in, overrides_text
from server.house.wording import cards_code
from server.process.arrow import ipc, pa, pq
from settlement.balance import Balance
from stream.scratch import scratch_folder

Row: TypeAlias = tuple[Any, ...]
Rows: TypeAlias = dict[str, list[Row]]
Write: TypeAlias = Callable[[str, pa.RecordBatch], None]

_BATCH_ROWS: Final = 8192
_GROUP_ROWS: Final = 128 * 1024


def rows_of_change(name: str, one: Resettled) -> Rows:
    """Return the rows of one resettled round for each table of ``CHANGES``."""
    place = (name, one.table, one.round)
    rules = (*_rules(one.then), *_rules(None if one.now is None else one.now.result))
    then, now = fates(one.then), fates(None if one.now is None else one.now.result)
    paid = {} if one.now is None else one.now.paid()
    changed, nothing = one.clauses_of_change(), (None, None)
    return {
        "changes": [
            (
                *place,
                *_when(one.now),
                *rules,
                account in changed,
                *account,
                *then.get(account, nothing),
                *now.get(account, nothing),
                changed.get(account, ()),
                paid.get(account),
            )
            for account in sorted(then | now)
        ],
        "violations": [
            (
                *place,
                *_at(one.now, v.seq),
                change,
                *_mistake(v),
            )
            for change, found in (("appeared", one.appeared()), ("gone", one.gone()))
            for v in found
        ],
    }


def rows_of(name: str, settled: Settled) -> Rows:
    """Return the rows of one round for each table of ``SETTLED``."""
    result, found = settled.result, settled.balance()
    place = (name, settled.table, result.round)
    return {
        "hands": list(_hand_rows(place, settled, found)),
        "violations": [
            (
                *place,
                *_at(settled, v.seq),
                *_mistake(v),
            )
            for v in result.violations
        ],
        "rounds": [
            (
                *place,
                *_when(settled),
                *_rules(result),
                result.status,
                cards_code(result.dealer.cards),
                cards_code(result.dealer.burned),
                result.dealer.total,
                result.dealer.outcome,
                len(result.spots),
                sum(len(spot.hands) for spot in result.spots),
                len(result.mistakes),
                len(result.suspected),
                result.net,
                None if found.paid is None else -found.paid,
                found.underpaid,
                found.overpaid,
            )
        ],
    }


def _hand_rows(place: Row, settled: Settled, found: Balance) -> Iterator[Row]:
    result = settled.result
    lines = {(one.spot, one.hand, one.kind): (one.paid, one.difference) for one in found.lines}
    unseen = (None, None)
    dealer = cards_code(result.dealer.cards), result.dealer.outcome
    place = (*place, *_when(settled), *_rules(result))
    for spot in result.spots:
        for hand in spot.hands:
            certain, suspected = (
                [v.code for v in found if (v.spot, v.hand) == (spot.spot, hand.hand)]
                for found in (result.mistakes, result.suspected)
            )
            yield (
                *place,
                result.status,
                spot.spot,
                *_hand_cells(hand),
                *lines[spot.spot, hand.hand, "main"],
                *_insurance_cells(spot, hand.hand),
                *lines.get((spot.spot, hand.hand, "insurance"), unseen),
                *dealer,
                hand.clauses,
                certain,
                suspected,
                None if hand.possible is UNSET else to_builtins(hand.possible),
                _side_bets(spot) if hand is spot.hands[0] and spot.side else None,
            )


def _side_bets(spot: SpotResult) -> list[dict[str, Any]]:
    names = SIDE_BETS.value_type.names
    return [{name: to_builtins(one).get(name) for name in names} for one in spot.side or ()]


def _when(settled: Settled | None) -> Row:
    """Return the round's opening and closing, each as a timestamp and in nanoseconds."""
    opened, closed = (None, None) if settled is None else (settled.opened_at, settled.closed_at)
    return opened, opened, closed, closed


def _mistake(one: Violation) -> Row:
    return one.seq, one.code, one.clause, one.spot, one.hand, one.detail, one.suspected


def _at(settled: Settled | None, seq: int) -> Row:
    at = None if settled is None else settled.at_of(seq)
    return at, at


def _rules(result: RoundResult | None) -> Row:
    if result is None:
        return None, None, None
    name = name_in(result)
    return name.rulebook, overrides_text(name.overrides) or None, name.rules_hash or None


def _hand_cells(hand: HandResult) -> Row:
    cards, burned = cards_code(hand.cards), cards_code(hand.burned)
    exact = hand.odd_cents.exact if isinstance(hand.odd_cents, OddCents) else (None, None)
    return hand.hand, cards, burned, hand.stake, hand.outcome, hand.net, *exact


def _insurance_cells(spot: SpotResult, hand: int) -> Row:
    if hand or spot.insurance is None:
        return None, None
    return spot.insurance.stake, spot.insurance.net


class Batches:
    """Collects rows into record batches; call :meth:`flush` at the end."""

    def __init__(self, schemas: Schemas, write: Write) -> None:
        self._schemas, self._write = schemas, write
        self._rows: Rows = {table: [] for table in schemas}

    def add(self, rows: Rows) -> None:
        """Add the rows of a round."""
        for table, kept in self._rows.items():
            kept.extend(rows[table])
            if len(kept) >= _BATCH_ROWS:
                self._hand_on(table)

    def flush(self) -> None:
        """Pass on the remaining rows."""
        for table in self._schemas:
            self._hand_on(table)

    def _hand_on(self, table: str) -> None:
        rows, schema = self._rows[table], self._schemas[table]
        if rows:
            columns = zip(*rows, strict=True)
            arrays = [pa.array(c, f.type) for c, f in zip(columns, schema, strict=True)]
            self._write(table, pa.RecordBatch.from_arrays(arrays, schema=schema))
        self._rows[table] = []


@contextmanager
def parquet_files(place: Path, schemas: Schemas) -> Iterator[Write]:
    """Write tables in row groups as rows arrive; the files appear once all are complete.

    Args:
        place: ``F.parquet`` for the first table; any other name is a folder for all.
        schemas: the tables, the first the main one.
    """
    single = place.suffix == ".parquet"
    with scratch_folder(f".{place.name}.", place.parent) as part:
        tables = list(schemas)[:1] if single else list(schemas)
        paths = {table: part / f"{table}.parquet" for table in tables}
        with ExitStack() as stack:
            files = {
                table: stack.enter_context(_Grouped(path, schemas[table]))
                for table, path in paths.items()
            }
            yield lambda table, batch: files[table].write(batch) if table in files else None
        if single:
            paths[tables[0]].replace(place)
            return
        place.mkdir(exist_ok=True)
        for path in paths.values():
            path.replace(place / path.name)


class _Grouped:
    """A Parquet file with large row groups from small batches."""

    def __init__(self, path: Path, schema: pa.Schema) -> None:
        self._writer = pq.ParquetWriter(path, schema, compression="zstd")
        self._schema = schema
        self._waiting: list[pa.RecordBatch] = []

    def write(self, batch: pa.RecordBatch) -> None:
        self._waiting.append(batch)
        if sum(waiting.num_rows for waiting in self._waiting) >= _GROUP_ROWS:
            self._group()

    def _group(self) -> None:
        if self._waiting:
            self._writer.write_table(pa.Table.from_batches(self._waiting, self._schema))
        self._waiting = []

    def __enter__(self) -> "_Grouped":
        return self

    def __exit__(self, *fault: object) -> None:
        if fault[0] is None:
            self._group()
        self._writer.close()


@contextmanager
def spooled(place: Path, schemas: Schemas) -> Iterator[Write]:
    """Write record batches into a folder; :func:`unspool` reads them later."""
    place.mkdir()
    with ExitStack() as open_files:
        files = {
            table: open_files.enter_context(ipc.new_stream(str(place / table), schema))
            for table, schema in schemas.items()
        }
        yield lambda table, batch: files[table].write_batch(batch)


def unspool(place: Path, write: Write) -> None:
    """Pass on the batches in ``place``, in order."""
    for file in sorted(place.iterdir()):
        with file.open("rb") as stream:
            for batch in ipc.open_stream(stream):
                write(file.name, batch)
