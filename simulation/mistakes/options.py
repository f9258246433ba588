"""Options granted against the rules: splits, doubles, insurance, surrender."""

from functools import partial

from models.rulebook import Rulebook
from settlement.play import double_fault, split_fault, surrender_fault
from simulation.mistakes.catalogue import OTHERS, first, granted, mistake, odd_chips, scene
from simulation.round import Round
from simulation.steps import Hand, HandKey
from simulation.table import Table


def _at_first_turn(
    table: Table,
    cards: str,
    dealer: str = "9 X",
    *,
    split: tuple[str, ...] = (),
    others: tuple[str, ...] = OTHERS,
) -> tuple[Round, Hand]:
    """Play up to the first spot's turn; ``split`` holds the draws of its further hands."""
    spot = first(table)
    own: dict[HandKey, str] = {(spot, 0): cards}
    own |= {(spot, number): drawn for number, drawn in enumerate(split, start=1)}
    round_ = scene(table, dealer, cards=own, others=others)
    round_.until_players()
    return round_, round_.hands[spot][0]


def _splits(table: Table, cards: str, other: str) -> None:
    round_, hand = _at_first_turn(table, cards, split=(other,))
    round_.split(hand)
    round_.end()


@mistake("split_not_pair")
def _splits_no_pair(table: Table) -> None:
    _splits(table, "9 7 9", "X")


@granted("split_unequal_rank", split_fault, "KS QD")
def _splits_king_and_queen(table: Table) -> None:
    _splits(table, "K Q 8", "8")


@mistake("split_wager_mismatch")
def _splits_for_another_wager(table: Table) -> None:
    round_, hand = _at_first_turn(table, "8 8 X", split=("X",))
    round_.split(hand, hand.bet + table.rules.table_min)
    round_.end()


@mistake("too_many_hands")
def _splits_once_too_often(table: Table) -> None:
    """Split the first hand repeatedly: tens where any may be split, else eights."""
    table.start_afresh()
    card, limit = _pairs(table.rules), table.rules.max_hands
    again = [card] * (limit + 1)
    rest = ("X",) * limit
    drawn = " ".join([*again, "X"])
    round_, hand = _at_first_turn(table, drawn, split=rest, others=("X X", "9 X"))
    for _ in range(limit):
        round_.split(hand)
        round_.deal(hand.spot, 0)
    round_.stand_all(hand.spot)
    round_.end()


def _pairs(rules: Rulebook) -> str:
    return "X" if rules.split_match == "value" else "8"


@granted("resplit_aces_not_allowed", partial(split_fault, hands=2), "AS AD", split=True)
def _splits_aces_again(table: Table) -> None:
    round_, hand = _at_first_turn(table, "A A A 7", split=("8", "9"))
    round_.split(hand)
    hand.finished = False
    round_.split(hand)
    round_.end()


def _doubles(table: Table, cards: str) -> None:
    round_, hand = _at_first_turn(table, cards)
    round_.double(hand, hand.bet)
    round_.end()


@granted("double_total_not_allowed", double_fault, "TS 2D")
def _doubles_on_twelve(table: Table) -> None:
    _doubles(table, "X 2 7")


@mistake("double_on_blackjack")
def _doubles_a_blackjack(table: Table) -> None:
    _doubles(table, "A X 5")


@granted("double_not_first_two", double_fault, "2S 3D 4C")
def _doubles_on_three_cards(table: Table) -> None:
    round_, hand = _at_first_turn(table, "2 3 4 X")
    round_.hit(hand)
    round_.double(hand, hand.bet)
    round_.end()


@mistake("double_over_original")
def _doubles_for_more(table: Table) -> None:
    round_, hand = _at_first_turn(table, "6 5 8")
    round_.double(hand, hand.bet + table.rules.table_min)
    round_.end()


@mistake("double_for_less_not_allowed", when=lambda rules: not rules.double_for_less)
def _doubles_for_less(table: Table) -> None:
    round_, hand = _at_first_turn(table, "6 5 8")
    round_.double(hand, odd_chips(hand.bet))
    round_.end()


@granted(
    "double_after_split_not_allowed",
    double_fault,
    "8S 3D",
    split=True,
    knobs=("double_after_split=false",),
)
def _doubles_after_a_split(table: Table) -> None:
    round_, hand = _at_first_turn(table, "8 8 3 7", split=("X",))
    round_.split(hand)
    round_.deal(hand.spot)
    round_.double(hand, hand.bet)
    round_.end()


@granted("double_split_aces", double_fault, "AS 7D", split=True)
def _doubles_split_aces(table: Table) -> None:
    round_, hand = _at_first_turn(table, "A A 7 2", split=("8",))
    round_.split(hand)
    round_.double(hand, hand.bet)
    round_.end()


# --- insurance ----------------------------------------------------------------------------


def _insures(table: Table, amount: int, dealer: str = "A 8") -> None:
    spot = first(table)
    round_ = scene(table, dealer)
    round_.open()
    round_.deal_initial()
    round_.insure(spot, amount or round_.hands[spot][0].bet // 2)
    round_.check_hole()
    round_.end()


@mistake("insurance_not_offered")
def _insures_against_a_nine(table: Table) -> None:
    _insures(table, 0, "9 X")


@mistake("insurance_over_half", when=lambda rules: rules.insurance == "up_to_half")
def _insures_for_too_much(table: Table) -> None:
    round_ = scene(table, "A 8")
    round_.open()
    round_.deal_initial()
    half = round_.hands[first(table)][0].bet // 2
    round_.insure(first(table), half + 500)
    round_.insurance[first(table)] = half
    round_.check_hole()
    round_.end()


@mistake("insurance_not_half", when=lambda rules: rules.insurance == "exactly_half")
def _insures_for_too_little(table: Table) -> None:
    _insures(table, 100)


@mistake("insurance_late", when=lambda rules: rules.insurance != "none")
def _insures_after_acting(table: Table) -> None:
    round_, hand = _at_first_turn(table, "X 2 7", "A 8")
    round_.hit(hand)
    round_.insure(hand.spot, hand.bet // 2)
    round_.end()


# --- surrender and even money -------------------------------------------------------------


@granted("surrender_not_offered", surrender_fault, "TS 6D")
def _surrenders_unasked(table: Table) -> None:
    round_, hand = _at_first_turn(table, "X 6")
    round_.surrender(hand)
    round_.end()


@granted("surrender_after_action", surrender_fault, "TS 2D 4C")
def _surrenders_after_a_hit(table: Table) -> None:
    round_, hand = _at_first_turn(table, "X 2 4")
    round_.hit(hand)
    round_.surrender(hand)
    round_.end()


@granted("surrender_after_split", surrender_fault, "8S 8D", split=True)
def _surrenders_a_split_hand(table: Table) -> None:
    round_, hand = _at_first_turn(table, "8 8 8", split=("X",))
    round_.split(hand)
    round_.deal(hand.spot)
    round_.surrender(hand)
    round_.end()


@mistake("surrender_vs_dealer_blackjack", when=lambda rules: rules.surrender == "late")
def _surrenders_to_a_blackjack(table: Table) -> None:
    """Accept a surrender before the check under a ten, then take the whole wager."""
    spot = first(table)
    round_ = scene(table, "X A", cards={(spot, 0): "X 6"})
    round_.open()
    round_.deal_initial()
    hand = round_.hands[spot][0]
    round_.act(hand, "surrender")
    hand.surrendered = hand.finished = True
    round_.check_hole()
    round_.end()


@mistake("even_money_not_offered", when=lambda rules: not rules.even_money)
def _takes_even_money(table: Table) -> None:
    spot = first(table)
    round_ = scene(table, "A 8", cards={(spot, 0): "A X"})
    round_.open()
    round_.deal_initial()
    hand = round_.hands[spot][0]
    round_.act(hand, "even_money")
    round_.settle_hand(hand, hand.bet - round_.due(hand))
    hand.finished = True
    round_.check_hole()
    round_.end()
