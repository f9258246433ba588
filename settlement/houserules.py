"""A rulebook's knobs as the engine uses them: plain fields, decoded once."""

import msgspec

from models.cards import RANKS, pack
from models.money import Odds
from models.rulebook import Rulebook
from settlement.prices import Price
from settlement.side_cards import Bet, HandLine


class HouseRules:
    """The options of one game; each name states what true means."""

    def __init__(self, book: Rulebook) -> None:
        self.id = book.id
        self.overrides: dict[str, str] | msgspec.UnsetType = book.overrides or msgspec.UNSET
        self.rules_hash: str | msgspec.UnsetType = book.rules_hash or msgspec.UNSET
        self._deal(book)
        self._hands(book)
        self._payouts(book)
        self._table(book)
        self._policies(book)

    def _deal(self, book: Rulebook) -> None:
        self.decks = book.decks
        self.deck = pack(book.pack_without)
        ranks = [card.rank for card in self.deck]
        self.pack = [ranks.count(rank) for rank in RANKS]
        """How many cards of each rank a deck holds."""
        self.deals_out = book.shoe == "dealt_out"
        """Whether cards stay out until the shuffle, or until their round is over."""
        self.burn_after_shuffle = book.burn_after_shuffle
        self.dealer_first_card: str = book.dealer_first_card
        self.deals_hole_card = book.dealer_second_card == "with_deal"
        """Whether the dealer's second card comes with the deal, or after the players."""
        self.player_cards: str = book.player_cards
        self.pushes_22 = book.dealer_22 == "pushes"
        self.hits_soft_17 = book.dealer_soft17 == "hit"
        self.player_touch: str = book.player_touch
        self.signals: dict[str, tuple[str, ...]] = msgspec.structs.asdict(book.signals)
        """Accepted signals for each decision; empty where the option is not offered."""

    def _hands(self, book: Rulebook) -> None:
        self.split_match: str = book.split_match
        self.max_hands = book.max_hands
        self.resplit_aces = book.resplit_aces
        self.one_card_to_split_aces = book.split_aces_cards == 1
        self.split_ace_21_is_blackjack = book.split_ace_21_is_blackjack
        self.split_ten_21_is_blackjack = book.split_ten_21_is_blackjack
        self.hits_on_21 = book.hit_on_21
        self.double_on: str = book.double_on
        self.double_soft_as_low_total = book.double_soft_as_low_total
        self.rescues = book.double_rescue
        self.double_for_less = book.double_for_less
        self.double_after_split = book.double_after_split
        self.double_split_aces = book.double_split_aces
        self.surrender: str = book.surrender
        self.surrender_after_split = book.surrender_after_split

    def _payouts(self, book: Rulebook) -> None:
        unit = book.payout_unit
        up = book.payout_rounding == "up"
        self.win = Price(book.win_payout, unit, up=up)
        self.blackjack = Price(book.blackjack_payout, unit, up=up)
        self.lines = [HandLine(award, unit, up=up) for award in book.pays]
        self.has_bonus = any(award.bonus for award in book.pays)
        self.insured = Price(book.insurance_payout, unit, up=up)
        self.even = Price(Odds(1, 1), unit, up=up)
        self.half = Price(Odds(1, 2), unit, up=up)
        self.insurance: str = book.insurance
        self.insured_blackjack_loses = book.insured_blackjack_vs_dealer_blackjack == "lose"
        self.even_money = book.even_money
        self.coupon: str = book.coupon
        self.coupon_taken: str = book.coupon_taken
        self.dealer_blackjack_collects_all = book.dealer_blackjack_collects == "all_wagers"

    def _table(self, book: Rulebook) -> None:
        self.table_min = book.table_min
        self.table_max = book.table_max
        self.max_spots_per_player = book.max_spots_per_player
        self._multiples = sorted(book.multi_spot_min_multiple.items())
        self.mid_shoe_entry = book.mid_shoe_entry or not self.deals_out
        self.side_wagers = book.side_wagers
        unit, up = book.payout_unit, book.payout_rounding == "up"
        self.side_bets = {name: Bet(name, bet, unit, up=up) for name, bet in book.side_bets.items()}
        self.only_bet = next(iter(self.side_bets)) if len(self.side_bets) == 1 else None
        self.settles_right_to_left = book.settle_order == "right_to_left"

    def least(self, spots: int) -> int:
        """Return the minimum wager on each spot for a player with this many spots."""
        multiple = 1
        for held, times in self._multiples:
            if held <= spots:
                multiple = times
        return multiple * self.table_min

    def _policies(self, book: Rulebook) -> None:
        self.keeps_overdraw = book.policy.dealer_overdraw == "keep"
        self.waits_for_underdraw = book.policy.dealer_underdraw == "pending"
        self.keeps_extra_card = book.policy.extra_player_card == "keep"
        self.caps_insurance = book.policy.insurance_over_half == "cap"
        self.voids_illegal_option = book.policy.illegal_option == "void"
