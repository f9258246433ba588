"""Record a fact in its round, before the round is judged."""

from typing import Final

from settlement.facts import (
    CARD_DEALT,
    CARD_EXPOSED,
    CARD_MOVED,
    DEALER,
    FOREIGN,
    HAND_CALLED_OFF,
    PLAYER_ACTED,
    RACK,
    ROUND_CALLED_OFF,
    WAGER_PLACED,
    place_of,
)
from settlement.script import Dispute, dispute
from settlement.state import MOST_HANDS, NEVER, Noted, Round, Spot

_DEALT_IN: Final = 2
"""The dealer's card count up to which a spot counts as dealt in: the second comes after every
spot's."""


def take(round_: Round, noted: Noted) -> None:
    """Add a fact to the record, with what it reveals about earlier facts."""
    noted.index = len(round_.record)
    noted.at = round_.spot(noted.spot)
    round_.record.append(noted)
    if noted.kind == CARD_DEALT:
        _dealt(round_, noted.at, noted)
    elif noted.kind == PLAYER_ACTED:
        _acted(noted.at, noted)
    elif noted.kind == WAGER_PLACED and noted.what == "double":
        _turn(noted.at, noted)
    elif noted.kind == CARD_EXPOSED:
        _turned_up(round_, noted)
    elif noted.kind >= HAND_CALLED_OFF:
        _ruled(round_, noted)


def _ruled(round_: Round, noted: Noted) -> None:
    if noted.kind == CARD_MOVED:
        _moved(round_, noted)
    elif noted.kind == ROUND_CALLED_OFF and round_.off_at == NEVER:
        round_.off_at = noted.index


def _moved(round_: Round, noted: Noted) -> None:
    """Let a card lie elsewhere from here on; one that lay nowhere in the record is laid anew."""
    spot, hand = place_of(noted.fact.origin)
    index = round_.spot(spot).script(hand).take_away(noted.read)
    if index >= 0:
        round_.moves[noted.index] = index
    if spot == DEALER:
        round_.to_dealer -= index >= 0
        if index == round_.first_draw:
            round_.first_draw = 0
    noted.at.script(noted.hand).lay(noted if index < 0 else round_.record[index])
    if noted.spot == DEALER:
        round_.to_dealer += 1
    elif noted.spot != RACK:
        _turn(noted.at, noted)


def _turned_up(round_: Round, noted: Noted) -> None:
    script = noted.at.script(noted.hand)
    script.turn_up(noted, round_.record)
    if noted.turned == FOREIGN:
        round_.disputes.append(Dispute(noted.read, script.disputed(noted)))


def read_through(round_: Round) -> None:
    """Leave open, once all facts are taken, each card to which two of them give unlike faces."""
    if not round_.disputes:
        return
    shown = [noted for noted in round_.record if noted.kind == CARD_EXPOSED]
    doubted = [(one.face, one.doubted(shown)) for one in round_.disputes]
    for face, cards in doubted:
        for card in cards:
            dispute(card, face)


def _dealt(round_: Round, spot: Spot, noted: Noted) -> None:
    spot.script(noted.hand).lay(noted)
    if noted.hand <= spot.top + 1:
        spot.top = max(spot.top, noted.hand)
    if noted.hand == 0 and round_.to_dealer < _DEALT_IN:
        spot.dealt_in += 1
        round_.order.append(noted.spot)
    if noted.spot != DEALER:
        _turn(spot, noted)
        return
    round_.to_dealer += 1
    if round_.to_dealer == round_.dealer_dealt + 1:
        round_.first_draw = noted.index


def _turn(spot: Spot, noted: Noted) -> None:
    if spot.script(noted.hand).turn(noted.index):
        spot.last_turn = noted.index


def _acted(spot: Spot, noted: Noted) -> None:
    action = noted.what
    if action == "even_money":
        return
    _turn(spot, noted)
    if action in ("stand", "surrender"):
        spot.script(noted.hand).end()
    elif action == "hit":
        spot.script(noted.hand).hit(noted.index)
    elif action == "split":
        _split(spot, noted.hand)


def _split(spot: Spot, hand: int) -> None:
    lying = spot.script(hand)
    if lying.splits() and spot.top + 1 < MOST_HANDS:
        spot.top += 1
        spot.script(spot.top).lay(lying.part())
