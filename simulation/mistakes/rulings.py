"""Mistakes that the floor rules on: it calls the round off, or moves a card."""

from simulation.mistakes.catalogue import first, mistake, scene
from simulation.mistakes.deal import dealt_without_last_spot
from simulation.table import Table


@mistake("spot_skipped", name="misdeal_called_off", spots=2)
def _has_a_misdeal_called_off(table: Table) -> None:
    """Never deal to the last spot; the floor calls the round off."""
    dealt_without_last_spot(table).call_off("misdeal: the last spot was passed over")


@mistake("extra_card_after_double", name="card_offered_to_next", spots=2)
def _offers_a_card_drawn_in_error(table: Table) -> None:
    """Draw a second card for a double; the floor has the next player take it, who makes 21."""
    spot, other = first(table), table.spots[1]
    round_ = scene(table, cards={(spot, 0): "6 5 8 9", (other, 0): "X 2"})
    round_.until_players()
    hand, to = round_.hands[spot][0], round_.hands[other][0]
    round_.double(hand, hand.bet)
    round_.deal(spot)
    round_.move_last_card(hand, to, "drawn in error, offered to the next player")
    round_.end()
