"""The state that a round starts from: all that an engine needs of the rounds before it.

This module is not compiled: a compiled class has no field types, and a table keeps these states in
a file.
"""

import msgspec

from models.judgements import TrayChange, Violation
from settlement.state import Shoe, State, Table


class ShoeThen(msgspec.Struct, frozen=True, array_like=True):
    """A shoe at a round's start: the fields of :class:`settlement.state.Shoe`."""

    decks: int
    started: bool
    burned: int
    burn_judged: bool
    boxed_last: int
    dealt: bool
    cut: bool
    out: int
    out_faces: tuple[int, ...]
    out_ranks: tuple[int, ...]
    boxed: tuple[tuple[int, int], ...]


class EngineState(msgspec.Struct, frozen=True, array_like=True):
    """A table at a round's start. Equal states have equal futures, whatever came before."""

    number: int
    """The round's number, unless its opening states another."""
    found: tuple[Violation, ...]
    """Mistakes since the round before, which this round's result reports."""
    shoe: ShoeThen
    seats: tuple[tuple[int, str], ...]
    entered: frozenset[str]
    newcomers: frozenset[str]
    dealt: bool
    cut_now: bool
    tray: int | None
    tray_change: int
    tray_sure: bool
    tray_seq: int
    tray_changes: tuple[TrayChange, ...]
    """Since the round before, which this round's result holds."""


def engine_state_of(state: State) -> EngineState:
    """Return the state that the round in play started from, before any of its facts is judged."""
    table = state.table
    return EngineState(
        number=state.round.number,
        found=tuple(state.found),
        shoe=_shoe_then(table.shoe),
        seats=tuple(table.seats.items()),
        entered=frozenset(table.entered),
        newcomers=frozenset(table.newcomers),
        dealt=table.dealt,
        cut_now=table.cut_now,
        tray=table.tray,
        tray_change=table.tray_change,
        tray_sure=table.tray_sure,
        tray_seq=table.tray_seq,
        tray_changes=tuple(state.tray_changes),
    )


def start_from(state: State, engine_state: EngineState) -> None:
    """Set a fresh table to the state at a round's start, without any fact of that round."""
    state.round.begin(engine_state.number)
    state.found.extend(engine_state.found)
    state.tray_changes.extend(engine_state.tray_changes)
    table = state.table
    table.shoe = _shoe(engine_state.shoe, table.shoe.pack)
    table.seats.update(engine_state.seats)
    table.entered.update(engine_state.entered)
    table.newcomers.update(engine_state.newcomers)
    table.dealt, table.cut_now = engine_state.dealt, engine_state.cut_now
    _lay_tray(table, engine_state)


def _lay_tray(table: Table, engine_state: EngineState) -> None:
    table.tray, table.tray_change = engine_state.tray, engine_state.tray_change
    table.tray_sure, table.tray_seq = engine_state.tray_sure, engine_state.tray_seq


def _shoe_then(shoe: Shoe) -> ShoeThen:
    return ShoeThen(
        decks=shoe.decks,
        started=shoe.started,
        burned=shoe.burned,
        burn_judged=shoe.burn_judged,
        boxed_last=shoe.boxed_last,
        dealt=shoe.dealt,
        cut=shoe.cut,
        out=shoe.out,
        out_faces=tuple(shoe.out_faces),
        out_ranks=tuple(shoe.out_ranks),
        boxed=tuple(shoe.boxed.items()),
    )


def _shoe(then: ShoeThen, pack: list[int]) -> Shoe:
    shoe = Shoe(then.decks, pack, started=then.started)
    shoe.burned, shoe.burn_judged = then.burned, then.burn_judged
    shoe.boxed_last, shoe.dealt, shoe.cut = then.boxed_last, then.dealt, then.cut
    shoe.out, shoe.boxed = then.out, dict(then.boxed)
    shoe.out_faces, shoe.out_ranks = list(then.out_faces), list(then.out_ranks)
    return shoe
