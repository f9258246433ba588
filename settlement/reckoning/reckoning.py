"""Observations in, facts and review items out: the likeliest story of a table, and its rivals."""

from collections.abc import Iterable, Sequence
from math import exp, log
from typing import Final

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
    ForeignCardSighted,
    PlateRead,
    ReaderFault,
    RoundClosed,
    ShoeStarted,
)
from models.judgements import AnyEvent, Review, ReviewRaised
from models.layout import TableLayout
from models.rulebook import Rulebook
from settlement.reckoning import chips, entries
from settlement.reckoning.camera import Camera, Look
from settlement.reckoning.closing import Closing
from settlement.reckoning.odds import AGREED, ASKED_FROM, KEPT, LOST_SIGHT, MOST_STORIES
from settlement.reckoning.story import SECOND, Story
from settlement.reconcile.draws import Composition
from settlement.reconcile.felt import Felt
from settlement.reconcile.voice import Said

_END_NS: Final = 60 * SECOND
"""After the last observation nothing is waited for any longer than this."""


class Reckoning:
    """One table's sensors, as one inference.

    Pure: the same observations in the same order give the same facts.

    Args:
        rules: the rulebook in force.
        layout: the felt that the cameras' millimetres are of.
        played: the rounds of the session that are over.
    """

    def __init__(self, rules: Rulebook, layout: TableLayout, *, played: int = 0) -> None:
        self._rules = rules
        self._felt = Felt(layout)
        self._shoe = Composition(rules.decks)
        self._camera = Camera(self._felt, rules, self._shoe.room)
        self._closing = Closing(rules, self._shoe)
        first = Story()
        first.round = played
        self._stories = [first]
        self._published = 0
        self._dropped = 0.0
        """The odds of stories that there was no room for, in the round in play."""
        self._now = 0

    def recall(self, events: Iterable[AnyEvent]) -> None:
        """Count what left the decks in rounds of the session that are over."""
        for event in events:
            self._count(event)

    def learned(self) -> tuple[int, ...]:
        """Return nothing: a fresh shoe is counted anew, and nothing else is learned."""
        return ()

    def go_on(self, learned: Sequence[int]) -> None:
        """Go on between two shoes: nothing was learned."""

    def left_of(self, card: Card) -> int:
        """Return how many of a face the decks can still hold."""
        return self._shoe.room(card)

    def feed(self, observation: AnyObservation, through_ns: int) -> tuple[Said, ...]:
        """Take one observation in; ``through_ns`` is how far the sources have been read."""
        match observation:
            case CardSighted():
                self._sighted(observation)
            case CardGone():
                self._gone(observation)
            case PlateRead():
                self._plate(observation)
            case ConsoleEntry():
                self._entered(observation)
            case ReaderFault():
                if observation.source.startswith("plate"):
                    lost = f"a bet plate's report was lost ({observation.detail})"
                    self._ask(f"{lost}: an amount may be wrong", observation)
            case ForeignCardSighted():
                self._ask("a card fits no card of the decks in use", observation)
            case CameraFault(kind="moved" | "unwatched"):
                self._ask(f"the camera was {observation.kind}: {observation.detail}", observation)
        return self.advance(through_ns)

    def advance(self, now_ns: int) -> tuple[Said, ...]:
        """Tell that the sources have been read up to ``now_ns``."""
        self._now = max(self._now, now_ns)
        for story in self._stories:
            story.close_if_over(self._now)
        return tuple(self._publish())

    def finish(self) -> tuple[Said, ...]:
        """Tell that the session is over."""
        said = list(self.advance(self._now + _END_NS))
        best = self._stories[0]
        said += best.record[self._published - best.base :]
        self._published = best.end
        if best.in_play:
            what = "the session ended before the cards were taken up"
            said.append(ReviewRaised(round=best.round, review=Review(what, (), ())))
        return tuple(said)

    # --- observations ---------------------------------------------------------------------

    def _sighted(self, seen: CardSighted) -> None:
        look = Look(seen)
        branches = [
            (story.weight + option.evidence + option.mistakes, story, at, option)
            for story in self._stories
            for at, option in enumerate(self._camera.options(story, look))
        ]
        most = max(branch[0] for branch in branches)
        least = most + log(KEPT)
        branches = [branch for branch in branches if branch[0] >= least]
        branches.sort(key=lambda branch: -branch[0])
        self._drop(sum(exp(branch[0] - most) for branch in branches[MOST_STORIES:]))
        del branches[MOST_STORIES:]
        uses: dict[int, int] = {}
        for _, story, _, _ in branches:
            uses[id(story)] = uses.get(id(story), 0) + 1
        found: list[Story] = []
        for _, story, _, option in branches:
            uses[id(story)] -= 1
            own = story.copy() if uses[id(story)] else story
            found.append(own)
            self._camera.apply(own, option, look, self._published)
        self._stories = found
        self._prune()

    def _gone(self, gone: CardGone) -> None:
        found: list[Story] = []
        for story in self._stories:
            lost = story.copy()
            rounds, over_at = len(story.closed), story.over_at
            self._camera.gone(story, gone)
            found.append(story)
            if not over_at and (story.over_at or len(story.closed) > rounds):
                lost.evidence += log(LOST_SIGHT)
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
            meanings = chips.meanings(story, change)
            copies = [story, *(story.copy() for _ in meanings[1:])]
            for own, meaning in zip(copies, meanings, strict=True):
                chips.apply(own, meaning, change, self._published)
            found += copies
        self._stories = found
        self._prune()

    def _entered(self, entry: ConsoleEntry) -> None:
        fact = entries.stated(entry)
        for story in self._stories:
            entries.take(story, fact, self._rules)

    def _ask(self, what: str, observation: AnyObservation) -> None:
        seqs = () if observation.seq is None else (observation.seq,)
        for story in self._stories:
            story.asks.append(Review(what, (), seqs))

    # --- stories --------------------------------------------------------------------------

    def _prune(self) -> None:
        stories = sorted(self._stories, key=lambda story: -story.weight)
        least = stories[0].weight + log(KEPT)
        kept = [story for story in stories if story.weight >= least]
        self._drop(sum(exp(story.weight - stories[0].weight) for story in kept[MOST_STORIES:]))
        self._stories = kept[:MOST_STORIES]

    def _drop(self, odds: float) -> None:
        """Remember how likely the stories are that there was no room for."""
        self._dropped = max(self._dropped, odds)

    def _publish(self) -> list[Said]:
        said: list[Said] = []
        while True:
            best = next((s for s in self._stories if not s.retracts), self._stories[0])
            if best.retracts:
                best.retract()
            at = self._published
            if at >= best.end or best.holds.get(at, 0) > self._now:
                return said
            fact = best.fact(at)
            over = bool(best.closed) and best.holds.get(best.closed[0].end, 0) <= self._now
            if over and len(self._stories) > 1:
                best = self._chosen(best)
                fact = best.fact(at)
            if not (over or self._agreed(best, at, fact)):
                return said
            if isinstance(fact, RoundClosed):
                said += self._close(best)
            said.append(fact)
            self._count(fact)
            self._published += 1
            for story in self._stories:
                story.published = self._published

    def _chosen(self, best: Story) -> Story:
        """Choose the story of a round that is over, of those that hold what was published."""
        over = [
            story
            for story in self._stories
            if story.closed and not story.retracts and story.closed[0].round == best.closed[0].round
        ]
        return self._closing.likeliest(over) if len(over) > 1 else best

    def _count(self, fact: AnyEvent) -> None:
        """Count what left the decks by the facts that were published."""
        if isinstance(fact, ShoeStarted):
            self._shoe.shuffled(fact.decks)
        elif isinstance(fact, CardDealt | CardExposed | CardBurned | CardBoxed):
            self._shoe.left_shoe(fact.card)

    def _agreed(self, best: Story, at: int, fact: AnyFact) -> bool:
        """Return whether the stories that hold a fact otherwise weigh next to nothing."""
        others = [
            story
            for story in self._stories
            if story is not best
            and not story.retracts
            and (at >= story.end or at < story.base or story.fact(at) != fact)
        ]
        mass = sum(exp(story.weight - best.weight) for story in others)
        if mass > AGREED:
            return False
        for story in others:
            story.retracts = True
        return True

    def _close(self, best: Story) -> list[Said]:
        """Weigh a round that is over, and forget every story that holds otherwise of it."""
        over = best.closed[0]
        others = [story for story in self._stories if story is not best]
        if self._dropped > ASKED_FROM:
            what = "what happened could be read in too many ways"
            over.asks.append(Review(what, (), ()))
        self._dropped = 0.0
        asked = self._closing.asks(best, others)
        del best.closed[0]
        best.trim(over.end)
        self._stories = [best]
        best.evidence = best.mistakes = 0.0
        best.retracts = best.asked_to_retract = False
        return [
            ReviewRaised(round=over.round, review=one.review, settles_alike=one.settles_alike)
            for one in asked
        ]
