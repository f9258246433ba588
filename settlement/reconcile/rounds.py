"""Happenings, one by one in their order, turned into facts of the round they belong to."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from models.events import (
    AnyFact,
    CardBoxed,
    CardBurned,
    CardDealt,
    CardExposed,
    CutCardReached,
    Dealt,
    HoleCardChecked,
    PlayerActed,
    RoundClosed,
    RoundOpened,
    ShoeStarted,
    Spot,
)
from models.places import spot_hand
from models.rulebook import Rulebook
from settlement.hands import total
from settlement.reconcile import questions
from settlement.reconcile.camera import Camera
from settlement.reconcile.draws import Composition, Draw
from settlement.reconcile.faces import card_name
from settlement.reconcile.grounds import Grounds
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
from settlement.reconcile.identity import probability, upheld
from settlement.reconcile.looks import Reading
from settlement.reconcile.sightings import AGREED_P, EXCLUDED_P, Lying, Track
from settlement.reconcile.splits import Splits, evidenced
from settlement.reconcile.table import Destination, Held, PlayedHand, Table, zone_name
from settlement.reconcile.timing import (
    CARRY_NS,
    DISPUTE_NS,
    HIDDEN_NS,
    HOLD_NS,
    SECOND,
    SECOND_LOOK_NS,
    SIGNAL_NS,
    TAKING_NS,
)
from settlement.reconcile.unseen import Unseen
from settlement.reconcile.voice import Said, Voice
from settlement.reconcile.wagers import Wagers
from settlement.reconcile.weighing import Answer, Question, Weighing

_AGREED_BY_TWO_P = 0.9995
"""Of a card that one sensor alone read less is certain than this."""

_LATE_NS = CARRY_NS + SECOND // 2
"""A card first seen so long after it left the shoe lay hidden, or was another that left it."""

_SEEN_LATE_NS = 3 * SECOND // 2
"""A card first seen so long after it left the shoe may have been turned meanwhile."""


class Rounds:
    """Plays happenings out on the table and says what they were."""

    def __init__(
        self,
        table: Table,
        agenda: Agenda,
        composition: Composition,
        rules: Rulebook,
        camera: Camera,
    ) -> None:
        self._camera = camera
        self._table, self._agenda, self._composition = table, agenda, composition
        self._decks = rules.decks
        self._weighing = Weighing(rules, composition.room)
        self._voice = Voice()
        self._grounds = Grounds(table, camera, self._weighing, self._voice)
        self._splits = Splits(table, agenda, self._voice)
        self._wagers = Wagers(table, agenda, self._voice)
        self._unseen = Unseen(table, agenda)
        self._carried: set[Track] = set()
        self._opened: frozenset[Spot] = frozenset()
        """The spots that held a wager as the first card was dealt."""
        self._now = 0
        self._dealt_at = 0
        self._fresh_shoe: tuple[int, tuple[int, ...]] | None = None
        self._cut_card: CutCardReached | None = None

    def go_on_after(self, number: int) -> None:
        """Count the rounds from one that is over."""
        self._voice.round = number

    def spoken(self) -> tuple[Said, ...]:
        """Return what was said since the last call."""
        return self._voice.spoken()

    def due_at(self, at: int) -> Dealt | None:
        """Return who was to get the card of the initial deal that left the shoe then."""
        return self._due(self._coming(at), at)

    def passed_over(self, owner: Dealt | None, by_ns: int) -> int | None:
        """Return when a card of the initial deal, still to be played, went past whose turn it was.

        Args:
            owner: who was due.
            by_ns: the card left the shoe before this.
        """
        for found in self._agenda:
            if isinstance(found, Arrived) and found.lying is not None and found.at < by_ns:
                to = self._table.felt.zone(found.lying.place).owner
                if to != owner is not None and self.due_at(found.at) == owner:
                    return found.at
        return None

    def next_owner(self, at: int) -> Dealt | None:
        """Return in whose zone the next card came to rest, of those that are known to come."""
        later = (
            found.lying
            for found in self._agenda
            if isinstance(found, Arrived) and found.lying is not None and found.at > at
        )
        lying = next(later, None)
        return None if lying is None else self._table.felt.zone(lying.place).owner

    def dues(self, draws: Sequence[Draw]) -> list[Dealt | None]:
        """Return who was to get each card that left the shoe, while the initial deal lasts."""
        found: list[Dealt | None] = []
        for draw in draws:
            before = [due for due in found if due is not None]
            due = self._due([*self._coming(draw.at), *before], draw.at)
            found.append(due if draw.certain else None)
        return found

    def _due(self, coming: Sequence[Dealt], at: int) -> Dealt | None:
        return self._table.next_of_deal(self._playing(at), coming)

    def _coming(self, at: int) -> list[Dealt]:
        """Return who gets the cards that are known to have come before, and were not played."""
        coming: list[Dealt] = []
        for found in self._agenda:
            if not isinstance(found, Arrived) or found.at >= at:
                continue
            owner = (
                self._due(coming, at)
                if found.lying is None
                else self._table.felt.zone(found.lying.place).owner
            )
            coming += [] if owner is None else [owner]
        return coming

    def _playing(self, at: int) -> list[Spot]:
        """Return the spots that play: those that hold a wager as the first card comes."""
        if self._voice.in_play:
            dealt_in = self._opened.union(self._table.hands)
            return [spot for spot in self._wagers.staked() if spot in dealt_in]
        holds = dict.fromkeys(self._wagers.staked(), True)
        for found in self._agenda:
            if isinstance(found, ChipsChanged) and found.circle == "0" and found.at < at:
                holds[found.spot] = found.total > 0
        return sorted(spot for spot, held in holds.items() if held)

    def was_due(self, card: Arrived) -> bool:
        """Tell whether it is the next card of the deal, and both sensors say which it is."""
        lying, said = card.lying, card.said
        if not self._voice.in_play or card.doubts or lying is None or said is None:
            return False
        if lying.face == "down" or card.card is not said or (lying.p(said) or 0.0) < AGREED_P:
            return False
        due = self._table.next_of_deal(self._wagers.staked())
        to = self._table.destination(lying)
        return due is not None and not to.doubt and to.to == due

    def apply(self, happening: Happening, now_ns: int) -> bool:
        """Play one happening out; ``False`` where something later must tell its meaning."""
        self._now = now_ns
        if self._waits(happening):
            return False
        match happening:
            case Arrived():
                self._arrived(happening)
            case Moved():
                self._carried_over(happening)
                return self._splits.moved(happening, now_ns)
            case Turned():
                self._turned(happening)
            case Taken():
                return self._taken(happening)
            case ChipsChanged():
                if self._wagers.settles_last(happening, now_ns):
                    self._turn_late(happening.at, unseen=True)
                return self._wagers.changed(happening, now_ns)
            case Entered():
                self._entered(happening)
            case Doubted():
                self._voice.ask(happening.review)
        return True

    def _waits(self, happening: Happening) -> bool:
        """Tell whether what it means may yet be told by what is seen later."""
        match happening:
            case Arrived():
                return self._passes_over(happening) and self._now - happening.at < HIDDEN_NS
            case Turned():
                return self._awaits_another_look(happening)
            case ChipsChanged():
                return self._card_to_explain(happening)
            case _:
                return False

    def _passes_over(self, card: Arrived) -> bool:
        """Tell whether a card of the initial deal went past whose turn it was, or seems so."""
        if card.lying is None or not self._voice.in_play:
            return False
        due = self._table.next_of_deal(self._playing(card.at))
        return self._table.felt.zone(card.lying.place).owner not in (None, due) and due is not None

    def _card_to_explain(self, change: ChipsChanged) -> bool:
        """Tell whether a card lies at the spot of which it is still to be told what it is."""
        return self._voice.in_play and any(
            0 < lying.at - change.at < SIGNAL_NS
            and self._table.felt.zone(lying.place).owner == change.spot
            for lying in self._camera.pending
        )

    # --- rounds ---------------------------------------------------------------------------

    def _open_round(self, at: int) -> None:
        self._voice.round += 1
        self._table.clear()
        self._weighing.turned_unseen = False
        self._opened = frozenset(self._wagers.staked())
        self._voice.say(RoundOpened(at=self._wagers.since(at), round=self._voice.round))
        for (spot, circle), amount in self._wagers.lying():
            self._wagers.fix(spot, circle, amount, at)
        self._tell_cut_card()

    def _close_round(self, at: int, evidence: tuple[int, ...]) -> None:
        closed = RoundClosed(at=at, evidence=evidence)
        for hand in self._table.all_hands():
            if hand.taken_at is None and not hand.being_taken and hand.cards:
                what = f"the cards of {spot_hand(hand.spot, hand.number)} were not seen taken up"
                self._voice.doubt(what, ("left alone", "paid unseen"), evidence)
            for held in _taken_alone(hand):
                what = f"{card_name(held.card)} of spot {hand.spot} was taken up before its hand"
                self._voice.doubt(what, ("put back", "hidden"), held.seqs)
        self._end_round(closed)

    def _end_round(self, closed: RoundClosed) -> None:
        """Close the round, and leave to a person what its course does not answer."""
        self._ask_presumed()
        record = (*self._voice.record, closed)
        doubtful = list(self._doubtful(record))
        answers = self._weighing.answers(record, doubtful)
        instead = self._weighing.instead(record, doubtful) if "open" in answers else {}
        if instead and self._voice.holds(instead):
            self._amend(record, instead)
        else:
            self._ask_open(record, doubtful, answers)
        self._grounds.ask((*self._voice.record, closed))
        self._camera.clinging.round_over(self._voice.record)
        self._composition.round_over()
        self._voice.say(closed)
        self._voice.release()
        self._table.clear()

    def _ask_open(
        self, record: Sequence[AnyFact], doubtful: Sequence[Question], answers: Sequence[Answer]
    ) -> None:
        """Leave to a person what stays open, be it only by what the camera may yet be known for."""
        wary = self._weighing.answers(record, [question.warily() for question in doubtful])
        for question, answer, otherwise in zip(doubtful, answers, wary, strict=True):
            if "open" in (answer, otherwise):
                self._voice.ask(question.review)
            elif answer == "alike":
                self._voice.ask(question.review, settles_alike=True)

    def _amend(self, record: Sequence[AnyFact], instead: Mapping[int, AnyFact]) -> None:
        self._voice.amend(instead)
        for at, fact in instead.items():
            was = record[at]
            if isinstance(was, CardDealt) and isinstance(fact, CardDealt):
                self._composition.corrected(was.card, fact.card)

    def _doubtful(self, record: Sequence[AnyFact]) -> Iterator[Question]:
        for held in self._table.all_cards():
            reading = self._read_of(held)
            found = questions.of_face(
                held,
                reading,
                record,
                self._composition,
                (self._camera.clinging.most, self._camera.clinging.least),
            )
            if found is not None:
                yield found
            if held.unseen is not None and held.track is None:
                yield questions.of_place(held, held.unseen, record)
            if held.welcomed is not None:
                yield questions.of_being(held, held.welcomed, reading)

    def _read_of(self, held: Held) -> Reading | None:
        """Return all that the camera's looks said of a card's face."""
        seen = None if held.track is None else self._camera.reading(held.track)
        return seen or held.reading

    # --- cards ----------------------------------------------------------------------------

    def _arrived(self, card: Arrived) -> None:
        self._tell_fresh_shoe()
        if card.lying is not None and self._table.felt.aside(card.lying.place):
            self._voice.say(CardBurned(at=card.at, card=card.card, evidence=card.seqs))
            return
        if self._left_over(card):
            self._close_round(card.at, card.seqs)
        if not self._voice.in_play and (card.lying is not None or any(self._table.plates.values())):
            self._open_round(card.at)
        if card.lying is None and (self._presume_hole(card) or self._placed_unseen(card)):
            return
        if not (card.welcome_if_due and card.lying is not None and self._is_due(card.lying)):
            for doubt in card.doubts:
                self._voice.ask(doubt)
            card = replace(card, doubts=())
        if card.lying is not None:
            self._deal(card)

    def _is_due(self, lying: Lying) -> bool:
        """Tell whether the game asks for a card just there."""
        to = self._table.destination(lying)
        if to.to is None or to.doubt:
            return False
        due = self._table.next_of_deal(self._wagers.staked())
        if due is not None:
            return due == to.to
        if to.to == "dealer":
            points, soft = total(tuple(held.card for held in self._table.dealer))
            return self._table.revealed and (points < 17 or (points == 17 and soft))
        hand = self._table.hand(to.to, to.hand)
        return hand is not None and hand.taken_at is None and hand.may_draw

    def _presume_hole(self, card: Arrived) -> bool:
        """The last card of the initial deal, seen nowhere, lies under the dealer's up card.

        It is believed once it shows; until the round ends without that, nobody is asked.
        """
        if not (self._voice.in_play and card.doubts and self._table.awaits_hole()):
            return False
        held = Held(None, card.card, "down", presumed=card.doubts[0])
        self._table.dealer.append(held)
        self._tell_dealt(held, card, "dealer")
        return True

    def _tell_dealt(self, held: Held, card: Arrived, to: Dealt, hand: int = 0) -> None:
        held.said, held.seqs = card.said, card.seqs
        held.reading = None if card.lying is None else card.lying.reading
        held.late = card.lying is not None and card.lying.at - card.at > _LATE_NS
        if held.elsewhere or _disputed(held):
            self._voice.hold()
        dealt = CardDealt(
            at=card.at,
            to=to,
            hand=hand,
            card=card.card,
            face=held.face,
            probability=_how_sure(held),
            evidence=card.seqs,
        )
        held.told.append(self._voice.say(dealt))

    def _placed_unseen(self, card: Arrived) -> bool:
        """Deal a card that nobody saw to whom it must have gone."""
        if not (self._voice.in_play and card.doubts):
            return False
        places = self._unseen.whose(card, self._wagers.staked(), self._voice.record)
        if not places:
            return False
        (to, number), *elsewhere = places
        held = Held(None, card.card, "up", elsewhere=tuple(elsewhere), unseen=card.doubts[0])
        if to == "dealer":
            held.face = "up" if self._table.revealed or not self._table.dealer else "down"
            self._table.dealer.append(held)
        else:
            self._join(Destination(to, number), held)
        self._tell_dealt(held, card, to, number)
        return True

    def _left_over(self, card: Arrived) -> bool:
        """Tell whether the round in play must have ended before this card."""
        if not self._voice.in_play or card.lying is None:
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
            self._splits.find(zone, lying.at, ())
        to = self._table.destination(lying)
        if (to.doubt or to.to is None) and not self._splits.explain(to.to, lying.at):
            self._misplaced(card, to)
        if to.to is None:
            return
        covered = self._table.owner(lying.track)
        if covered is not None:
            covered[1].track = None
        held = Held(lying.track, card.card, lying.face, dealt_to=lying.place)
        held.welcomed = card.doubts[0] if card.doubts else None
        if to.to == "dealer":
            self._deal_own(held, card, lying)
        else:
            self._join(to, held)
        self._dealt_at = card.at
        self._tell_dealt(held, card, to.to, to.hand)

    def _carried_over(self, moved: Moved) -> None:
        """A card that was dealt to one is laid to another: a mistake that somebody put right."""
        found, place = self._table.owner(moved.track), self._table.places.get(moved.track)
        if found is None or place is None or moved.track in self._carried:
            return
        hand, held = found
        zone = self._table.felt.zone(place).owner
        own: Dealt = "dealer" if hand is None else hand.spot
        if zone in (None, own) or self._table.felt.aside(place):
            return
        self._carried.add(moved.track)
        names = (zone_name(own), zone_name(zone))
        what = f"{card_name(held.card)} was dealt to {names[0]} and moved to {names[1]}"
        self._voice.doubt(what, names, moved.seqs)

    def _deal_own(self, held: Held, card: Arrived, lying: Lying) -> None:
        second = [held.face for held in self._table.dealer] == ["up"]
        self._table.dealer.append(held)
        if not (second and lying.face == "up" and self._seen_late(card, lying)):
            return
        if self._peeked_before(lying.at):
            held.face = "down"
            self._agenda.add(Turned(lying.at, lying.track, lying, lying.seqs))
            self._weighing.turned_unseen = True
            return
        what = "the dealer's second card was first seen late, face up"
        self._voice.doubt(what, ("dealt face up", "dealt face down, then turned"), card.seqs)

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
        self._voice.doubt(what, to.doubt, card.seqs)

    def _awaits_another_look(self, turned: Turned) -> bool:
        """Tell whether the next looks may settle which of two sensors misread a card."""
        found = self._table.owner(turned.track)
        if found is None or turned.lying.face == "down":
            return False
        lying = self._camera.latest(turned.lying)
        if found[1].card is None:
            once = lying.reading is not None and lying.reading.looks == 1
            return once and self._now - turned.at < SECOND_LOOK_NS
        if not lying.excludes(found[1].card) or lying.reading is None:
            return False
        borne_out = upheld(found[1].card, lying.reading)
        return not borne_out and self._now - turned.at < DISPUTE_NS

    def _turned(self, turned: Turned) -> None:
        found = self._table.owner(turned.track)
        if found is None:
            return
        hand, held = found
        lying = turned.lying if turned.lying.face == "down" else self._camera.latest(turned.lying)
        if lying.face == "down":
            return
        if _glimpsed(held, lying):
            return
        was_down, held.face = held.face == "down", "up"
        if turned.unseen and hand is None:
            self._weighing.turned_unseen = True
        newly_known = held.card is None and lying.card is not None
        if newly_known:
            held.card = lying.card
            self._composition.left_shoe(lying.card)
        if was_down or newly_known:
            to: Dealt = "dealer" if hand is None else hand.spot
            number = 0 if hand is None else hand.number
            shown = CardExposed(
                at=turned.at, to=to, hand=number, card=held.card, evidence=turned.seqs
            )
            held.told.append(self._voice.say(shown))
            held.seqs += turned.seqs

    # --- cards taken up -------------------------------------------------------------------

    def _taken(self, taken: Taken) -> bool:
        found = self._table.owner(taken.track)
        if found is None:
            return True
        hand, held = found
        if hand is None:
            return self._dealer_taken(held, taken)
        held.gone, held.gone_at = True, held.gone_at or taken.at
        if hand.taken_at is None and self._table.taken(hand):
            hand.taken_at = taken.at
            if not hand.paid and self._wagers.left_alone(hand, taken):
                self._settled_by_nothing(hand, taken)
        return True

    def _settled_by_nothing(self, hand: PlayedHand, taken: Taken) -> None:
        """A wager left as it lay is a push; before the dealer played it is no settling at all."""
        self._turn_late(taken.at)
        if self._table.revealed or self._table.peeked or hand.settles_early:
            self._wagers.pay(hand, 0, taken.at, taken.seqs)
            return
        what = f"the cards of {spot_hand(hand.spot, hand.number)} went before the dealer played"
        self._voice.doubt(what, ("taken up unsettled", "not seen any more"), taken.seqs)

    def _turn_late(self, settled_at: int, *, unseen: bool = False) -> None:
        """The dealer's card, seen turned only just after a hand was settled, was turned before.

        Args:
            settled_at: when the hand was taken up, or its wager paid or taken.
            unseen: only where the turning itself was missed.
        """
        own = {held.track for held in self._table.dealer if held.face == "down"}
        for found in list(self._agenda):
            soon = 0 <= found.at - settled_at < HOLD_NS
            if not (isinstance(found, Turned) and found.track in own and soon):
                continue
            if found.unseen or not unseen:
                self._agenda.drop(found)
                self._turned(replace(found, at=settled_at))

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
        if self._voice.in_play and (last or not missing):
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

    # --- what people and devices state ----------------------------------------------------

    def _entered(self, entry: Entered) -> None:
        fact = evidenced(entry)
        match fact:
            case PlayerActed(action="split"):
                self._splits.entered(fact)
                return
            case PlayerActed(action="surrender" | "even_money"):
                hand = self._table.hand(fact.spot, fact.hand)
                if hand is not None:
                    hand.over = True
            case CutCardReached() if not self._voice.in_play:
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
        self._voice.say(fact)

    def _ask_presumed(self) -> None:
        hole = self._table.presumed_hole()
        if hole is not None and hole.presumed is not None:
            self._voice.ask(hole.presumed)

    def _close_entered(self, entry: Entered) -> None:
        """A person declares the round over, whatever lies on the felt."""
        if self._voice.in_play:
            self._end_round(RoundClosed(at=entry.at, evidence=entry.seqs))

    def shoe_loaded(self, at: int, seqs: tuple[int, ...]) -> None:
        """The shoe reports a fresh start; the floor's own entry of it goes first."""
        self._fresh_shoe = (at, seqs)

    def _tell_fresh_shoe(self) -> None:
        if self._fresh_shoe is not None:
            (at, seqs), self._fresh_shoe = self._fresh_shoe, None
            self._voice.say(ShoeStarted(at=at, decks=self._decks, evidence=seqs))

    def _tell_cut_card(self) -> None:
        """A cut card that comes before the first card belongs to the round it opens."""
        if self._cut_card is not None:
            fact, self._cut_card = self._cut_card, None
            self._voice.say(fact)

    def unfinished(self) -> None:
        """The session ends: a round still in play is for a person to finish."""
        self._tell_cut_card()
        if self._voice.in_play:
            self._ask_presumed()
            self._voice.release()
            for question in self._doubtful(self._voice.record):
                if question.likely:
                    self._voice.ask(question.review)
            self._voice.doubt("the session ended before the cards were taken up", (), ())


def _taken_alone(hand: PlayedHand) -> list[Held]:
    """Return the cards that went while their hand lay on: somebody put them back."""
    if hand.taken_at is None:
        return [held for held in hand.cards if held.gone]
    return [
        held
        for held in hand.cards
        if held.gone_at is not None and hand.taken_at - held.gone_at > TAKING_NS
    ]


def _how_sure(held: Held) -> float | None:
    """Return the probability of a card's face, where it is less than two sensors give."""
    if held.card is None or held.face == "down":
        return None
    sure = probability(held.card, held.said, held.reading)
    return None if sure >= _AGREED_BY_TWO_P else round(sure, 6)


def _disputed(held: Held) -> bool:
    """Tell whether the shoe and the camera say different things of a card."""
    if held.said is None or held.reading is None or upheld(held.said, held.reading):
        return False
    return held.reading.p(held.said) < EXCLUDED_P


def _glimpsed(held: Held, lying: Lying) -> bool:
    """Tell whether a card dealt down only may have been seen face up: no proof of its turning.

    Looks that were each sure of a face, though not of the same, saw one for all that.
    """
    if held.face == "up" or held.card is None or lying.excludes(held.card):
        return False
    if lying.reading is not None and _each_sure(lying.reading):
        return False
    return (lying.p(held.card) or 0.0) < AGREED_P


def _each_sure(reading: Reading) -> bool:
    """Tell whether every look was sure of a face, be it not the same one."""
    return all(look.p(look.likeliest) >= AGREED_P for look in reading.runs or (reading,))
