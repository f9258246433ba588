"""Mistakes with wagers and seats, and in players' behaviour."""

from typing import Final

from models.events import CardsTouched, Manner, WagerRemoved
from models.rulebook import Rulebook
from simulation.mistakes.catalogue import OTHERS, first, last, mistake, scene
from simulation.round import Round
from simulation.steps import Rig
from simulation.table import Table

_MANNERS: Final[tuple[Manner, ...]] = ("verbal", "hand", "tuck")


def _with_wagers(table: Table, wagers: dict[int, int]) -> Round:
    rig = Rig(cards={("dealer", 0): "9 X"}, others=OTHERS, insured=(), wagers=wagers)
    return Round(table, rig, peek=table.peek)


@mistake("below_table_min")
def _bets_too_little(table: Table) -> None:
    _with_wagers(table, {first(table): table.minimum(first(table)) - 100}).play()


@mistake(
    "above_table_max",
    when=lambda rules: rules.table_max is not None,
    knobs=("table_max=50000",),
)
def _bets_too_much(table: Table) -> None:
    assert table.rules.table_max is not None, "the mistake needs a maximum"
    _with_wagers(table, {first(table): table.rules.table_max + 500}).play()


@mistake("multi_spot_minimum", spots=2, when=lambda rules: 2 in rules.multi_spot_min_multiple)
def _bets_the_single_minimum_twice(table: Table) -> None:
    seats = _one_player(table, 2)
    _with_wagers(table, {first(table): table.rules.table_min}).play()
    table.reseat(seats)


@mistake(
    "too_many_spots",
    spots=4,
    when=lambda rules: rules.max_spots_per_player is not None and rules.max_spots_per_player < 4,
)
def _holds_four_spots(table: Table) -> None:
    seats = _one_player(table, 4)
    _with_wagers(table, {}).play()
    table.reseat(seats)


def _one_player(table: Table, count: int) -> dict[str, tuple[int, ...]]:
    """Seat one player on the first ``count`` spots and others on one each; return the old seats."""
    before = table.seats
    held = {"P1": table.spots[:count]}
    held |= {f"P{spot + 1}": (spot,) for spot in table.spots[count:]}
    table.reseat(held)
    return before


@mistake(
    "mid_shoe_entry",
    spots=2,
    when=lambda rules: not rules.mid_shoe_entry and rules.shoe == "dealt_out",
)
def _enters_in_mid_shoe(table: Table) -> None:
    table.start_afresh()
    late = next(spot for spot in reversed(table.spots) if (spot,) in table.seats.values())
    scene(table, sits_out=(late,)).play()
    scene(table).play()


@mistake("side_wager_prohibited", when=lambda rules: not rules.side_wagers)
def _takes_a_side_wager(table: Table) -> None:
    round_ = scene(table)
    round_.open()
    round_.bet(first(table), 500, "side")
    round_.deal_initial()
    round_.offer_insurance()
    round_.check_hole()
    round_.end()


@mistake("wager_on_no_hand")
def _bets_in_the_box_of_a_second_hand(table: Table) -> None:
    """Place chips in the box of a split hand while the spot has one hand."""
    round_ = scene(table)
    round_.open()
    round_.bet(first(table), table.rules.table_min, hand=1)
    round_.deal_initial()
    round_.play_on()


# --- after the first card -----------------------------------------------------------------


@mistake("stake_increased_after_deal")
def _adds_to_a_wager(table: Table) -> None:
    round_ = scene(table)
    round_.until_players()
    round_.bet(first(table), 500)
    round_.end()


@mistake("stake_reduced_after_deal")
def _takes_back_a_wager(table: Table) -> None:
    spot = first(table)
    round_ = _with_wagers(table, {spot: table.minimum(spot) + 1000})
    round_.until_players()
    table.write(WagerRemoved(spot=spot, kind="main", amount=500))
    round_.hands[spot][0].bet -= 500
    round_.end()


@mistake("wager_after_deal", spots=2)
def _bets_after_the_first_card(table: Table) -> None:
    late = table.empty[-1] if table.empty else last(table)
    round_ = scene(table, sits_out=(late,))
    round_.open()
    round_.deal_pass(0)
    round_.bet(late, table.rules.table_min)
    round_.deal_pass(1)
    round_.play_on()


# --- conduct ------------------------------------------------------------------------------


@mistake("signal_not_accepted", when=lambda rules: len(rules.signals.hit) < len(_MANNERS))
def _hits_in_the_wrong_manner(table: Table) -> None:
    spot = first(table)
    round_ = scene(table, cards={(spot, 0): "X 2 7"})
    round_.until_players()
    hand = round_.hands[spot][0]
    round_.act(hand, "hit", _not_accepted(table.rules), console=True)
    round_.deal(spot)
    round_.end()


def _not_accepted(rules: Rulebook) -> Manner:
    return next(manner for manner in _MANNERS if manner not in rules.signals.hit)


@mistake("player_touched_cards", when=lambda rules: rules.player_touch != "free")
def _touches_the_cards(table: Table) -> None:
    round_ = scene(table)
    round_.until_players()
    never = table.rules.player_touch == "never"
    touched = CardsTouched(spot=first(table), manner="one_hand" if never else "two_hands")
    table.write(touched, console=True)
    round_.end()
