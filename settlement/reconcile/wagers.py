"""Chips on the circles, turned into wagers and payments."""

from collections.abc import Callable

from models.events import AnyFact, PaymentMade, Spot, WagerKind, WagerPlaced, WagerRemoved
from models.money import Cents
from models.places import hand_name
from settlement.reconcile.chips import ChangeInPlay, Meaning
from settlement.reconcile.happenings import Agenda, ChipsChanged, Taken
from settlement.reconcile.table import PlayedHand, Table
from settlement.reconcile.timing import SECOND, SWEPT_NS
from settlement.reconcile.voice import Voice

_NOT_PAID_NS = 3 * SECOND // 2
"""A hand taken up and not paid by then was left alone."""


class Wagers:
    """What was staked, taken back and paid."""

    def __init__(self, table: Table, agenda: Agenda, voice: Voice) -> None:
        self._table, self._agenda, self._voice = table, agenda, voice
        self._since: dict[tuple[Spot, str], ChipsChanged] = {}

    def lying(self) -> list[tuple[tuple[Spot, str], Cents]]:
        """Return every circle that holds chips, and how much."""
        return [(key, total) for key, total in sorted(self._table.plates.items()) if total]

    def staked(self) -> list[Spot]:
        """Return the spots with a main wager, from the dealer's left."""
        return [spot for (spot, circle), _ in self.lying() if circle == "0"]

    def since(self, at: int) -> int:
        """Return when the first of the chips that lie there came, at the latest ``at``."""
        return min([at, *(self._since[key].at for key, _ in self.lying() if key in self._since)])

    def fix(self, spot: Spot, circle: str, total: Cents, at: int) -> None:
        """State the wager that lies on a circle as the first card is dealt."""
        change = self._since.get((spot, circle))
        kinds: dict[str, WagerKind] = {"0": "main", "S": "side", "I": "insurance"}
        if circle not in kinds:
            what = f"spot {spot} has chips in the box of {hand_name(int(circle))} before the deal"
            self._voice.doubt(what, (f"{total}",), change.seqs if change else ())
            return
        self._voice.say(
            WagerPlaced(
                at=change.at if change else at,
                spot=spot,
                kind=kinds[circle],
                amount=total,
                evidence=change.seqs if change else (),
            )
        )

    def left_alone(self, hand: PlayedHand, taken: Taken) -> bool:
        """Tell whether a hand's wager was settled by leaving it as it lay."""
        if not self._table.plates.get((hand.spot, str(hand.number))):
            return False
        own = {held.track for held in self._table.dealer}
        swept = any(
            isinstance(found, Taken) and found.track in own and abs(found.at - taken.at) < SWEPT_NS
            for found in self._agenda
        )
        return not swept and not self._paid_later(hand, taken)

    def _paid_later(self, hand: PlayedHand, taken: Taken) -> bool:
        return any(
            isinstance(found, ChipsChanged)
            and (found.spot, found.circle) == (hand.spot, str(hand.number))
            and found.at - taken.at < _NOT_PAID_NS
            for found in self._agenda
        )

    def pay(self, hand: PlayedHand, amount: Cents, at: int, seqs: tuple[int, ...]) -> None:
        """State what changed hands over a hand's wager."""
        hand.paid = True
        self._voice.say(
            PaymentMade(at=at, spot=hand.spot, hand=hand.number, amount=amount, evidence=seqs)
        )

    def settles_last(self, change: ChipsChanged, now_ns: int) -> bool:
        """Tell whether a change pays or takes the wager of a hand that waits for the dealer's."""
        if not (self._voice.in_play and change.circle.isdigit()):
            return False
        hand = self._table.hand(change.spot, int(change.circle))
        delta = change.total - self._table.plates.get((change.spot, change.circle), 0)
        if hand is None or hand.settles_early or hand.paid or not delta:
            return False
        return self._meaning(change, delta, now_ns).means == "payment"

    def _meaning(self, change: ChipsChanged, delta: Cents, now_ns: int) -> Meaning:
        later = tuple(found for found in self._agenda if found is not change)
        return ChangeInPlay(change, delta, self._table, later, now_ns).meaning()

    def changed(self, change: ChipsChanged, now_ns: int) -> bool:
        """Take in a change of chips; ``False`` while what follows must tell its meaning."""
        key = (change.spot, change.circle)
        delta = change.total - self._table.plates.get(key, 0)
        if not delta:
            return True
        if self._voice.in_play:
            meaning = self._meaning(change, delta, now_ns)
            if meaning.means == "wait":
                return False
            if meaning.means == "wager":
                self._wager(change, delta, meaning.kind)
                if meaning.doubt:
                    what = f"chips were added to spot {change.spot}, and no card followed"
                    self._voice.doubt(what, meaning.doubt, change.seqs)
            elif meaning.means == "payment":
                self._payment(change, delta, meaning.kind)
        self._table.plates[key] = change.total
        self._since[key] = change
        return True

    def _wager(self, change: ChipsChanged, delta: Cents, kind: WagerKind) -> None:
        """State chips added or taken back in play, with what the plate said before and after."""
        before = self._since.get((change.spot, change.circle))
        number = int(change.circle) if change.circle.isdigit() else 0
        put: Callable[..., AnyFact] = WagerPlaced if delta > 0 else WagerRemoved
        self._voice.say(
            put(
                at=change.at,
                spot=change.spot,
                hand=number,
                kind=kind,
                amount=abs(delta),
                evidence=(*(before.seqs if before else ()), *change.seqs),
            )
        )

    def _payment(self, change: ChipsChanged, delta: Cents, kind: WagerKind) -> None:
        if kind == "insurance":
            self._voice.say(
                PaymentMade(
                    at=change.at,
                    spot=change.spot,
                    kind="insurance",
                    amount=delta,
                    evidence=change.seqs,
                )
            )
            return
        hand = self._table.hand(change.spot, int(change.circle))
        assert hand is not None
        self.pay(hand, delta, change.at, change.seqs)
