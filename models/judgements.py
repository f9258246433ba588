"""The engine's conclusions about a round: violations, payouts, review items and ledger lines."""

from typing import Literal, TypeAlias

import msgspec
from msgspec.structs import replace

from models.cards import Card
from models.events import (
    AnyFact,
    AnyObservation,
    CardPlace,
    Decision,
    HandNo,
    Judgement,
    Spot,
    TrayReason,
)
from models.money import Cents

DealerOutcome: TypeAlias = Literal["stand", "bust", "blackjack", "no_draw", "short", "unknown"]
HandOutcome: TypeAlias = Literal[
    "win", "lose", "push", "blackjack", "bust", "surrender", "void", "pending", "unknown"
]
"""``void``: the floor called the round off, and its wagers went back."""
Status: TypeAlias = Literal["final", "pending", "review"]


class Possible(msgspec.Struct, frozen=True, rename={"condition": "if"}):
    """One possible outcome of a hand while a card is unknown."""

    outcome: HandOutcome
    net: Cents | None
    """``None`` where a further card would be due."""
    condition: str


class Violation(msgspec.Struct, frozen=True):
    """One mistake, with the broken clause and the correct procedure."""

    code: str
    seq: int
    spot: Spot | None
    hand: HandNo | None
    clause: str
    detail: str
    suspected: bool = False
    """Whether a person must still decide an item of its round: it may not have happened. The
    round's status alone sets it, see :class:`RoundResult`."""


class OddCents(msgspec.Struct, frozen=True):
    """The exact payout of posted odds where the house's chips cannot pay it."""

    exact: tuple[int, int]
    """Cents as numerator and denominator: ``[75, 2]`` is 37½ cents."""
    paid: Cents
    """The amount paid instead, by the rulebook's rounding."""


class HandResult(msgspec.Struct, frozen=True, kw_only=True):
    """The settlement of one hand. ``net`` is the player's gain."""

    hand: HandNo
    cards: tuple[Card | None, ...]
    burned: tuple[Card | None, ...]
    stake: Cents
    outcome: HandOutcome
    net: Cents | None
    clauses: tuple[str, ...]
    possible: tuple[Possible, ...] | msgspec.UnsetType = msgspec.UNSET
    odd_cents: OddCents | msgspec.UnsetType = msgspec.UNSET
    """Present where its winnings, or its refund, were rounded."""


class InsuranceResult(msgspec.Struct, frozen=True):
    """The settlement of an insurance wager."""

    stake: Cents
    net: Cents | None
    odd_cents: OddCents | msgspec.UnsetType = msgspec.UNSET
    """Present where its winnings were rounded."""


class WagerResult(msgspec.Struct, frozen=True, kw_only=True):
    """The settlement of one bettor's wager on a hand, his insurance, coupon or side bet."""

    hand: HandNo
    kind: Literal["main", "insurance", "coupon", "side"]
    stake: Cents
    net: Cents | None
    odd_cents: OddCents | msgspec.UnsetType = msgspec.UNSET
    bet: str | msgspec.UnsetType | None = msgspec.UNSET
    """The side bet's name."""


class BettorResult(msgspec.Struct, frozen=True, kw_only=True):
    """What one of several bettors on a spot gains, of which the spot's results are the sum."""

    bettor: str | None
    """``None`` for the spot's own player."""
    net: Cents | None
    wagers: tuple[WagerResult, ...]


SideOutcome: TypeAlias = Literal["win", "lose", "push", "void", "pending", "unknown", "unjudged"]
"""``push``: the bet goes back. ``unjudged``: the rulebook does not declare the bet."""


class PossibleSide(msgspec.Struct, frozen=True, rename={"condition": "if"}):
    """One possible outcome of a side bet while a card is unknown."""

    outcome: SideOutcome
    net: Cents | None
    condition: str


class SideResult(msgspec.Struct, frozen=True, kw_only=True):
    """A side bet."""

    bet: str | None
    stake: Cents
    outcome: SideOutcome
    net: Cents | None
    award: str | msgspec.UnsetType = msgspec.UNSET
    """What it won, by the pay table; absent where it won nothing, or several alike."""
    clauses: tuple[str, ...] | msgspec.UnsetType = msgspec.UNSET
    """The deciding clauses, where it is settled."""
    possible: tuple[PossibleSide, ...] | msgspec.UnsetType = msgspec.UNSET
    odd_cents: OddCents | msgspec.UnsetType = msgspec.UNSET
    """Present where its winnings were rounded."""
    paid: Cents | None = None
    """What changed hands for it; ``None`` where no payment of it was observed."""
    bettor: str | msgspec.UnsetType = msgspec.UNSET


class TokeResult(msgspec.Struct, frozen=True, kw_only=True):
    """The dealers' bets of a spot. No total of the player or the house contains them."""

    stake: Cents
    net: Cents | None


class CouponResult(msgspec.Struct, frozen=True, kw_only=True):
    """A coupon: on a loss it is taken, which costs its player nothing."""

    stake: Cents
    outcome: HandOutcome
    net: Cents | None
    taken: bool
    """Whether the house keeps it."""
    bettor: str | msgspec.UnsetType = msgspec.UNSET


class SpotResult(msgspec.Struct, frozen=True, kw_only=True):
    """The settlement of one spot, of all its bettors. ``net`` is ``None`` while any hand's is.

    No net contains a side bet that is not judged.
    """

    spot: Spot
    net: Cents | None
    hands: tuple[HandResult, ...]
    insurance: InsuranceResult | None
    side: tuple[SideResult, ...] | msgspec.UnsetType = msgspec.UNSET
    bettors: tuple[BettorResult, ...] | msgspec.UnsetType = msgspec.UNSET
    """Present where others than its player wagered on it; he comes first."""
    toke: TokeResult | msgspec.UnsetType = msgspec.UNSET
    coupons: tuple[CouponResult, ...] | msgspec.UnsetType = msgspec.UNSET

    @property
    def is_void(self) -> bool:
        """Whether every wager on it went back: nothing of it counts as staked."""
        return all(hand.outcome == "void" for hand in self.hands)

    @property
    def staked(self) -> Cents:
        """The chips of its hands, insurance and declared side bets: none that went back."""
        insured = 0 if self.insurance is None or self.is_void else self.insurance.stake
        sides = (one for one in self.side or () if one.outcome not in ("void", "unjudged"))
        on_hands = sum(hand.stake for hand in self.hands if hand.outcome != "void")
        return insured + on_hands + sum(one.stake for one in sides)


class DealerResult(msgspec.Struct, frozen=True, kw_only=True):
    """The dealer's hand at settlement."""

    cards: tuple[Card | None, ...]
    burned: tuple[Card | None, ...]
    total: int | None
    soft: bool
    outcome: DealerOutcome


class Review(msgspec.Struct, frozen=True):
    """A question that a person must decide before the round is final."""

    what: str
    candidates: tuple[str, ...]
    evidence: tuple[int, ...]


class TrayChange(msgspec.Struct, frozen=True, omit_defaults=True):
    """Chips that entered or left the tray other than by wagers; positive into the tray."""

    seq: int
    amount: Cents
    reason: TrayReason
    spot: Spot | None = None
    player: str | None = None
    slip: str | None = None


class RoundResult(msgspec.Struct, frozen=True, kw_only=True):
    """One round as ``settle`` and ``replay`` print it. ``net`` is the house's gain."""

    round: int
    rulebook: str
    overrides: dict[str, str] | msgspec.UnsetType = msgspec.UNSET
    """Knobs that differ from that sheet, in the notation of ``--set``; absent where there are
    none."""
    rules_hash: str | msgspec.UnsetType = msgspec.UNSET
    """Hash of every knob in force; present with ``overrides``; see ``settlement.rulebooks``."""
    status: Status
    dealer: DealerResult
    spots: tuple[SpotResult, ...]
    violations: tuple[Violation, ...]
    net: Cents | None
    reviews: tuple[Review, ...] | msgspec.UnsetType = msgspec.UNSET
    """Present in ``replay``, where sensors may disagree; absent in ``settle``."""
    tray_changes: tuple[TrayChange, ...] | msgspec.UnsetType = msgspec.UNSET
    """Since the result before it; present where there are any."""

    def __post_init__(self) -> None:
        """Mark the violations: those of a round under review are suspected, all others certain."""
        if self.violations:
            self._mark()

    def _mark(self) -> None:
        under_review = self.status == "review"
        if any(one.suspected != under_review for one in self.violations):
            marked = tuple(replace(one, suspected=under_review) for one in self.violations)
            msgspec.structs.force_setattr(self, "violations", marked)

    @property
    def mistakes(self) -> tuple[Violation, ...]:
        """The certain violations: none while a person must still decide an item of the round."""
        return tuple(one for one in self.violations if not one.suspected)

    @property
    def suspected(self) -> tuple[Violation, ...]:
        """The violations that the decision of an item confirms or dismisses."""
        return tuple(one for one in self.violations if one.suspected)


class RoundSettled(Judgement, frozen=True, kw_only=True, tag="round_settled"):
    """A round's result in the stream."""

    result: RoundResult


Sense: TypeAlias = Literal["camera", "shoe", "chips", "console", "play"]
"""What supports an account of a round: a sensor, or what dealer and players usually do."""


class Witness(msgspec.Struct, frozen=True):
    """How far the reports of one sense support an account of a round."""

    sense: Sense
    odds: float
    """How many times likelier its reports are by this account than by the stated one."""


class AccountHand(msgspec.Struct, frozen=True):
    """How one hand settles by an account of a round."""

    spot: Spot
    hand: HandNo
    outcome: str
    net: Cents | None


class Change(msgspec.Struct, frozen=True):
    """What an account of a round has in place of stated facts."""

    at: int
    """Place of the first of these among the facts of the round, from 0, its opening."""
    drops: int
    """How many stated facts it does without."""
    facts: tuple[AnyFact, ...]
    """What it has there."""


class Account(msgspec.Struct, frozen=True, kw_only=True):
    """One of the accounts of a round that remain."""

    odds: float
    """How many times likelier it is than the stated one, which has 1."""
    tells: str
    """What happened by it where the accounts differ: ``the dealer drew 2H``."""
    hands: tuple[AccountHand, ...]
    """The hands that settle otherwise by another of the accounts."""
    mistakes: tuple[str, ...]
    """Codes of the mistakes that it holds, with the spot: ``wrong_payout at spot 3``."""
    witnesses: tuple[Witness, ...] = ()
    """Who speaks for it (more than 1) or against it; none for the stated one."""
    changes: tuple[Change, ...] | msgspec.UnsetType = msgspec.UNSET
    """How its facts differ from the stated ones: with them it can be chosen. None for the stated
    account; absent in entries of an older version."""


class ReviewRaised(Judgement, frozen=True, kw_only=True, tag="review_raised"):
    """A review item in the stream, with the round it holds open."""

    round: int
    review: Review
    settles_alike: bool = False
    """Whether the round settles the same under every answer: the item then holds nothing open."""
    accounts: tuple[Account, ...] | msgspec.UnsetType = msgspec.UNSET
    """The two or three likeliest accounts of the round, the stated one first; absent where the
    question is not between accounts."""


Likelihood: TypeAlias = Literal[
    "almost certain", "likely", "about even", "unlikely", "very unlikely"
]


class SpotAnswer(msgspec.Struct, frozen=True):
    """What a spot comes to by an answer. Amounts are the player's gain."""

    spot: Spot
    due: Cents | None
    """``None`` while a card of it is not known."""
    paid: Cents | None
    """What changed hands; ``None`` where no payment of the round was seen."""


class Answer(msgspec.Struct, frozen=True, kw_only=True):
    """One answer to a review item: the decision that gives it, and what the round comes to by it.

    Computed on request, never stored.
    """

    says: str
    """What happened by it."""
    decision: Decision
    choice: Card | None = None
    card: CardPlace | None = None
    account: int | None = None
    asks_reason: bool = False
    odds: float | None = None
    """Its probability among the accounts of the item, where these were weighed."""
    likelihood: Likelihood | None = None
    """The same in words."""
    comes_to: str
    """What it means for the money and the mistakes, in one line."""
    status: Status
    spots: tuple[SpotAnswer, ...]
    mistakes: tuple[str, ...]
    """As in :class:`Account`."""


class LedgerPosted(Judgement, frozen=True, kw_only=True, tag="ledger_posted"):
    """One line of a double entry. The lines of a posting sum to zero."""

    round: int
    account: str
    """``tray``, ``spot:3``, ``spot:3/insurance`` …"""
    amount: Cents
    memo: str


AnyJudgement: TypeAlias = RoundSettled | ReviewRaised | LedgerPosted
AnyEvent: TypeAlias = AnyObservation | AnyFact | AnyJudgement
