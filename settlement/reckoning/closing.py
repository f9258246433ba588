"""A round that is over: what the stories that remain settle to, and what a person is asked."""

from collections.abc import Iterator, Mapping, Sequence
from math import log
from typing import Final

from models.cards import Card
from models.events import (
    AnyFact,
    CardDealt,
    CardExposed,
    RoundClosed,
)
from models.judgements import Review, Sense
from models.places import whose
from models.rulebook import Rulebook
from settlement.reckoning.asked import Asked, Otherwise, between, by_cause, lost_together
from settlement.reckoning.blind import Blind, played_unseen
from settlement.reckoning.called_off import is_called_off, still_asked, went_before
from settlement.reckoning.decide import Hypothesis, decide, likely
from settlement.reckoning.differing import card_at, lacking
from settlement.reckoning.edits import Seen, edits, of_faces
from settlement.reckoning.in_play import InPlay
from settlement.reckoning.odds import (
    LASTING,
    MISJUDGED_FROM,
    MISTAKE,
    UNMODELLED,
)
from settlement.reckoning.orders import as_laid, as_seen, in_time
from settlement.reckoning.places import Places
from settlement.reckoning.record import gist
from settlement.reckoning.story import Closed, Story
from settlement.reconcile.blindness import Span
from settlement.reconcile.clinging import Clinging
from settlement.reconcile.draws import Composition
from settlement.reconcile.felt import Felt
from settlement.reconcile.questions import Stated, of_face
from settlement.reconcile.unread import never_known
from settlement.reconcile.weighing import Outcome, Question, Weighing

_MOST_AMENDED: Final = 16
"""Stories of a round. Chosen: a round with unread cards and hundreds of stories kept a live table
busy for minutes where all of them were amended."""


_DOUBT: Final = 2e-4
"""Another face is stated in place of a card's own where all else has these odds at most beside it.
Chosen: a face that the camera alone is sure of, and that spares one mistake, leaves 1e-4."""

_STATED: Final = 1e-3
"""The odds by the sensors, from which on another face may be stated in place of a card's own."""


class Closing:
    """Weighs a round that is over.

    Args:
        rules: the rulebook by which it is settled.
        felt: the layout that places are of.
        shoe: what the decks can still hold.
        clinging: how far the camera is known to repeat its errors.
        alone: whether no shoe reads the cards.
    """

    def __init__(
        self, rules: Rulebook, felt: Felt, shoe: Composition, clinging: Clinging, *, alone: bool
    ) -> None:
        self._felt, self._places = felt, Places(felt, rules)
        self._shoe, self._clinging, self._alone = shoe, clinging, alone
        self._weighing = Weighing(rules, shoe.room)

    def asks(
        self,
        story: Story,
        others: Sequence[Story],
        cameras: int,
        *,
        blind: Sequence[Span] = (),
        as_published: bool = True,
    ) -> list[Asked]:
        """Return what is asked of the round that ``story`` closed first, and ``cameras`` saw.

        At the times of ``blind`` they saw nothing.

        Each question has its accounts. They can be chosen where the round was published as the
        story has it.
        """
        over = story.closed[0]
        record = story.record[over.opened - story.base : over.end + 1 - story.base]
        self._weighing.turned_unseen = over.turned_unseen
        otherwise = Otherwise(self._weighing, record)
        unseen = Blind(otherwise, over, blind)
        seen = Seen(
            over,
            record,
            otherwise.stated,
            cameras=cameras,
            pace_ns=story.pace_ns,
            blind=unseen.places,
            gap=self._places.gap([card for card in over.cards if card.to == "dealer"]),
        )
        wrong = self._wrong(over.wrong)
        stated = Hypothesis(
            over.evidence, record, {}, edits(seen, self._faces(over, record)), wrong
        )
        orders = [in_time(record), as_seen(record), as_laid(self._felt, over, record)]
        hypotheses = [
            *(Hypothesis(over.evidence, facts, {}, (), wrong) for facts in orders + unseen.facts),
            *self._others(over, others, otherwise),
        ]
        decided = decide(stated, hypotheses, otherwise.outcome, cards_matter=seen.by_shoe)
        found = [Asked(review) for review in lost_together(over.asks)]
        of_play = len(found)
        found += between(otherwise, decided)
        found += self._unread(over, record)
        found += unseen.asks()
        found += played_unseen(otherwise, blind)
        found += self._unmodelled(over, record, shoe=story.shoe)
        if is_called_off(record):
            found = [*found[:of_play], *still_asked(found[of_play:], otherwise)]
        return self._answered([*found, *went_before(otherwise)], otherwise, as_published)

    def _others(
        self, over: Closed, others: Sequence[Story], otherwise: Otherwise
    ) -> Iterator[Hypothesis]:
        """Yield the other stories of a round; where a card is disputed, with its other faces."""
        record = otherwise.record
        for other in others:
            its = other.closed[0] if other.closed else None
            evidence = other.evidence_at_end() if its is None else its.evidence
            wrong = other.wrong if its is None else its.wrong
            facts = [over.amended.get(_whose(fact), fact) for fact in _round(other)]
            if facts == record or (its is None and facts[: len(record) - 1] == record[:-1]):
                continue
            by_sense: Mapping[Sense, float] = other.by_sense if its is None else its.by_sense
            apart = _apart(by_sense, over.by_sense)
            disputed = its is not None and any(card.disputed for card in its.cards)
            faces = self._faces(its, facts) if its and disputed else []
            ways = of_faces([one for one in faces if one.contradicted])
            one = Hypothesis(evidence, in_time(facts), apart, list(ways), self._wrong(wrong))
            one.looks = {c.seqs[0]: c.seqs for c in its.cards if c.seqs} if its else {}
            yield one

    def _wrong(self, wrong: int) -> int:
        """Return how many mistakes a story was held to make, where the camera is alone.

        What a shoe read and nobody saw is no mistake of that kind.
        """
        return wrong if self._alone else 0

    def _unmodelled(
        self, over: Closed, record: Sequence[AnyFact], *, shoe: bool
    ) -> Iterator[Asked]:
        """Ask where it is as likely that a round went as no account has it."""
        mistakes = self._weighing.mistakes(record)
        codes = {code for code, _ in mistakes}
        several = over.wrong if codes and over.wrong > len(codes) + 1 else len(codes)
        evidence = record[-1].evidence
        if MISJUDGED_FROM * MISTAKE**several < UNMODELLED:
            what = f"Did this round hold {several} mistakes?"
            yield Asked(Review(what, (), evidence), about=mistakes)
        elif over.cards and all(card.place is None for card in over.cards):
            # Whose each card was is told by the turns alone, and where the round ended by nothing.
            what = "Did the round go as recorded? No camera saw a card of it."
            yield Asked(Review(what, (), evidence))
        for hand in over.hands if shoe else ():
            paid = record[hand.paid - over.opened].at if hand.paid >= over.opened else None
            for card in hand.went_early(paid):
                what = (
                    f"Was {card.card} of {whose(hand.spot, hand.number)} taken up before its hand?"
                )
                yield Asked(Review(what, (), card.seqs))

    def ruled_late(self, record: Sequence[AnyFact]) -> list[Asked]:
        """Return what is asked of a round that was called off after it was closed."""
        otherwise = Otherwise(self._weighing, record)
        return self._answered(list(went_before(otherwise)), otherwise, choosable=True)

    @staticmethod
    def _answered(found: list[Asked], otherwise: Otherwise, choosable: bool) -> list[Asked]:
        """Make one question of those with one cause, each with its accounts."""
        asked = by_cause(otherwise, found)
        for one in asked:
            one.answer(otherwise, choosable=choosable)
        return asked

    def unfinished(self, story: Story, stories: Sequence[Story]) -> list[Asked]:
        """Return what is asked of a round in play that nobody saw the end of."""
        over = Closed(story, story.end - 1)
        record = story.record[over.opened - story.base :]
        self._weighing.turned_unseen = over.turned_unseen
        otherwise = Otherwise(self._weighing, record)
        stated = Hypothesis(over.evidence, record, {}, (), self._wrong(over.wrong))
        others = self._others(over, [one for one in stories if one is not story], otherwise)
        decided = decide(stated, list(others), otherwise.outcome, cards_matter=True)
        asked = over.asks.copy()
        for question in self._faces(over, record):
            if question.contradicted or any(o.odds >= _STATED for o in question.rivals):
                asked.append(question.review)
        for card in over.cards if story.shoe else ():
            at = card.dealt - over.opened
            what = lacking(card, card_at(record, at)) if at >= 0 else None
            if what is not None:
                names = () if card.card is None else (str(card.card),)
                asked.append(Review(what, names, card.seqs))
        found = [Asked(review) for review in lost_together(asked)]
        return self._answered([*found, *between(otherwise, decided)], otherwise, choosable=True)

    def _amend(self, story: Story) -> None:
        """State cards of the round that ``story`` closed first as the round's course has them."""
        over = story.closed[0]
        if story.amended >= over.round:
            return
        story.amended = over.round
        if not any(card.disputed for card in over.cards):
            return
        record = story.record[over.opened - story.base : over.end + 1 - story.base]
        self._weighing.turned_unseen = over.turned_unseen
        better = self._by_its_course(over, record)
        for at, fact in enumerate(better):
            if fact != record[at] and over.opened + at < story.published:
                return
        for at, fact in enumerate(better):
            if fact != record[at]:
                over.amended[_whose(record[at])] = fact
                story.amend(over.opened + at, fact)

    def _by_its_course(self, over: Closed, record: Sequence[AnyFact]) -> Sequence[AnyFact]:
        """Return a round with another face of a card, where its course leaves no doubt of that."""
        otherwise = Otherwise(self._weighing, record)
        faces = of_faces(self._faces(over, record), wary=False)
        ways = [one for one in faces if one.weight > log(_STATED)]
        stated = Hypothesis(0.0, record, {}, ways)
        others = decide(stated, [], otherwise.outcome, cards_matter=False).rivals
        if not others or len(others[0].faces) != 1:
            return record
        best, *less = others
        doubt = (1.0 + sum([one.odds for one in less])) / best.odds
        return best.facts if doubt <= _DOUBT else record

    def likeliest(self, stories: Sequence[Story]) -> Story:
        """Amend the stories that may be the likeliest one, and return that.

        Every mistake in a story's first round counts, as it is amended. Mistakes only make a story
        less likely: one is not settled whose observations alone are less likely than the best story
        with its mistakes. The likeliest :data:`_MOST_AMENDED` by their observations are amended,
        the others compared as they are.
        """
        ordered = sorted(stories, key=lambda story: -story.closed[0].evidence)
        best = ordered[0]
        self._amend(best)
        if len(ordered) == 1:
            return best
        most = self._of_first_round(best)
        for place, story in enumerate(ordered[1:], 1):
            if story.closed[0].evidence <= most:
                break
            if place < _MOST_AMENDED:
                self._amend(story)
            likely = self._of_first_round(story)
            if likely > most:
                best, most = story, likely
        return best

    def _of_first_round(self, story: Story) -> float:
        facts, over = in_time(_round(story)), story.closed[0]
        account = Hypothesis(over.evidence, facts, {}, (), self._wrong(over.wrong))

        def settle(one: Sequence[AnyFact]) -> Outcome:
            return self._weighing.outcome(one, facts)

        return likely(account, settle(facts), over.evidence, settle)

    def _unread(self, over: Closed, record: Sequence[AnyFact]) -> list[Asked]:
        """Ask what nobody read, of the faces that the camera held possible."""
        settled = self._weighing.settled(record) and not self._weighing.mistakes(record)
        found = []
        for at, fact in enumerate(record):
            if isinstance(fact, CardDealt) and never_known(record, at, fact):
                own = next((card for card in over.cards if card.dealt - over.opened == at), None)
                faces = () if own is None or own.reading is None else own.reading.possible
                what = f"Which card is {card_at(record, at)}? Nobody read it."
                review = Review(what, faces, fact.evidence)
                found.append(Asked(review, settles_alike=settled))
        return found

    def _faces(self, over: Closed, record: Sequence[AnyFact]) -> list[Question]:
        asked = (self._of_face(card, record, over.opened) for card in over.cards)
        return [question for question in asked if question is not None]

    def _of_face(self, card: InPlay, record: Sequence[AnyFact], opened: int) -> Question | None:
        """Ask which card one is, where its sensors leave a doubt."""
        reading = card.reading
        places = [at - opened for at in (card.dealt, card.shown) if at >= opened]
        # A face that was stated may be none by later looks.
        stated = _stated(record, places) or card.card
        if stated is None:
            return None
        if card.shoe_card is not None and reading is not None and not card.disputed:
            return None
        name = card_at(record, places[0]) if places else f"a card of {whose(card.to, card.number)}"
        held = Stated(name, stated, card.shoe_card, card.seqs, places)
        known = (self._clinging.most, self._clinging.least)
        if card.shoe_card is None and reading is not None:
            looks = max(1, reading.looks - 1) if self._alone else 1
            alone = max(LASTING**looks, self._clinging.seen)
            known = (alone, alone)
        return of_face(held, reading, record, self._shoe, known)


def _apart(one: Mapping[Sense, float], other: Mapping[Sense, float]) -> dict[Sense, float]:
    """Return what each sense says for one story and not for the other, as a logarithm."""
    senses = sorted({*one, *other})
    return {sense: one.get(sense, 0.0) - other.get(sense, 0.0) for sense in senses}


def _stated(record: Sequence[AnyFact], places: Sequence[int]) -> Card | None:
    """Return the face that the facts of a card state."""
    for at in reversed(places):
        fact = record[at]
        if isinstance(fact, CardDealt | CardExposed) and fact.card is not None:
            return fact.card
    return None


def _whose(fact: AnyFact) -> tuple[object, ...]:
    """Return which card a fact is about, whatever its face."""
    return gist(fact)[:4]


def _round(story: Story) -> list[AnyFact]:
    """Return the facts of a story's first round, closed if it is not yet."""
    if story.closed:
        over = story.closed[0]
        return story.record[over.opened - story.base : over.end + 1 - story.base]
    record = story.record[story.opened - story.base :]
    return [*record, RoundClosed(at=record[-1].at)] if record else []
