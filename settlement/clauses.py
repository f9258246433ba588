"""The clauses of the game in our own words, and the clause that each violation breaks.

The rulebook cites the house's text for a clause: the clause's knobs here carry the citations.
"""

from typing import Final, Literal, TypeAlias

import msgspec

from models.judgements import Violation


class Clause(msgspec.Struct, frozen=True):
    """One rule of the game.

    Attributes:
        id: its id in settlements and violations.
        says: the rule, in our words.
        knobs: the rulebook's knobs that set the rule; their citations are its sources.
        passages: statements of the house's document that no knob sets, by name.
    """

    id: str
    says: str
    knobs: tuple[str, ...] = ()
    passages: tuple[str, ...] = ()


PASSAGES: Final = {
    "dealer.draws": "The dealer draws to 16 and less.",
    "dealer.stands": "The dealer stands on hard 17 and more.",
    "dealer.breaks": "A dealer past 21 loses to every live hand.",
    "dealer.blackjack": "What two blackjacks come to, or a blackjack against another 21.",
    "dealer.last": "The dealer turns the hole card and plays after all players.",
    "deal.order": "In which order cards are dealt.",
    "deal.two_cards": "Every player is dealt two cards.",
    "play.hit": "A player takes cards by asking for them.",
    "play.stand": "A player who stands takes no more cards.",
    "player.breaks": "A player past 21 loses.",
    "split.wager": "A split asks for a wager equal to the first.",
    "split.played": "Split hands are played as separate hands.",
    "double.one_card": "A doubled hand receives one card.",
    "lose.takes": "The lower total loses.",
    "push.returns": "Equal totals push.",
}
"""Passages that a rulebook may quote beside its knobs."""


_ALL: Final = (
    Clause(
        "dealer.draw",
        "Draw to 16 and stand on 17; a house that hits soft 17 draws to it as well.",
        ("dealer_soft17", "policy.dealer_overdraw", "policy.dealer_underdraw"),
        passages=("dealer.draws", "dealer.stands"),
    ),
    Clause("dealer.no_live_hands", "With no hand left to beat, the dealer draws no card."),
    Clause(
        "dealer.breaks",
        "A dealer past 21 loses to every hand still live.",
        passages=("dealer.breaks",),
    ),
    Clause(
        "dealer.22",
        "A dealer's 22 pushes with the hands still live, where the house says so.",
        ("dealer_22",),
    ),
    Clause(
        "dealer.blackjack",
        "A dealer's blackjack beats every hand but a blackjack.",
        ("dealer_blackjack_collects",),
        passages=("dealer.blackjack",),
    ),
    Clause(
        "dealer.last",
        "The dealer turns and draws only when every player has finished.",
        passages=("dealer.last",),
    ),
    Clause(
        "deal.order",
        "One card at a time, clockwise from the dealer's left, the dealer last, twice.",
        ("dealer_first_card", "dealer_second_card"),
        passages=("deal.order",),
    ),
    Clause(
        "deal.every_wager",
        "Every spot with a wager, and no other, is dealt in.",
        passages=("deal.two_cards",),
    ),
    Clause(
        "deal.face",
        "Players' cards and the dealer's two lie face up or down as the house deals them.",
        ("player_cards", "dealer_first_card"),
    ),
    Clause(
        "deal.hole_card",
        "The hole card stays down until the players have finished.",
        ("dealer_second_card",),
        passages=("dealer.last",),
    ),
    Clause(
        "deal.look",
        "What the dealer reports of his look at the hole card is what the cards make.",
        ("dealer_second_card", "dealer_blackjack_collects"),
    ),
    Clause("deal.boxed_card", "A card found face up in the shoe goes to the discard rack."),
    Clause(
        "play.turn",
        "Players act clockwise from the dealer's left, one after another.",
        passages=("deal.order",),
    ),
    Clause(
        "play.split_order",
        "One split hand is finished before the next is played.",
        passages=("split.played",),
    ),
    Clause(
        "play.no_more_cards",
        "A hand that stands or breaks takes no more cards; on 21, a card must be asked for.",
        ("hit_on_21", "policy.extra_player_card"),
        passages=("play.stand", "player.breaks"),
    ),
    Clause("play.card_due", "A card that is asked for or owed is dealt.", passages=("play.hit",)),
    Clause("play.signal", "Decisions are shown in the ways the house accepts.", ("signals.hit",)),
    Clause("play.touch", "Players touch cards only as the house allows.", ("player_touch",)),
    Clause(
        "deck.composition",
        "No more of a card than the decks in play hold.",
        ("decks", "pack_without", "shoe"),
    ),
    Clause("deck.count", "The game is dealt from as many decks as the house says.", ("decks",)),
    Clause("deck.same_card", "The card turned up is the card that was dealt there."),
    Clause("deck.burn", "Cards are burned after the shuffle.", ("burn_after_shuffle",)),
    Clause("deck.cut_card", "The round in which the cut card comes is the shoe's last.", ("shoe",)),
    Clause("split.pair", "Two cards of equal value or rank may be split.", ("split_match",)),
    Clause(
        "split.wager", "A split hand carries a wager equal to the first.", passages=("split.wager",)
    ),
    Clause("split.max_hands", "Splits make no more hands than the house allows.", ("max_hands",)),
    Clause("split.aces_again", "Whether aces may be split again.", ("resplit_aces",)),
    Clause("split.aces_cards", "A split ace receives one card.", ("split_aces_cards",)),
    Clause(
        "double.total",
        "A hand may be doubled on the totals the house names.",
        ("double_on", "double_soft_as_low_total"),
    ),
    Clause("double.first_two", "A double is made on the first two cards.", ("double_on",)),
    Clause("double.amount", "A double adds up to the original wager.", ("double_for_less",)),
    Clause("double.after_split", "Whether split hands may double.", ("double_after_split",)),
    Clause("double.split_aces", "Whether split aces may double.", ("double_split_aces",)),
    Clause("double.blackjack", "A blackjack is not doubled."),
    Clause(
        "double.one_card",
        "A doubled hand receives exactly one card.",
        passages=("double.one_card",),
    ),
    Clause(
        "insurance.offered",
        "Insurance is offered before any hand acts, when the dealer shows an ace.",
        ("insurance",),
    ),
    Clause(
        "insurance.amount",
        "Insurance is limited to half of the original wager.",
        ("insurance", "policy.insurance_over_half"),
    ),
    Clause(
        "insurance.pays", "Insurance pays when the dealer has blackjack.", ("insurance_payout",)
    ),
    Clause(
        "insurance.both_blackjacks",
        "What an insured blackjack comes to against the dealer's.",
        ("insured_blackjack_vs_dealer_blackjack",),
    ),
    Clause("even_money.offered", "Whether even money is offered.", ("even_money",)),
    Clause("surrender.offered", "Whether half may be given up to end a hand.", ("surrender",)),
    Clause(
        "surrender.first_two",
        "Surrender is the first decision on the first two cards of an unsplit hand.",
        ("surrender", "surrender_after_split"),
    ),
    Clause(
        "surrender.dealer_blackjack",
        "A late surrender does not stand against a dealer's blackjack.",
        ("surrender",),
    ),
    Clause(
        "surrender.rescue",
        "Whether a doubled hand may be given up for its original wager.",
        ("double_rescue",),
    ),
    Clause("table.minimum", "A wager is at least the table's minimum.", ("table_min",)),
    Clause("table.maximum", "A wager is at most the table's maximum.", ("table_max",)),
    Clause(
        "table.spots",
        "A player holds no more spots than the house allows, at the minimum it asks.",
        ("max_spots_per_player", "multi_spot_min_multiple"),
    ),
    Clause("table.entry", "Whether play may begin in the middle of a shoe.", ("mid_shoe_entry",)),
    Clause(
        "table.side_wagers",
        "Whether side wagers and coupons are taken.",
        ("side_wagers", "coupon", "coupon_taken"),
    ),
    Clause("side_bet.pays", "A side bet is settled by its pay table.", ("side_bets",)),
    Clause("wager.own_hand", "A wager lies on a hand; a spot has one until it is split."),
    Clause("wager.stands", "A wager stands from the first card until it is settled."),
    Clause("player.breaks", "A hand past 21 loses at once.", passages=("player.breaks",)),
    Clause("blackjack.pays", "A blackjack is paid at the posted odds.", ("blackjack_payout",)),
    Clause(
        "blackjack.early",
        "Against an ace or a ten a blackjack is paid only when the hole card is known.",
    ),
    Clause("win.pays", "The higher total wins at the posted odds.", ("win_payout",)),
    Clause("win.pay_table", "A hand of the pay table is paid at its odds.", ("pays",)),
    Clause("lose.takes", "The lower total loses its wager.", passages=("lose.takes",)),
    Clause("push.returns", "Equal totals leave the wager as it is.", passages=("push.returns",)),
    Clause(
        "payout.rounding",
        "What the smallest chip cannot pay is rounded as the house says.",
        ("payout_unit", "payout_rounding"),
    ),
    Clause("payment.order", "Wagers are settled from the dealer's right.", ("settle_order",)),
    Clause("payment.due", "Every wager is paid or taken for exactly what it is due."),
    Clause("tray.balance", "The tray changes by exactly what is paid and taken."),
)

CLAUSES: Final = {clause.id: clause for clause in _ALL}
"""Every clause by its id."""

BREAKS: Final = {
    "dealer_hit_hard_17": "dealer.draw",
    "dealer_hit_18_plus": "dealer.draw",
    "dealer_hit_soft_17": "dealer.draw",
    "dealer_stood_soft_17": "dealer.draw",
    "dealer_stood_below_17": "dealer.draw",
    "dealer_drew_no_live_hands": "dealer.no_live_hands",
    "dealer_drew_after_breaking": "dealer.draw",
    "dealer_drew_on_blackjack": "dealer.draw",
    "deal_order": "deal.order",
    "spot_skipped": "deal.every_wager",
    "card_to_empty_spot": "deal.every_wager",
    "deal_face": "deal.face",
    "hole_card_exposed": "deal.hole_card",
    "player_turn_order": "play.turn",
    "split_hand_order": "play.split_order",
    "dealer_acted_before_players": "dealer.last",
    "face_up_card_used": "deal.boxed_card",
    "settle_order": "payment.order",
    "blackjack_paid_early": "blackjack.early",
    "hole_card_misread": "deal.look",
    "extra_card_after_double": "double.one_card",
    "extra_card_on_split_ace": "split.aces_cards",
    "card_after_stand": "play.no_more_cards",
    "card_after_breaking": "play.no_more_cards",
    "card_to_blackjack": "play.no_more_cards",
    "missing_card": "play.card_due",
    "impossible_card": "deck.composition",
    "foreign_card": "deck.same_card",
    "wrong_deck_count": "deck.count",
    "burn_missing": "deck.burn",
    "dealt_past_cut_card": "deck.cut_card",
    "split_not_pair": "split.pair",
    "split_unequal_rank": "split.pair",
    "split_wager_mismatch": "split.wager",
    "too_many_hands": "split.max_hands",
    "resplit_aces_not_allowed": "split.aces_again",
    "double_total_not_allowed": "double.total",
    "double_not_first_two": "double.first_two",
    "double_over_original": "double.amount",
    "double_for_less_not_allowed": "double.amount",
    "double_after_split_not_allowed": "double.after_split",
    "double_split_aces": "double.split_aces",
    "double_on_blackjack": "double.blackjack",
    "insurance_not_offered": "insurance.offered",
    "insurance_over_half": "insurance.amount",
    "insurance_not_half": "insurance.amount",
    "insurance_late": "insurance.offered",
    "surrender_not_offered": "surrender.offered",
    "surrender_after_action": "surrender.first_two",
    "surrender_after_split": "surrender.first_two",
    "surrender_vs_dealer_blackjack": "surrender.dealer_blackjack",
    "even_money_not_offered": "even_money.offered",
    "below_table_min": "table.minimum",
    "above_table_max": "table.maximum",
    "multi_spot_minimum": "table.spots",
    "too_many_spots": "table.spots",
    "mid_shoe_entry": "table.entry",
    "side_wager_prohibited": "table.side_wagers",
    "stake_increased_after_deal": "wager.stands",
    "stake_reduced_after_deal": "wager.stands",
    "wager_after_deal": "wager.stands",
    "wager_on_no_hand": "wager.own_hand",
    "signal_not_accepted": "play.signal",
    "player_touched_cards": "play.touch",
    "wrong_payout": "payment.due",
    "payment_missing": "payment.due",
    "tray_mismatch": "tray.balance",
}
"""Every violation code with the clause that it breaks."""


Shown: TypeAlias = Literal["order", "cards", "chips", "absence", "entry"]
"""What shows a mistake. ``order``: when, in which order or on which side cards were seen, beside
each other or beside chips. ``cards``: which cards lay with a hand. ``chips``: amounts, and to which
round and hand chips belong, which the cards tell. ``absence``: that something was not seen.
``entry``: what people entered alone."""

SHOWN_BY: Final[dict[str, Shown]] = {
    "dealer_hit_hard_17": "cards",
    "dealer_hit_18_plus": "cards",
    "dealer_hit_soft_17": "cards",
    "dealer_stood_soft_17": "absence",
    "dealer_stood_below_17": "absence",
    "dealer_drew_no_live_hands": "cards",
    "dealer_drew_after_breaking": "cards",
    "dealer_drew_on_blackjack": "cards",
    "deal_order": "order",
    "spot_skipped": "absence",
    "card_to_empty_spot": "order",
    "deal_face": "order",
    "hole_card_exposed": "order",
    "player_turn_order": "order",
    "split_hand_order": "order",
    "dealer_acted_before_players": "order",
    "face_up_card_used": "order",
    "settle_order": "order",
    "blackjack_paid_early": "order",
    "hole_card_misread": "cards",
    "extra_card_after_double": "order",
    "extra_card_on_split_ace": "cards",
    "card_after_stand": "order",
    "card_after_breaking": "order",
    "card_to_blackjack": "cards",
    "missing_card": "absence",
    "impossible_card": "cards",
    "foreign_card": "cards",
    "wrong_deck_count": "entry",
    "burn_missing": "absence",
    "dealt_past_cut_card": "order",
    "split_not_pair": "cards",
    "split_unequal_rank": "cards",
    "split_wager_mismatch": "chips",
    "too_many_hands": "cards",
    "resplit_aces_not_allowed": "cards",
    "double_total_not_allowed": "order",
    "double_not_first_two": "order",
    "double_over_original": "chips",
    "double_for_less_not_allowed": "chips",
    "double_after_split_not_allowed": "order",
    "double_split_aces": "cards",
    "double_on_blackjack": "cards",
    "insurance_not_offered": "order",
    "insurance_over_half": "chips",
    "insurance_not_half": "chips",
    "insurance_late": "order",
    "surrender_not_offered": "entry",
    "surrender_after_action": "order",
    "surrender_after_split": "order",
    "surrender_vs_dealer_blackjack": "cards",
    "even_money_not_offered": "entry",
    "below_table_min": "chips",
    "above_table_max": "chips",
    "multi_spot_minimum": "chips",
    "too_many_spots": "entry",
    "mid_shoe_entry": "order",
    "side_wager_prohibited": "chips",
    "stake_increased_after_deal": "order",
    "stake_reduced_after_deal": "order",
    "wager_after_deal": "order",
    "wager_on_no_hand": "chips",
    "signal_not_accepted": "entry",
    "player_touched_cards": "entry",
    "wrong_payout": "chips",
    "payment_missing": "absence",
    "tray_mismatch": "chips",
}
"""What shows each mistake. While no camera saw the felt only ``entry`` was shown at all
(:mod:`settlement.reckoning.blind`)."""


_SIGNALS: Final = ("hit", "stand", "split", "double", "surrender")
RESTS_ON: Final = {
    "dealer_hit_hard_17": ("dealer.stands",),
    "dealer_hit_18_plus": ("dealer.stands",),
    "dealer_hit_soft_17": ("dealer_soft17",),
    "dealer_stood_soft_17": ("dealer_soft17",),
    "dealer_stood_below_17": ("dealer.draws",),
    "dealer_drew_after_breaking": ("dealer.breaks",),
    "dealer_drew_on_blackjack": ("dealer.stands",),
    "card_after_stand": ("play.stand",),
    "card_after_breaking": ("player.breaks",),
    "card_to_blackjack": ("blackjack_payout",),
    "signal_not_accepted": tuple(f"signals.{action}" for action in _SIGNALS),
    "surrender_after_split": ("surrender_after_split",),
    "surrender_after_action": ("surrender",),
    "double_not_first_two": ("double_on",),
}
"""For codes that break a part of their clause, the knobs and passages of that part."""

SETTLED_BY: Final = {
    "dealer_hit_hard_17": "policy.dealer_overdraw",
    "dealer_hit_18_plus": "policy.dealer_overdraw",
    "dealer_hit_soft_17": "policy.dealer_overdraw",
    "dealer_drew_after_breaking": "policy.dealer_overdraw",
    "dealer_drew_on_blackjack": "policy.dealer_overdraw",
    "dealer_stood_soft_17": "policy.dealer_underdraw",
    "dealer_stood_below_17": "policy.dealer_underdraw",
    "card_after_stand": "policy.extra_player_card",
    "card_after_breaking": "policy.extra_player_card",
    "card_to_blackjack": "policy.extra_player_card",
    "extra_card_after_double": "policy.extra_player_card",
    "extra_card_on_split_ace": "policy.extra_player_card",
    "insurance_over_half": "policy.insurance_over_half",
}
"""For a code, the knob that defines the settlement after the mistake, where there is one."""


def rests_on(clause: str, code: str | None = None) -> tuple[str, ...]:
    """Return the knobs and passages behind a clause, or behind the part that a code breaks.

    :data:`SETTLED_BY` names the knob for the settlement after the mistake.
    """
    if code in RESTS_ON:
        return RESTS_ON[code]
    found = CLAUSES.get(clause)
    if found is None:
        return ()
    knobs = (knob for knob in found.knobs if not knob.startswith("policy."))
    return (*found.passages, *knobs)


def violation(
    code: str, seq: int, detail: str, spot: int | None = None, hand: int | None = None
) -> Violation:
    """Build a violation from its code, the fact that shows it, and the correct procedure."""
    return Violation(code, seq, spot, hand, BREAKS[code], detail)
