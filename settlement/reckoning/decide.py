"""The decision about a round that is over: what it settles to, or that a person is asked.

Each account that remains of a round is a hypothesis. Its edits say how it may have gone otherwise,
each with its price. The accounts with no edit, with one and with two are settled by the engine, the
likeliest first, and the mistakes that the engine finds have a price as well. The odds of those that
settle alike are summed.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from heapq import heappop, heappush
from math import exp, log
from typing import Final, TypeAlias

from models.events import AnyFact, CardDealt, PaymentMade, WagerPlaced
from models.judgements import Change, Sense
from settlement.reckoning.accounts import FAINT, UTMOST, Rival
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


Settle: TypeAlias = Callable[[Sequence[AnyFact]], Outcome]
"""Settles an account."""


class Edit:
    """One way in which an account may have gone otherwise.

    Args:
        weight: how likely it is beside the account, as a logarithm.
        sense: whose report would have been amiss.
        changes: what it has in place of the account's facts.
        face: the doubt about a card's face that it answers.
        came: the card that nobody saw, of any suit, where one came.
        tells: what is asked of it and what happened by it, where its facts alone do not say so.
    """

    def __init__(
        self,
        weight: float,
        sense: Sense,
        changes: Sequence[Change],
        *,
        face: Question | None = None,
        came: CardDealt | None = None,
        tells: tuple[str, str] | None = None,
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
        wrong: how many mistakes it was held to make as it was played; 0 where they do not count
            beside what the engine finds.
    """

    def __init__(
        self,
        weight: float,
        facts: Sequence[AnyFact],
        by_sense: Mapping[Sense, float],
        edits: Sequence[Edit] = (),
        wrong: int = 0,
    ) -> None:
        self.weight, self.facts, self.by_sense = weight, facts, by_sense
        self.edits = sorted(edits, key=lambda one: -one.weight)
        self._wrong = wrong
        self._lacks: int | None = None
        self.looks: Mapping[int, tuple[int, ...]] = {}
        """All sightings of each card that it holds, by its first one."""

    def lacks(self, settle: Settle) -> int:
        """Return whether it holds a mistake that the engine does not find, for want of a card."""
        if self._lacks is None:
            more = self._wrong - len(_kinds(settle(self.facts))) if self._wrong else 0
            self._lacks = min(1, max(0, more))
        return self._lacks

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
            rival.asks, rival.tells = edits[0].tells or ("", "")
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
    settle: Settle,
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
    own = likely(stated, outcome, stated.weight, settle)
    paid = _final(outcome) and any(isinstance(fact, PaymentMade) for fact in stated.facts)
    found, most, settled = Decided(), log(_LEAST), 0
    by_outcome: dict[object, Rival] = {}
    dealt = _dealt(stated.facts)
    counted = {seq for fact in stated.facts for seq in fact.evidence}
    for weight, whose, edits in _best_first((stated, *others)):
        if weight - own < most or settled >= _MOST_SETTLED:
            break
        facts = edited(whose.facts, edits)
        if facts == stated.facts:
            continue
        settled += 1
        its = settle(facts)
        its_own = likely(whose, its, weight, settle)
        if paid and not _final(its) and not _is_paid(facts, its, outcome):
            its_own += log(MISTAKE)
        if its.mistakes > outcome.mistakes and _kinds(its) == _kinds(outcome):
            # It holds all that the stated one does, and explains none of it.
            its_own += log(MISTAKE)
        odds = exp(min(UTMOST, its_own - own))
        verdict = its.mistakes != outcome.mistakes
        if its.money != outcome.money or (verdict and _sees_more(facts, counted)):
            found.wrong += odds
        elif verdict:
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


def likely(account: Hypothesis, outcome: Outcome, weight: float, settle: Settle) -> float:
    """Return how likely an account with edits is, with every mistake that it holds.

    Args:
        account: the account without edits.
        outcome: what it settles to with them.
        weight: how likely the observations are by it, as a logarithm.
        settle: settles an account.
    """
    mistakes = sum([log(_PRICES.get(code, MISTAKE)) for code in _kinds(outcome)])
    return weight + mistakes + account.lacks(settle) * log(MISTAKE)


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
    """Yield each account with none, one and more of its edits, and how likely its reports are.

    Of those as likely the ones with fewer edits come first.
    """
    heap: list[tuple[float, int, int, tuple[int, ...]]] = [
        (-one.weight, 0, at, ()) for at, one in enumerate(accounts)
    ]
    heap.sort()
    while heap:
        negative, number, at, chosen = heappop(heap)
        own = accounts[at]
        edits = tuple([own.edits[one] for one in chosen])
        if not _clash(edits):
            yield -negative, own, edits
        following = chosen[-1] + 1 if chosen else 0
        if following == len(own.edits):
            continue
        added = own.edits[following].weight
        if number < JOINT:
            heappush(heap, (negative - added, number + 1, at, (*chosen, following)))
        if chosen:
            instead = negative + own.edits[chosen[-1]].weight - added
            heappush(heap, (instead, number, at, (*chosen[:-1], following)))


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


def _sees_more(facts: Sequence[AnyFact], counted: Set[int]) -> bool:
    """Return whether an account counts a face that a camera read, and that no stated fact rests on.

    A verdict is not passed over what was seen as lightly as over what nobody saw.
    """
    dealt = [fact for fact in facts if isinstance(fact, CardDealt) and fact.card is not None]
    return any(fact.evidence and counted.isdisjoint(fact.evidence) for fact in dealt)


def _final(outcome: Outcome) -> bool:
    """Return whether all cards are known that the round settles by."""
    return all(status == "final" for status, *_ in outcome.money)


def _is_paid(facts: Sequence[AnyFact], outcome: Outcome, stated: Outcome) -> bool:
    """Return whether a round that leaves cards open may have been paid all the same.

    So it may by an account that only acquits, or where a hand was settled by all its chips though
    a card that was due did not come.
    """
    if outcome.mistakes < stated.mistakes:
        return True
    short = {(spot, hand) for code, spot, hand in outcome.mistakes if code == "missing_card"}
    staked: Counter[tuple[int | None, int | None]] = Counter()
    paid: list[tuple[tuple[int | None, int | None], int]] = []
    for fact in facts:
        if isinstance(fact, WagerPlaced) and fact.kind in ("main", "double", "split"):
            staked[fact.spot, fact.hand] += fact.amount
        elif isinstance(fact, PaymentMade) and fact.kind == "main":
            paid.append(((fact.spot, fact.hand), fact.amount))
    return any(whose in short and abs(amount) in (0, staked[whose]) for whose, amount in paid)


def _dealt(record: Sequence[AnyFact]) -> list[str]:
    """Return who was dealt which card."""
    return sorted(str(gist(fact)[2:]) for fact in record if isinstance(fact, CardDealt))
