"""What a shoe that reads its cards reports, and where each card of it may have gone."""

from collections.abc import Iterator
from math import exp, log
from typing import Final

from msgspec.structs import replace

from models.cards import DECK, Card
from models.events import (
    CardBoxed,
    CardBurned,
    CardDealt,
    CardSighted,
    Dealt,
    Face,
    ReaderFault,
    ShoeCardRead,
)
from models.judgements import Review
from models.rulebook import Rulebook
from settlement.reckoning.differing import gone_unseen
from settlement.reckoning.grammar import due_in_deal, face_in_deal, takers
from settlement.reckoning.in_play import InPlay
from settlement.reckoning.odds import (
    GOES_UNSEEN,
    HIDDEN,
    LATE,
    MISSED,
    MISTAKE,
    NO_CARD_READ,
    PUSHES,
    SHOE_MISSED,
)
from settlement.reckoning.story import Story
from settlement.reconcile.draws import LARGEST_GAP, Draw, ShoeCount, merged, possible_draw, unread
from settlement.reconcile.identity import READ_AS_P, SHOE_MISREAD_P
from settlement.reconcile.looks import Reading, meant_by
from settlement.reconcile.timing import (
    CARRY_NS,
    ENTRY_NS,
    ORPHAN_NS,
    PATIENCE_NS,
    SECOND,
    SHORTEST_CARRY_NS,
)

LAPSE_NS: Final = 17 * SECOND // 2
"""A card that left the shoe and did not come to rest by then went unseen; what a person enters of
it comes before that."""

MOST_ON_WAY: Final = 3
"""So many cards on their way are weighed as the one that came just then."""


class Claim:
    """Which card that left the shoe a sighting may be."""

    def __init__(
        self, evidence: float, draw: Draw | None, skipped: int = 0, mistakes: float = 0.0
    ) -> None:
        self.evidence, self.draw, self.mistakes = evidence, draw, mistakes
        self.skipped = skipped
        """Cards that left the shoe before it and did not come to rest yet."""
        self.at: int | None = None if draw is None else draw.at
        """When it left the shoe; ``None`` for just now."""


class Way:
    """Where a card may have gone that the shoe read and no camera saw."""

    def __init__(
        self,
        evidence: float,
        mistakes: float,
        to: Dealt | None,
        number: int = 0,
        *,
        turned: bool = False,
        opens: bool = False,
    ) -> None:
        self.evidence, self.mistakes, self.turned = evidence, mistakes, turned
        self.opens = opens
        """Whether it is the first card of a round that nobody saw begin."""
        self.to, self.number = to, number
        """Whose it became; ``None``: it was put aside, or was no card."""


class Shoe:
    """The shoe's reader as one sense.

    Args:
        rules: the rulebook in force.
    """

    def __init__(self, rules: Rulebook) -> None:
        self._rules = rules
        self._count = ShoeCount()

    # --- what it reports ----------------------------------------------------------------------

    def read(self, read: ShoeCardRead) -> tuple[Draw, ...]:
        """Return the cards that a reading shows to have left the shoe."""
        return self._count.read(read)

    def loaded(self) -> None:
        """Count from the start again."""
        self._count.loaded()

    def fault(self, fault: ReaderFault) -> tuple[tuple[Draw, ...], str | None]:
        """Return the card that may have passed behind a fault, and what a person is asked."""
        what = None
        if fault.kind == "link_lost":
            self._count.lost(fault.at or 0)
        elif fault.kind == "uncounted":
            self._count.returned(fault.at or 0)
        elif unread(fault) > LARGEST_GAP:
            what = (
                "Did the round go as recorded? "
                f"{unread(fault)} cards left the shoe unread: {fault.detail}."
            )
        draw = possible_draw(fault)
        return () if draw is None else (draw,), what

    def take(self, story: Story, draws: tuple[Draw, ...]) -> None:
        """Take cards that left the shoe into a story."""
        if not draws:
            return
        story.supply.drawn = merged(story.supply.drawn, draws)
        for draw in draws:
            if draw in story.supply.drawn and (_explains(story, draw) or _put_aside(story, draw)):
                story.supply.drawn.remove(draw)

    # --- which card is which --------------------------------------------------------------------

    def claims(self, story: Story, seen: CardSighted, look: Reading | None) -> list[Claim]:
        """Return which card of the shoe a card on the felt may be, ``None`` for an unread one."""
        at = seen.at or 0
        found: list[Claim] = []
        skipped = 0
        for draw in story.supply.drawn:
            if not draw.earliest + SHORTEST_CARRY_NS <= at <= draw.at + LAPSE_NS:
                continue
            evidence = skipped * log(HIDDEN) + _late(draw, at) + alike(draw.card, look)
            found.append(Claim(evidence, draw, skipped))
            skipped += draw.certain
        found += self._unread(story, at, skipped, max((one.evidence for one in found), default=0.0))
        found += [
            Claim(alike(draw.card, look), draw, skipped, log(MISTAKE))
            for draw in story.supply.boxed
            if 0 < at - draw.at < ENTRY_NS
        ]
        return found

    def _unread(self, story: Story, at: int, skipped: int, read: float) -> Iterator[Claim]:
        """Yield an unread card; where no card that was ``read`` fits, also one hidden for long."""
        missed = 0.0 if self._count.disconnected(at - CARRY_NS) else log(SHOE_MISSED)
        latest = Claim(skipped * log(HIDDEN) + missed, None, skipped)
        yield latest
        if read >= log(HIDDEN) or not skipped:
            return
        on_way = [draw for draw in story.supply.drawn if draw.certain][:MOST_ON_WAY]
        for before, draw in enumerate(on_way):
            if draw.at < at - CARRY_NS:
                earlier = Claim((before + 1) * log(HIDDEN) + missed, None, before)
                earlier.at = draw.at - 1
                yield earlier

    # --- what nobody saw ------------------------------------------------------------------------

    def lapsed(self, story: Story, now_ns: int) -> Draw | None:
        """Return a card that must have gone unseen by now."""
        over_at, drawn = story.over_at, story.supply.drawn
        overdue = [
            draw
            for draw in drawn
            if now_ns - draw.at > (LAPSE_NS if draw.certain else ORPHAN_NS) or 0 < draw.at < over_at
        ]
        for draw in overdue:
            if draw.certain:
                return draw
            drawn.remove(draw)
        return None

    def overdue_entries(self, story: Story, now_ns: int) -> None:
        """State what people entered of cards that the shoe never read."""
        for fact in story.supply.entered[:]:
            if now_ns - (fact.at or 0) > PATIENCE_NS:
                story.supply.entered.remove(fact)
                story.start_shoe()
                story.state_in_turn(fact)

    def ways(self, story: Story, draw: Draw) -> list[Way]:
        """Return where a card may have gone that nobody saw."""
        aside = Way(log(NO_CARD_READ), 0.0, None)
        staked = story.lying_wagers()
        if not story.in_play:
            return [Way(log(MISSED), 0.0, staked[0], opens=True), aside] if staked else [aside]
        due = due_in_deal(story, self._rules)
        if due:
            return [Way(log(MISSED), 0.0, due[0]), aside]
        found = [
            Way(log(MISSED) + one.evidence, one.mistakes, to, one.number, turned=one.turned)
            for to, one in takers(story, draw.at)
        ]
        blind = all(card.where == "unseen" for card in story.cards())
        anew = any(all(hand.paid >= 0 for hand in story.hands.get(spot, [])) for spot in staked)
        if anew and blind and any(hand.paid >= 0 for hand in story.all_hands()):
            # No camera sees: nor did it see the cards of the round before go. Somebody has bet
            # anew; other hands may have been left alone.
            unpaid = sum(hand.paid < 0 for hand in story.all_hands())
            over = log(MISSED * GOES_UNSEEN) + unpaid * log(PUSHES)
            found.append(Way(over, 0.0, staked[0], opens=True))
        return [*found, aside]

    def go(self, story: Story, draw: Draw, way: Way) -> None:
        """Have a card that nobody saw go one way."""
        story.weigh("shoe", way.evidence)
        story.mistakes += way.mistakes
        if way.to is None:
            story.supply.drawn.remove(draw)
            what = gone_unseen(draw.card, _since(story, draw))
            candidates = () if draw.card is None else (str(draw.card),)
            story.asks.append(Review(what, candidates, draw.seqs))
            return
        if way.opens:
            if story.in_play:
                story.close_round(draw.at - 1, draw.seqs)
            story.start_shoe()
            story.open_round(draw.at)
        face: Face = "up"
        if due_in_deal(story, self._rules):
            face = face_in_deal(story, way.to, self._rules)
        if way.turned:
            story.turn_unseen(draw.at - 1)
        story.deal(way.to, way.number, face, draw.at, draw=draw)


def _since(story: Story, draw: Draw) -> str:
    """Return the words for a card that may have gone in the round before already."""
    if draw.card is not None or draw.timed:
        return ""
    opened_at = story.fact(story.opened).at if story.in_play else None
    in_this = opened_at is not None and draw.earliest >= opened_at
    return "" if in_this else " in this round or the one before"


def enter(story: Story, fact: CardBurned | CardBoxed) -> None:
    """Take in that a person states a card to be out of play, whichever card of the shoe it was."""
    near = [draw for draw in story.supply.drawn if _is_entered(draw, fact)]
    if near:
        draw = min(near, key=lambda one: abs(one.at - (fact.at or 0)))
        story.supply.drawn.remove(draw)
        _out_of_play(story, fact, draw)
    else:
        story.supply.entered.append(fact)


def _put_aside(story: Story, draw: Draw) -> bool:
    """A person stated before that a card is out of play."""
    for fact in story.supply.entered:
        if _is_entered(draw, fact):
            story.supply.entered.remove(fact)
            _out_of_play(story, fact, draw)
            return True
    return False


def _is_entered(draw: Draw, fact: CardBurned | CardBoxed) -> bool:
    if not draw.certain or abs(draw.at - (fact.at or 0)) >= ENTRY_NS:
        return False
    return fact.card is None or draw.card is None or fact.card is draw.card


def _out_of_play(story: Story, fact: CardBurned | CardBoxed, draw: Draw) -> None:
    if isinstance(fact, CardBoxed):
        story.supply.boxed.append(draw)
    story.state_in_turn(
        replace(
            fact,
            at=draw.at,
            card=fact.card or draw.card,
            evidence=tuple(sorted({*draw.seqs, *fact.evidence})),
        )
    )


def _explains(story: Story, draw: Draw) -> bool:
    """A card that the shoe is late to count lies on the felt already."""
    if not story.in_play:
        return False
    for card in story.cards():
        rested_at = card.at + CARRY_NS
        if card.announced or card.where == "unseen":
            continue
        if draw.earliest + SHORTEST_CARRY_NS <= rested_at <= draw.at + LAPSE_NS:
            _announce(story, card, draw)
            return True
    return False


def _announce(story: Story, card: InPlay, draw: Draw) -> None:
    card.announced, card.clocked = True, draw.timed
    card.seqs += draw.seqs
    if card.shoe_card is None:
        card.shoe_card = draw.card
    fact = story.fact(card.dealt) if card.dealt >= max(story.published, story.base) else None
    if isinstance(fact, CardDealt) and card.face == "down":
        story.amend(card.dealt, replace(fact, card=card.shoe_card, evidence=card.seqs))
    else:
        story.restate(card, draw.at, story.published)


def _late(draw: Draw, at: int) -> float:
    """Return how likely a card comes to rest then, compared with one that comes in time."""
    off_s = abs(at - draw.at - CARRY_NS) / SECOND if draw.timed else 0.5
    return log(LATE + (1.0 - LATE) * exp(-off_s * off_s * 2.0))


def alike(shoe_card: Card | None, look: Reading | None) -> float:
    """Return how likely a card that the shoe read so looks so; all faces alike would be 0."""
    if shoe_card is None or look is None:
        return 0.0
    meant = meant_by(shoe_card)
    seen = sum([look.share(face) for face in meant]) / len(meant)
    mass = (1.0 - SHOE_MISREAD_P) * seen
    return log(len(DECK) * (mass + READ_AS_P))
