"""Whether a file that went wrong is refused, reported, or settled as it should be.

A simulated evening has every payment on record, so that what is lost or added at the table shows
against what was paid. A file that went wrong must be refused by its line, or leave a round
that a person looks at, or settle for the same money. What no program can tell is named:

- a round's number is what the file says it is;
- the stake of a hand that pushes moves no money;
- a round in which no wager was seen is not judged, and settles for nothing;
- a file that breaks off, or begins late, between two rounds lacks the others.
"""

import json
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from random import Random
from typing import Final, Literal, TypeAlias

import msgspec

from models.errors import InputRefused, OperatorError
from models.judgements import RoundResult
from models.rulebook import Rulebook
from server.house.wording import is_clean
from simulation.house import house
from tests.server.evenings import evening, lines, settle_file
from tests.settlement.spoiled import OUT_OF_PLACE, UNSOUND, Fact, Spoilt, readable

Verdict: TypeAlias = Literal["refused", "reported", "the same"]
Money: TypeAlias = tuple[tuple[int, tuple[int | None, ...], int | None], ...]

RULEBOOKS: Final = ("kansas-shoe", "pitch-double-deck", "casino-shoe", "casino-single-deck", "home")
LOSE_ROUNDS: Final = ("cut_off", "begun_late", "truncated", "bytes_lost", "empty")


class WronglySettled(AssertionError):
    """A bad file was neither refused rightly nor reported nor settled as it stands."""


@cache
def good_file(rulebook: str, seed: int, *, numbered: bool) -> tuple[Rulebook, tuple[bytes, ...]]:
    """Return a clean evening of three rounds, a line a fact, with or without ``seq``."""
    facts = evening(3, seed, rulebook=rulebook)
    told = lines(facts).splitlines()
    if numbered:
        numbers = enumerate(facts, start=1)
        told = lines([msgspec.structs.replace(f, seq=n) for n, f in numbers]).splitlines()
    return house(rulebook).rules, tuple(told)


@cache
def good_money(rulebook: str, seed: int, place: Path) -> tuple[Money, ...]:
    """Return what the evening's rounds settle for; every one of them is clean."""
    rules, told = good_file(rulebook, seed, numbered=False)
    results = _settled(b"\n".join(told), rules, place)
    assert all(map(is_clean, results))
    return money(results)


def _evening(case: int) -> tuple[str, int]:
    chance = Random(f"{case}:evening")
    return chance.choice(RULEBOOKS), chance.randrange(10)


def spoilt_file(case: int) -> Spoilt:
    """Spoil a file by the number of the case."""
    chance = Random(case)
    _, told = good_file(*_evening(case), numbered=chance.random() < 0.25)
    return chance.choice(OUT_OF_PLACE if case % 2 else UNSOUND)(list(told), chance)


def judge(case: int, place: Path) -> tuple[Verdict, Spoilt]:
    """Spoil a file, settle it, and return what became of it.

    Args:
        case: decides everything.
        place: a folder to write files in.

    Raises:
        WronglySettled: it was settled wrongly without a word, or refused for the wrong line.
    """
    rulebook, seed = _evening(case)
    rules, _ = good_file(rulebook, seed, numbered=False)
    spoilt = spoilt_file(case)
    facts, bad = readable(spoilt.data)
    try:
        results = _settled(spoilt.data, rules, place)
    except InputRefused as refusal:
        _check_refusal(refusal, bad, spoilt)
        return "refused", spoilt
    except OperatorError as refusal:
        if facts or "there is nothing in it" not in str(refusal):
            raise WronglySettled(f"{refusal}: {spoilt.how}") from refusal
        return "refused", spoilt
    if bad is not None:
        raise WronglySettled(f"line {bad} is not sound and was settled: {spoilt.how}")
    _check_reading(facts, results, rules, place)
    if not all(map(is_clean, results)):
        return "reported", spoilt
    if spoilt.how == "begun_late" and _begins_unwagered(facts):
        results = results[1:]
    _check_money(money(results), good_money(rulebook, seed, place), spoilt)
    return "the same", spoilt


def _settled(data: bytes, rules: Rulebook, place: Path) -> tuple[RoundResult, ...]:
    file = place / "facts.jsonl"
    file.write_bytes(data)
    return settle_file(str(file), rules)


def money(results: Sequence[RoundResult]) -> tuple[Money, ...]:
    """Return what each spot won or lost, in the rounds in which anything was wagered."""
    played = [r for r in results if any(hand.stake for spot in r.spots for hand in spot.hands)]
    return tuple(
        tuple(
            (
                spot.spot,
                tuple(hand.net for hand in spot.hands),
                spot.insurance.net if spot.insurance else None,
            )
            for spot in result.spots
        )
        for result in played
    )


def _begins_unwagered(facts: Sequence[tuple[int, Fact]]) -> bool:
    """Tell whether the first round began before the file did, and its wagers with it."""
    for _, fact in facts:
        if fact["type"] in ("round_opened", "wager_placed", "card_dealt", "payment_made"):
            opens = fact["type"] == "round_opened" or fact.get("kind") == "main"
            return not opens
    return False


def _check_refusal(refusal: InputRefused, bad: int | None, spoilt: Spoilt) -> None:
    if refusal.line != bad:
        raise WronglySettled(f"refused at line {refusal.line}, due {bad}: {refusal}")
    if not (refusal.field and refusal.expected and refusal.found):
        raise WronglySettled(f"the refusal says too little: {refusal}")
    if spoilt.how == "wrong_value" and spoilt.field not in refusal.field:
        raise WronglySettled(
            f"field {spoilt.field} was spoilt, the refusal names another: {refusal}"
        )


def _check_reading(
    facts: Sequence[tuple[int, Fact]],
    results: Sequence[RoundResult],
    rules: Rulebook,
    place: Path,
) -> None:
    """Compare with the same facts written out plainly, each on its old line."""
    told = dict(facts)
    plain = [json.dumps(told[n]) if n in told else "" for n in range(1, max(told, default=0) + 1)]
    if _settled("\n".join(plain).encode(), rules, place) != tuple(results):
        raise WronglySettled("it settles otherwise than the facts that stand in it")


def _check_money(found: tuple[Money, ...], due: tuple[Money, ...], spoilt: Spoilt) -> None:
    if spoilt.how in LOSE_ROUNDS:
        left = iter(due)
        right = all(one in left for one in found)
    else:
        right = found == due
    if not right:
        raise WronglySettled(f"{spoilt.how} {spoilt.fact} {spoilt.field}: {found}, due {due}")
