"""The totals of many rounds: wagers, payments, hold, mistakes, open results."""

from collections import Counter
from dataclasses import dataclass, field, fields
from fractions import Fraction
from typing import Any

from msgspec import UnsetType

from models.judgements import HandResult, OddCents, SpotResult
from models.money import Cents
from server.archive.settling import Settled
from server.house.wording import is_clean
from settlement.balance import Totals
from settlement.clauses import BREAKS


@dataclass(slots=True)
class Tally:
    """Totals over rounds. Money counts once it is settled; open amounts are separate."""

    rounds: int = 0
    unclean: int = 0
    """Rounds that need a person's attention: a mistake, or something open."""
    not_final: int = 0
    in_review: int = 0
    """Rounds that wait for a person's decision on an item."""
    spots: int = 0
    hands: int = 0
    pending: int = 0
    """Hands that wait for a due card."""
    unknown: int = 0
    """Hands that depend on an unknown card."""
    wagered: Cents = 0
    """Stakes on settled hands, insurance and declared side bets, doubles and splits included."""
    open_stakes: Cents = 0
    """Stakes that are not settled."""
    paid: Cents = 0
    """Players' winnings on top of their stakes."""
    taken: Cents = 0
    """Players' losses."""
    overpaid: Cents = 0
    """What players were paid too much and did not give back."""
    underpaid: Cents = 0
    """What the house still owes to players."""
    unobserved: int = 0
    """Rounds not under review without an observed payment."""
    rounded: int = 0
    """Payouts that the smallest chip could not make exactly."""
    odd_cents: Fraction = Fraction(0)
    """Cents of the posted odds beyond the payments; negative where the payments exceeded them."""
    violations: Counter[str] = field(default_factory=Counter)
    """Certain mistakes, by code."""
    suspected: Counter[str] = field(default_factory=Counter)
    """Suspected mistakes, by code: a person confirms or dismisses them."""

    @property
    def house(self) -> Cents:
        """The house's gain on settled rounds."""
        return self.taken - self.paid

    @property
    def hold(self) -> float | None:
        """The house's gain as a share of the wagers."""
        return self.house / self.wagered if self.wagered else None

    @property
    def still_open(self) -> Totals:
        """What is still to be paid."""
        decided = self.rounds - self.in_review
        return Totals(
            underpaid=self.underpaid,
            overpaid=self.overpaid,
            rounds=decided - self.unobserved,
            to_decide=self.in_review,
            unsettled=self.not_final - self.in_review,
            unobserved=self.unobserved,
        )

    def add(self, settled: Settled) -> None:
        """Count one round."""
        result = settled.result
        self.rounds += 1
        self.unclean += not is_clean(result)
        self.not_final += result.status != "final"
        in_review = result.status == "review"
        self.in_review += in_review
        self.unobserved += not in_review and not settled.has_payments()
        for spot in result.spots:
            self._add_spot(spot, in_review=in_review)
        self.suspected.update(one.code for one in result.suspected)
        if result.mistakes:
            self.violations.update(one.code for one in result.mistakes)
            self._add_differences(settled)

    def merge(self, other: "Tally") -> None:
        """Add another's counts."""
        for one in fields(self):
            if one.name in ("violations", "suspected"):
                getattr(self, one.name).update(getattr(other, one.name))
            else:
                setattr(self, one.name, getattr(self, one.name) + getattr(other, one.name))

    def _add_spot(self, spot: SpotResult, *, in_review: bool) -> None:
        self.spots += 1
        if spot.is_void:
            self.hands += len(spot.hands)
            return
        for hand in spot.hands:
            if hand.outcome == "void":
                self.hands += 1
            else:
                self._add_hand(hand, in_review=in_review)
        for coupon in spot.coupons or ():
            self._add_money(0, None if in_review else coupon.net)
        for side in spot.side or ():
            if side.outcome not in ("unjudged", "void"):
                self._add_money(side.stake, None if in_review else side.net)
                if not in_review:
                    self._add_odd_cents(side.odd_cents)
        if spot.insurance is not None:
            self._add_money(spot.insurance.stake, None if in_review else spot.insurance.net)
            if not in_review:
                self._add_odd_cents(spot.insurance.odd_cents)

    def _add_hand(self, hand: HandResult, *, in_review: bool) -> None:
        self.hands += 1
        self.pending += hand.outcome == "pending"
        self.unknown += hand.outcome == "unknown"
        self._add_money(hand.stake, None if in_review else hand.net)
        if not in_review:
            self._add_odd_cents(hand.odd_cents)

    def _add_odd_cents(self, odd: OddCents | UnsetType) -> None:
        if isinstance(odd, OddCents):
            self.rounded += 1
            self.odd_cents += Fraction(*odd.exact) - odd.paid

    def _add_money(self, stake: Cents, net: Cents | None) -> None:
        if net is None:
            self.open_stakes += stake
            return
        self.wagered += stake
        if net > 0:
            self.paid += net
        else:
            self.taken -= net

    def _add_differences(self, settled: Settled) -> None:
        found = settled.balance()
        self.overpaid += found.overpaid
        self.underpaid += found.underpaid


def as_json(tally: Tally) -> dict[str, Any]:
    """Return the totals as ``--summary --json`` prints them; money in cents."""
    plain = {one.name: getattr(tally, one.name) for one in fields(tally)}
    plain["odd_cents"] = tally.odd_cents.as_integer_ratio()
    plain["house"] = tally.house
    plain["hold"] = None if tally.hold is None else round(tally.hold, 6)
    plain["violations"] = _by_code(tally.violations)
    plain["suspected"] = _by_code(tally.suspected)
    return plain


def _by_code(found: Counter[str]) -> dict[str, dict[str, Any]]:
    return {code: {"count": many, "clause": BREAKS[code]} for code, many in found.most_common()}
