"""Side bets as data: which cards a bet looks at, what it pays, and its limits.

A rulebook declares them under ``[side_bets.NAME]``. ``docs/side-bets.md`` describes each field.
"""

from typing import Annotated, Literal, TypeAlias

import msgspec
from msgspec import Meta

from models.cards import Card
from models.money import Cents, Odds

Selection: TypeAlias = Literal[
    "player", "player_and_up", "up", "dealer_two", "player_and_dealer_two", "dealer", "hand"
]
"""``player``: the player's first two cards. ``up``: the dealer's up card. ``dealer_two``: the
dealer's first two cards. ``dealer``: the dealer's final hand. ``hand``: a player's final
hand, for the main wager alone."""

Alike: TypeAlias = Literal["rank", "value", "suit", "colour"]
Effect: TypeAlias = Literal["stands", "returns", "loses"]
"""What becomes of a bet: it is settled by its cards, goes back, or is lost."""

_Bound: TypeAlias = Annotated[int, Meta(ge=0, le=99)]
Range: TypeAlias = tuple[_Bound, _Bound]
"""Lowest and highest number, both included."""
Ranks: TypeAlias = Annotated[str, Meta(pattern="^[A23456789TJQK]+$")]
BetName: TypeAlias = Annotated[str, Meta(pattern="^[a-z0-9][a-z0-9+_-]{0,39}$")]
Limit: TypeAlias = Annotated[Cents, Meta(ge=1, le=10**12)]


class Condition(
    msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True
):
    """What the selected cards must be: every field that is present must hold."""

    of: Selection | None = None
    """The cards; absent for the bet's own."""
    same: tuple[Alike, ...] = ()
    sequence: Literal[True] | None = None
    """Consecutive ranks; an ace is below a two or above a king."""
    cards: tuple[Card, ...] = ()
    """Exactly these cards, in any order."""
    holds: tuple[Card, ...] = ()
    """These cards are among them."""
    ranks: Ranks | None = None
    """Exactly these ranks, in any order."""
    among: Ranks | None = None
    """Every rank is one of these."""
    suit: Literal["S", "H", "D", "C"] | None = None
    colour: Literal["red", "black"] | None = None
    total: Range | None = None
    """The total at blackjack, where an ace counts 11 unless that passes 21."""
    low_total: Range | None = None
    """The total with every ace as 1."""
    count: Range | None = None
    """The number of cards."""
    busted: bool | None = None
    blackjack: bool | None = None
    between: Range | None = None
    """The up card ranks between the player's two, ace high, and so many ranks lie between these."""
    doubled: bool | None = None
    """Whether the hand was doubled."""
    split: bool | None = None
    """Whether the hand comes from a split."""


class Award(
    msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True
):
    """One line of a pay table."""

    award: Annotated[str, Meta(min_length=1, max_length=80)]
    """Its name on the felt."""
    when: Annotated[tuple[Condition, ...], Meta(min_length=1, max_length=6)]
    """All must hold."""
    odds: Odds


class Bonus(
    msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True
):
    """A fixed amount beside the odds of a line, by the dealer's up card and the original wager.

    A hand that was doubled, or comes from a split, has none; neither has a toke or a coupon.
    """

    up: Ranks
    """The up card is of one of these ranks."""
    wager: Limit
    """The least wager."""
    pays: Limit
    clause: Annotated[str, Meta(min_length=1)]
    """The document's own words."""
    document: str = ""
    """The title of that document, where it is not the rulebook's."""


class HandAward(Award, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """One line of the pay table of the main wager, before a blackjack's and a win's own odds."""

    clause: Annotated[str, Meta(min_length=1)]
    """The document's own words."""
    document: str = ""
    """The title of that document, where it is not the rulebook's."""
    wins: bool = False
    """Whether the hand wins whatever the dealer has; against a dealer's blackjack only a blackjack
    can."""
    bonus: tuple[Bonus, ...] = ()
    """Of those that the up card and the wager reach, the largest is paid."""


class SideBet(
    msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True
):
    """One side bet of a house."""

    title: Annotated[str, Meta(min_length=1, max_length=200)]
    document: Annotated[str, Meta(min_length=1, max_length=200)]
    """The title of the document that states the pay table."""
    address: str = ""
    """Where the document was found."""
    note: str = ""
    cards: Selection
    pays: Annotated[tuple[Award, ...], Meta(min_length=1, max_length=12)]
    """The first that holds pays, the best first; all that hold where they add up."""
    adds_up: bool
    main_push: Effect
    """What a push of the main wager does to it."""
    dealer_blackjack: Effect
    """What a dealer's blackjack does to it."""
    dealer_plays: bool
    """Whether the dealer plays his hand out for it even if no hand is live."""
    min: Limit | None = None
    max: Limit | None = None
    most_of_main: Odds | None = None
    """The largest share of the main wager; ``1:1`` for as much."""
