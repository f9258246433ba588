"""The decision about a round that is over: what it settles to, or that a person is asked.

Each account that remains of a round is a hypothesis. Its edits say how it may have gone otherwise,
each with its price. The accounts with no edit, with one and with two are settled by the engine, the
likeliest first, and the mistakes that the engine finds have a price as well. The odds of those that
settle alike are summed.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from heapq import heappop, heappush
from math import exp, log
from typing import Final

from models.events import AnyFact, CardDealt
from models.judgements import Change, Sense
from settlement.reckoning.accounts import FAINT, Rival
from settlement.reckoning.odds import ASKED_FROM, FORGOTTEN, MISJUDGED_FROM, MISTAKE
from settlement.reckoning.record import gist
from settlement.reconcile.weighing import Outcome, Question

JOINT: Final = 2
"""So many edits are combined: two errors of the sensors in one round."""

_LEAST: Final = 1e-6
"""An account less likely than this, beside the stated one, is not settled."""

_MOST_SETTLED: Final = 400
"""So many accounts of a round are settled at most. Chosen: a tenth of a second."""

_PRICES: Final = {"missing_card": FORGOTTEN}
"""Mistakes that few hands leave room for."""

_UTMOST: Final = 50.0
"""Logarithm of the odds beyond which more says nothing."""


class Edit:
    """One way in which an account may have gone otherwise.

    Args:
        weight: how likely it is beside the account, as a logarithm.
        sense: whose report would have been amiss.
        changes: what it has in place of the account's facts.
        face: the doubt about a card's face that it answers.
        came: the card that nobody saw, of any suit, where one came.
        tells: what happened by it, where its facts alone do not say so.
    """

    def __init__(
        self,
        weight: float,
        sense: Sense,
        changes: Sequence[Change],
        *,
        face: Question | None = None,
        came: CardDealt | None = None,
        tells: str = "",
    ) -> None:
        self.weight, self.sense, self.changes = weight, sense, tuple(changes)
        self.face, self.came, self.tells = face, came, tells


class Hypothesis:
    """An account of a round: its facts, how likely its observations are, and its edits.

    Args:
        weight: how likely the observations are by it, as a logarithm.
        facts: the round by it.
        by_sense: how much likelier each sense's reports are by it than as stated.
        edits: how it may have gone otherwise.
        price: its own price beside those of the mistakes that the engine finds, as a logarithm.
    """

    def __init__(
        self,
        weight: float,
        facts: Sequence[AnyFact],
        by_sense: Mapping[Sense, float],
        edits: Sequence[Edit] = (),
        price: Callable[[Sequence[AnyFact], Outcome], float] | None = None,
    ) -> None:
        self.weight, self.facts, self.by_sense = weight, facts, by_sense
        self.edits = sorted(edits, key=lambda one: -one.weight)
        self.price = price
        self.looks: Mapping[int, tuple[int, ...]] = {}
        """All sightings of each card that it holds, by its first one."""

    def rival(
        self, odds: float, facts: Sequence[AnyFact], outcome: Outcome, edits: Sequence[Edit]
    ) -> Rival:
        """Return the account with edits, as it is told."""
        by_sense = dict(self.by_sense)
        for one in edits:
            by_sense[one.sense] = by_sense.get(one.sense, 0.0) + one.weight
        rival = Rival(odds, facts, outcome, by_sense)
        rival.looks = self.looks
        rival.faces = tuple(one.face for one in edits if one.face is not None)
        if len(edits) == 1:
            rival.tells = edits[0].tells
            rival.came = () if edits[0].came is None else (edits[0].came,)
        return rival


class Decided:
    """What the accounts of a round come to beside the stated one.

    Attributes:
        rivals: the likeliest account of each other outcome, with the odds of all that settle so.
        wrong, misjudged, alike: the odds that the money is another, that only mistakes are, and
            that only cards are.
    """

    def __init__(self) -> None:
        self.rivals: list[Rival] = []
        self.wrong = self.misjudged = self.alike = 0.0

    @property
    def open(self) -> bool:
        """Whether a person is asked."""
        return self.wrong > ASKED_FROM or self.misjudged > MISJUDGED_FROM


def decide(
    stated: Hypothesis,
    others: Sequence[Hypothesis],
    settle: Callable[[Sequence[AnyFact]], Outcome],
    *,
    cards_matter: bool,
) -> Decided:
    """Settle the accounts of a round, the likeliest first, and sum their odds by outcome.

    Args:
        stated: the stated account.
        others: the other ones.
        settle: settles an account.
        cards_matter: whether accounts count that settle alike and have other cards.
    """
    outcome = settle(stated.facts)
    own = likely(stated, stated.facts, outcome, stated.weight)
    found, most, settled = Decided(), log(_LEAST), 0
    by_outcome: dict[object, Rival] = {}
    dealt = _dealt(stated.facts)
    for weight, whose, edits in _best_first((stated, *others)):
        if weight - own < most or settled >= _MOST_SETTLED:
            break
        facts = edited(whose.facts, edits)
        if facts == stated.facts:
            continue
        settled += 1
        its = settle(facts)
        its_own = likely(whose, facts, its, weight)
        if its.mistakes > outcome.mistakes and _kinds(its) == _kinds(outcome):
            # It holds all that the stated one does, and explains none of it.
            its_own += log(MISTAKE)
        odds = exp(min(_UTMOST, its_own - own))
        if its.money != outcome.money:
            found.wrong += odds
        elif its.mistakes != outcome.mistakes:
            found.misjudged += odds
        elif cards_matter and _dealt(facts) != dealt:
            found.alike += odds
        else:
            continue
        _join(by_outcome, whose.rival(odds, facts, its, edits))
        if found.open:
            heaviest = max(one.odds for one in by_outcome.values())
            most = max(most, log(heaviest / FAINT))
    found.rivals = sorted(by_outcome.values(), key=lambda one: -one.odds)
    return found


def likely(account: Hypothesis, facts: Sequence[AnyFact], outcome: Outcome, weight: float) -> float:
    """Return how likely an account with edits is, with every mistake that it holds."""
    price = 0.0 if account.price is None else account.price(facts, outcome)
    return weight + price + sum([log(_PRICES.get(code, MISTAKE)) for code in _kinds(outcome)])


def _kinds(outcome: Outcome) -> list[str]:
    return sorted({code for code, _, _ in outcome.mistakes})


def edited(facts: Sequence[AnyFact], edits: Sequence[Edit]) -> list[AnyFact]:
    """Return the facts of an account with edits, of which no two change the same place."""
    found = list(facts)
    changes = [change for one in edits for change in one.changes]
    for change in sorted(changes, key=lambda one: (-one.at, -one.drops)):
        found[change.at : change.at + change.drops] = change.facts
    return found


def _best_first(
    accounts: Sequence[Hypothesis],
) -> Iterator[tuple[float, Hypothesis, tuple[Edit, ...]]]:
    """Yield each account with none, one and more of its edits, and how likely its reports are."""
    heap = [(-one.weight, at, tuple[int, ...]()) for at, one in enumerate(accounts)]
    heap.sort()
    while heap:
        negative, at, chosen = heappop(heap)
        own = accounts[at]
        edits = tuple([own.edits[one] for one in chosen])
        if not _clash(edits):
            yield -negative, own, edits
        following = chosen[-1] + 1 if chosen else 0
        if following == len(own.edits):
            continue
        added = own.edits[following].weight
        if len(chosen) < JOINT:
            heappush(heap, (negative - added, at, (*chosen, following)))
        if chosen:
            instead = negative + own.edits[chosen[-1]].weight - added
            heappush(heap, (instead, at, (*chosen[:-1], following)))


def _clash(edits: Sequence[Edit]) -> bool:
    """Return whether two edits change the same place of an account."""
    if len(edits) < 2:
        return False
    places = [
        (place, change.drops > 0)
        for one in edits
        for change in one.changes
        for place in range(change.at, change.at + max(1, change.drops))
    ]
    return len(set(places)) < len(places)


def _join(by_outcome: dict[object, Rival], rival: Rival) -> None:
    """Count an account with those that settle alike: the likeliest stands for all."""
    outcome = rival.outcome
    whose = [(card.to, card.hand) for card in rival.came]
    key = (outcome.money, frozenset(outcome.mistakes.items()), *whose)
    known = by_outcome.get(key)
    if known is not None:
        odds, came = known.odds + rival.odds, (*known.came, *rival.came)
        rival = max(known, rival, key=lambda one: one.odds)
        rival.odds, rival.came = odds, came
    by_outcome[key] = rival


def _dealt(record: Sequence[AnyFact]) -> list[str]:
    """Return who was dealt which card."""
    return sorted(str(gist(fact)[2:]) for fact in record if isinstance(fact, CardDealt))
