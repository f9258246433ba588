"""What changes in a story as a sighting comes to mean something in it."""

from msgspec.structs import replace

from models.events import CardBurned, CardDealt, Face, PlayerActed
from models.judgements import Review
from models.places import whose, zone_name
from models.rulebook import Rulebook
from settlement.reckoning.grammar import (
    due_in_deal,
    face_in_deal,
    hidden,
    soonest_ns,
    unread,
    unread_left_at,
)
from settlement.reckoning.holds import UNSEEN_HOLD_NS
from settlement.reckoning.in_play import Hand, InPlay
from settlement.reckoning.likeness import held
from settlement.reckoning.meaning import MOVED_MM, Look, Option, Room
from settlement.reckoning.odds import (
    SAME_PLACE_MM,
)
from settlement.reckoning.story import LEFT, NO_BACK_THERE, Story
from settlement.reconcile.draws import Draw
from settlement.reconcile.faces import card_name
from settlement.reconcile.felt import APART_MM, Felt, apart_mm


class Taking:
    """Takes what a sighting means into a story.

    Args:
        felt: the layout that places are of.
        rules: the rulebook in force.
        room: how many more of a face can come by all rounds that are over.
    """

    def __init__(self, felt: Felt, rules: Rulebook, room: Room) -> None:
        self._felt, self._rules, self._room = felt, rules, room

    def apply(self, story: Story, option: Option, look: Look, published: int) -> None:
        """Have a sighting mean this in a story."""
        look = look.of_back if option.as_back else look
        story.weigh("play", option.play)
        story.weigh("camera", option.evidence - option.play)
        story.mistakes += option.mistakes
        if option.kind == "none":
            if look.track not in story.tracks:
                story.tracks[look.track] = 0 if look.face == "up" else NO_BACK_THERE
            return
        at = look.at if option.draw is None else option.draw.at
        if option.kind == "aside":
            assert option.draw is not None
            self._aside(story, option.draw, look)
            return
        if option.kind == "next":
            story.close_round(at - 1, look.seqs)
        covered = story.card(option.ident) if option.kind == "deal" and option.ident else None
        if covered is not None:
            covered.tracks, covered.where = (), "off"
        if option.kind in ("deal", "next"):
            card = self._dealt(story, option, look)
        else:
            found = story.card(option.ident)
            assert found is not None
            card = found
            self._serve_unseen(story, option, look.at)
            if option.dealt_up:
                card.face = look.face
                self._state_dealt(story, card, published)
        self._lies(story, card, look, published)

    def _dealt(self, story: Story, option: Option, look: Look) -> InPlay:
        at = _left_at(story, option, look)
        story.start_shoe()
        if not story.in_play:
            story.open_round(at)
        self._deal_unseen(story, option, at)
        self._serve_unseen(story, option, look.at)
        if option.turned:
            story.turn_unseen(at - 1)
        face: Face = "down" if option.since else look.face
        card = story.deal(option.to, option.number, face, at, option.draw)
        in_deal = bool(due_in_deal(story, self._rules)) and not (option.unseen or option.passed)
        story.keep_time(at, next_in_deal=in_deal)
        story.passed += option.passed
        if not any(draw.certain and draw.at < at for draw in story.supply.drawn):
            story.pass_over(card)
        return card

    def _deal_unseen(self, story: Story, option: Option, at: int) -> None:
        """Deal the cards due before one that nobody saw or read, each before the next in turn."""
        order = due_in_deal(story, self._rules)
        on_way = [draw.at for draw in story.supply.drawn if draw.certain][: option.skipped]
        steps = _steps(story, len(option.unseen), at)
        for before, place in enumerate(option.unseen):
            later = on_way[place - before] if place - before < len(on_way) else at
            to = order[place]
            came_at = min(steps[before], min(later, at) - 1)
            story.deal(to, 0, face_in_deal(story, to, self._rules), came_at)

    def _serve_unseen(self, story: Story, option: Option, now_ns: int) -> None:
        """Deal the cards that were owed to hands before, and that nobody saw, each in its turn."""
        for spot, number in option.served:
            own = story.hands[spot]
            since = [story.laid_at(hand) for hand in own]
            since += [card.at for hand in own for card in hand.cards]
            at = min(max(since), now_ns - 1) + 1
            if unread(story):
                self._end_deal_unseen(story, at)
            card = story.deal(spot, number, "up", at)
            story.holds[card.dealt] = now_ns + UNSEEN_HOLD_NS

    def _end_deal_unseen(self, story: Story, at: int) -> None:
        """Deal the cards still due in the initial deal, which nobody saw, before a later one."""
        due = due_in_deal(story, self._rules)
        for to, came_at in zip(due, _steps(story, len(due), at), strict=True):
            story.weigh("camera", hidden(story))
            story.deal(to, 0, face_in_deal(story, to, self._rules), came_at)

    def _aside(self, story: Story, draw: Draw, look: Look) -> None:
        """A card of the shoe went to the discard rack."""
        story.tracks[look.track] = LEFT
        story.supply.drawn.remove(draw)
        story.start_shoe()
        seqs = tuple(sorted({*draw.seqs, *look.seqs}))
        story.state_in_turn(CardBurned(at=draw.at, card=draw.card, evidence=seqs))

    def _lies(self, story: Story, card: InPlay, look: Look, published: int) -> None:
        """Bring a card up to date with a sighting of it."""
        first = card.where == "unseen"
        turned = card.face == "down" and look.face == "up"
        moved = card.place is not None and apart_mm(card.place, look.place) > MOVED_MM
        if first and look.face == "down":
            card.face = "down"
        card.turned_in_place |= turned and look.track in card.tracks
        card.as_face = look.as_back or (card.as_face and not turned)
        if (moved or turned) and look.track not in card.tracks:
            # Its old track is reported gone later, and tells nothing of it any more.
            card.tracks = ()
        hand = story.hand_of(card)
        self._note_place(card, hand, look)
        rested_at = card.rested_at if look.seen.change == "read" and not first else look.at
        story.lie(card, look.track, look.place, rested_at, look.seqs)
        if card.to == "dealer":
            story.over_at = 0
        if look.face == "up":
            self._reads(story, card, look, first=first)
        if turned:
            self._turns(story, card, look, published, first=first)
        if first and look.face == "down":
            self._state_dealt(story, card, published)
        story.restate(card, look.at, published)
        if moved and look.face == "up":
            self._carried_over(story, card, look)
        if hand is not None and moved and look.face == "up":
            self._split(story, hand, look)

    def _note_place(self, card: InPlay, hand: Hand | None, look: Look) -> None:
        """Note how a card lies by its hand, before it lies there: across it, or tucked."""
        card.tucked = look.face == "down" and self._felt.tucked(look.place)
        if hand is None:
            return
        if card.place is None:
            card.across = self._felt.sideways(look.place, hand.spot)
        if card.tucked:
            hand.stood_at = hand.stood_at or look.at

    def _reads(self, story: Story, card: InPlay, look: Look, *, first: bool) -> None:
        """Look at a card's face, for the first time by what the decks can still hold."""
        reading = held(story, look.reading, self._room) if first else look.reading
        story.read(card, reading, afresh=look.afresh)
        shoe_card = card.shoe_card
        if (
            first
            and shoe_card
            and card.disputed
            and self._room(shoe_card) - story.out(shoe_card) < 0
        ):
            story.distrust(card)

    def _turns(
        self, story: Story, card: InPlay, look: Look, published: int, *, first: bool
    ) -> None:
        """A card was turned up; where nobody saw it, before the dealer settled by it."""
        self._in_its_place(story, card, look)
        at = _after_the_last(story, look.at)
        if card.to == "dealer" and (first or look.seen.change == "read"):
            story.turned_unseen = True
            settled_from = story.settled_from()
            story.seen_turned_ns = max(0, at - settled_from)
            at = min(at, settled_from - 1)
        story.expose(card, at, look.seqs, published)

    def _carried_over(self, story: Story, card: InPlay, look: Look) -> None:
        """A card that was dealt to one is laid to another: a mistake that somebody put right."""
        zone = self._felt.zone(look.place).owner
        if zone in (None, card.to) or self._felt.aside(look.place) or card.carried:
            return
        card.carried = True
        names = (zone_name(card.to), zone_name(zone))
        what = (
            f"Whose card is {card_name(card.card)}? "
            f"It was dealt to {names[0]} and moved to {names[1]}."
        )
        story.asks.append(Review(what, names, look.seqs))

    def _in_its_place(self, story: Story, card: InPlay, look: Look) -> None:
        """A card turned up where its neighbour was dealt is that neighbour.

        So are both of a pair, though the first was seen amiss: which is which decides how the
        halves are called once it is split.
        """
        hand = story.hand_of(card)
        if hand is None or card.dealt_place is None:
            return
        own = apart_mm(card.dealt_place, look.place)
        for other in hand.cards:
            if other is card or other.dealt_place is None:
                continue
            gained = own - apart_mm(other.dealt_place, look.place)
            if other.face == "up" or other.reading is not None:
                if other.card is None or look.reading is None or other.place is None:
                    continue
                if other.card.rank != look.reading.likeliest.rank:
                    continue
                gained += apart_mm(other.dealt_place, other.place)
                gained -= apart_mm(card.dealt_place, other.place)
            if gained > SAME_PLACE_MM:
                story.swap(card, other)
                return

    def _state_dealt(self, story: Story, card: InPlay, published: int) -> None:
        """State a card as dealt with the side up that was seen."""
        if card.dealt >= max(published, story.base):
            fact = story.fact(card.dealt)
            assert isinstance(fact, CardDealt)
            story.amend(card.dealt, replace(fact, face=card.face, evidence=card.seqs))

    def _split(self, story: Story, hand: Hand, look: Look) -> None:
        """Two cards of a hand lie apart."""
        if len(hand.cards) != 2:
            return
        one, other = hand.cards
        if one.place is None or other.place is None or "down" in (one.face, other.face):
            return
        if one.where != "felt" or other.where != "felt":
            return
        if apart_mm(one.place, other.place) <= APART_MM:
            return
        new = len(story.hands[hand.spot])
        if not story.plates.get((hand.spot, str(new))):
            who = whose(hand.spot, hand.number)
            what = f"Did {who} split? The cards lie apart, and nobody entered a split."
            story.asks.append(Review(what, (), look.seqs))
        story.splits[hand.spot, hand.number] = look.at
        story.split(
            PlayerActed(
                at=look.at, spot=hand.spot, hand=hand.number, action="split", evidence=look.seqs
            )
        )


def _steps(story: Story, number: int, at: int) -> list[int]:
    """Return when so many cards came that no shoe read, before something that happened ``at``.

    Each came one step after the one before, where the dealer's pace is known.
    """
    if not (unread(story) and story.pace_ns and story.cards()):
        return [at - 1] * number
    return [min(story.dealt_at + step * story.pace_ns, at - 1) for step in range(1, number + 1)]


def _left_at(story: Story, option: Option, look: Look) -> int:
    """Return when a card left the shoe, or the dealer's hand.

    Two cards first seen at nearly the same time were dealt in the story's order: no hand lays two
    so fast, and one of them was hidden.
    """
    if option.draw is not None:
        return option.draw.left_at(look.at)
    if option.left_at is not None:
        return option.left_at
    return _after_the_last(story, unread_left_at(story, look.at))


def _after_the_last(story: Story, at: int) -> int:
    """Return when something happened that comes after the last card dealt, by the story."""
    if unread(story) and 0 <= story.dealt_at - at < soonest_ns(story):
        return story.dealt_at + 1
    return at
