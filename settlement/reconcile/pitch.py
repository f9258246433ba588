"""Hand-held decks: no shoe reads a card, and the players' cards lie face down.

The camera alone sees cards come; a player picks his up, tucks them under his wager or turns
them over, so that one card comes into view several times.
"""

from collections.abc import Iterator
from dataclasses import replace
from itertools import takewhile

from models.events import CardDealt, Dealt, HoleCardChecked
from models.judgements import Review
from models.places import spot_hand
from models.rulebook import Rulebook
from settlement.reconcile.camera import Camera
from settlement.reconcile.draws import Composition
from settlement.reconcile.faces import KNOWN_P, card_name, read_face
from settlement.reconcile.felt import apart_mm
from settlement.reconcile.happenings import Agenda, Arrived, Entered, Moved, Taken, Turned
from settlement.reconcile.looks import Reading
from settlement.reconcile.rounds import Rounds
from settlement.reconcile.sightings import AGREED_P, Lying
from settlement.reconcile.table import Held, PlayedHand, Table
from settlement.reconcile.timing import SECOND

_SAME_MM = 10.0
"""Two sightings of one side this near to each other are of one card."""

_MEANWHILE_NS = 2 * SECOND
"""A card that is moved or turned is out of sight no longer than this."""

_DEALING_NS = 5 * SECOND // 2
"""Between two cards of the initial deal there is no more than this."""


class PitchRounds(Rounds):
    """Rounds of a game dealt from the hand."""

    def __init__(
        self,
        table: Table,
        agenda: Agenda,
        composition: Composition,
        rules: Rulebook,
        camera: Camera,
    ) -> None:
        super().__init__(table, agenda, composition, rules, camera)
        self._strayed, self._dealt = False, 0

    def _arrived(self, card: Arrived) -> None:
        if card.lying is None:
            super()._arrived(card)
            return
        lying = self._camera.latest(card.lying)
        if self._table.felt.aside(lying.place) or (self._voice.in_play and self._known(lying)):
            return
        if self._momentary(lying):
            return
        face = read_face(lying, self._composition)
        self._composition.left_shoe(face)
        doubts = self._unread(lying) if lying.face == "up" and face is None else ()
        super()._arrived(replace(card, card=face, lying=lying, doubts=doubts))

    def _deal(self, card: Arrived) -> None:
        """Deal a card; one out of turn may as well have been seen late, when an arm had gone."""
        assert card.lying is not None
        to = self._table.destination(card.lying).to
        turns: list[Dealt] = [*self._wagers.staked(), "dealer"]
        first_deal = self._dealt < 2 * len(turns) - 1
        strays = first_deal and to != turns[self._dealt % len(turns)]
        super()._deal(card)
        self._dealt += 1
        if strays and not self._strayed:
            self._strayed = True
            what = "cards of the first deal were not seen in their order"
            self._voice.doubt(what, ("dealt out of turn", "seen late"), card.seqs)

    def _unread(self, lying: Lying) -> tuple[Review, ...]:
        return (Review("the camera cannot read a card", lying.names(), lying.seqs),)

    def _may_be_misread(self, _held: Held, reading: Reading | None) -> bool:
        """No other sensor bears the camera out here: it is doubted where it looked but once."""
        if reading is None or (reading.looks == 1 and not reading.summed):
            return True
        return not reading.steady or reading.listed[0][1] < KNOWN_P

    def _momentary(self, lying: Lying) -> bool:
        """Leave a face to a person that showed for a moment and went, and no hand with it."""
        gone = self._gone(lying.track)
        if lying.face == "down" or gone is None or gone.at - lying.at > _MEANWHILE_NS:
            return False
        zone = self._table.felt.zone(lying.place).owner
        hands = [] if zone is None or zone == "dealer" else self._table.hands.get(zone, [])
        own = self._table.dealer if zone == "dealer" else [c for h in hands for c in h.cards]
        if any(card.track is not None and self._gone(card.track) for card in own):
            return False
        what = f"{card_name(lying.card)} was seen for a moment only"
        self._voice.doubt(what, lying.names(), lying.seqs)
        self._agenda.drop(gone)
        return True

    # --- a card that was in play already --------------------------------------------------

    def _known(self, lying: Lying) -> bool:
        """Explain a new track by a card in play; ``False`` where it is a card dealt."""
        owner = self._table.felt.zone(lying.place).owner
        if owner == "dealer":
            return self._again(lying, self._table.dealer) or self._hole_turned(lying)
        if owner is None:
            return False
        cards = [held for hand in self._table.hands.get(owner, []) for held in hand.cards]
        if lying.face == "down":
            return self._laid_back(lying, cards) or self._again(lying, cards)
        return self._again(lying, cards) or self._turned_over(
            lying, self._table.hands.get(owner, [])
        )

    def _again(self, lying: Lying, cards: list[Held]) -> bool:
        """The same side of the same card, seen anew where it lay or moved to."""
        for held in cards:
            if held.track is None or held.face != lying.face or held.in_hand:
                continue
            gone = self._gone(held.track)
            place = self._table.places.get(held.track)
            still = place is not None and apart_mm(place, lying.place) <= _SAME_MM
            if (still and self._may_be(held, lying)) or (gone and self._surely(held, lying)):
                self._rejoin(lying, held, gone)
                return True
        return False

    def _laid_back(self, lying: Lying, cards: list[Held]) -> bool:
        """A back under the wager of a spot whose player holds cards, or held them just now."""
        if not self._table.felt.tucked(lying.place):
            return False
        held = next((card for card in cards if card.in_hand), None)
        gone = None
        if held is None:
            gone, held = next(self._gone_backs(cards), (None, None))
        if held is None:
            return False
        self._rejoin(lying, held, gone)
        held.in_hand = False
        return True

    def _turned_over(self, lying: Lying, hands: list[PlayedHand]) -> bool:
        found = self._back_of(lying, hands)
        if found is None:
            return False
        hand, held = found
        self._turn_earlier(lying, hand, held)
        self._turn(lying, held)
        return True

    def _back_of(self, lying: Lying, hands: list[PlayedHand]) -> tuple[PlayedHand, Held] | None:
        """A face where a back lay, or where the cards in the player's hand were dealt."""
        down = [
            (apart_mm(held.dealt_to, lying.place), hand, held)
            for hand in hands
            for held in hand.cards
            if held.face == "down" and held.dealt_to is not None
        ]
        if not down:
            return None
        off, hand, held = min(down, key=lambda found: found[0])
        lies = [card.dealt_to for card in hand.cards if card.dealt_to is not None]
        if self._table.felt.off_mm(lying.place, lies, hand.spot) < off:
            return None
        return hand, held

    def _turn_earlier(self, lying: Lying, hand: PlayedHand, held: Held) -> None:
        """Cards of a hand that come up together are told in the order of their deal."""
        before = list(takewhile(lambda card: card is not held, hand.cards))
        for found in list(self._agenda):
            if not isinstance(found, Arrived) or found.lying is None:
                continue
            other = found.lying
            near = self._table.felt.zone(other.place).owner == hand.spot
            together = abs(other.at - lying.at) < _MEANWHILE_NS and other.track != lying.track
            if not (near and together and other.face == "up"):
                continue
            back = self._back_of(other, [hand])
            if back is not None and any(back[1] is card for card in before):
                self._agenda.drop(found)
                self._arrived(found)

    def _hole_turned(self, lying: Lying) -> bool:
        hole = next((held for held in self._table.dealer if held.face == "down"), None)
        if lying.face == "down" or hole is None or len(self._table.dealer) < 2:
            return False
        if hole.track is not None and self._gone(hole.track) is None:
            return False
        self._turn(lying, hole)
        return True

    def _turn(self, lying: Lying, held: Held) -> None:
        self._rejoin(lying, held, None if held.track is None else self._gone(held.track))
        held.in_hand = False
        if held.track is not None:
            turned = replace(lying, track=held.track)
            self._turned(Turned(lying.at, held.track, turned, lying.seqs))

    def _rejoin(self, lying: Lying, held: Held, gone: Taken | None) -> None:
        if gone is not None:
            self._agenda.drop(gone)
        if held.track is None:
            held.track = lying.track
        else:
            self._camera.join(lying, held.track)
        moved_at = self._table.rests_since.get(lying.track, 0)
        self._table.rests_since[held.track] = max(lying.at, moved_at)
        self._agenda.add(Moved(lying.at, held.track, lying.seqs))

    def _gone(self, track: int) -> Taken | None:
        return next(
            (found for found in self._agenda if isinstance(found, Taken) and found.track == track),
            None,
        )

    def _gone_backs(self, cards: list[Held]) -> Iterator[tuple[Taken, Held]]:
        for held in cards:
            gone = None if held.track is None else self._gone(held.track)
            if gone is not None and held.face == "down":
                yield gone, held

    def _may_be(self, held: Held, lying: Lying) -> bool:
        return held.card is None or lying.face == "down" or not lying.excludes(held.card)

    def _surely(self, held: Held, lying: Lying) -> bool:
        if held.card is None:
            return False
        return (lying.p(held.card) or 0.0) >= AGREED_P

    # --- cards that leave the felt --------------------------------------------------------

    def _taken(self, taken: Taken) -> bool:
        found = self._table.owner(taken.track)
        if found is None or found[0] is None:
            return super()._taken(taken)
        hand, held = found
        if hand is not None and held.face == "down" and not (hand.paid or self._table.revealed):
            held.in_hand = True
            return True
        if hand is not None and held.face == "down" and self._turned_at_once(hand, taken):
            held.in_hand = True
            return True
        again = self._comes_again(held, taken)
        if again is None or again.lying is None:
            return super()._taken(taken)
        self._agenda.drop(again)
        self._rejoin(again.lying, held, None)
        return True

    def _turned_at_once(self, hand: PlayedHand, taken: Taken) -> bool:
        """A face comes into view at the spot as its back goes: the dealer turns the hand up."""
        return not hand.paid and any(
            isinstance(found, Arrived)
            and found.lying is not None
            and found.lying.face == "up"
            and self._table.felt.zone(found.lying.place).owner == hand.spot
            and abs(found.at - taken.at) < _MEANWHILE_NS
            for found in self._agenda
        )

    def _comes_again(self, held: Held, taken: Taken) -> Arrived | None:
        """Return the sighting of the same face elsewhere at once: it was moved, not taken."""
        for found in self._agenda:
            if not isinstance(found, Arrived) or found.lying is None:
                continue
            near = self._table.felt.zone(found.lying.place).owner == self._owner(held)
            soon = found.at - taken.at < _MEANWHILE_NS
            if near and soon and self._surely(held, found.lying):
                return found
        return None

    def _owner(self, held: Held) -> int | None:
        hand = next((hand for hand in self._table.all_hands() if held in hand.cards), None)
        return None if hand is None else hand.spot

    def _entered(self, entry: Entered) -> None:
        if isinstance(entry.fact, HoleCardChecked) and len(self._table.dealer) == 1:
            self._unseen_hole(entry)
        super()._entered(entry)

    def _unseen_hole(self, entry: Entered) -> None:
        """Who looks at the hole card has one, though arms kept it from the camera."""
        self._table.dealer.append(Held(None, None, "down"))
        dealt = CardDealt(at=entry.at, to="dealer", card=None, face="down", evidence=entry.seqs)
        self._voice.say(dealt)

    def _seen_late(self, _: Arrived, lying: Lying) -> bool:
        return lying.at - self._dealt_at > _DEALING_NS

    def _close_round(self, at: int, evidence: tuple[int, ...]) -> None:
        for hand in self._table.all_hands():
            if len(hand.cards) < 2:
                what = f"{spot_hand(hand.spot, hand.number)} was seen to get fewer than two cards"
                self._voice.doubt(what, (), evidence)
        super()._close_round(at, evidence)

    def _open_round(self, at: int) -> None:
        self._strayed, self._dealt = False, 0
        super()._open_round(at)
