"""Observations in, facts and review items out: the likeliest story of a table, and its rivals."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from math import exp, inf, log
from typing import Final, Literal, TypeAlias

from msgspec import UNSET

from models.cards import Card
from models.events import (
    AnyFact,
    AnyObservation,
    CameraFault,
    CardBoxed,
    CardBurned,
    CardDealt,
    CardExposed,
    CardGone,
    CardSighted,
    ConsoleEntry,
    CutCardReached,
    Dealt,
    DiscardsReshuffled,
    Fact,
    ForeignCardSighted,
    HandCalledOff,
    PaymentMade,
    PlateRead,
    ReaderFault,
    RoundCalledOff,
    RoundClosed,
    RoundOpened,
    ShoeCardRead,
    ShoeCutCard,
    ShoeLoaded,
    ShoeStarted,
)
from models.judgements import AnyEvent, Review, ReviewRaised
from models.layout import TableLayout
from models.rulebook import Rulebook
from settlement.reckoning import chips, entries, going
from settlement.reckoning.asked import Asked
from settlement.reckoning.camera import Camera
from settlement.reckoning.closing import Closing
from settlement.reckoning.meaning import Look, Option
from settlement.reckoning.moves import Moves
from settlement.reckoning.odds import (
    AGREED,
    ASKED_FROM,
    KEPT,
    MANY_STORIES,
    MOST_STORIES,
    STORIES_APART,
    TRACK_ERRS,
    TWIN_LINGERS,
)
from settlement.reckoning.record import gist
from settlement.reckoning.shoe import Shoe
from settlement.reckoning.story import Story
from settlement.reckoning.taking import Taking
from settlement.reconcile.blindness import Blindness
from settlement.reconcile.cameras import Cameras, Joined
from settlement.reconcile.clinging import Clinging
from settlement.reconcile.clocks import Clocks
from settlement.reconcile.draws import Composition, Draw
from settlement.reconcile.felt import Felt
from settlement.reconcile.learned import Learned
from settlement.reconcile.reviews import seen_amiss
from settlement.reconcile.timing import SECOND

Dealing: TypeAlias = Literal["shoe", "pitch"]
Published: TypeAlias = AnyFact | ReviewRaised

_END_NS: Final = 60 * SECOND
"""After the last observation nothing is waited for any longer than this."""


_ROUNDED: Final = 1.0 + 1e-9
"""Sums of logarithms are exact to about this factor: equal odds stay equal in any order."""


class Reckoning:
    """One table's sensors, as one inference.

    Pure: the same observations in the same order give the same facts.

    Args:
        rules: the rulebook in force.
        layout: the felt that the cameras' millimetres are of.
        dealing: whether cards come from a shoe that reads them, or from the dealer's hand.
        played: the rounds of the session that are over.
    """

    def __init__(
        self,
        rules: Rulebook,
        layout: TableLayout,
        dealing: Dealing = "shoe",
        *,
        played: int = 0,
    ) -> None:
        self._rules = rules
        self._felt = Felt(layout)
        self._decks = Composition(
            rules.decks, without=rules.pack_without, continuous=rules.shoe == "continuous"
        )
        self._shoe = Shoe(rules) if dealing == "shoe" else None
        self._camera = Camera(self._felt, rules, self._decks.room, self._shoe)
        self._taking = Taking(self._felt, rules, self._decks.room)
        self._cameras = Cameras()
        self._blindness = Blindness()
        self._clinging = Clinging()
        self._clocks = Clocks()
        self._parting: dict[str, str] = {}
        """The cameras whose clocks parted from the shoe's in the round in play."""
        alone = self._shoe is None
        self._closing = Closing(rules, self._felt, self._decks, self._clinging, alone=alone)
        self._unknown: Counter[tuple[Dealt, int]] = Counter()
        """Cards of the round in play that were dealt unread and may yet be shown."""
        self._lying: defaultdict[tuple[Dealt, int], list[Card]] = defaultdict(list)
        """Cards of the round in play whose hands were not settled yet."""
        first = Story(self._cameras, Moves(rules), shoe=dealing == "shoe")
        first.round = played
        self._stories = [first]
        self._published = 0
        self._over: tuple[AnyFact, ...] = ()
        """The facts of the last round that is over; none once the next one is opened."""
        self._stated: dict[int, AnyFact] = {}
        """The published facts of the round in play, by their place."""
        self._in_play = 0
        """The round in play by the published facts; 0 between rounds."""
        self._dropped = 0.0
        """The odds of stories that there was no room for, in the round in play."""
        self._now = 0

    def recall(self, events: Iterable[AnyEvent]) -> None:
        """Count what left the decks in rounds of the session that are over."""
        known = list(events)
        self._clinging.recall(known)
        self._cameras.recall(known)
        for event in known:
            self._count(event)
        self._decks.round_over()
        self.know_last_round(known)

    def know_last_round(self, events: Iterable[AnyEvent]) -> None:
        """Know the facts of the last round of earlier events: it may still be called off."""
        own: list[AnyFact] = []
        for event in events:
            if isinstance(event, RoundOpened):
                own = [event]
            elif own and isinstance(event, Fact):
                own.append(event)
        self._over = tuple(own)

    def learned(self) -> Learned:
        """Return what rounds that are over taught of the cameras, beside what the shoe holds."""
        return self._clinging.learned(), self._cameras.learned()

    def go_on(self, learned: Learned) -> None:
        """Go on between two shoes, from what an earlier table had learned there."""
        slips, covers = learned
        self._clinging.go_on(slips)
        self._cameras.go_on(covers)

    @property
    def parted(self) -> Mapping[str, str]:
        """How the clock of each camera parts from the shoe's; without those that agree."""
        return self._clocks.parted

    def left_of(self, card: Card) -> int:
        """Return how many of a face the decks can still hold."""
        return self._decks.room(card)

    def feed(self, observation: AnyObservation, through_ns: int) -> tuple[Published, ...]:
        """Take one observation in; ``through_ns`` is how far the sources have been read."""
        published = self.advance(through_ns)
        asked: tuple[Published, ...] = ()
        self._blindness.take(observation)
        self._clocks.take(observation)
        self._parting |= self._clocks.parted
        match observation:
            case ShoeCardRead() | ShoeCutCard() | ShoeLoaded():
                self._of_shoe(observation)
            case CardSighted():
                if self._shoe is not None:
                    self._clinging.observed(observation)
                self._of_cameras(self._cameras.sighted(observation))
            case CardGone():
                self._of_cameras(self._cameras.gone(observation))
            case PlateRead():
                self._plate(observation)
            case ConsoleEntry():
                asked = self._entered(observation)
            case ReaderFault():
                self._fault(observation)
            case ForeignCardSighted() | CameraFault(kind="moved" | "unwatched"):
                self._ask(seen_amiss(observation), observation)
        return published + asked + self.advance(through_ns)

    def advance(self, now_ns: int) -> tuple[Published, ...]:
        """Tell that the sources have been read up to ``now_ns``."""
        self._now = max(self._now, now_ns)
        self._of_cameras(self._cameras.due(self._now))
        self._lapse()
        closed = [story.close_if_over(self._now) for story in self._stories]
        if any(closed):
            self._prune()
        return tuple(self._publish())

    def finish(self) -> tuple[Published, ...]:
        """Tell that the session is over."""
        at = self._now
        published = list(self.advance(at + _END_NS))
        for story in self._stories:
            story.end_session()
        self._prune()
        published += self._publish()
        best = self._stories[0]
        for fact in best.record[self._published - best.base :]:
            if isinstance(fact, CardDealt | CardExposed):
                self._ask_too_many(fact)
            self._count(fact)
            published.append(fact)
        self._published = best.end
        if best.in_play:
            what = "How did the round end? The session ended before its cards were taken up."
            asked = [*self._closing.unfinished(best, self._stories), Asked(Review(what, (), ()))]
            asked = [clocks_part(self._parting)] if self._parting else asked
            published += [_raised(one, best.round, at) for one in asked]
        return tuple(published)

    # --- observations ---------------------------------------------------------------------

    def _of_cameras(self, joined: Sequence[Joined]) -> None:
        for one in joined:
            if isinstance(one, CardGone):
                self._gone(one)
            else:
                self._sighted(Look(one))

    def _sighted(self, look: Look) -> None:
        branches: list[tuple[float, Story, Option]] = []
        most = -inf
        for story in self._stories:
            least = most + log(KEPT)
            for option in self._camera.options(story, look, least - story.weight):
                weight = story.weight + option.evidence + option.mistakes
                if weight >= least:
                    branches.append((weight, story, option))
                    most = max(most, weight)
        branches = [branch for branch in branches if branch[0] >= most + log(KEPT)]
        if len(branches) > 1:
            branches.sort(key=lambda branch: -branch[0])
        room = self._room
        if len(branches) > room:
            self._drop(sum([exp(branch[0] - most) for branch in branches[room:]]))
            del branches[room:]
        uses: dict[int, int] = {}
        for _, story, _ in branches:
            uses[id(story)] = uses.get(id(story), 0) + 1
        found: list[Story] = []
        for _, story, option in branches:
            uses[id(story)] -= 1
            own = story.copy() if uses[id(story)] else story
            found.append(own)
            self._taking.apply(own, option, look, self._published)
        self._stories = found
        self._prune()

    def _gone(self, gone: CardGone) -> None:
        witnesses = self._cameras.witnesses((gone.source, gone.track))
        if witnesses is not None:
            for story in self._stories:
                going.attest(story, gone, witnesses)
        found: list[Story] = []
        for story in self._stories:
            if going.has_twin(story, gone):
                went = story.copy()
                went.weigh("camera", log(TWIN_LINGERS))
                going.leave(went, gone, wholly=True)
                found.append(went)
            if not going.may_end(story, gone):
                going.leave(story, gone)
                found.append(story)
                continue
            lost = story.copy()
            rounds, over_at = len(story.closed), story.over_at
            going.leave(story, gone)
            found.append(story)
            if not over_at and (story.over_at or len(story.closed) > rounds):
                lost.weigh("camera", log(TRACK_ERRS))
                ident = lost.tracks.pop((gone.source, gone.track), 0)
                card = lost.card(ident)
                if card is not None:
                    card.where = "off"
                found.append(lost)
        self._stories = found
        self._prune()

    def _plate(self, read: PlateRead) -> None:
        change = chips.Change(read)
        found: list[Story] = []
        for story in self._stories:
            meanings = chips.meanings(story, change, self._rules)
            copies = [story, *(story.copy() for _ in meanings[1:])]
            for own, meaning in zip(copies, meanings, strict=True):
                chips.apply(own, meaning, change, self._published)
            found += copies
        self._stories = found
        self._prune()

    def _entered(self, entry: ConsoleEntry) -> tuple[Published, ...]:
        """Take an entry in; return what is asked of a round that it calls off once it is over."""
        fact = entries.stated(entry)
        is_late = isinstance(fact, RoundCalledOff | HandCalledOff) and self._is_over()
        self._state(fact)
        if not is_late or not self._over:
            return ()
        self._over = (*self._over, fact)
        number = next(one.round for one in self._over if isinstance(one, RoundOpened))
        return tuple(_raised(one, number, fact.at) for one in self._closing.ruled_late(self._over))

    def _is_over(self) -> bool:
        """Return whether the last round is over and published, and the next one not begun."""
        return not any(story.in_play or story.closed for story in self._stories)

    def _state(self, fact: AnyFact) -> None:
        for story in self._stories:
            entries.take(story, fact, self._rules)

    def _drawn(self, draws: tuple[Draw, ...]) -> None:
        if self._shoe is not None:
            for story in self._stories:
                self._shoe.take(story, draws)

    def _of_shoe(self, observation: ShoeCardRead | ShoeCutCard | ShoeLoaded) -> None:
        if self._shoe is None:
            return
        match observation:
            case ShoeCardRead():
                self._clinging.observed(observation)
                self._note_link(disconnected=False)
                self._drawn(self._shoe.read(observation))
            case ShoeCutCard():
                at, seqs = observation.at or 0, _seqs(observation)
                self._state(CutCardReached(at=at, evidence=seqs))
            case ShoeLoaded():
                self._loaded(self._shoe, observation)

    def _loaded(self, shoe: Shoe, loaded: ShoeLoaded) -> None:
        shoe.loaded()
        fact = ShoeStarted(at=loaded.at, decks=self._rules.decks, evidence=_seqs(loaded))
        for story in self._stories:
            story.supply.fresh_shoe = fact

    def _fault(self, fault: ReaderFault) -> None:
        if fault.source.startswith("plate"):
            why = f": {fault.detail}" if fault.detail else ""
            self._ask(f"Are the amounts right? A report of a bet plate was lost{why}.", fault)
        elif fault.source in ("console", "links"):
            self._ask(f"Did the round go as recorded? A line was lost: {fault.detail}.", fault)
        elif self._shoe is not None:
            draws, what = self._shoe.fault(fault)
            if fault.kind in ("link_lost", "uncounted"):
                self._note_link(disconnected=fault.kind == "link_lost")
            self._drawn(draws)
            if what is not None:
                self._ask(what, fault)

    def _note_link(self, *, disconnected: bool) -> None:
        for story in self._stories:
            story.supply.disconnected = disconnected

    def _lapse(self) -> None:
        """Take in that cards which left the shoe went unseen."""
        shoe = self._shoe
        if shoe is None or not any(s.supply.drawn or s.supply.entered for s in self._stories):
            return
        for story in self._stories:
            shoe.overdue_entries(story, self._now)
        while any(shoe.lapsed(story, self._now) for story in self._stories):
            found: list[Story] = []
            for story in self._stories:
                draw = shoe.lapsed(story, self._now)
                if draw is None:
                    found.append(story)
                    continue
                ways = shoe.ways(story, draw)
                copies = [story, *(story.copy() for _ in ways[1:])]
                for own, way in zip(copies, ways, strict=True):
                    shoe.go(own, draw, way)
                found += copies
            self._stories = found
            self._prune()

    def _ask(self, what: str, observation: AnyObservation) -> None:
        for story in self._stories:
            story.asks.append(Review(what, (), _seqs(observation)))

    # --- stories --------------------------------------------------------------------------

    def _prune(self) -> None:
        if len(self._stories) == 1:
            return
        stories = sorted(self._stories, key=lambda story: -story.weight)
        least = stories[0].weight + log(KEPT)
        kept = [story for story in stories if story.weight >= least]
        if len(kept) > MANY_STORIES:
            kept = _merged(kept)
        if len(kept) > self._room:
            best = stories[0].weight
            self._drop(sum([exp(story.weight - best) for story in kept[self._room :]]))
        self._stories = kept[: self._room]

    @property
    def _room(self) -> int:
        """The stories that are kept: few of a round that is a question whatever they hold."""
        return STORIES_APART if self._parting else MOST_STORIES

    def _drop(self, odds: float) -> None:
        """Remember how likely the stories are that there was no room for."""
        self._dropped = max(self._dropped, odds)

    def _publish(self) -> list[Published]:
        published: list[Published] = []
        while True:
            best = self._best()
            if best.closed and best.closed[0].end < self._published:
                published += self._close_late(best)
                continue
            at = self._published
            if at >= best.end or best.awaits_card_before(best.fact(at)):
                return published
            over = bool(best.closed) and best.holds.get(best.closed[0].end, 0) <= self._now
            held = best.holds.get(at, 0) > self._now
            if not over and (held or best.awaits_settling_before(best.fact(at))):
                return published
            if over:
                best = self._chosen(best)
            fact = best.fact(at)
            if not self._agreed(best, at, fact, over=over):
                return published
            if isinstance(fact, CardDealt | CardExposed):
                self._ask_too_many(fact)
            if isinstance(fact, RoundClosed):
                published += self._close(best)
            published.append(fact)
            self._count(fact)
            self._follow(fact)
            self._stated[at] = fact
            self._published += 1
            for story in self._stories:
                story.published = self._published

    def _best(self) -> Story:
        """Return the likeliest story that holds what was published, else the likeliest."""
        for story in self._stories:
            self._catch_up(story)
        best = next((s for s in self._stories if not s.retracts), self._stories[0])
        if best.retracts:
            best.retract()
        return best

    def _catch_up(self, story: Story) -> None:
        """See whether a story holds by now what was published before it did."""
        while story.behind is not None:
            if story.behind == self._published:
                story.retracts, story.behind = False, None
            elif story.behind >= story.end:
                break
            elif story.states(story.behind, self._stated[story.behind]):
                story.behind += 1
            else:
                story.behind = None

    def _follow(self, fact: AnyFact) -> None:
        """Know which round the published facts have in play."""
        if isinstance(fact, RoundOpened):
            self._in_play, self._over = fact.round, ()
        elif isinstance(fact, RoundClosed):
            self._in_play = 0

    def _close_late(self, best: Story) -> list[Published]:
        """Close a round of which the published facts went on otherwise than this story has it.

        What the story holds after its end is of the next round, and is published as such.
        """
        over = best.closed[0]
        self._decks.take_back()
        for fact in best.record[: over.end - best.base]:
            self._count(fact)
        published = self._close(best)
        if self._in_play == over.round:
            closed = RoundClosed(at=best.fact(over.end).at)
            self._follow(closed)
            published.append(closed)
        self._published = best.published = over.end + 1
        return published

    def _ask_too_many(self, fact: CardDealt | CardExposed) -> None:
        """Ask of a card more than the decks held where another may have been misread."""
        counted = isinstance(fact, CardExposed) and not self._unknown[fact.to, fact.hand]
        if counted or not self._decks.miscounts(fact.card):
            return
        sure = isinstance(fact, CardDealt) and fact.probability is None and fact.face == "up"
        if self._shoe is not None and sure and self._decks.disproved(fact.card):
            return
        what = f"Is this card {fact.card}? It is one more than the decks held: a card was misread."
        asked = [story.first_asks() for story in self._stories if not story.retracts]
        for asks in {id(asks): asks for asks in asked}.values():
            asks.append(Review(what, (str(fact.card),), fact.evidence))

    def _chosen(self, best: Story) -> Story:
        """Choose the story of a round that is over, of those that hold what was published."""
        over = [
            story
            for story in self._stories
            if story.closed
            and not story.retracts
            and story.closed[0].round == best.closed[0].round
            and story.end > self._published
        ]
        return self._closing.likeliest(over or [best])

    def _count(self, fact: AnyEvent) -> None:
        """Count what left the decks by the facts that were published."""
        match fact:
            case ShoeStarted():
                self._decks.shuffled(fact.decks)
            case RoundOpened() | RoundClosed():
                self._unknown.clear()
                self._lying.clear()
            case DiscardsReshuffled():
                self._decks.reshuffled(chain.from_iterable(self._lying.values()))
            case PaymentMade(kind="main"):
                self._lying.pop((fact.spot, fact.hand), None)
            case CardDealt(card=None):
                self._unknown[fact.to, fact.hand] += 1
            case CardExposed() if self._unknown[fact.to, fact.hand] > 0:
                if fact.card is not None:
                    self._unknown[fact.to, fact.hand] -= 1
                    self._lying[fact.to, fact.hand].append(fact.card)
                    # One camera may have misread it at every look.
                    sure = self._shoe is not None or self._cameras.count > 1
                    self._decks.left_shoe(fact.card, sure=sure)
            case CardDealt(card=Card() as face):
                self._lying[fact.to, fact.hand].append(face)
                sure = fact.probability is None and fact.face == "up"
                self._decks.left_shoe(fact.card, sure=sure, down=fact.face == "down")
            case CardBurned() | CardBoxed():
                self._decks.left_shoe(fact.card)
            case _:
                pass

    def _agreed(self, best: Story, at: int, fact: AnyFact, *, over: bool) -> bool:
        """Set the stories aside that hold a fact otherwise.

        Returns ``False``, and sets none aside, where they weigh something and the round is not
        ``over``: then it is stated as it is chosen.
        """
        if not over and self._is_disputed(best, at, fact):
            return False
        others = [
            story
            for story in self._stories
            if story is not best and not story.retracts and not story.states(at, fact)
        ]
        for story in others:
            story.retracts = True
            story.behind = at if at >= story.end else None
        return True

    def _is_disputed(self, best: Story, at: int, fact: AnyFact) -> bool:
        """Return whether the stories that hold a fact otherwise weigh something together.

        The heaviest come first, and a few of them tell: this is asked at every step of time, of
        hundreds of stories.
        """
        own = best.weight + best.supply.unseen_until(self._now)
        mass = 0.0
        for story in self._stories:
            if story is best or story.retracts or story.states(at, fact):
                continue
            mass += exp(min(0.0, story.weight + story.supply.unseen_until(self._now) - own))
            if mass > AGREED * _ROUNDED:
                return True
        return False

    def _close(self, best: Story) -> list[Published]:
        """Weigh a round that is over, and forget every story that holds otherwise of it."""
        over = best.closed[0]
        others = [story for story in self._stories if story is not best]
        if self._dropped > ASKED_FROM:
            what = "Did the round go as recorded? It could be read in too many ways."
            over.asks.append(Review(what, (), ()))
        self._dropped = 0.0
        record = best.record[over.opened - best.base : over.end - best.base]
        closed_at = best.fact(over.end).at
        published = [self._stated.get(place) for place in range(over.opened, over.end)]
        asked = self._closing.asks(
            best,
            others,
            self._cameras.count,
            blind=self._blindness.during(record[0].at or 0, closed_at or 0),
            as_published=_alike(published, record),
        )
        self._blindness.round_over(closed_at or 0)
        if self._parting:
            asked = [clocks_part(self._parting)]
            self._parting = dict(self._clocks.parted)
        self._clinging.round_over(record)
        if not all(one.settles_alike for one in asked):
            self._decks.doubt(_faces(record))
        self._decks.round_over()
        self._over = (*record, best.fact(over.end))
        del best.closed[0]
        best.trim(over.end)
        self._stories, self._stated = [best], {}
        best.behind = None
        best.evidence = best.mistakes = 0.0
        best.by_sense = {}
        best.retracts = best.asked_to_retract = False
        return [_raised(one, over.round, closed_at) for one in asked]


def clocks_part(parting: Mapping[str, str]) -> Asked:
    """Ask about a round of which the sensors' times cannot be compared: one question for all."""
    how = "; ".join(parting.values())
    return Asked(Review(f"Did the round go as recorded? The sensors' clocks part: {how}.", (), ()))


def _raised(asked: Asked, number: int, at: int | None) -> ReviewRaised:
    """Return a question as it is published."""
    return ReviewRaised(
        at=at,
        round=number,
        review=asked.review,
        settles_alike=asked.settles_alike,
        accounts=asked.accounts or UNSET,
    )


def _merged(stories: Sequence[Story]) -> list[Story]:
    """Make stories one that differ only in what they take sightings for, the likeliest first."""
    alike: dict[tuple[object, ...], list[Story]] = {}
    for story in stories:
        alike.setdefault(story.sketch(), []).append(story)
    merged: set[int] = set()
    for group in alike.values():
        outlines: set[tuple[object, ...]] = set()
        for story in group if len(group) > 1 else ():
            outline = story.outline()
            if outline in outlines:
                merged.add(id(story))
            outlines.add(outline)
    return [story for story in stories if id(story) not in merged]


def _alike(published: Sequence[AnyFact | None], record: Sequence[AnyFact]) -> bool:
    """Return whether a round was published as a story has it."""
    return all(
        one is not None and gist(one) == gist(fact)
        for one, fact in zip(published, record, strict=True)
    )


def _faces(record: Iterable[AnyFact]) -> list[Card]:
    """Return every face that was dealt or shown."""
    shown = (fact.card for fact in record if isinstance(fact, CardDealt | CardExposed))
    return [card for card in shown if card is not None]


def _seqs(observation: AnyObservation) -> tuple[int, ...]:
    return () if observation.seq is None else (observation.seq,)
