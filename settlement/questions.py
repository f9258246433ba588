"""The question that each violation code asks while it is only suspected.

A person answers it with yes or no. It names the place and, for a payment, the amounts. It never
names a card.
"""

from typing import Final

from models.events import HandNo, Spot
from models.money import Cents, dollars
from models.places import whose
from settlement.sentences import Sentence

QUESTIONS: Final = {
    "dealer_hit_hard_17": "Did the dealer draw on hard 17?",
    "dealer_hit_18_plus": "Did the dealer draw on 18 or more?",
    "dealer_hit_soft_17": "Did the dealer draw on soft 17?",
    "dealer_stood_soft_17": "Did the dealer stand on soft 17?",
    "dealer_stood_below_17": "Did the dealer stand below 17?",
    "dealer_drew_no_live_hands": "Did the dealer draw with no hand left to beat?",
    "dealer_drew_after_breaking": "Did the dealer draw after breaking?",
    "dealer_drew_on_blackjack": "Did the dealer draw on a blackjack?",
    "deal_order": "Was {place} dealt a card out of turn?",
    "spot_skipped": "Was {place} passed over in the deal?",
    "card_to_empty_spot": "Was a card dealt to {place} without a wager?",
    "deal_face": "Was a card of {place} dealt with the wrong side up?",
    "hole_card_exposed": "Was the hole card shown too early?",
    "player_turn_order": "Did {place} act out of turn?",
    "split_hand_order": "Was {place} played before another split hand was finished?",
    "dealer_acted_before_players": "Did the dealer play before every player had finished?",
    "face_up_card_used": "Was a card that lay face up in the shoe dealt to {place}?",
    "settle_order": "Was {place} settled out of order?",
    "blackjack_paid_early": "Was the blackjack of {place} paid before the hole card was known?",
    "hole_card_misread": "Did the dealer misread the hole card?",
    "extra_card_after_double": "Did {place} get more than one card after a double?",
    "extra_card_on_split_ace": "Did {place} get more than one card on a split ace?",
    "card_after_stand": "Did {place} get a card after standing?",
    "card_after_breaking": "Did {place} get a card after breaking?",
    "card_to_blackjack": "Did {place} get a card on a blackjack?",
    "missing_card": "Did {place} go without a card that was due?",
    "impossible_card": "Was a card seen more often than the decks hold it?",
    "foreign_card": "Was the card shown at {place} another than the one dealt there?",
    "wrong_deck_count": "Was the shoe started with the wrong number of decks?",
    "burn_missing": "Was the burn after the shuffle left out?",
    "dealt_past_cut_card": "Was another round dealt after the cut card?",
    "split_not_pair": "Did {place} split two cards that are no pair?",
    "split_unequal_rank": "Did {place} split two cards of unequal rank?",
    "split_wager_mismatch": "Did {place} split with a wager unequal to the first?",
    "too_many_hands": "Did {place} split into too many hands?",
    "resplit_aces_not_allowed": "Did {place} split aces again?",
    "double_total_not_allowed": "Did {place} double on a total that may not be doubled?",
    "double_not_first_two": "Did {place} double on other than the first two cards?",
    "double_over_original": "Did {place} double for more than the wager?",
    "double_for_less_not_allowed": "Did {place} double for less than the wager?",
    "double_after_split_not_allowed": "Did {place} double after a split?",
    "double_split_aces": "Did {place} double on a split ace?",
    "double_on_blackjack": "Did {place} double on a blackjack?",
    "insurance_not_offered": "Did {place} take insurance that was not offered?",
    "insurance_over_half": "Did {place} take insurance for more than half the wager?",
    "insurance_not_half": "Did {place} take insurance for other than half the wager?",
    "insurance_late": "Did {place} take insurance after play began?",
    "surrender_not_offered": "Did {place} surrender although it was not offered?",
    "surrender_after_action": "Did {place} surrender after another decision?",
    "surrender_after_split": "Did {place} surrender a split hand?",
    "surrender_vs_dealer_blackjack": (
        "Was a surrender of {place} accepted against the dealer's blackjack?"
    ),
    "even_money_not_offered": "Did {place} take even money that was not offered?",
    "below_table_min": "Did {place} wager less than the minimum?",
    "above_table_max": "Did {place} wager more than the maximum?",
    "multi_spot_minimum": "Did {place} wager less than a player on several spots must?",
    "too_many_spots": "Did a player hold too many spots?",
    "mid_shoe_entry": "Did the player at {place} enter in mid-shoe?",
    "side_wager_prohibited": "Was a side wager taken at {place}?",
    "stake_increased_after_deal": "Was the wager at {place} raised after the deal?",
    "stake_reduced_after_deal": "Were chips taken back at {place} after the deal?",
    "wager_after_deal": "Was a wager placed at {place} after the deal?",
    "wager_on_no_hand": "Was a wager placed at {place} on a hand that does not exist?",
    "signal_not_accepted": "Did {place} decide by a signal that the house does not accept?",
    "player_touched_cards": "Did the player at {place} touch cards in a way not allowed?",
    "wrong_payout": "Was {place} paid wrongly?",
    "payment_missing": "Was {place} left unsettled?",
    "tray_mismatch": "Did the tray differ from what was paid and taken?",
}
"""Every violation code with its question; ``{place}`` is the spot, or the dealer."""

_PAID: Final = {
    Sentence.PAID_WRONGLY: "{place}",
    Sentence.INSURANCE_PAID_WRONGLY: "the insurance of {place}",
    Sentence.BESIDE_PAID_WRONGLY: "a wager at {place}",
}
_UNPAID: Final = {
    Sentence.HAND_NOT_PAID: "Was {place} left without the {amount} that were due?",
    Sentence.HAND_NOT_TAKEN: "Was the lost wager of {amount} at {place} left lying?",
    Sentence.INSURANCE_NOT_PAID: (
        "Was the insurance of {place} left without the {amount} that were due?"
    ),
    Sentence.INSURANCE_NOT_TAKEN: "Was the lost insurance of {amount} at {place} left lying?",
    Sentence.BESIDE_NOT_PAID: "Was a wager at {place} left without the {amount} that were due?",
    Sentence.BESIDE_NOT_TAKEN: "Was a lost wager of {amount} at {place} left lying?",
}


def question(code: str, spot: Spot | None, hand: HandNo | None, detail: str = "") -> str:
    """Ask whether a violation happened, with its amounts in their plain form, ``1,234.50``.

    Without a payment's ``detail``, or where that is withheld, no amount is named. A code of another
    version of the program is asked in its own words.
    """
    asked = _about_payment(detail) or _asked(code)
    return asked.format(place=whose("dealer" if spot is None else spot, hand))


def question_of_code(code: str) -> str:
    """Ask whether violations of a code happened, at whatever spots."""
    return _asked(code).format(place="a spot")


def _asked(code: str) -> str:
    unknown = f"Was there a mistake at {{place}}: {code.replace('_', ' ')}?"
    return QUESTIONS.get(code, unknown)


def _about_payment(detail: str) -> str | None:
    for sentence, place in _PAID.items():
        found = sentence.read(detail)
        if found is not None:
            due, paid, _ = (part for part in found if isinstance(part, int))
            return f"{_paid(paid, place)} where {_due(due)}?"
    for sentence, asked in _UNPAID.items():
        found = sentence.read(detail)
        if found is not None:
            (amount,) = (part for part in found if isinstance(part, int))
            return asked.replace("{amount}", dollars(amount))
    return None


def _paid(paid: Cents, place: str) -> str:
    if paid < 0:
        return f"Were {dollars(-paid)} taken from {place}"
    return f"Was {place} paid {dollars(paid)}" if paid else f"Was {place} settled as a push"


def _due(due: Cents) -> str:
    if due < 0:
        return f"{dollars(-due)} were to be taken"
    return f"{dollars(due)} were due" if due else "nothing was due"
