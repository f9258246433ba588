"""What a new track may mean: a card that was dealt just now, or before."""

from collections.abc import Iterator, Sequence
from math import log
from typing import Final

from models.events import Dealt
from models.rulebook import Rulebook
from settlement.reckoning.grammar import (
    Coming,
    draws,
    due_in_deal,
    face_in_deal,
    hidden,
    turn_ended,
    unread,
    unread_left_at,
    unseen_ways,
)
from settlement.reckoning.in_play import InPlay
from settlement.reckoning.likeness import fresh, of_nothing
from settlement.reckoning.meaning import MOVED_MM, Look, Option, Room
from settlement.reckoning.odds import (
    HIDDEN,
    HIDDEN_LONG_NS,
    HIDDEN_TO_ANOTHER,
    KEPT,
    MISTAKE,
    TO_ANOTHER,
    TRACK_ERRS,
    ZONE_MM2,
    hidden_for,
)
from settlement.reckoning.places import MOST_LIKELY_PLACE, Places, beyond
from settlement.reckoning.shoe import LAPSE_NS, Claim, Shoe
from settlement.reckoning.story import Story
from settlement.reconcile.felt import Felt, apart_mm
from settlement.reconcile.timing import SECOND

_AT_WORK_NS: Final = 5 * SECOND
"""A camera that reported something so lately is at work. Chosen."""


class Deals:
    """The cards that a sighting may be, and to whom each may have been dealt.

    Args:
        felt: the layout that places are of.
        rules: the rulebook in force.
        room: how many more of a face can come by all rounds that are over.
        shoe: the shoe's reader, where cards come from one.
    """

    def __init__(self, felt: Felt, rules: Rulebook, room: Room, shoe: Shoe | None) -> None:
        self._felt, self._rules, self._room, self._shoe = felt, rules, room, shoe
        self._places = Places(felt, rules)

    def claims(self, story: Story, look: Look) -> list[Claim]:
        """Return which card of the decks it may be."""
        if self._shoe is None:
            return [Claim(fresh(story, look, self._room), None)]
        claims = self._shoe.claims(story, look.seen, look.reading)
        for claim in claims:
            if claim.draw is None:
                claim.evidence += fresh(story, look, self._room)
        return claims

    def first_card(
        self, story: Story, owner: Dealt, look: Look, claims: Sequence[Claim]
    ) -> Iterator[Option]:
        """The first card of a round."""
        if self._felt.tucked(look.place):
            return
        staked = story.lying_wagers()
        if not staked:
            return
        order: list[Dealt] = [*staked, "dealer"]
        due = face_in_deal(story, owner, self._rules)
        wrong = 0.0 if look.face == due else log(MISTAKE)
        for claim in claims:
            place = claim.evidence - log(ZONE_MM2)
            before = order.index(owner) - claim.skipped if owner in order else -1
            for unseen in unseen_ways(claim.skipped, before) if before >= 0 else ():
                yield Option(
                    before * hidden(story) + place,
                    claim.mistakes + wrong,
                    to=owner,
                    unseen=unseen,
                    kind="deal",
                    draw=claim.draw,
                    skipped=claim.skipped,
                )
            if before:
                yield Option(
                    place,
                    claim.mistakes + wrong + log(MISTAKE),
                    to=owner,
                    kind="deal",
                    draw=claim.draw,
                    passed=tuple(order[claim.skipped : order.index(owner)]) if before > 0 else (),
                )

    def later_card(
        self, story: Story, owner: Dealt, look: Look, claims: Sequence[Claim], least: float
    ) -> Iterator[Option]:
        """A card of the round in play, dealt just now or seen late; not all less likely ones."""
        order = due_in_deal(story, self._rules)
        # What is less likely than that no card lies there, wherever it is due, is dropped anyway.
        least = max(least, of_nothing(look) + log(KEPT)) - MOST_LIKELY_PLACE
        further = 0
        if unread(story):
            further = max(0, story.cameras.watching(look.place, look.at - _AT_WORK_NS) - 1)
        for claim in (*claims, *_in_its_turn(story, owner, look, claims)):
            step_ns = _step_ns(story, look, claim) if order or unread(story) else None
            lain_ns = (step_ns or 0) if claim.draw is None else look.at - claim.draw.at
            at = look.at if claim.at is None and not story.shoe else claim.at
            card = None if look.reading is None else look.reading.likeliest
            if claim.draw is not None and claim.draw.card is not None:
                card = claim.draw.card
            coming = Coming(
                look.face,
                at,
                claim.skipped,
                lain_ns,
                step_ns=step_ns,
                card=card,
                further=further,
            )
            for draw in draws(story, owner, coming, order, self._rules):
                odds = draw.evidence + draw.mistakes + claim.evidence + claim.mistakes
                if odds < least:
                    continue
                place = self._places.due(story, owner, draw.number, look, claim=claim)
                place += self._places.across(story, owner, draw.number, look)
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

    def next_round(
        self, story: Story, owner: Dealt, look: Look, claims: Sequence[Claim]
    ) -> Iterator[Option]:
        """The round in play was over, and the dealer's cards were not seen to go."""
        if not (story.revealed or story.called_off) or owner == "dealer" or not story.hands:
            return
        order = story.lying_wagers()
        if owner not in order:
            return
        wrong = 0.0 if look.face == self._rules.player_cards else log(MISTAKE)
        for claim in claims:
            before = order.index(owner) - claim.skipped
            # What the cards that lie there tell against it is weighed as the round is closed.
            evidence = before * hidden(story) - log(ZONE_MM2)
            for unseen in unseen_ways(claim.skipped, before) if before >= 0 else ():
                yield Option(
                    evidence + claim.evidence,
                    claim.mistakes + wrong,
                    to=owner,
                    unseen=unseen,
                    kind="next",
                    draw=claim.draw,
                    skipped=claim.skipped,
                )

    def upon_another(self, story: Story, card: InPlay, look: Look) -> Iterator[Option]:
        """A like card of the shoe, laid upon this one, took over its track."""
        if not story.supply.drawn or card.place is None or card.to == "dealer":
            return
        if "down" in (look.face, card.face) or apart_mm(card.place, look.place) <= MOVED_MM:
            return
        order = due_in_deal(story, self._rules)
        for claim in self.claims(story, look):
            if claim.draw is None or claim.draw.card is not card.card:
                continue
            coming = Coming("up", claim.draw.at, claim.skipped)
            for draw in draws(story, card.to, coming, order, self._rules):
                place = self._places.due(story, card.to, draw.number, look, claim=claim)
                yield Option(
                    log(TRACK_ERRS * ZONE_MM2) + draw.evidence + place + claim.evidence,
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


def _step_ns(story: Story, look: Look, claim: Claim) -> int | None:
    """Return how long after the card before it one came; ``None`` where that is not known."""
    if unread(story):
        return unread_left_at(story, look.at) - story.dealt_at
    if claim.draw is None or not claim.draw.timed:
        return None
    times = [card.at for card in story.cards()]
    times += [draw.at for draw in story.supply.drawn if draw.certain]
    before = [at for at in times if at < claim.draw.at]
    return claim.draw.at - max(before) if before else None


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
                if story.shoe:
                    further = (on_way + 1 - claim.skipped) * log(HIDDEN)
                else:
                    since = min(ended_at, look.at - _AT_WORK_NS)
                    others = story.cameras.watching(look.place, since) - 1
                    long = look.at - ended_at > HIDDEN_LONG_NS
                    further = hidden_for(look.at - ended_at)
                    further += max(0, others) * log(TO_ANOTHER if long else HIDDEN_TO_ANOTHER)
                earlier = Claim(claim.evidence + further, None, on_way)
                earlier.at = ended_at - 1
                yield earlier


def _in_its_place(story: Story, look: Look, claims: Sequence[Claim]) -> Iterator[Claim]:
    """An unread card of the dealer's came before the drawn ones that lie further along his row."""
    if look.face == "down" or not story.shoe:
        return
    further = [card.at for card in story.dealer[2:] if card.place and beyond(card.place, look)]
    for claim in claims if further else ():
        if claim.draw is None and claim.at is None:
            earlier = Claim(claim.evidence + len(further) * log(HIDDEN), None, claim.skipped)
            earlier.at = min(further) - 1
            yield earlier
