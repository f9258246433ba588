"""A round that is over: what the stories that remain settle to, and what a person is asked."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from math import exp, log
from typing import Final

from models.cards import Card
from models.events import (
    AnyFact,
    CardDealt,
    CardExposed,
    Dealt,
    PaymentMade,
    RoundClosed,
    Spot,
    WagerPlaced,
)
from models.judgements import Review, Sense
from models.money import Cents
from models.places import whose
from models.rulebook import Rulebook
from settlement.reckoning.accounts import FAINT, Rival, offering, shown
from settlement.reckoning.asked import (
    MISREAD,
    Asked,
    Mistaken,
    Otherwise,
    by_cause,
    lost_together,
)
from settlement.reckoning.blind import played_unseen, seen_blind
from settlement.reckoning.called_off import is_called_off, still_asked, went_before
from settlement.reckoning.dealt_amiss import as_laid, dealt_sooner, in_time, untimed
from settlement.reckoning.differing import card_at, difference
from settlement.reckoning.in_play import InPlay
from settlement.reckoning.loose_ends import (
    drawn_unseen,
    halves,
    lacking,
    not_acted,
    of_another_face,
    of_hands,
    of_silent_plates,
)
from settlement.reckoning.missed import broken_unseen, with_a_card_more
from settlement.reckoning.odds import (
    ASKED_FROM,
    MISJUDGED_FROM,
    MISSED_FACE,
    MISTAKE,
    SHOE_MISSED,
)
from settlement.reckoning.places import Places
from settlement.reckoning.record import gist
from settlement.reckoning.story import Closed, Story
from settlement.reconcile.blindness import Span
from settlement.reconcile.clinging import Clinging
from settlement.reconcile.draws import Composition
from settlement.reconcile.felt import Felt
from settlement.reconcile.questions import Stated, of_face
from settlement.reconcile.unread import never_known
from settlement.reconcile.weighing import Outcome, Question, Weighing, with_instead

SEVERAL: Final = 2
"""Kinds of mistake in one round, from which on a person is asked about all of them."""

LASTING: Final = 0.05
"""The share of a camera's errors that last from one look to the next, where no shoe tells of them.
Chosen: on films none of five lasted to the second look. Of the one card that a shoe did not read it
is the share that lasts for good: there is more to lose by stating a mistake than by asking."""

_MOST_AMENDED: Final = 16
"""Stories of a round. Chosen: a round with unread cards and hundreds of stories kept a live table
busy for minutes where all of them were amended."""
_LEAST: Final = 1e-7
"""A story less likely than this, beside the stated one, is not weighed."""


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
        of_play = [self._of_play(review, otherwise) for review in lost_together(over.asks)]
        found = of_play.copy()
        faces = list(self._of_faces(over, record, shoe=story.shoe))
        found += faces
        found += of_another_face(over, otherwise, [one.review for one in found])
        found += halves(over, otherwise)
        for one in self._stories(over, others, record, disputed=not faces):
            found = one.with_card(record, found)
        found += self._unlikely(record, over.wrong)
        none_held = self._alone and cameras <= 1 and not over.wrong
        laid = as_laid(self._felt, over, record)
        found += untimed(otherwise, over) if story.shoe else ()
        found += dealt_sooner(otherwise, laid, none_held=none_held)
        found += self._unread(over, record)
        by_shoe = any(card.announced for card in over.cards)
        found += self._missed(record, story.pace_ns, cameras, by_shoe=by_shoe)
        found += self._broken(record, over.seen_turned_ns, cameras)
        found += self._between(over, otherwise, cameras, by_shoe=by_shoe)
        found += of_hands(over, otherwise, shoe=story.shoe)
        found += of_silent_plates(otherwise)
        found += seen_blind(otherwise, over, blind)
        found += played_unseen(otherwise, blind)
        evidence = record[-1].evidence
        if not _held_open(found) and over.cards and all(card.place is None for card in over.cards):
            # Whose each card was is told by the turns alone, and where the round ended by nothing.
            what = "Did the round go as recorded? No camera saw a card of it."
            found.append(Asked(Review(what, (), evidence)))
        for short in self._weighing.short_of_a_card(record):
            what = f"Did spot {short} get a card that no sensor reported?"
            about = [one for one in otherwise.mistakes if one[1] == short]
            found.append(Asked(Review(what, (), evidence), about=about))
        disputed = any(card.disputed for card in over.cards)
        if not _held_open(found) and disputed and not self._weighing.settled(record):
            what = (
                "Did the round go as recorded? A hand lacks a card, and the shoe and the camera "
                "read another one apart."
            )
            found.append(Asked(Review(what, (), evidence)))
        if is_called_off(record):
            found = [*of_play, *still_asked(found[len(of_play) :], otherwise)]
        return self._answered([*found, *went_before(otherwise)], otherwise, as_published)

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

    def _of_play(self, review: Review, otherwise: Otherwise) -> Asked:
        """Return what was asked while the round was played, with what else may have happened."""
        return Asked(review, rivals=not_acted(otherwise, review))

    def _of_faces(self, over: Closed, record: Sequence[AnyFact], *, shoe: bool) -> Iterator[Asked]:
        """Yield what is asked about single cards."""
        questions = self._faces(over, record)
        answers = self._weighing.answers(record, questions)
        wary = self._weighing.answers(record, [question.warily() for question in questions])
        apart = sum(question.contradicted for question in questions)
        for question, answer, otherwise in zip(questions, answers, wary, strict=True):
            rivals = self._faced(record, question) if "open" in (answer, otherwise) else []
            if not shoe and not question.contradicted and not self._weighs(record, rivals):
                rivals = []
            if rivals or answer == "alike":
                review = offering(question.review, record, rivals)
                about = self._caused(record, rivals) if question.contradicted and apart == 1 else ()
                if rivals and not question.contradicted:
                    about = self._weighing.mistakes(record)
                if about and not question.contradicted:
                    review = Review(MISREAD, (), review.evidence)
                yield Asked(review, settles_alike=not rivals, rivals=rivals, about=about)

    def _caused(self, record: Sequence[AnyFact], rivals: Sequence[Rival]) -> list[Mistaken]:
        """Return the mistakes of a round that are none by one of its rivals."""
        stated = self._weighing.outcome(record, record).mistakes
        spared = [code for rival in rivals for code in stated - rival.outcome.mistakes]
        return [(code, spot) for code, spot, _ in spared]

    def unfinished(self, story: Story, stories: Sequence[Story]) -> list[Asked]:
        """Return what is asked of a round in play that nobody saw the end of."""
        over = Closed(story, story.end - 1)
        record = story.record[over.opened - story.base :]
        self._weighing.turned_unseen = over.turned_unseen
        questions = self._faces(over, record)
        asked = [*over.asks, *(question.review for question in questions if question.likely)]
        for card in over.cards if story.shoe else ():
            at = card.dealt - over.opened
            what = lacking(card, card_at(record, at)) if at >= 0 else None
            if what is not None:
                names = () if card.card is None else (str(card.card),)
                asked.append(Review(what, names, card.seqs))
        found = [Asked(review) for review in lost_together(asked)]
        for other in stories:
            odds = exp(min(0.0, other.weight - story.weight))
            if not other.in_play or odds <= MISJUDGED_FROM:
                continue
            facts = _round(other)[:-1]
            if sorted(_dealt(facts), key=str) != sorted(_dealt(record), key=str):
                rival = Rival(odds, facts, self._weighing.outcome(facts, record), {})
                between = Asked(Review(difference(record, facts).asks, (), ()), rivals=[rival])
                found = between.with_card(record, found)
                break
        otherwise = Otherwise(self._weighing, record)
        for one in found:
            one.answer(otherwise, choosable=True)
        return found

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
        instead = self._weighing.instead(record, self._faces(over, record))
        if any(over.opened + place < story.published for place in instead):
            return
        for place, fact in instead.items():
            over.amended[_whose(record[place])] = fact
            story.amend(over.opened + place, fact)

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
        outcome = self._weighing.outcome(facts, facts)
        return self._likely(over.evidence, outcome, over.wrong)

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

    def _stories(
        self, over: Closed, others: Sequence[Story], record: Sequence[AnyFact], *, disputed: bool
    ) -> list[Asked]:
        """Ask where a story that is not unlikely settles the round otherwise.

        Where it settles alike and a card of the shoe goes elsewhere, nothing is held open. Unless a
        person is asked about faces anyway, each is weighed with the other face of a ``disputed``
        card, too.
        """
        stated = self._weighing.outcome(in_time(record), record)
        found: list[Rival] = []
        wrong = misjudged = alike = 0.0
        by_shoe = any(card.announced for card in over.cards)
        paid = _final(stated) and any(isinstance(fact, PaymentMade) for fact in record)
        own = self._likely(over.evidence, stated, over.wrong)
        rivals = self._other_stories(over, others, record, own, disputed=disputed)
        left = sum(other.most for other in rivals)
        for other in rivals:
            open_ = wrong > ASKED_FROM or misjudged > MISJUDGED_FROM
            if not open_ and max(wrong, misjudged, alike) + left <= ASKED_FROM:
                break
            if open_ and other.most * FAINT < max(rival.odds for rival in found):
                break
            left -= other.most
            facts = other.facts
            outcome = self._weighing.outcome(in_time(facts), record)
            odds = exp(min(50.0, self._likely(other.evidence, outcome, other.wrong) - own))
            acquits = outcome.mistakes < stated.mistakes and not other.wrong
            if paid and not (_final(outcome) or _paid_short_of_a_card(facts, outcome) or acquits):
                odds *= MISTAKE
            if outcome.money != stated.money or (
                outcome.mistakes != stated.mistakes and _sees_more(facts, record)
            ):
                wrong += odds
            elif outcome.mistakes != stated.mistakes:
                misjudged += odds
            elif by_shoe and sorted(_dealt(facts), key=str) != sorted(_dealt(record), key=str):
                alike += odds
            else:
                continue
            senses = _apart(other.by_sense, over.by_sense)
            found.append(Rival(odds, in_time(facts), outcome, senses))
            found[-1].looks = other.looks
        open_ = wrong > ASKED_FROM or misjudged > MISJUDGED_FROM
        if not open_ and alike <= MISJUDGED_FROM:
            return []
        rival = (*shown(stated, found), max(found, key=lambda one: one.odds))[0]
        review = Review(difference(record, rival.facts).asks, (), ())
        about = self._weighing.mistakes(record) if open_ else ()
        return [Asked(review, settles_alike=not open_, rivals=found, about=about)]

    def _other_stories(
        self,
        over: Closed,
        others: Sequence[Story],
        record: Sequence[AnyFact],
        own: float,
        *,
        disputed: bool,
    ) -> list["_OtherStory"]:
        """Return the other stories of the round that are not too unlikely, the likeliest first."""
        found: list[_OtherStory] = []
        for other in others:
            its = other.closed[0] if other.closed else None
            evidence = other.evidence_at_end() if its is None else its.evidence
            mistakes = other.wrong if its is None else its.wrong
            if evidence + mistakes * log(MISTAKE) - own < log(_LEAST):
                continue
            facts = [over.amended.get(_whose(fact), fact) for fact in _round(other)]
            if facts == record or (its is None and facts[: len(record) - 1] == record[:-1]):
                continue
            by_sense: Mapping[Sense, float] = other.by_sense if its is None else its.by_sense
            otherwise = self._by_other_faces(its, facts) if its and disputed else ()
            for odds, own_facts in [(1.0, facts), *otherwise]:
                likely = evidence + log(odds)
                most = exp(min(50.0, likely - own))
                senses = {**by_sense, "camera": by_sense.get("camera", 0.0) + log(odds)}
                found.append(_OtherStory(likely, most, own_facts, senses, mistakes))
                found[-1].looks = {c.seqs[0]: c.seqs for c in its.cards if c.seqs} if its else {}
        return sorted(found, key=lambda other: -other.most)

    def _by_other_faces(
        self, over: Closed, facts: list[AnyFact]
    ) -> Iterator[tuple[float, list[AnyFact]]]:
        """Yield a story with another face of a disputed card, and the odds of that face.

        What chips mean may hang on the face: then neither the one nor the other is clean alone.
        """
        if not any(card.disputed for card in over.cards):
            return
        for question in self._faces(over, facts):
            for rival in question.rivals if question.contradicted else ():
                yield rival.odds, list(with_instead(facts, rival.instead))

    def _faced(self, record: Sequence[AnyFact], question: Question) -> list[Rival]:
        """Return the stories of a round by which one card has another face."""
        sense: Sense = "camera"
        return [
            Rival(likely, facts, outcome, {sense: log(max(odds, _LEAST))})
            for odds, likely, facts, outcome in self._weighing.instances(record, question.warily())
        ]

    def _missed(
        self, record: Sequence[AnyFact], pace_ns: int, cameras: int, *, by_shoe: bool
    ) -> Iterator[Asked]:
        """Yield whose mistake would be none had a card come that no sensor reported."""
        stated = self._weighing.outcome(record, record)
        ways = with_a_card_more(
            self._weighing, record, stated, pace_ns, max(1, cameras), by_shoe=by_shoe
        )
        for to, rivals in ways:
            if self._weighs(record, rivals):
                mistakes = self._weighing.mistakes(record)
                own = [one for one in mistakes if one[1] == to] or mistakes
                yield _of_unseen(to, record, rivals, own)

    def _broken(self, record: Sequence[AnyFact], seen_ns: int, cameras: int) -> Iterator[Asked]:
        """Yield whose hand may have been broken by a card that nobody saw: a loss all the same."""
        if not seen_ns:
            return
        stated = self._weighing.outcome(record, record)
        broke = broken_unseen(self._weighing, record, stated, seen_ns, max(1, cameras))
        if broke is not None and sum(rival.odds for rival in broke[1]) > MISJUDGED_FROM:
            yield _of_unseen(broke[0], record, broke[1])

    def _between(
        self, over: Closed, otherwise: Otherwise, cameras: int, *, by_shoe: bool
    ) -> Iterator[Asked]:
        """Yield that the dealer's row has a gap where a card may have lain that nobody saw."""
        unseen = log(MISSED_FACE) * max(1, cameras) + (log(SHOE_MISSED) if by_shoe else 0.0)
        dealer = [card for card in over.cards if card.to == "dealer"]
        if self._places.gap(dealer) + unseen > log(MISJUDGED_FROM):
            what = "Did the dealer draw a card that no sensor saw? His row of cards has a gap."
            evidence = sorted({seq for card in dealer for seq in card.seqs})
            rivals = drawn_unseen(otherwise)
            yield Asked(Review(what, (), tuple(evidence)), rivals=rivals)

    def _weighs(self, record: Sequence[AnyFact], rivals: Sequence[Rival]) -> bool:
        """Return whether rivals that settle otherwise are likely enough to ask a person.

        A face that a camera alone read and never doubted is asked about as a whole story is: only
        beside a mistake do others have such odds.
        """
        stated = self._weighing.outcome(record, record)
        wrong = sum(one.odds for one in rivals if one.outcome.money != stated.money)
        apart = sum(one.odds for one in rivals if one.outcome.mistakes != stated.mistakes)
        return wrong > ASKED_FROM or apart > MISJUDGED_FROM

    def _unlikely(self, record: Sequence[AnyFact], wrong: int) -> list[Asked]:
        """Ask about a round of several mistakes: it may have gone as no story has it.

        ``wrong`` is how many the story itself holds. One that is named may count twice there; some
        no rule names.
        """
        codes = sorted({code for code, _ in self._weighing.mistakes(record)})
        several = wrong if codes and wrong > len(codes) + 1 else len(codes)
        if several < SEVERAL:
            return []
        review = Review(f"Did this round hold {several} mistakes?", (), record[-1].evidence)
        return [Asked(review, about=self._weighing.mistakes(record))]

    def _likely(self, evidence: float, outcome: Outcome, wrong: int) -> float:
        """Return the logarithm of how likely a story is, with every mistake that it holds.

        Where the camera is alone and the story itself holds more than the engine finds, for want of
        a card, one more counts. What a shoe read and nobody saw is no mistake of that kind.
        """
        kinds = len({code for code, _, _ in outcome.mistakes})
        lacking = min(1, max(0, wrong - kinds)) if self._alone else 0
        return evidence + (kinds + lacking) * log(MISTAKE)


def _held_open(found: Sequence[Asked]) -> bool:
    """Return whether a person must answer before the round is settled."""
    return not all(one.settles_alike for one in found)


def _of_unseen(
    to: Dealt, record: Sequence[AnyFact], rivals: Sequence[Rival], about: Sequence[Mistaken] = ()
) -> Asked:
    """Ask whether somebody got a card that no sensor reported."""
    review = Review(f"Did {whose(to)} get a card that no sensor saw?", (), record[-1].evidence)
    return Asked(review, rivals=rivals, about=about)


class _OtherStory:
    """Another story of a round: the facts by it, and the most that its odds may come to."""

    def __init__(
        self,
        evidence: float,
        most: float,
        facts: list[AnyFact],
        by_sense: Mapping[Sense, float],
        wrong: int,
    ) -> None:
        self.evidence, self.most, self.facts, self.by_sense = evidence, most, facts, by_sense
        self.wrong = wrong
        self.looks: Mapping[int, tuple[int, ...]] = {}


def _apart(one: Mapping[Sense, float], other: Mapping[Sense, float]) -> dict[Sense, float]:
    """Return what each sense says for one story and not for the other, as a logarithm."""
    senses = sorted({*one, *other})
    return {sense: one.get(sense, 0.0) - other.get(sense, 0.0) for sense in senses}


def _sees_more(facts: Sequence[AnyFact], record: Sequence[AnyFact]) -> bool:
    """Return whether a story counts a face that a camera read, and that the record leaves out.

    A verdict is not passed over what was seen as lightly as over what nobody saw.
    """
    counted = {seq for fact in record for seq in fact.evidence}
    dealt = [fact for fact in facts if isinstance(fact, CardDealt) and fact.card is not None]
    return any(fact.evidence and counted.isdisjoint(fact.evidence) for fact in dealt)


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


def _dealt(record: Sequence[AnyFact]) -> list[tuple[object, ...]]:
    """Return who was dealt which card."""
    return [gist(fact)[2:] for fact in record if isinstance(fact, CardDealt)]


def _paid_short_of_a_card(facts: Iterable[AnyFact], outcome: Outcome) -> bool:
    """Return whether a hand was settled by all its chips, and a card that was due did not come."""
    short = {(spot, hand) for code, spot, hand in outcome.mistakes if code == "missing_card"}
    staked: Counter[tuple[Spot | None, int | None]] = Counter()
    paid: list[tuple[tuple[Spot | None, int | None], Cents]] = []
    for fact in facts:
        if isinstance(fact, WagerPlaced) and fact.kind in ("main", "double", "split"):
            staked[fact.spot, fact.hand] += fact.amount
        elif isinstance(fact, PaymentMade) and fact.kind == "main":
            paid.append(((fact.spot, fact.hand), fact.amount))
    return any(whose in short and abs(amount) in (0, staked[whose]) for whose, amount in paid)


def _final(outcome: Outcome) -> bool:
    """Return whether all cards are known that the round settles by."""
    return all(status == "final" for status, *_ in outcome.money)


def _round(story: Story) -> list[AnyFact]:
    """Return the facts of a story's first round, closed if it is not yet."""
    if story.closed:
        over = story.closed[0]
        return story.record[over.opened - story.base : over.end + 1 - story.base]
    record = story.record[story.opened - story.base :]
    return [*record, RoundClosed(at=record[-1].at)] if record else []
