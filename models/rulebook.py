"""The schema of a rulebook: every knob that a house may set, each value with a citation.

Code has no defaults: a rulebook states every knob. Every value is marked as stated by its document,
as inferred, or as the reading taken where the document is silent.
"""

from typing import Annotated, Final, Literal

import msgspec
from msgspec import Meta

from models.money import Cents, Odds
from models.side_bet import HandAward, SideBet

SplitCards = Literal[1, "any"]
Signal = Literal["hand", "verbal", "tuck"]
Rank = Literal["A", "2", "3", "4", "5", "6", "7", "8", "9", "T", "J", "Q", "K"]


class Signals(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Accepted signals for each decision; empty where the option is not offered."""

    hit: tuple[Signal, ...]
    stand: tuple[Signal, ...]
    split: tuple[Signal, ...]
    double: tuple[Signal, ...]
    surrender: tuple[Signal, ...]


class Policy(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How the house settles a mistake that has been made."""

    dealer_overdraw: Literal["burn", "keep"]
    dealer_underdraw: Literal["pending", "as_lies"]
    extra_player_card: Literal["burn", "keep"]
    insurance_over_half: Literal["cap", "as_placed"]
    illegal_option: Literal["as_played", "void"]


class Rulebook(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The knobs of one game, as the engine plays it. :class:`Cited` holds the citations."""

    id: str
    overrides: dict[str, str] = {}
    """Knobs that differ from the sheet ``id``, in the notation of ``--set``. Not a knob itself."""
    rules_hash: str = ""
    """Hash of every knob, where there are overrides. Not a knob itself."""
    decks: Annotated[int, Meta(ge=1, le=8)]
    pack_without: tuple[Rank, ...]
    """Ranks that the house takes out of each deck."""
    shoe: Literal["dealt_out", "continuous"]
    """Whether cards stay out until the shuffle, or return to a shuffler after their round."""
    dealer_first_card: Literal["up", "down"]
    dealer_second_card: Literal["with_deal", "after_players"]
    player_cards: Literal["up", "down"]
    dealer_soft17: Literal["hit", "stand"]
    dealer_22: Literal["loses", "pushes"]
    """Whether a dealer's 22 loses to the live hands, or pushes with them."""
    win_payout: Odds
    blackjack_payout: Odds
    pays: tuple[HandAward, ...]
    """What hands pay apart from a win's and a blackjack's odds; the first line that holds pays."""
    split_match: Literal["value", "rank"]
    max_hands: Annotated[int, Meta(ge=1, le=8)]
    resplit_aces: bool
    split_aces_cards: SplitCards
    split_ace_21_is_blackjack: bool
    split_ten_21_is_blackjack: bool
    hit_on_21: bool
    double_on: Literal["any_number", "any_two", "9-11", "10-11", "none"]
    double_soft_as_low_total: bool
    double_for_less: bool
    double_after_split: bool
    double_split_aces: bool
    double_rescue: bool
    """Whether a doubled hand may be given up for the original wager."""
    insurance: Literal["none", "up_to_half", "exactly_half"]
    insurance_payout: Odds
    insured_blackjack_vs_dealer_blackjack: Literal["push", "lose"]
    even_money: bool
    coupon: Literal["none", "even_money", "as_wager"]
    """What a coupon pays when its hand wins: even money, or a blackjack's odds on a blackjack."""
    coupon_taken: Literal["decided", "always"]
    """Whether a push leaves it on the felt."""
    surrender: Literal["none", "early", "late"]
    surrender_after_split: bool
    dealer_blackjack_collects: Literal["original_only", "all_wagers"]
    max_spots_per_player: Annotated[int, Meta(ge=1)] | None
    multi_spot_min_multiple: dict[int, int]
    mid_shoe_entry: bool
    side_wagers: bool
    side_bets: dict[str, SideBet] = {}
    """By the name that wagers and payments state. A side wager on no declared bet is unjudged."""
    player_touch: Literal["never", "one_hand", "free"]
    signals: Signals
    settle_order: Literal["right_to_left", "any"]
    table_min: Cents
    table_max: Cents | None
    burn_after_shuffle: Annotated[int, Meta(ge=0, le=52)]
    payout_unit: Annotated[Cents, Meta(ge=1, le=1_000_000)]
    payout_rounding: Literal["down", "up"]
    policy: Policy


class Citation(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The origin of a knob's value."""

    source: Literal["stated", "inferred", "default"]
    document: str | None = None
    """The title of the document."""
    section: str | None = None
    """The section of the document, if it has sections."""
    quote: str | None = None
    reason: str | None = None

    @property
    def says(self) -> str:
        """The document's own words between quotation marks, or the reason."""
        return f"“{self.quote}”" if self.quote else self.reason or ""

    @property
    def origin(self) -> str:
        """The document by its title and section, or how the value was found without one."""
        if self.source == "stated":
            return f"{self.document}, {self.section}" if self.section else str(self.document)
        return _UNSTATED[self.source]


_UNSTATED: Final = {
    "inferred": "Inferred from the house's document",
    "default": "The house's document is silent",
}


class Cited(msgspec.Struct, frozen=True, kw_only=True):
    """A rulebook with its title and the citation of every knob (dotted names)."""

    title: str
    document: str
    """The title of the house's document."""
    file: str | None = None
    """The name of the file that holds the document's text, where there is one."""
    rules: Rulebook
    citations: dict[str, Citation]
    passages: dict[str, Citation] = {}
    """Statements of the document that no knob sets, such as that a dealer stands on hard 17, by the
    names of :data:`settlement.clauses.PASSAGES`."""
    licensed: tuple[str, ...] | None = None
    """The knobs that a site's own sheet may change; ``None`` for all."""
