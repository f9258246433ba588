"""Happenings, one by one in their order, turned into facts of the round they belong to."""

from collections.abc import Callable, Iterable
from typing import TypeAlias

from msgspec.structs import replace

from models.events import (
    AnyFact,
    CardBoxed,
    CardBurned,
    CardDealt,
    CardExposed,
    CutCardReached,
    Dealt,
    HoleCardChecked,
    PaymentMade,
    PlayerActed,
    RoundClosed,
    RoundOpened,
    ShoeStarted,
    Spot,
    WagerKind,
    WagerPlaced,
    WagerRemoved,
)
from models.judgements import Review, ReviewRaised
from models.money import Cents
from settlement.reconcile.chips import ChangeInPlay
from settlement.reconcile.draws import Composition
from settlement.reconcile.happenings import (
    Agenda,
    Arrived,
    ChipsChanged,
    Doubted,
    Entered,
    Happening,
    Moved,
    Taken,
    Turned,
)
from settlement.reconcile.sightings import Lying
from settlement.reconcile.table import Destination, Held, PlayedHand, Table
from settlement.reconcile.timing import ENTRY_NS, SECOND, SWEPT_NS, TAKING_NS

Said: TypeAlias = AnyFact | ReviewRaised

_NOT_PAID_NS = 3 * SECOND // 2
"""A hand taken up and not paid by then was left alone."""

_SEEN_LATE_NS = 3 * SECOND // 2
"""A card first seen so long after it left the shoe may have been turned meanwhile."""


class Rounds:
    """Plays happenings out on the table and says what they were."""

    def __init__(self, table: Table, agenda: Agenda, composition: Composition, decks: int) -> None:
        self._table, self._agenda, self._composition = table, agenda, composition
        self._decks = decks
        self._said: list[Said] = []
        self._number = 0
        self._open = False
        self._chips_at: dict[tuple[Spot, str], ChipsChanged] = {}
        self._now = 0
        self._dealt_at = 0
        self._fresh_shoe: tuple[int, tuple[int, ...]] | None = None
        self._cut_card: CutCardReached | None = None
        self._told: set[tuple[str, int]] = set()
        self._inferred: dict[tuple[Spot, int], int] = {}

    @property
    def open(self) -> bool:
        """Whether a round is in play."""
        return self._open

    def spoken(self) -> tuple[Said, ...]:
        """Return what was said since the last call."""
        said, self._said = tuple(self._said), []
        return said

    def apply(self, happening: Happening, now_ns: int) -> bool:
        """Play one happening out; ``False`` where something later must tell its meaning."""
        self._now = now_ns
        match happening:
            case Arrived():
                self._arrived(happening)
            case Moved():
                return self._moved(happening)
            case Turned():
                self._turned(happening)
            case Taken():
                return self._taken(happening)
            case ChipsChanged():
                return self._chips(happening)
            case Entered():
                self._entered(happening)
            case Doubted():
                self._review(happening.review)
        return True

    # --- saying ---------------------------------------------------------------------------

    def _say(self, fact: AnyFact) -> None:
        self._said.append(fact)

    def _review(self, review: Review) -> None:
        number = self._number if self._open else self._number + 1
        self._said.append(ReviewRaised(round=number, review=review))

    def _doubt(self, what: str, candidates: Iterable[str], evidence: tuple[int, ...]) -> None:
        self._review(Review(what, tuple(candidates), evidence))

    # --- rounds ---------------------------------------------------------------------------

    def _open_round(self, at: int) -> None:
        self._number += 1
        self._open = True
        self._table.clear()
        lying = [(key, total) for key, total in sorted(self._table.plates.items()) if total]
        moments = [self._chips_at[key].at for key, _ in lying if key in self._chips_at]
        self._say(RoundOpened(at=min([*moments, at]), round=self._number))
        for (spot, circle), total in lying:
            self._fix_wager(spot, circle, total, at)
        self._tell_cut_card()

    def _fix_wager(self, spot: Spot, circle: str, total: Cents, at: int) -> None:
        change = self._chips_at.get((spot, circle))
        kinds: dict[str, WagerKind] = {"0": "main", "S": "side", "I": "insurance"}
        if circle not in kinds:
            what = f"spot {spot} has chips in the box of hand {circle} before the deal"
            self._doubt(what, (f"{total}",), change.seqs if change else ())
            return
        self._say(
            WagerPlaced(
                at=change.at if change else at,
                spot=spot,
                kind=kinds[circle],
                amount=total,
                evidence=change.seqs if change else (),
            )
        )

    def _close_round(self, at: int, evidence: tuple[int, ...]) -> None:
        for hand in self._table.all_hands():
            if hand.taken_at is None and not hand.being_taken and hand.cards:
                what = f"the cards of spot {hand.spot} hand {hand.number} were not seen taken up"
                self._doubt(what, ("left alone", "paid unseen"), evidence)
            if None in hand.faces:
                what = f"a card of spot {hand.spot} hand {hand.number} was never read"
                self._doubt(what, (), evidence)
        if any(held.card is None for held in self._table.dealer):
            self._doubt("a card of the dealer was never read", (), evidence)
        self._ask_presumed()
        self._say(RoundClosed(at=at, evidence=evidence))
        self._open = False
        self._table.clear()

    # --- cards ----------------------------------------------------------------------------

    def _arrived(self, card: Arrived) -> None:
        self._tell_fresh_shoe()
        if card.lying is not None and self._table.felt.aside(card.lying.place):
            self._say(CardBurned(at=card.at, card=card.card, evidence=card.seqs))
            return
        if self._left_over(card):
            self._close_round(card.at, card.seqs)
        if not self._open and (card.lying is not None or any(self._table.plates.values())):
            self._open_round(card.at)
        if card.lying is None and self._presume_hole(card):
            return
        for doubt in card.doubts:
            self._review(doubt)
        if card.lying is not None:
            self._deal(card)

    def _presume_hole(self, card: Arrived) -> bool:
        """The last card of the initial deal, seen nowhere, lies under the dealer's up card.

        It is believed once it shows; until the round ends without that, nobody is asked.
        """
        if not (self._open and card.doubts and self._table.awaits_hole()):
            return False
        held = Held(None, card.card, "down", presumed=card.doubts[0])
        self._table.dealer.append(held)
        self._say(
            CardDealt(at=card.at, to="dealer", card=card.card, face="down", evidence=card.seqs)
        )
        return True

    def _left_over(self, card: Arrived) -> bool:
        """Tell whether the round in play must have ended before this card."""
        if not self._open or card.lying is None:
            return False
        hands = list(self._table.all_hands())
        if not hands or any(hand.taken_at is None for hand in hands if hand.cards):
            return False
        to = self._table.destination(card.lying).to
        return to not in ("dealer", None) and self._table.revealed

    def _deal(self, card: Arrived) -> None:
        assert card.lying is not None
        lying = card.lying
        zone = self._table.felt.zone(lying.place).owner
        if isinstance(zone, int):
            self._find_split(zone, lying.at, ())
        to = self._table.destination(lying)
        if to.doubt or to.to is None:
            self._misplaced(card, to)
        if to.to is None:
            return
        covered = self._table.owner(lying.track)
        if covered is not None:
            covered[1].track = None
        held = Held(lying.track, card.card, lying.face, dealt_to=lying.place)
        if to.to == "dealer":
            self._deal_own(held, card, lying)
        else:
            self._join(to, held)
        self._dealt_at = card.at
        self._say(
            CardDealt(
                at=card.at,
                to=to.to,
                hand=to.hand,
                card=card.card,
                face=held.face,
                evidence=card.seqs,
            )
        )

    def _deal_own(self, held: Held, card: Arrived, lying: Lying) -> None:
        second = [held.face for held in self._table.dealer] == ["up"]
        self._table.dealer.append(held)
        if not (second and lying.face == "up" and self._seen_late(card, lying)):
            return
        if self._peeked_before(lying.at):
            held.face = "down"
            self._agenda.add(Turned(lying.at, lying.track, lying, lying.seqs))
            return
        what = "the dealer's second card was first seen late, face up"
        self._doubt(what, ("dealt face up", "dealt face down, then turned"), card.seqs)

    def _seen_late(self, card: Arrived, lying: Lying) -> bool:
        """Tell whether the card may have been turned before it was seen."""
        return lying.at - card.at > _SEEN_LATE_NS

    def _peeked_before(self, at: int) -> bool:
        return any(
            isinstance(found, Entered)
            and isinstance(found.fact, HoleCardChecked)
            and found.at <= at
            for found in self._agenda
        )

    def _join(self, to: Destination, held: Held) -> None:
        assert isinstance(to.to, int)
        hands = self._table.hands.setdefault(to.to, [])
        if not hands:
            hands.append(PlayedHand(to.to, 0))
        hand = hands[to.hand]
        hand.cards.append(held)
        hand.taken_at = None

    def _misplaced(self, card: Arrived, to: Destination) -> None:
        assert card.lying is not None
        place = card.lying.place
        where = f"x {place.x_mm:.0f}, y {place.y_mm:.0f} mm"
        what = f"{card.card or 'a card'} lies at {where}: whose it is cannot be told"
        self._doubt(what, to.doubt, card.seqs)

    def _turned(self, turned: Turned) -> None:
        found = self._table.owner(turned.track)
        if found is None:
            return
        hand, held = found
        lying = turned.lying
        if lying.face == "down":
            return
        was_down, held.face = held.face == "down", "up"
        if held.card is not None and lying.excludes(held.card):
            self._contradicted(held, turned)
        newly_known = held.card is None and lying.card is not None
        if newly_known:
            held.card = lying.card
            self._composition.left_shoe(lying.card)
        if was_down or newly_known:
            to: Dealt = "dealer" if hand is None else hand.spot
            number = 0 if hand is None else hand.number
            self._say(
                CardExposed(at=turned.at, to=to, hand=number, card=held.card, evidence=turned.seqs)
            )

    def _contradicted(self, held: Held, turned: Turned) -> None:
        key = ("face", turned.track)
        if key not in self._told:
            self._told.add(key)
            what = (
                f"the shoe said {held.card}, the camera reads {' or '.join(turned.lying.names())}"
            )
            self._doubt(what, (str(held.card), *turned.lying.names()), turned.seqs)

    # --- splits ---------------------------------------------------------------------------

    def _moved(self, moved: Moved) -> bool:
        found = self._table.owner(moved.track)
        if found is None:
            return True
        hand, _ = found
        if hand is None or self._table.split_apart(hand.spot, moved.at) is None:
            return True
        if self._entry_of_split(hand.spot, moved.at) is None and self._now - moved.at < TAKING_NS:
            return False
        self._find_split(hand.spot, moved.at, moved.seqs)
        return True

    def _find_split(self, spot: Spot, at: int, seqs: tuple[int, ...]) -> None:
        """The cards of a hand lie apart: somebody entered the split, or it shows by itself."""
        hand = self._table.split_apart(spot, at)
        if hand is None:
            return
        entry = self._entry_of_split(spot, at)
        if entry is not None:
            self._agenda.drop(entry)
            self._entered(entry)
            return
        new = len(self._table.hands[spot])
        if not self._table.plates.get((spot, str(new))):
            what = (
                f"the cards of spot {spot} hand {hand.number} lie apart, and nobody entered a split"
            )
            self._doubt(what, ("split", "one hand"), seqs)
        self._table.split(hand)
        self._say(PlayerActed(at=at, spot=spot, hand=hand.number, action="split", evidence=seqs))

    def _entry_of_split(self, spot: Spot, at: int) -> Entered | None:
        for found in self._agenda:
            if (
                isinstance(found, Entered)
                and isinstance(found.fact, PlayerActed)
                and (found.fact.action, found.fact.spot) == ("split", spot)
                and abs(found.at - at) < ENTRY_NS
            ):
                return found
        return None

    # --- cards taken up -------------------------------------------------------------------

    def _taken(self, taken: Taken) -> bool:
        found = self._table.owner(taken.track)
        if found is None:
            return True
        hand, held = found
        if hand is None:
            return self._dealer_taken(held, taken)
        held.gone = True
        if hand.taken_at is None and self._table.taken(hand):
            hand.taken_at = taken.at
            if not hand.paid and self._left_alone(hand, taken):
                self._pay(hand, 0, taken.at, taken.seqs)
        return True

    def _dealer_taken(self, held: Held, taken: Taken) -> bool:
        """Close the round with the last card, or with the first that is seen to have gone."""
        others = [card for card in self._table.dealer if card is not held and card.track]
        last = all(card.gone for card in others)
        if not last and any(self._gone_later(card) for card in others):
            held.gone = True
            return True
        slow = [hand for hand in self._table.all_hands() if hand.taken_at is None and hand.cards]
        self._take_waiting(slow, taken)
        missing = any(hand.taken_at is None for hand in slow)
        if missing and last and self._now - taken.at < TAKING_NS:
            return False
        held.gone = True
        if self._open and (last or not missing):
            self._close_round(taken.at, taken.seqs)
        return True

    def _gone_later(self, held: Held) -> bool:
        return any(isinstance(found, Taken) and found.track == held.track for found in self._agenda)

    def _take_waiting(self, slow: list[PlayedHand], last: Taken) -> None:
        """Cards seen taken up after the dealer's were hidden by his arm until then."""
        for found in list(self._agenda):
            if isinstance(found, Taken) and found.track != last.track:
                owner = self._table.owner(found.track)
                if owner is not None and owner[0] in slow:
                    self._agenda.drop(found)
                    self._taken(found)

    def _left_alone(self, hand: PlayedHand, taken: Taken) -> bool:
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

    def _pay(self, hand: PlayedHand, amount: Cents, at: int, seqs: tuple[int, ...]) -> None:
        hand.paid = True
        self._say(
            PaymentMade(at=at, spot=hand.spot, hand=hand.number, amount=amount, evidence=seqs)
        )

    # --- chips ----------------------------------------------------------------------------

    def _chips(self, change: ChipsChanged) -> bool:
        key = (change.spot, change.circle)
        delta = change.total - self._table.plates.get(key, 0)
        if not delta:
            return True
        if self._open:
            later = tuple(found for found in self._agenda if found is not change)
            meaning = ChangeInPlay(change, delta, self._table, later, self._now).meaning()
            if meaning.means == "wait":
                return False
            if meaning.means == "wager":
                self._wager(change, delta, meaning.kind)
                if meaning.doubt:
                    what = f"chips were added to spot {change.spot}, and no card followed"
                    self._doubt(what, meaning.doubt, change.seqs)
            elif meaning.means == "payment":
                self._payment(change, delta, meaning.kind)
        self._table.plates[key] = change.total
        self._chips_at[key] = change
        return True

    def _wager(self, change: ChipsChanged, delta: Cents, kind: WagerKind) -> None:
        number = int(change.circle) if change.circle.isdigit() else 0
        put: Callable[..., AnyFact] = WagerPlaced if delta > 0 else WagerRemoved
        self._say(
            put(
                at=change.at,
                spot=change.spot,
                hand=number,
                kind=kind,
                amount=abs(delta),
                evidence=change.seqs,
            )
        )

    def _payment(self, change: ChipsChanged, delta: Cents, kind: WagerKind) -> None:
        if kind == "insurance":
            self._say(
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
        self._pay(hand, delta, change.at, change.seqs)

    # --- what people and devices state ----------------------------------------------------

    def _entered(self, entry: Entered) -> None:
        fact = replace(entry.fact, seq=None, table=None, at=entry.at, evidence=entry.seqs)
        match fact:
            case PlayerActed(action="split"):
                self._split_entered(fact)
                return
            case PlayerActed(action="surrender" | "even_money"):
                hand = self._table.hand(fact.spot, fact.hand)
                if hand is not None:
                    hand.over = True
            case CutCardReached() if not self._open:
                self._cut_card = fact
                return
            case ShoeStarted():
                self._tell_cut_card()
                self._fresh_shoe = None
            case CardBurned() | CardBoxed():
                self._composition.left_shoe(fact.card)
            case HoleCardChecked():
                self._table.peeked = True
            case RoundOpened():
                self._open_round(entry.at)
                return
            case RoundClosed():
                self._close_entered(entry)
                return
            case _:
                pass
        self._say(fact)

    def _ask_presumed(self) -> None:
        hole = self._table.presumed_hole()
        if hole is not None and hole.presumed is not None:
            self._review(hole.presumed)

    def _close_entered(self, entry: Entered) -> None:
        """A person declares the round over, whatever lies on the felt."""
        if self._open:
            self._ask_presumed()
            self._say(RoundClosed(at=entry.at, evidence=entry.seqs))
            self._open = False
            self._table.clear()

    def _split_entered(self, fact: PlayerActed) -> None:
        hand = self._table.hand(fact.spot, fact.hand)
        shown_at = self._inferred.pop((fact.spot, fact.hand), None)
        if shown_at is not None and abs((fact.at or 0) - shown_at) < ENTRY_NS:
            return
        if hand is not None and len(hand.cards) > 1:
            self._table.split(hand)
        elif self._open:
            what = (
                f"a split of spot {fact.spot} hand {fact.hand} was entered, which has no two cards"
            )
            self._doubt(what, (), fact.evidence)
        self._say(fact)

    def shoe_loaded(self, at: int, seqs: tuple[int, ...]) -> None:
        """The shoe reports a fresh start; the floor's own entry of it goes first."""
        self._fresh_shoe = (at, seqs)

    def _tell_fresh_shoe(self) -> None:
        if self._fresh_shoe is not None:
            (at, seqs), self._fresh_shoe = self._fresh_shoe, None
            self._say(ShoeStarted(at=at, decks=self._decks, evidence=seqs))

    def _tell_cut_card(self) -> None:
        """A cut card that comes before the first card belongs to the round it opens."""
        if self._cut_card is not None:
            fact, self._cut_card = self._cut_card, None
            self._say(fact)

    def unfinished(self) -> None:
        """The session ends: a round still in play is for a person to finish."""
        self._tell_cut_card()
        if self._open:
            self._ask_presumed()
            self._doubt("the session ended before the cards were taken up", (), ())
