"""One fact after another: ``judge`` never refuses a fact; it reports the mistakes."""

from typing import Final

from models.events import RoundOpened
from settlement import acting, cards, payments, rulings, shoe, tables, wagering
from settlement.facts import (
    CARD_BOXED,
    CARD_BURNED,
    CARD_DEALT,
    CARD_EXPOSED,
    CARD_MOVED,
    CARDS_TOUCHED,
    CUT_CARD_REACHED,
    DEALER,
    DISCARDS_RESHUFFLED,
    HAND_CALLED_OFF,
    HOLE_CARD_CHECKED,
    PAYMENT_MADE,
    PLAYER_ACTED,
    PLAYER_LEFT,
    PLAYER_SEATED,
    ROUND_CALLED_OFF,
    ROUND_OPENED,
    SHOE_STARTED,
    TRAY_CHANGED,
    TRAY_COUNTED,
    WAGER_PLACED,
    WAGER_REMOVED,
)
from settlement.play import hand_of
from settlement.state import Noted, State


def judge(state: State, noted: Noted) -> None:
    """Apply one fact.

    Total: every event at the table has a next state, with the mistakes that the fact shows.
    """
    round_ = state.round
    if not round_.phases.closed:
        round_.last_seq = noted.seq
    if noted.kind == CARD_DEALT:
        _dealt(state, noted)
    elif noted.kind == PLAYER_ACTED:
        acting.acted(state, noted)
    elif noted.kind == WAGER_PLACED:
        wagering.placed(state, noted)
    elif noted.kind == PAYMENT_MADE:
        payments.paid(state, noted)
    elif noted.kind == CARD_EXPOSED:
        cards.exposed(state, noted)
    else:
        _judge_rare(state, noted)
    round_.in_sweep = round_.in_sweep and _in_sweep(noted)
    round_.phases.follow(noted.kind, noted.spot)


def judge_record(state: State) -> None:
    """Apply the facts of the round in play. Once it is called off, nothing is played any more."""
    off_at = state.round.off_at
    shoe.between_rounds(state.table.shoe)
    for noted in state.round.record:
        if noted.index < off_at:
            judge(state, noted)
        else:
            _judge_called_off(state, noted)


def _judge_called_off(state: State, noted: Noted) -> None:
    if not state.round.phases.closed:
        state.round.last_seq = noted.seq
    if noted.kind == CARD_DEALT:
        shoe.card_out(state, noted)
    elif noted.kind == PAYMENT_MADE:
        payments.paid(state, noted)
    elif noted.kind == WAGER_REMOVED:
        payments.given_back(state, noted)
    elif noted.kind == ROUND_CALLED_OFF:
        rulings.round_called_off(state)
    else:
        _judge_table(state, noted)
    state.round.in_sweep = state.round.in_sweep and _in_sweep(noted)
    state.round.phases.follow(noted.kind, noted.spot)


def _judge_rare(state: State, noted: Noted) -> None:
    """Apply a fact of a rare kind."""
    kind = noted.kind
    if kind == ROUND_OPENED:
        opening: RoundOpened = noted.fact
        state.round.number = opening.round
    elif kind == HOLE_CARD_CHECKED:
        acting.checked(state, noted)
    elif kind == WAGER_REMOVED:
        hand = hand_of(noted.at, noted.hand)
        if hand is not None and hand.called_off:
            payments.given_back(state, noted)
        else:
            wagering.removed(state, noted)
    elif kind == CARDS_TOUCHED:
        acting.touched(state, noted)
    elif kind == HAND_CALLED_OFF:
        rulings.hand_called_off(state, noted)
    elif kind == CARD_MOVED:
        rulings.card_moved(state, noted)
    else:
        _judge_table(state, noted)


def _judge_table(state: State, noted: Noted) -> None:
    """Apply a fact of the table, which may come between rounds."""
    kind = noted.kind
    if kind == TRAY_COUNTED:
        tables.tray(state, noted)
    elif kind == PLAYER_SEATED:
        tables.seated(state.table, noted)
    elif kind == PLAYER_LEFT:
        tables.left(state.table, noted)
    elif kind == SHOE_STARTED:
        shoe.started(state, noted)
    elif kind == CARD_BURNED:
        shoe.burned(state, noted)
    elif kind == CARD_BOXED:
        shoe.boxed(state, noted)
    elif kind == CUT_CARD_REACHED:
        tables.cut_card(state)
    elif kind == TRAY_CHANGED:
        tables.tray_changed(state, noted)
    elif kind == DISCARDS_RESHUFFLED:
        rulings.discards_reshuffled(state, noted)


def _in_sweep(noted: Noted) -> bool:
    """Return whether a settling pass continues: hands may be turned up one by one within it."""
    if noted.kind == CARD_EXPOSED:
        return noted.spot != DEALER
    return noted.kind in (PAYMENT_MADE, TRAY_COUNTED)


_FACES: Final = ("deal_face", "hole_card_exposed")
"""Mistakes that a card face up in the shoe also shows: they are the same mistake."""


def _dealt(state: State, noted: Noted) -> None:
    before = len(state.found)
    state.round.last_play = noted.index
    cards.dealt(state, noted)
    if shoe.card_out(state, noted):
        shown = [found for found in state.found[before:] if found.code not in _FACES]
        state.found[before:] = shown
