"""Houses by chance: any value of every knob, as long as the knobs do not contradict each other."""

from random import Random
from typing import Any, Final

import msgspec

from models.money import Odds
from models.rulebook import Policy, Rulebook, Signals
from models.side_bet import Bonus, Condition, HandAward

_FLUSH: Final = Condition(same=("suit",))
_PLAIN: Final = Condition(doubled=False)
_FIXED: Final = (
    Bonus(up="A7", wager=1, pays=700, clause="7.00 against an ace or a seven"),
    Bonus(up="789", wager=1500, pays=9000, clause="90.00 against 7, 8 or 9 for 15.00 or more"),
)
_BONUSES: Final = tuple(
    HandAward(award=award, when=when, odds=odds, clause=award, wins=wins, bonus=bonus)
    for award, when, odds, wins, bonus in (
        ("suited blackjack", (Condition(blackjack=True), _FLUSH), Odds(2, 1), True, ()),
        ("6-7-8 of spades", (Condition(ranks="678", suit="S"), _PLAIN), Odds(3, 1), True, _FIXED),
        ("6-7-8 of one suit", (Condition(ranks="678"), _FLUSH), Odds(2, 1), False, ()),
        ("777", (Condition(ranks="777", split=False),), Odds(3, 2), False, _FIXED),
        ("21", (Condition(total=(21, 21)),), Odds(1, 1), True, _FIXED),
    )
)
_CHARLIE: Final = (
    HandAward(
        award="five cards",
        when=(Condition(count=(5, 21), low_total=(5, 21)),),
        odds=Odds(2, 1),
        clause="five cards",
        wins=True,
    ),
)
_CHOICES: Final[dict[str, tuple[Any, ...]]] = {
    "decks": tuple(range(1, 9)),
    "dealer_first_card": ("up", "down"),
    "player_cards": ("up", "down"),
    "dealer_soft17": ("hit", "stand"),
    "win_payout": (Odds(1, 1), Odds(1, 1), Odds(3, 2)),
    "blackjack_payout": (Odds(3, 2), Odds(6, 5), Odds(1, 1), Odds(2, 1), Odds(7, 5)),
    "split_match": ("value", "rank"),
    "max_hands": tuple(range(1, 9)),
    "split_aces_cards": (1, "any"),
    "split_ace_21_is_blackjack": (True, False),
    "split_ten_21_is_blackjack": (True, False),
    "hit_on_21": (True, True, False),
    "double_on": ("any_number", "any_two", "9-11", "10-11", "none"),
    "double_soft_as_low_total": (True, False),
    "double_for_less": (True, False),
    "double_after_split": (True, False),
    "double_split_aces": (True, False),
    "insurance": ("none", "up_to_half", "exactly_half"),
    "insurance_payout": (Odds(2, 1), Odds(3, 2), Odds(11, 5)),
    "insured_blackjack_vs_dealer_blackjack": ("push", "lose"),
    "even_money": (True, False),
    "surrender": ("none", "early", "late"),
    "surrender_after_split": (True, False),
    "resplit_aces": (True, False),
    "dealer_blackjack_collects": ("original_only", "all_wagers"),
    "max_spots_per_player": (None, 1, 2, 3),
    "mid_shoe_entry": (True, False),
    "side_wagers": (True, False),
    "player_touch": ("never", "one_hand", "free"),
    "settle_order": ("right_to_left", "any"),
    "table_min": (0, 1, 500, 1500),
    "table_max": (None, 1500, 20_000),
    "burn_after_shuffle": (0, 1, 3),
    "payout_unit": (1, 25, 100, 500),
    "payout_rounding": ("down", "up"),
    "dealer_second_card": ("with_deal", "with_deal", "after_players"),
    "coupon": ("none", "even_money", "as_wager"),
    "coupon_taken": ("decided", "always"),
    "shoe": ("dealt_out", "dealt_out", "continuous"),
    "pack_without": ((), (), ("T",), ("7", "K")),
    "dealer_22": ("loses", "pushes"),
    "pays": ((), (), _BONUSES, _CHARLIE),
    "double_rescue": (True, False),
}
_POLICIES: Final[dict[str, tuple[str, ...]]] = {
    "dealer_overdraw": ("burn", "keep"),
    "dealer_underdraw": ("pending", "as_lies"),
    "extra_player_card": ("burn", "keep"),
    "insurance_over_half": ("cap", "as_placed"),
    "illegal_option": ("as_played", "void"),
}
_MANNERS: Final = (("hand",), ("hand", "verbal"), ("verbal",), ("tuck", "hand"))


def any_house(seed: int | str) -> Rulebook:
    """Return a house by chance, of knobs that go together."""
    random = Random(seed)
    chosen = {knob: random.choice(values) for knob, values in _CHOICES.items()}
    most = chosen["max_spots_per_player"]
    chosen["multi_spot_min_multiple"] = {
        spots: spots + random.randrange(3) for spots in range(2, (most or 3) + 1)
    }
    actions = ("hit", "stand", "split", "double", "surrender")
    signals = Signals(**{action: random.choice(_MANNERS) for action in actions})
    policy: Any = {knob: random.choice(values) for knob, values in _POLICIES.items()}
    house = Rulebook(id=f"house-{seed}", signals=signals, policy=Policy(**policy), **chosen)
    return _consistent(house)


def with_hole_card(house: Rulebook) -> Rulebook:
    """Return the house with a hole card: mistakes are made in the deal and draw that it has."""
    return msgspec.structs.replace(house, dealer_second_card="with_deal")


def _consistent(house: Rulebook) -> Rulebook:
    """Take back what another knob rules out."""
    doubles = house.double_after_split and house.double_on != "none"
    return msgspec.structs.replace(
        house,
        dealer_first_card="up"
        if house.dealer_second_card == "after_players"
        else house.dealer_first_card,
        resplit_aces=house.resplit_aces and house.max_hands >= 3,
        double_after_split=doubles,
        double_rescue=house.double_rescue and house.double_on != "none",
        double_split_aces=house.double_split_aces and doubles and house.split_aces_cards == "any",
        surrender_after_split=house.surrender_after_split and house.surrender != "none",
        table_max=None if (house.table_max or 0) < house.table_min else house.table_max,
    )
