"""What a camera's observation may mean in a story, and how likely it is there."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from math import exp, hypot, log, pi
from typing import Final

from msgspec.structs import replace

from models.cards import Card
from models.events import CardBurned, CardDealt, CardGone, Dealt, Face, PlayerActed, Spot
from models.judgements import Review
from models.places import spot_hand, zone_name
from models.rulebook import Rulebook
from settlement.reckoning.grammar import (
    Coming,
    draws,
    due_in_deal,
    face_in_deal,
    hidden,
    owed_before,
    turn_ended,
    unseen_ways,
)
from settlement.reckoning.in_play import Hand, InPlay
from settlement.reckoning.odds import (
    ACROSS,
    ASTRAY,
    COMES_BACK,
    DOUBTED,
    FAINT,
    FAINT_P,
    GLIMPSED,
    HIDDEN,
    HIDDEN_FOR_NS,
    IN_ROW,
    LAID_APART,
    LOST_SIGHT,
    MISSED,
    MISTAKE,
    MOVED_AT_ONCE,
    MOVES,
    NEAR,
    NEAR_SPREAD_MM,
    NO_BACK,
    NO_BACK_FAINT,
    NO_FACE,
    NO_FACE_DOUBTED,
    NOT_ACROSS,
    OTHER_SIDE,
    PLACE_SPREAD_MM,
    PUT_BACK,
    ROW_STEP_MM,
    SAME_PLACE_MM,
    SEEN_AGAIN,
    SEEN_TWICE,
    TAKES_OVER,
    TRACK_BROKEN,
    TURNED_IN_DEAL,
    ZONE_MM2,
)
from settlement.reckoning.shoe import LAPSE_NS, Claim, Shoe, alike
from settlement.reckoning.story import LEFT, NO_BACK_THERE, UNSEEN_HOLD_NS, Story
from settlement.reconcile.draws import Draw
from settlement.reconcile.faces import card_name
from settlement.reconcile.felt import APART_MM, Felt, apart_mm
from settlement.reconcile.looks import Reading
from settlement.reconcile.sightings import AGREED_P, Place, Sight
from settlement.reconcile.timing import CARRY_NS, SECOND

Room = Callable[[Card], int]
"""How many more of a face can come."""

MOVED_MM: Final = 12.0
"""A card lies elsewhere from so far on: twice what two sightings of one place differ by."""

_FACES: Final = 52.0
_MISREAD: Final = 0.005


class Option:
    """One meaning of an observation in a story."""

    def __init__(
        self,
        evidence: float,
        mistakes: float = 0.0,
        *,
        ident: int = 0,
        to: Dealt = "dealer",
        number: int = 0,
        unseen: tuple[int, ...] = (),
        served: tuple[tuple[Spot, int], ...] = (),
        kind: str = "none",
        draw: Draw | None = None,
        turned: bool = False,
        since: bool = False,
        passed: tuple[Dealt, ...] = (),
        skipped: int = 0,
        left_at: int | None = None,
        play: float = 0.0,
    ) -> None:
        self.evidence, self.mistakes, self.play = evidence, mistakes, play
        """``play`` is the part of its evidence that tells how a game usually goes on."""
        self.ident, self.to, self.number, self.unseen, self.kind = ident, to, number, unseen, kind
        self.served = served
        """Hands that got a card unseen before: spot and number."""
        self.draw, self.turned, self.since = draw, turned, since
        self.passed, self.skipped = passed, skipped
        self.left_at = left_at
        """When a card that the shoe did not read left it; ``None`` for just now."""


class Look:
    """A sighting, read once for every story."""

    def __init__(self, sight: Sight) -> None:
        self.seen = seen = sight.seen
        self.track = sight.track
        self.at = seen.at or 0
        self.face = seen.face
        self.place = Place(seen.x_mm, seen.y_mm, seen.angle_deg)
        self.reading = sight.reading
        self.afresh = sight.afresh
        self.doubted = seen.face == "up" and seen.card is None
        """Whether it shows a face, and not certainly which."""
        self.seqs: tuple[int, ...] = () if seen.seq is None else (seen.seq,)


class Camera:
    """The cameras as one sense.

    Args:
        felt: the layout that places are of.
        rules: the rulebook in force.
        room: how many more of a face can come by all rounds that are over.
        shoe: the shoe's reader, where cards come from one.
    """

    def __init__(self, felt: Felt, rules: Rulebook, room: Room, shoe: Shoe | None) -> None:
        self._felt, self._rules, self._room, self._shoe = felt, rules, room, shoe

    def options(self, story: Story, look: Look) -> list[Option]:
        """Return what a sighting may mean."""
        meanings = self._meanings(story, look)
        if look.face == "down" or story.revealed:
            return meanings
        if not owed_before(story, None, Coming("up")):
            return meanings
        return [one for option in meanings for one in _with_cards_owed(story, option)]

    def _meanings(self, story: Story, look: Look) -> list[Option]:
        known = story.tracks.get(look.track)
        if known is not None:
            card = story.card(known)
            if card is not None:
                return [self._of_known(card, look), *self._twins(story, card, look)]
            if known == LEFT:
                return [Option(0.0)]
            same_side = (known == NO_BACK_THERE) == (look.face == "down")
            if look.seen.change == "read" and same_side:
                again = 1.0 if look.doubted and look.seen.single_look else SEEN_AGAIN
                return [Option(log(again))]
        return self._of_new(story, look)

    def apply(self, story: Story, option: Option, look: Look, published: int) -> None:
        """Have a sighting mean this in a story."""
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
            _serve_unseen(story, option, look.at)
        self._lies(story, card, look, published)

    def _dealt(self, story: Story, option: Option, look: Look) -> InPlay:
        at = _left_at(story, option, look)
        story.start_shoe()
        if not story.in_play:
            story.open_round(at)
        self._deal_unseen(story, option, at)
        _serve_unseen(story, option, look.at)
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
        for before, place in enumerate(option.unseen):
            later = on_way[place - before] if place - before < len(on_way) else at
            to = order[place]
            story.deal(to, 0, face_in_deal(story, to, self._rules), min(later, at) - 1)

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
        if (moved or turned) and look.track not in card.tracks:
            # Its old track is reported gone a second later, and tells nothing of it any more.
            card.tracks = ()
        rested_at = card.rested_at if look.seen.change == "read" and not first else look.at
        story.lie(card, look.track, look.place, rested_at, look.seqs)
        if card.to == "dealer":
            story.over_at = 0
        hand = story.hand_of(card)
        card.tucked = look.face == "down" and self._felt.tucked(look.place)
        if card.tucked and hand is not None:
            hand.stood = True
        if look.face == "up":
            self._reads(story, card, look, first=first)
        if turned:
            self._turns(story, card, look, published)
        if first and look.face == "down":
            self._state_dealt(story, card, published)
        story.restate(card, look.at, published)
        if moved and look.face == "up":
            self._carried_over(story, card, look)
        if hand is not None and moved and look.face == "up":
            self._split(story, hand, look)

    def _reads(self, story: Story, card: InPlay, look: Look, *, first: bool) -> None:
        """Look at a card's face, for the first time by what the decks can still hold."""
        reading = self._held(story, look.reading) if first else look.reading
        story.read(card, reading, afresh=look.afresh)
        said = card.said
        if first and said and card.disputed and self._room(said) - story.out(said) < 0:
            story.distrust(card)

    def _turns(self, story: Story, card: InPlay, look: Look, published: int) -> None:
        """A card was turned up; where nobody saw it, before the dealer settled by it."""
        self._in_its_place(story, card, look)
        at = look.at
        if card.to == "dealer" and look.seen.change == "read":
            story.turned_unseen = True
            at = min(at, story.settled_from() - 1)
        story.expose(card, at, look.seqs, published)

    def _carried_over(self, story: Story, card: InPlay, look: Look) -> None:
        """A card that was dealt to one is laid to another: a mistake that somebody put right."""
        zone = self._felt.zone(look.place).owner
        if zone in (None, card.to) or self._felt.aside(look.place) or card.carried:
            return
        card.carried = True
        names = (zone_name(card.to), zone_name(zone))
        what = f"{card_name(card.card)} was dealt to {names[0]} and moved to {names[1]}"
        story.asks.append(Review(what, names, look.seqs))

    def _in_its_place(self, story: Story, card: InPlay, look: Look) -> None:
        """A card turned up where its neighbour was dealt is that neighbour."""
        hand = story.hand_of(card)
        if hand is None or card.dealt_place is None:
            return
        own = apart_mm(card.dealt_place, look.place)
        for other in hand.cards:
            unlike = other is card or other.face == "up" or other.reading is not None
            if unlike or other.dealt_place is None:
                continue
            if apart_mm(other.dealt_place, look.place) < own - SAME_PLACE_MM:
                story.swap(card, other)
                return

    def _state_dealt(self, story: Story, card: InPlay, published: int) -> None:
        """State a card face down as it was seen."""
        if card.dealt >= max(published, story.base):
            fact = story.fact(card.dealt)
            assert isinstance(fact, CardDealt)
            story.amend(card.dealt, replace(fact, face="down", evidence=card.seqs))

    # --- a track that is known --------------------------------------------------------------

    def _of_known(self, card: InPlay, look: Look) -> Option:
        evidence = 0.0 if _doubted_again(card, look) else _alike(card, look)
        if card.face == "up" and look.face == "down":
            evidence += log(PUT_BACK)
        turned = card.face != look.face
        if card.place and not turned and apart_mm(card.place, look.place) > MOVED_MM:
            evidence += log(MOVES)
        if card.face == "down" and look.face == "up" and _glimpsed(card, look):
            return Option(log(GLIMPSED), kind="none")
        return Option(evidence, ident=card.ident, kind="seen")

    def _twins(self, story: Story, card: InPlay, look: Look) -> Iterator[Option]:
        """A like card of the shoe, laid upon this one, took over its track."""
        if not story.supply.drawn or card.place is None or card.to == "dealer":
            return
        if "down" in (look.face, card.face) or apart_mm(card.place, look.place) <= MOVED_MM:
            return
        for claim in self._claims(story, look):
            if claim.draw is None or claim.draw.card is not card.card:
                continue
            coming = Coming("up", claim.draw.at, claim.skipped)
            for draw in draws(story, card.to, coming, self._rules):
                place = self._due_place(story, card.to, draw.number, look, claim=claim)
                yield Option(
                    log(TAKES_OVER * ZONE_MM2) + draw.evidence + place + claim.evidence,
                    draw.mistakes,
                    ident=card.ident,
                    to=card.to,
                    number=draw.number,
                    unseen=draw.unseen,
                    served=draw.served,
                    kind="deal",
                    draw=claim.draw,
                    skipped=claim.skipped,
                )

    # --- a track that is new ----------------------------------------------------------------

    def _of_new(self, story: Story, look: Look) -> list[Option]:
        claims = self._claims(story, look)
        if self._felt.aside(look.place):
            drawn = [claim for claim in claims if claim.draw in story.supply.drawn]
            return [Option(claim.evidence, kind="aside", draw=claim.draw) for claim in drawn] or [
                Option(0.0)
            ]
        owners = self._felt.zone(look.place).owners
        found = [Option(_of_nothing(look))]
        for owner in owners:
            if not story.in_play:
                found += self._first_card(story, owner, look, claims)
                continue
            again = (
                (card, option)
                for card in story.own(owner)
                for option in self._again(story, card, look)
            )
            found += _one_of_each(again, look)
            if not self._felt.tucked(look.place):
                found += self._deals(story, owner, look, claims)
                found += self._next_round(story, owner, claims)
        return found

    def _claims(self, story: Story, look: Look) -> list[Claim]:
        """Return which card of the decks it may be."""
        if self._shoe is None:
            return [Claim(self._fresh(story, look), None)]
        claims = self._shoe.claims(story, look.seen, look.reading)
        for claim in claims:
            if claim.draw is None:
                claim.evidence += self._fresh(story, look)
        return claims

    def _first_card(
        self, story: Story, owner: Dealt, look: Look, claims: Sequence[Claim]
    ) -> Iterator[Option]:
        """The first card of a round."""
        if self._felt.tucked(look.place):
            return
        staked = story.lying_wagers()
        if not staked:
            return
        order: list[Dealt] = [*staked, "dealer"]
        for claim in claims:
            place = claim.evidence - log(ZONE_MM2)
            before = order.index(owner) - claim.skipped if owner in order else -1
            for unseen in unseen_ways(claim.skipped, before) if before >= 0 else ():
                yield Option(
                    before * hidden(story) + place,
                    claim.mistakes,
                    to=owner,
                    unseen=unseen,
                    kind="deal",
                    draw=claim.draw,
                    skipped=claim.skipped,
                )
            if before:
                yield Option(
                    place,
                    claim.mistakes + log(MISTAKE),
                    to=owner,
                    kind="deal",
                    draw=claim.draw,
                    passed=tuple(order[claim.skipped : order.index(owner)]) if before > 0 else (),
                )

    def _deals(
        self, story: Story, owner: Dealt, look: Look, claims: Sequence[Claim]
    ) -> Iterator[Option]:
        for claim in (*claims, *_in_its_turn(story, owner, look, claims)):
            left_at = claim.draw.at if claim.draw else look.at if story.shoe else story.dealt_at
            lain_ns = look.at - left_at
            at = look.at if claim.at is None and not story.shoe else claim.at
            card = None if look.reading is None else look.reading.likeliest
            if claim.draw is not None and claim.draw.card is not None:
                card = claim.draw.card
            coming = Coming(look.face, at, claim.skipped, lain_ns, card)
            for draw in draws(story, owner, coming, self._rules):
                place = self._due_place(story, owner, draw.number, look, claim=claim)
                place += self._across(story, owner, draw.number, look)
                yield Option(
                    draw.evidence + place + claim.evidence,
                    draw.mistakes + claim.mistakes,
                    to=owner,
                    number=draw.number,
                    unseen=draw.unseen,
                    served=draw.served,
                    kind="deal",
                    draw=claim.draw,
                    turned=draw.turned,
                    since=draw.since,
                    passed=draw.passed,
                    skipped=claim.skipped,
                    left_at=claim.at,
                    play=draw.evidence,
                )

    def _across(self, story: Story, owner: Dealt, number: int, look: Look) -> float:
        """Return how likely a card of the shoe lies across its hand, or along it."""
        hand = None if owner == "dealer" or not story.shoe else story.hand(owner, number)
        if hand is None or owner == "dealer":
            return 0.0
        across = self._felt.sideways(look.place, owner)
        if hand.owed:
            return 0.0 if across or hand.doubled_amiss else log(NOT_ACROSS)
        return log(ACROSS) if across else 0.0

    def _next_round(self, story: Story, owner: Dealt, claims: Sequence[Claim]) -> Iterator[Option]:
        """The round in play was over, and the dealer's cards were not seen to go."""
        if not story.revealed or owner == "dealer" or not story.hands:
            return
        order = story.lying_wagers()
        if owner not in order:
            return
        for claim in claims:
            before = order.index(owner) - claim.skipped
            # What the cards that lie there tell against it is weighed as the round is closed.
            evidence = before * hidden(story) - log(ZONE_MM2)
            for unseen in unseen_ways(claim.skipped, before) if before >= 0 else ():
                yield Option(
                    evidence + claim.evidence,
                    claim.mistakes,
                    to=owner,
                    unseen=unseen,
                    kind="next",
                    draw=claim.draw,
                    skipped=claim.skipped,
                )

    def _again(self, story: Story, card: InPlay, look: Look) -> Iterator[Option]:
        """A card in play, on a new track."""
        if card.where == "unseen":
            place = self._place_unseen(story, card, look)
            other = 0.0 if card.face == look.face else log(COMES_BACK) + _early(story, card)
            mistakes = 0.0
            if look.face == "down" and card.face == "up":
                mistakes = log(MISTAKE) if card.to == "dealer" else 0.0
                other = 0.0 if mistakes else log(PUT_BACK)
            looks = _alike(card, look) if card.said is not None else self._fresh(story, look)
            evidence = place + other + looks
            yield Option(evidence, mistakes, ident=card.ident, kind="again")
            return
        if card.where == "off":
            yield from self._back(story, card, look)
            return
        alike, hand = _alike(card, look), story.hand_of(card)
        assert card.place is not None
        if card.face == look.face:
            off = apart_mm(card.place, look.place)
            same = log(SEEN_TWICE) + _gauss(off, SAME_PLACE_MM)
            if look.face == "down" and self._another_is_held(story, card):
                same += log(MISSED)
            yield Option(same + alike, ident=card.ident, kind="again")
            moved = log(LAID_APART if hand is not None and hand.waits_for_second else TRACK_BROKEN)
            moved -= log(ZONE_MM2)
            if card.tucked or look.at - card.rested_at < SECOND:
                moved += log(MOVED_AT_ONCE)
            moved += self._side(story, hand, look)
            yield Option(moved + alike, ident=card.ident, kind="again")
        elif look.face == "up":
            yield Option(
                log(5 * TRACK_BROKEN)
                + self._place_again(story, card, look)
                + alike
                + _early(story, card),
                ident=card.ident,
                kind="again",
            )

    def _another_is_held(self, story: Story, card: InPlay) -> bool:
        """Return whether the player holds another card of the hand: he lays them down together."""
        hand = story.hand_of(card)
        return hand is not None and any(
            other.where == "off" and other.face == "down" for other in hand.cards
        )

    def _back(self, story: Story, card: InPlay, look: Look) -> Iterator[Option]:
        """A card that was off the felt: in its player's hand, or lost from sight."""
        hand = story.hand_of(card)
        if hand is not None and hand.taken_at:
            return
        alike = _alike(card, look)
        if card.face == "up" and look.face == "down":
            return
        if look.face == "down" and self._felt.tucked(look.place):
            yield Option(log(COMES_BACK) - log(ZONE_MM2) + alike, ident=card.ident, kind="again")
            return
        settled = hand is not None and hand.paid >= 0
        prior = PUT_BACK if look.face == "down" else LOST_SIGHT if settled else COMES_BACK
        place = self._place_again(story, card, look) + self._side(story, hand, look)
        yield Option(log(prior) + place + alike, ident=card.ident, kind="again")

    def _side(self, story: Story, hand: Hand | None, look: Look) -> float:
        """Return how likely a card of a split hand comes into view on that side of the others."""
        if hand is None or not hand.of_split:
            return 0.0
        here = self._felt.rightward_mm(look.place, hand.spot)
        for other in story.hands[hand.spot]:
            if other is hand or not other.cards:
                continue
            card = other.cards[0]
            lay = card.place if card.where == "felt" else card.dealt_place
            if lay is None:
                continue
            right = here > self._felt.rightward_mm(lay, hand.spot)
            if right != (hand.number > other.number):
                return log(OTHER_SIDE)
        return 0.0

    def _place_again(self, story: Story, card: InPlay, look: Look) -> float:
        """Return how likely a card comes into view there: where it was, or in the dealer's row."""
        near = card.dealt_place if card.dealt_place is not None else card.place
        if near is None:
            return -log(ZONE_MM2)
        spread = _gauss(apart_mm(near, look.place), PLACE_SPREAD_MM)
        other = _in_row(story, look, card) if card.to == "dealer" else -log(ZONE_MM2)
        return log(0.5 * exp(spread) + 0.5 * exp(other))

    def _place_unseen(self, story: Story, card: InPlay, look: Look) -> float:
        """Return how likely a card that nobody saw yet lies just there: in its turn in its hand."""
        hand = story.hand_of(card)
        if hand is None or card.to == "dealer":
            return -log(ZONE_MM2)
        own = hand.cards.index(card)
        offs = []
        for at, other in enumerate(hand.cards):
            lay = other.place if hand.of_split else other.dealt_place
            if at == own or lay is None:
                continue
            one, later = (look.place, lay) if at > own else (lay, look.place)
            offs.append(
                (abs(at - own), self._felt.off_mm(later, [one], card.to, abs(at - own) - 1))
            )
        return _about(min(offs)[1]) if offs else -log(ZONE_MM2)

    def _due_place(
        self,
        story: Story,
        owner: Dealt,
        number: int,
        look: Look,
        *,
        claim: Claim | None = None,
    ) -> float:
        """Return how likely the next card of a hand lies just there.

        A card of the shoe lies behind those that left it before, also where it is seen last; those
        that are on their way may come to lie between.
        """
        if owner == "dealer":
            return _in_row(story, look, before=None if claim is None else claim.at)
        hand = story.hand(owner, number)
        lies = []
        further = 0 if claim is None else claim.skipped
        draw = None if claim is None else claim.draw
        if hand is not None:
            for card in hand.cards:
                if draw is not None and card.at > draw.at:
                    continue
                further += card.place is None
                place = card.dealt_place if card.tucked or card.where == "off" else card.place
                if place is not None:
                    lies.append(place)
        if not lies:
            return -log(ZONE_MM2)
        off = self._felt.off_mm(look.place, lies, owner, further)
        return _about(off)

    def _held(self, story: Story, look: Reading | None) -> Reading | None:
        """Return a first look at a card by what the decks can still hold."""
        if look is None:
            return None
        gone = {
            face: _MISREAD
            for face, p in look.listed
            if p > _MISREAD and self._room(face) - story.out(face) <= 0
        }
        return look.weighed(gone) if gone and len(look.listed) > len(gone) else look

    def _fresh(self, story: Story, look: Look) -> float:
        """Return how likely a card that was in the shoe looks so; all faces alike would be 0."""
        if look.reading is None:
            return 0.0
        face = look.reading.likeliest
        return 0.0 if self._room(face) - story.out(face) > 0 else log(_MISREAD)

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
            what = (
                f"the cards of {spot_hand(hand.spot, hand.number)} lie apart,"
                " and nobody entered a split"
            )
            story.asks.append(Review(what, ("split", "one hand"), look.seqs))
        story.splits[hand.spot, hand.number] = look.at
        story.split(
            PlayerActed(
                at=look.at, spot=hand.spot, hand=hand.number, action="split", evidence=look.seqs
            )
        )

    # --- cards that go ----------------------------------------------------------------------

    def may_end(self, story: Story, gone: CardGone) -> bool:
        """Return whether the round may be over by a card that is off the felt."""
        if story.over_at:
            return True
        ident = story.tracks.get((gone.source, gone.track), 0)
        return any(card.ident == ident for card in story.dealer)

    def has_twin(self, story: Story, gone: CardGone) -> bool:
        """Return whether a card that is off the felt has a second track."""
        card = story.card(story.tracks.get((gone.source, gone.track), 0))
        return card is not None and len(card.tracks) > 1

    def gone(self, story: Story, gone: CardGone, *, wholly: bool = False) -> None:
        """Take in that a card is off the felt; ``wholly`` where its other tracks linger."""
        track = (gone.source, gone.track)
        ident = story.tracks.pop(track, 0)
        card = story.card(ident) if ident else None
        if card is None:
            return
        card.tracks = tuple(one for one in card.tracks if one != track)
        if wholly:
            story.tracks.update(dict.fromkeys(card.tracks, 0))
            card.tracks = ()
        if card.tracks:
            return
        seqs = () if gone.seq is None else (gone.seq,)
        at = gone.at or 0
        hand = story.hand_of(card)
        if hand is not None and not story.revealed and _is_to_stay(hand, card):
            story.weigh("camera", log(LOST_SIGHT))
        story.take_up(card, at, seqs)
        if card.to == "dealer" and all(own.where != "felt" for own in story.dealer):
            story.over_at, story.over_seqs = at, seqs
        story.close_if_over(at)


def _with_cards_owed(story: Story, option: Option) -> list[Option]:
    """Return what it means that a card is turned up while hands before it are owed one.

    The dealer or the player acted too soon, or their cards came and nobody saw them.
    """
    card = story.card(option.ident) if option.kind in ("seen", "again") else None
    if card is None or card.face == "up":
        return [option]
    owed = owed_before(story, story.hand_of(card), Coming("up"))
    if not owed:
        return [option]
    came = Option(
        option.evidence + len(owed) * hidden(story),
        option.mistakes,
        ident=option.ident,
        kind=option.kind,
        served=tuple((hand.spot, hand.number) for hand in owed),
    )
    if card.to == "dealer":
        option.mistakes += len(owed) * log(MISTAKE)
    else:
        option.evidence += log(TURNED_IN_DEAL)
    return [option, came]


def _serve_unseen(story: Story, option: Option, now_ns: int) -> None:
    """Deal the cards that were owed to hands before, and that nobody saw, each in its turn."""
    for spot, number in option.served:
        own = story.hands[spot]
        since = [story.laid_at(hand) for hand in own]
        since += [card.at for hand in own for card in hand.cards]
        card = story.deal(spot, number, "up", min(max(since), now_ns - 1) + 1)
        story.holds[card.dealt] = now_ns + UNSEEN_HOLD_NS


def _is_to_stay(hand: Hand, card: InPlay) -> bool:
    """Return whether a card lies open on the felt until the dealer's hand is known."""
    return hand.owed or (card.face == "up" and not hand.settles_early)


def _left_at(story: Story, option: Option, look: Look) -> int:
    """Return when a card left the shoe, or the dealer's hand."""
    if option.draw is not None:
        return option.draw.left_at(look.at)
    if option.left_at is not None:
        return option.left_at
    return look.at - CARRY_NS if story.shoe else look.at


def _in_its_turn(
    story: Story, owner: Dealt, look: Look, claims: Sequence[Claim]
) -> Iterator[Claim]:
    """An unread card, seen late, may have come before those that were dealt after it.

    A spot's came before the cards of those whose turn was later, one of the dealer's before those
    that lie further along his row.
    """
    if owner == "dealer":
        yield from _in_its_place(story, look, claims)
        return
    hands = story.hands.get(owner, [])
    ends = {ended_at for hand in hands if (ended_at := turn_ended(story, hand)) is not None}
    for ended_at in sorted(ends):
        if look.at - ended_at > LAPSE_NS:
            continue
        on_way = sum(draw.certain and draw.at < ended_at for draw in story.supply.drawn)
        for claim in claims:
            if claim.draw is None and claim.at is None:
                further = (on_way + 1 - claim.skipped) * log(HIDDEN)
                if not story.shoe:
                    further -= (look.at - ended_at) / HIDDEN_FOR_NS
                earlier = Claim(claim.evidence + further, None, on_way)
                earlier.at = ended_at - 1
                yield earlier


def _in_its_place(story: Story, look: Look, claims: Sequence[Claim]) -> Iterator[Claim]:
    """An unread card of the dealer's came before the drawn ones that lie further along his row."""
    if look.face == "down" or not story.shoe:
        return
    further = [card.at for card in story.dealer[2:] if card.place and _beyond(card.place, look)]
    for claim in claims if further else ():
        if claim.draw is None and claim.at is None:
            earlier = Claim(claim.evidence + len(further) * log(HIDDEN), None, claim.skipped)
            earlier.at = min(further) - 1
            yield earlier


def _beyond(place: Place, look: Look) -> bool:
    return place.x_mm > look.place.x_mm + ROW_STEP_MM / 2


def _early(story: Story, card: InPlay) -> float:
    """Return how likely a card's player turns it up by now: he waits for his second card."""
    hand = story.hand_of(card)
    waits = hand is not None and len(hand.cards) < 2 and not hand.of_split
    return log(TURNED_IN_DEAL) if waits else 0.0


def _one_of_each(options: Iterable[tuple[InPlay, Option]], look: Look) -> list[Option]:
    """Of cards that nothing tells apart keep the one that fits best.

    Such are the backs of a hand that are off the felt or were never seen; and, for a card that is
    turned up, all backs of the hand.
    """
    best: dict[tuple[Dealt, int], Option] = {}
    single: list[Option] = []
    for card, option in options:
        known = card.reading is not None or card.face == "up"
        if known or (card.where == "felt" and look.face == "down"):
            single.append(option)
            continue
        key = (card.to, card.number)
        if key not in best or option.evidence > best[key].evidence:
            best[key] = option
    return [*single, *best.values()]


def _about(off_mm: float) -> float:
    """Return how likely a card lies so far from where it was due, per square millimetre."""
    return log(
        (1.0 - NEAR - ASTRAY) * exp(_gauss(off_mm, PLACE_SPREAD_MM))
        + NEAR * exp(_gauss(off_mm, NEAR_SPREAD_MM))
        + ASTRAY / ZONE_MM2
    )


def _in_row(
    story: Story, look: Look, besides: InPlay | None = None, *, before: int | None = None
) -> float:
    """Return how likely a card of the dealer's lies just there: beside his last, or anywhere.

    His last ``before`` a time, where it is known when the card left the shoe.
    """
    row = [
        card.place
        for card in story.dealer
        if card.where == "felt" and card is not besides and card.place is not None
        if before is None or card.at <= before
    ]
    if not row:
        return -log(ZONE_MM2)
    last = max(row, key=lambda place: place.x_mm)
    aside = look.place.x_mm - last.x_mm
    if look.face == "down":
        # The hole card lies half under the card that is up, on either side.
        off = hypot(abs(aside) - ROW_STEP_MM / 2, look.place.y_mm - last.y_mm)
        return log(IN_ROW * exp(_gauss(off, NEAR_SPREAD_MM)) + (1.0 - IN_ROW) / ZONE_MM2)
    off = hypot(aside - ROW_STEP_MM, look.place.y_mm - last.y_mm)
    return log(IN_ROW * exp(_about(off)) + (1.0 - IN_ROW) / ZONE_MM2)


def _gauss(off_mm: float, spread_mm: float) -> float:
    """Return the logarithm of a density in the plane, per square millimetre."""
    return -0.5 * (off_mm / spread_mm) ** 2 - log(2 * pi * spread_mm * spread_mm)


def _glimpsed(card: InPlay, look: Look) -> bool:
    """Return whether a back was only read as a face: not surely, and not as the shoe had it."""
    if card.said is None or look.reading is None:
        return False
    return max(look.reading.listed[0][1], look.reading.p(card.said)) < AGREED_P


def _of_nothing(look: Look) -> float:
    """Return how likely a sighting is of no card, beside looking so as a card; per mm²."""
    if look.face == "up":
        share = NO_FACE_DOUBTED / DOUBTED if look.doubted else (1 - NO_FACE_DOUBTED) / (1 - DOUBTED)
        return log(NO_FACE * share / ZONE_MM2)
    sure = look.seen.confidence
    if sure is None:
        return log(NO_BACK / ZONE_MM2)
    faint = NO_BACK_FAINT / FAINT if sure < FAINT_P else (1 - NO_BACK_FAINT) / (1 - FAINT)
    return log(NO_BACK * faint / ZONE_MM2)


def _doubted_again(card: InPlay, look: Look) -> bool:
    """Return whether a look in doubt repeats the last one: it would, whatever lies there."""
    if not look.doubted or look.afresh or look.seen.change != "read" or card.face != "up":
        return False
    if look.reading is None or look.reading.summed or card.reading is None:
        return False
    return look.reading.likeliest is card.reading.likeliest


def _alike(card: InPlay, look: Look) -> float:
    """Return how likely a card read so before looks so now; all faces alike would be 0."""
    if look.face == "down" or look.reading is None:
        return 0.0
    if card.reading is None:
        return alike(card.said, look.reading)
    mass = sum(p * card.reading.each(face) for face, p in look.reading.listed)
    return log(max(mass * _FACES, _MISREAD))
