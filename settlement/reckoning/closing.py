"""A round that is over: what the stories that remain settle to, and what a person is asked."""

from collections.abc import Sequence
from math import exp, log
from typing import Final

from models.events import AnyFact, CardDealt, CardExposed, PaymentMade, RoundClosed
from models.judgements import Review
from models.places import spot_hand
from models.rulebook import Rulebook
from settlement.reckoning.in_play import InPlay
from settlement.reckoning.odds import ASKED_FROM, MISJUDGED_FROM, MISTAKE
from settlement.reckoning.story import Closed, Story
from settlement.reconcile.draws import Composition
from settlement.reconcile.questions import of_face
from settlement.reconcile.table import Held
from settlement.reconcile.unread import never_known
from settlement.reconcile.weighing import (
    Outcome,
    Question,
    Weighing,
)

_LEAST: Final = 1e-7
"""A story less likely than this, beside the stated one, is not weighed."""


_ADDED: Final = ("doubled, and no card was dealt", "raised after the deal")
"""What chips added to two cards may mean where no card follows."""


class Asked:
    """What a person is asked of a round, and whether the round settles alike all the same."""

    def __init__(self, review: Review, *, settles_alike: bool) -> None:
        self.review, self.settles_alike = review, settles_alike


class Closing:
    """Weighs a round that is over.

    Args:
        rules: the rulebook by which it is settled.
        shoe: what the decks can still hold.
    """

    def __init__(self, rules: Rulebook, shoe: Composition) -> None:
        self._shoe = shoe
        self._weighing = Weighing(rules, shoe.room)

    def asks(self, story: Story, others: Sequence[Story]) -> list[Asked]:
        """Return what is asked of the round that ``story`` closed first."""
        over = story.closed[0]
        record = story.record[over.opened - story.base : over.end + 1 - story.base]
        self._weighing.turned_unseen = over.turned_unseen
        questions = self._faces(over, record)
        answers = self._weighing.answers(record, questions)
        found = [Asked(review, settles_alike=False) for review in over.asks]
        for question, answer in zip(questions, answers, strict=True):
            if answer != "settled":
                found.append(Asked(question.review, settles_alike=answer == "alike"))
        found += self._stories(over, others, record)
        found += self._unread(record)
        evidence = record[-1].evidence
        for hand in over.hands:
            if not hand.taken_at and hand.cards:
                what = f"the cards of {spot_hand(hand.spot, hand.number)} were not seen taken up"
                found.append(
                    Asked(
                        Review(what, ("left alone", "paid unseen"), evidence), settles_alike=False
                    )
                )
            if hand.owed:
                what = f"chips were added to spot {hand.spot}, and no card followed"
                found.append(Asked(Review(what, _ADDED, evidence), settles_alike=False))
        for short in self._weighing.short_of_a_card(record):
            what = f"spot {short} seems to have got a card that no sensor told of"
            found.append(Asked(Review(what, (), evidence), settles_alike=False))
        return found

    def likeliest(self, stories: Sequence[Story]) -> Story:
        """Return the story that is likeliest with every mistake in its first round counted."""
        return max(stories, key=self._of_first_round)

    def _of_first_round(self, story: Story) -> float:
        over = story.closed[0]
        facts = _round(story)
        return self._likely(over.evidence, over.wrong, self._weighing.outcome(facts, facts))

    def _unread(self, record: Sequence[AnyFact]) -> list[Asked]:
        settled = self._weighing.settled(record) and not self._weighing.mistakes(record)
        found = []
        for at, fact in enumerate(record):
            if isinstance(fact, CardDealt) and never_known(record, at, fact):
                whose = "the dealer" if fact.to == "dealer" else spot_hand(fact.to, fact.hand)
                review = Review(f"a card of {whose} was never read", (), fact.evidence)
                found.append(Asked(review, settles_alike=settled))
        return found

    def _faces(self, over: Closed, record: Sequence[AnyFact]) -> list[Question]:
        found = []
        # Several mistakes in one round are likelier one card that every look misread.
        erred = len({code for code, _ in self._weighing.mistakes(record)}) > 1
        for card in over.cards:
            question = self._of_face(card, record, over.opened, erred=erred)
            if question is not None:
                found.append(question)
        return found

    def _of_face(
        self, card: InPlay, record: Sequence[AnyFact], opened: int, *, erred: bool
    ) -> Question | None:
        """Ask which card one is; unless the round ``erred``, only where its looks leave a doubt."""
        reading = card.reading
        if card.card is None or reading is None:
            return None
        if not erred and reading.steady and reading.looks > 1:
            return None
        told = [at - opened for at in (card.dealt, card.shown) if at >= opened]
        held = Held(0, card.card, card.face, seqs=card.seqs, told=told)
        return of_face(held, reading, record, self._shoe, (0.05, 0.05))

    def _stories(
        self, over: Closed, others: Sequence[Story], record: Sequence[AnyFact]
    ) -> list[Asked]:
        """Ask where a story that is not unlikely settles the round otherwise."""
        stated = self._weighing.outcome(record, record)
        found: list[tuple[float, list[AnyFact]]] = []
        wrong = misjudged = 0.0
        paid = _final(stated) and any(isinstance(fact, PaymentMade) for fact in record)
        own = self._likely(over.evidence, over.wrong, stated)
        for other in others:
            its = other.closed[0] if other.closed else None
            evidence = other.evidence if its is None else its.evidence
            mistakes = other.wrong if its is None else its.wrong
            if evidence + mistakes * log(MISTAKE) - own < log(_LEAST):
                continue
            facts = _round(other)
            if facts == record or (its is None and facts[: len(record) - 1] == record[:-1]):
                continue
            outcome = self._weighing.outcome(facts, record)
            odds = exp(min(50.0, self._likely(evidence, mistakes, outcome) - own))
            if paid and not _final(outcome):
                odds *= MISTAKE
            if outcome.money != stated.money:
                wrong += odds
            elif outcome.mistakes != stated.mistakes:
                misjudged += odds
            else:
                continue
            found.append((odds, facts))
        if wrong <= ASKED_FROM and misjudged <= MISJUDGED_FROM:
            return []
        odds, facts = max(found, key=lambda one: one[0])
        told, instead = _difference(record, facts)
        what = "what happened cannot be told apart"
        review = Review(what, (told, f"{instead} ({odds:.2g})"), record[-1].evidence)
        return [Asked(review, settles_alike=False)]

    def _likely(self, evidence: float, counted: int, outcome: Outcome) -> float:
        """Return the logarithm of how likely a story is, with every mistake that it holds."""
        codes = len({code for code, _, _ in outcome.mistakes})
        return evidence + max(codes, counted) * log(MISTAKE)


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


def _difference(one: Sequence[AnyFact], other: Sequence[AnyFact]) -> tuple[str, str]:
    """Name the first facts in which two records differ."""
    for mine, its in zip(one, other, strict=False):
        if mine != its:
            return _name(mine), _name(its)
    longer = one if len(one) > len(other) else other
    at = min(len(one), len(other))
    return (_name(longer[at]) + f" {len(one)} {len(other)}", "") if at < len(longer) else ("", "")


def _name(fact: AnyFact) -> str:
    match fact:
        case CardDealt():
            return f"{fact.card or 'a card'} dealt to {fact.to} {fact.face}"
        case CardExposed():
            return f"{fact.card or 'a card'} of {fact.to} turned up"
        case _:
            return str(fact)[:150]
