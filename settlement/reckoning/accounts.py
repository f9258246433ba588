"""The accounts of a round that remain, in words: odds, what each settles to, who speaks for it."""

from collections.abc import Mapping, Sequence
from difflib import SequenceMatcher
from math import exp
from typing import Final

from msgspec.structs import replace

from models.cards import Card
from models.events import (
    AnyFact,
    CardDealt,
    CardExposed,
)
from models.judgements import Account, AccountHand, Change, Review, Sense, Witness
from settlement.reckoning.differing import came_by_rank, difference, none_came
from settlement.reckoning.odds import MISTAKE
from settlement.reckoning.record import gist
from settlement.reconcile.weighing import Outcome, Question

MOST: Final = 3
"""The most accounts of a round that a review item shows."""

FAINT: Final = 1e4
"""A story this many times less likely than a shown one is left out."""

_SPEAKS: Final = 2.0
"""A sense that makes an account less than so many times likelier or less likely says nothing."""

UTMOST: Final = 50.0
"""Logarithm of the odds beyond which more says nothing."""


_OFFERED: Final = 3
"""Faces that the round's course speaks for, at most, which a person is offered first …"""
_CLOSE: Final = 10.0
"""… where they are at least a tenth as likely as the likeliest."""


class Rival:
    """An account of a round beside the stated one.

    Args:
        odds: how many times likelier it is than the stated one.
        facts: the round by it.
        outcome: what it settles to.
        by_sense: how much likelier each sense's reports are by it than as stated, as a logarithm.
    """

    def __init__(
        self,
        odds: float,
        facts: Sequence[AnyFact],
        outcome: Outcome,
        by_sense: Mapping[Sense, float],
    ) -> None:
        self.odds, self.facts, self.outcome, self.by_sense = odds, facts, outcome, by_sense
        self.looks: Mapping[int, tuple[int, ...]] = {}
        """All sightings of each card that it holds, by its first one."""
        self.came: tuple[CardDealt, ...] = ()
        """The card that nobody saw, of any suit, in an account by which one came, by each rank by
        which all settles alike."""
        self.faces: tuple[Question, ...] = ()
        """The doubts about faces that it answers otherwise."""
        self.asks = self.tells = ""
        """A question, and what happened by it, where its facts alone do not say so."""

    def in_words(self, record: Sequence[AnyFact]) -> str:
        """Return what happened by it and not as stated."""
        if self.came:
            return came_by_rank(self.came)
        return self.tells or difference(record, self.facts).instead


def accounts(
    record: Sequence[AnyFact], stated: Outcome, rivals: Sequence[Rival], held: str | None = None
) -> tuple[Account, ...]:
    """Return the stated account and its likeliest rivals; nothing where there are none.

    Args:
        record: the round as it is stated.
        stated: what that settles to.
        rivals: what else may have happened.
        held: how the stated account is told; by default by its difference from the likeliest other.
    """
    likeliest = shown(stated, rivals)
    if not likeliest:
        return ()
    differing = _differing([stated, *(rival.outcome for rival in likeliest)])
    came = likeliest[0].came
    tells = held or (none_came(came[0]) if came else difference(record, likeliest[0].facts).held)
    found = [replace(_account(1.0, tells, stated, differing, ()), changes=())]
    for rival in likeliest:
        witnesses = _witnesses(rival, stated)
        instead = rival.in_words(record)
        account = _account(rival.odds, instead, rival.outcome, differing, witnesses)
        found.append(replace(account, changes=_changes(record, rival.facts)))
    return tuple(found)


def shown(stated: Outcome, rivals: Sequence[Rival]) -> list[Rival]:
    """Return the likeliest rivals that settle otherwise, and otherwise than one another."""
    likeliest: list[Rival] = []
    for rival in sorted(rivals, key=lambda one: -one.odds):
        known = any(_same(rival.outcome, one) for one in (stated, *(o.outcome for o in likeliest)))
        faint = bool(likeliest) and rival.odds * FAINT < likeliest[0].odds
        if not (known or faint) and len(likeliest) < MOST - 1:
            likeliest.append(rival)
    return likeliest


def _changes(record: Sequence[AnyFact], facts: Sequence[AnyFact]) -> tuple[Change, ...]:
    """Return what an account has in place of stated facts."""
    mine, its = [gist(fact) for fact in record], [gist(fact) for fact in facts]
    matched = SequenceMatcher(None, mine, its, autojunk=False)
    return tuple(
        Change(at, end - at, tuple(facts[first:last]))
        for kind, at, end, first, last in matched.get_opcodes()
        if kind != "equal"
    )


def _account(
    odds: float,
    tells: str,
    outcome: Outcome,
    differing: set[tuple[int, int]],
    witnesses: tuple[Witness, ...],
) -> Account:
    hands = tuple(
        AccountHand(spot, hand, how, net)
        for (spot, hand), (_, how, net) in sorted(outcome.hands.items())
        if (spot, hand) in differing
    )
    mistakes = sorted(
        {code if spot is None else f"{code} at spot {spot}" for code, spot, _ in outcome.mistakes}
    )
    return Account(
        odds=_rounded(odds), tells=tells, hands=hands, mistakes=tuple(mistakes), witnesses=witnesses
    )


def _witnesses(rival: Rival, stated: Outcome) -> tuple[Witness, ...]:
    """Return which senses speak for a rival or against it, the loudest first."""
    less, more = _kinds(stated), _kinds(rival.outcome)
    odds = {sense: exp(min(UTMOST, log_odds)) for sense, log_odds in rival.by_sense.items()}
    odds["play"] = odds.get("play", 1.0) * MISTAKE ** (len(more) - len(less))
    heard = [
        Witness(sense, _rounded(one))
        for sense, one in odds.items()
        if one >= _SPEAKS or one * _SPEAKS <= 1.0
    ]
    return tuple(sorted(heard, key=lambda one: (-one.odds, one.sense)))


def _kinds(outcome: Outcome) -> set[str]:
    return {code for code, _, _ in outcome.mistakes}


def _same(one: Outcome, other: Outcome) -> bool:
    return one.money == other.money and one.mistakes == other.mistakes


def _differing(outcomes: Sequence[Outcome]) -> set[tuple[int, int]]:
    """Return the hands that do not settle alike by all of them."""
    whose = {key for outcome in outcomes for key in outcome.hands}
    return {key for key in whose if len({outcome.hands.get(key) for outcome in outcomes}) > 1}


def _rounded(odds: float) -> float:
    """Return odds with two digits, which are all that the probabilities bear."""
    return float(f"{odds:.2g}")


def offering(review: Review, record: Sequence[AnyFact], rivals: Sequence[Rival]) -> Review:
    """Offer a person the faces that the round's course speaks for ahead of the camera's."""
    stated, *others = review.candidates
    likeliest = sorted(rivals, key=lambda one: -one.odds)[:_OFFERED]
    close = [one for one in likeliest if one.odds * _CLOSE >= likeliest[0].odds]
    ahead = [str(card) for one in close if (card := _other_face(record, one.facts))]
    offered = tuple(dict.fromkeys((stated, *ahead, *others)))
    most = max(len(review.candidates), 1 + len(ahead))
    return replace(review, candidates=offered[:most])


def _other_face(record: Sequence[AnyFact], facts: Sequence[AnyFact]) -> Card | None:
    """Return the card of the first fact that differs from the record's."""
    for mine, its in zip(record, facts, strict=False):
        if mine != its:
            return its.card if isinstance(its, CardDealt | CardExposed) else None
    return None
