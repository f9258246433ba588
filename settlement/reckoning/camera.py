"""What a camera's observation may mean in a story, and how likely it is there."""

from collections.abc import Iterable, Iterator, Sequence
from math import inf, log

from models.events import Dealt
from models.rulebook import Rulebook
from settlement.reckoning.deals import Deals
from settlement.reckoning.grammar import (
    Coming,
    due_in_deal,
    hidden,
    owed_before,
)
from settlement.reckoning.in_play import Hand, InPlay
from settlement.reckoning.likeness import doubted_again, fresh, glimpsed, looks_alike, of_nothing
from settlement.reckoning.meaning import MOVED_MM, Look, Option, Room
from settlement.reckoning.odds import (
    BACK_AS_FACE,
    COMES_BACK,
    DOUBTED,
    HIDDEN_LONG_NS,
    MISSED,
    MISTAKE,
    MOVES,
    SAME_PLACE_MM,
    SEEN_AGAIN,
    TO_ANOTHER,
    TRACK_BROKEN,
    TRACK_ERRS,
    UNUSUAL,
    ZONE_MM2,
)
from settlement.reckoning.places import Places, spread
from settlement.reckoning.shoe import Claim, Shoe
from settlement.reckoning.story import LEFT, NO_BACK_THERE, Story
from settlement.reconcile.felt import Felt, apart_mm
from settlement.reconcile.timing import SECOND


class Camera:
    """The cameras as one sense.

    Args:
        felt: the layout that places are of.
        rules: the rulebook in force.
        room: how many more of a face can come by all rounds that are over.
        shoe: the shoe's reader, where cards come from one.
    """

    def __init__(self, felt: Felt, rules: Rulebook, room: Room, shoe: Shoe | None) -> None:
        self._felt, self._rules, self._room = felt, rules, room
        self._places, self._deals = Places(felt, rules), Deals(felt, rules, room, shoe)

    def options(self, story: Story, look: Look, least: float = -inf) -> list[Option]:
        """Return what a sighting may mean; what is less likely than ``least`` may be left out."""
        meanings = self._meanings(story, look, least)
        if look.face == "down" or story.revealed:
            return meanings
        if "dealer" in due_in_deal(story, self._rules):
            _charge_hole_card(story, meanings)
        if not _owed(story, None):
            return meanings
        return [one for option in meanings for one in _with_cards_owed(story, option)]

    def _meanings(self, story: Story, look: Look, least: float) -> list[Option]:
        known = story.tracks.get(look.track)
        if known is not None:
            card = story.card(known)
            if card is not None:
                return [
                    *self._of_known(story, card, look),
                    *self._deals.upon_another(story, card, look),
                ]
            if known == LEFT:
                return [Option(0.0)]
            same_side = (known == NO_BACK_THERE) == (look.face == "down")
            if look.seen.change == "read" and same_side:
                if look.further:
                    return [Option(log(TO_ANOTHER))]
                again = 1.0 if look.doubted and look.seen.single_look else SEEN_AGAIN
                return [Option(log(again))]
        found = self._of_new(story, look, least)
        return [*found, *self._of_back(story, look, least)] if look.doubted else found

    def _of_back(self, story: Story, look: Look, least: float) -> Iterator[Option]:
        """A face in doubt is the back of a card."""
        for option in self._of_new(story, look.of_back, least):
            if option.kind != "none":
                option.evidence += log(BACK_AS_FACE / DOUBTED)
                option.as_back = True
                yield option

    def _of_known(self, story: Story, card: InPlay, look: Look) -> list[Option]:
        evidence = 0.0 if doubted_again(card, look) else looks_alike(card, look)
        if card.face == "up" and look.face == "down":
            evidence += log(MOVES)
        # Where cameras differ, one that reads a card again sees it where it saw it before.
        lies = look.seen.change == "read" or card.face != look.face
        moved = card.place is not None and apart_mm(card.place, look.place) > MOVED_MM
        if moved and not lies:
            evidence += log(MOVES)
        if card.face == "down" and look.face == "up" and glimpsed(card, look):
            return [Option(log(BACK_AS_FACE), kind="none")]
        if card.face == "down" and look.face == "up":
            in_deal = bool(due_in_deal(story, self._rules))
            evidence += _early(story, card, look, in_deal=in_deal)
        seen = Option(evidence, ident=card.ident, kind="seen")
        if card.face == "up" or not look.doubted:
            return [seen]
        # A look repeats the last one while nothing moves, whatever lies there.
        again = card.as_face and look.seen.change == "read"
        as_face = 0.0 if again else log(BACK_AS_FACE / DOUBTED) + (log(MOVES) if moved else 0.0)
        still_down = Option(as_face, kind="none")
        return [still_down] if again else [seen, still_down]

    def _of_new(self, story: Story, look: Look, least: float) -> list[Option]:
        claims = self._deals.claims(story, look)
        if self._felt.aside(look.place):
            return _aside(story, look, claims)
        owners = self._felt.zone(look.place).owners
        in_deal = story.in_play and bool(due_in_deal(story, self._rules))
        found = [Option(of_nothing(look))]
        for owner in owners:
            if not story.in_play:
                found += self._deals.first_card(story, owner, look, claims)
                continue
            again = (
                (card, option)
                for card in story.own(owner)
                for option in self._again(story, card, look, in_deal=in_deal)
            )
            found += _one_of_each(again, look)
            if not self._felt.tucked(look.place):
                found += self._deals.later_card(story, owner, look, claims, least)
                found += self._deals.next_round(story, owner, look, claims)
        return found

    def _again(self, story: Story, card: InPlay, look: Look, *, in_deal: bool) -> Iterator[Option]:
        """A card in play, on a new track."""
        if card.where == "unseen":
            place = self._places.unseen(story, card, look)
            early = _early(story, card, look, in_deal=in_deal)
            other = 0.0 if card.face == look.face else log(COMES_BACK) + early
            mistakes = 0.0
            if look.face == "down" and card.face == "up":
                mistakes = log(MISTAKE) if card.to == "dealer" else 0.0
                other = 0.0 if mistakes else log(MOVES)
            looks = (
                looks_alike(card, look)
                if card.shoe_card is not None
                else fresh(story, look, self._room)
            )
            evidence = place + other + looks
            yield Option(evidence, mistakes, ident=card.ident, kind="again")
            if in_deal and card.to != "dealer" and (card.face, look.face) == ("down", "up"):
                # Its face was hidden all the time; a back may have been missed, and turned up now.
                long_ns = max(0, look.at - card.at - HIDDEN_LONG_NS)
                evidence = place + looks - long_ns / HIDDEN_LONG_NS
                yield Option(evidence, log(MISTAKE), ident=card.ident, kind="again", dealt_up=True)
            return
        if card.where == "off":
            yield from self._back(story, card, look)
            return
        alike, hand = looks_alike(card, look), story.hand_of(card)
        assert card.place is not None
        if card.face == look.face:
            off = apart_mm(card.place, look.place)
            same = log(TRACK_ERRS) + spread(off, SAME_PLACE_MM)
            if look.face == "down" and self._another_is_held(story, card):
                same += log(MISSED)
            yield Option(same + alike, ident=card.ident, kind="again")
            apart = hand is not None and hand.waits_for_second
            moved = (0.0 if apart else log(TRACK_BROKEN)) - log(ZONE_MM2)
            if card.tucked or look.at - card.rested_at < SECOND:
                moved += log(MOVES)
            moved += self._places.side(story, hand, look)
            yield Option(moved + alike, ident=card.ident, kind="again")
        elif look.face == "up":
            soon = look.at - card.rested_at < SECOND
            yield Option(
                log(5 * TRACK_BROKEN * (MOVES if soon else 1.0))
                + self._places.again(story, card, look)
                + alike
                + _early(story, card, look, in_deal=in_deal),
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
        alike = looks_alike(card, look)
        if card.face == "up" and look.face == "down":
            return
        if look.face == "down" and self._felt.tucked(look.place):
            yield Option(log(COMES_BACK) - log(ZONE_MM2) + alike, ident=card.ident, kind="again")
            return
        settled = hand is not None and hand.paid >= 0
        prior = MOVES if look.face == "down" else TRACK_ERRS if settled else COMES_BACK
        place = self._places.again(story, card, look) + self._places.side(story, hand, look)
        yield Option(log(prior) + place + alike, ident=card.ident, kind="again")


def _aside(story: Story, look: Look, claims: Sequence[Claim]) -> list[Option]:
    """A card where cards out of play lie: one that the dealer burned, or nothing of the round."""
    drawn = [claim for claim in claims if claim.draw in story.supply.drawn]
    if not drawn:
        return [Option(0.0)]
    burned = 0.0 if story.supply.fresh_shoe is not None else log(UNUSUAL)
    burned -= log(ZONE_MM2)
    found = [Option(burned + one.evidence, kind="aside", draw=one.draw) for one in drawn]
    return [*found, Option(of_nothing(look))]


def _charge_hole_card(story: Story, options: Iterable[Option]) -> None:
    """A dealer who turns up his first card before his second comes makes a mistake."""
    for option in options:
        card = story.card(option.ident) if option.kind in ("seen", "again") else None
        if card is not None and card.to == "dealer" and card.face == "down" and not option.as_back:
            option.mistakes += log(MISTAKE)


def _with_cards_owed(story: Story, option: Option) -> list[Option]:
    """Return what it means that a card is turned up while hands before it are owed one.

    The dealer or the player acted too soon, or their cards came and nobody saw them.
    """
    card = story.card(option.ident) if option.kind in ("seen", "again") else None
    if card is None or card.face == "up" or option.as_back:
        return [option]
    owed = _owed(story, story.hand_of(card))
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
        option.evidence += log(UNUSUAL)
    return [option, came]


def _owed(story: Story, hand: Hand | None) -> tuple[Hand, ...]:
    """Return the hands that lack a card before another acts, but for those on their way."""
    on_way = sum(draw.certain for draw in story.supply.drawn)
    return owed_before(story, hand, Coming("up", skipped=on_way))


def _early(story: Story, card: InPlay, look: Look, *, in_deal: bool) -> float:
    """Return how likely a card's player turns it up by now.

    He waits for his second card, and where that makes no natural for the end of the deal.
    """
    hand = story.hand_of(card)
    if hand is None or hand.of_split:
        return 0.0
    natural_yet = look.reading is None or look.reading.likeliest.points in (1, 10)
    waits = len(hand.cards) < 2 or (in_deal and not natural_yet)
    return log(UNUSUAL) if waits else 0.0


def _one_of_each(options: Iterable[tuple[InPlay, Option]], look: Look) -> list[Option]:
    """Of cards that nothing tells apart keep the one that fits best.

    Such are the backs of a hand that are off the felt or were never seen; and, for a card that is
    turned up, all backs of the hand.
    """
    best: dict[tuple[Dealt, int], Option] = {}
    single: list[Option] = []
    for card, option in options:
        known = card.reading is not None or card.face == "up" or option.dealt_up
        if known or (card.where == "felt" and look.face == "down"):
            single.append(option)
            continue
        key = (card.to, card.number)
        if key not in best or option.evidence > best[key].evidence:
            best[key] = option
    return [*single, *best.values()]
