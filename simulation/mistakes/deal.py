"""Mistakes in the deal and in the order of play."""

from models.cards import Card
from models.events import CardBoxed, CardDealt, HoleCardChecked
from models.rulebook import Rulebook
from settlement.houserules import HouseRules
from settlement.play import hand_with, split_fault
from simulation.mistakes.catalogue import first, last, mistake, scene
from simulation.round import Round
from simulation.table import Table


@mistake("deal_order")
def _deals_out_of_order(table: Table) -> None:
    """Deal the dealer's card before the last spot's."""
    round_ = scene(table)
    round_.open()
    for spot in table.spots[:-1]:
        round_.deal(spot, face=table.rules.player_cards)
    round_.deal_own(0)
    round_.deal(last(table), face=table.rules.player_cards)
    round_.deal_pass(1)
    round_.play_on()


@mistake("spot_skipped", spots=2)
def _skips_a_spot(table: Table) -> None:
    """Never deal to the last spot; its wager goes back."""
    round_ = dealt_without_last_spot(table)
    round_.leave_out(last(table))
    round_.play_on()


def dealt_without_last_spot(table: Table) -> Round:
    """Deal to every spot but the last; return the round so far."""
    round_ = scene(table)
    round_.open()
    for turn in (0, 1):
        for spot in table.spots[:-1]:
            round_.deal(spot, face=table.rules.player_cards)
        round_.deal_own(turn)
    return round_


@mistake("card_to_empty_spot", spots=2)
def _deals_to_nobody(table: Table) -> None:
    """Deal a card to a spot without a wager; a face-down one is turned up to be seen."""
    empty = table.empty[-1] if table.empty else last(table)
    round_ = scene(table, sits_out=(empty,))
    round_.open()
    round_.deal_pass(0)
    for spot in sorted({*round_.hands, empty}):
        round_.deal(spot, face=table.rules.player_cards)
    round_.deal_own(1)
    for hand in round_.hands[empty]:
        round_.turn_up(hand)
    round_.play_on()


@mistake("deal_face")
def _deals_the_wrong_face(table: Table) -> None:
    """Deal the first spot's second card with the wrong side up."""
    wrong = "down" if table.rules.player_cards == "up" else "up"
    round_ = scene(table, cards={(first(table), 0): "X 8"})
    round_.open()
    round_.deal_pass(0)
    for spot in table.spots:
        face = wrong if spot == first(table) else table.rules.player_cards
        round_.deal(spot, face="down" if face == "down" else "up")
    round_.deal_own(1)
    if table.has_shoe:
        round_.turn_up(round_.hands[first(table)][0])
    round_.play_on()


@mistake("hole_card_exposed")
def _shows_the_hole_card(table: Table) -> None:
    """Turn the hole card before the last player has drawn."""
    round_ = scene(table, cards={(last(table), 0): "X 2 7"})
    round_.until_players()
    round_.turn_hole()
    round_.end()


@mistake("hole_card_misread")
def _misses_a_blackjack(table: Table) -> None:
    """Check under the dealer's ten, report no blackjack, and turn up an ace later."""
    round_ = scene(table, "X A")
    round_.open()
    round_.deal_initial()
    table.write(HoleCardChecked(blackjack=False), console=True)
    round_.end()


@mistake("player_turn_order", spots=2)
def _serves_the_second_player_first(table: Table) -> None:
    one, other = table.spots[:2]
    round_ = scene(table, cards={(one, 0): "X 2 7", (other, 0): "X 3 6"})
    round_.until_players()
    round_.play_spot(other)
    round_.play_players()
    round_.play_dealer()
    round_.finish()


def _splits_eights(rules: Rulebook) -> bool:
    return split_fault(hand_with((Card("8S"), Card("8D"))), HouseRules(rules)) is None


@mistake("split_hand_order", when=_splits_eights)
def _serves_the_second_hand_first(table: Table) -> None:
    spot = first(table)
    round_ = scene(table, cards={(spot, 0): "8 8 5 7", (spot, 1): "X"})
    round_.until_players()
    hand = round_.hands[spot][0]
    round_.split(hand)
    round_.deal(spot, 0)
    round_.deal(spot, 1)
    round_.play_players()
    round_.play_dealer()
    round_.finish()


@mistake("dealer_acted_before_players")
def _draws_before_the_last_player(table: Table) -> None:
    spot = last(table)
    round_ = scene(table, "9 3 7", cards={(spot, 0): "X 2 7"})
    round_.until_players()
    for other in table.spots[:-1]:
        round_.play_spot(other)
    round_.deal("dealer")
    round_.play_spot(spot)
    round_.play_dealer()
    round_.finish()


@mistake("face_up_card_used")
def _uses_a_boxed_card(table: Table) -> None:
    """Deal a card that was found face up in the shoe."""
    spot = first(table)
    round_ = scene(table, cards={(spot, 0): "X"})
    round_.open()
    round_.deal_pass(0)
    card = table.draw("9")
    table.write(CardBoxed(card=card), card, console=True, at_hand=True)
    face = table.rules.player_cards
    table.write(CardDealt(to=spot, card=card, face=face), card, at_hand=True)
    round_.hold(spot, card, face)
    for other in table.spots[1:]:
        round_.deal(other, face=table.rules.player_cards)
    round_.deal_own(1)
    round_.play_on()


@mistake("settle_order", spots=2, when=lambda rules: rules.settle_order == "right_to_left")
def _settles_from_the_wrong_side(table: Table) -> None:
    round_ = scene(table)
    round_.until_players()
    round_.play_players()
    round_.play_dealer()
    one, other, *rest = round_.unsettled()
    for hand in (other, one, *rest):
        round_.settle_hand(hand)
    round_.close()


@mistake("blackjack_paid_early")
def _pays_a_blackjack_too_soon(table: Table) -> None:
    """Pay a blackjack against a ten before the hole card is known."""
    spot = first(table)
    round_ = scene(table, "X 8", cards={(spot, 0): "A X"})
    round_.open()
    round_.deal_initial()
    round_.settle_hand(round_.hands[spot][0])
    round_.hands[spot][0].finished = True
    round_.check_hole()
    round_.play_players()
    round_.play_dealer()
    round_.finish()
