"""Sensors that lie: what perfect ones tell of a simulated session is spoilt at stated rates.

Every session is dealt by one seed and spoilt by another, so that each can be played again.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import astuple, dataclass, fields
from functools import cache
from itertools import takewhile
from random import Random
from typing import Final, Literal, TypeAlias

import msgspec
from msgspec.structs import replace

from models.cards import DECK, Card
from models.errors import OperatorError
from models.events import (
    AnyFact,
    AnyObservation,
    CardGone,
    CardSighted,
    ReaderFault,
    ShoeCardRead,
    ShoeCutCard,
)
from models.judgements import ReviewRaised, RoundResult
from models.layout import TableLayout
from models.rulebook import Rulebook
from settlement.engine import Engine
from settlement.reckoning import Reckoning
from settlement.reckoning.reckoning import Published
from settlement.reconcile import with_reviews
from simulation.dealing import deal_session, is_shoe_game
from simulation.filmed import as_filmed
from simulation.house import house
from simulation.ideal import OVERHEAD, Eye, ideal_observations
from simulation.mistakes import known, mistake_for
from simulation.session import START_NS
from simulation.staging import stage
from simulation.table import Table
from stream.library import layout_text
from tests.sensors import film_noise
from tests.sensors.ended import ends, matched
from tests.sensors.film_noise import FilmRates, Game

Timed: TypeAlias = tuple[int, AnyObservation]
Dealing: TypeAlias = Literal["shoe", "pitch"]
Dead: TypeAlias = Literal["shoe", "camera"]

MS: Final = 1_000_000
SECOND: Final = 1_000 * MS
_LOOKS_NS: Final = (1 * SECOND, 3 * SECOND, 6 * SECOND)
"""When the camera looks again at a card that lies as it lay."""
_TABLE: Final = "BJ-01"
_FELT: Final = "five-spots"
_FLEETING: Final = ("foreign_card", "impossible_card", "face_up_card_used")
"""Mistakes that are about what a sensor read, and cannot be told from a misreading."""


@dataclass(frozen=True, slots=True)
class Rates:
    """How often each thing goes wrong, per card."""

    shoe_misread: float = 0.001
    shoe_missed: float = 0.001
    shoe_doubled: float = 0.001
    camera_misread: float = 0.005
    camera_missed: float = 0.01
    camera_late: float = 0.01
    """Share of cards that an arm hides for up to five seconds."""
    burst: float = 0.002
    """Share of cards at which a burst begins: two seconds at ten times the rates."""

    def times(self, factor: float) -> "Rates":
        """Return these rates multiplied by ``factor``."""
        return Rates(*(min(1.0, rate * factor) for rate in astuple(self)))

    def of_shoe(self) -> "Rates":
        """Return the rates of the shoe's reader alone."""
        return self.only(("shoe_misread", "shoe_missed", "shoe_doubled", "burst"))

    def only(self, names: Sequence[str]) -> "Rates":
        """Return the rates named, the others zero."""
        return Rates(*(getattr(self, f.name) * (f.name in names) for f in fields(self)))


class Spoiler:
    """Does to observations what the rates say, by a seed.

    Args:
        rates: how often each thing goes wrong, per card.
        seed: decides where.
        clinging: whether a card once missed or misread by the camera is so at every look; else
            each look errs for itself.
    """

    def __init__(self, rates: Rates, seed: int, *, clinging: bool) -> None:
        self._rates, self._clinging = rates, clinging
        self._chance = Random(f"{seed}:noise")
        self._burst_until_ns = 0
        self._extra = 0
        self._seen: set[int] = set()
        self._missed: dict[int, bool] = {}
        self._late: dict[int, int] = {}
        self._misread: dict[tuple[int, Card], Card] = {}

    def spoil(self, heard: Sequence[Timed]) -> list[Timed]:
        """Return what the spoilt sensors say, in the order of its arrival."""
        told = [spoilt for at, said in heard for spoilt in self._one(at, said)]
        told = list(_in_view(sorted(told, key=lambda timed: timed[0])))
        return [(at, replace(said, seq=seq)) for seq, (at, said) in enumerate(told, start=1)]

    def _one(self, at: int, said: AnyObservation) -> Iterator[Timed]:
        match said:
            case ShoeCardRead():
                yield from self._shoe(at, said)
            case CardSighted():
                yield from self._sighted(at, said)
            case _:
                yield at, said

    def _strikes(self, rate: float, at: int) -> bool:
        return self._chance.random() < rate * (10 if at < self._burst_until_ns else 1)

    def _shoe(self, at: int, said: ShoeCardRead) -> Iterator[Timed]:
        if self._strikes(self._rates.burst, at):
            self._burst_until_ns = at + 2 * SECOND
        if said.draw == 1:
            self._extra = 0
        if self._strikes(self._rates.shoe_missed, at):
            self._extra -= self._chance.random() < 0.5
            return
        card = said.card
        if self._strikes(self._rates.shoe_misread, at):
            card = self._another(card)
        said = replace(said, card=card, draw=said.draw + self._extra)
        yield at, said
        if self._strikes(self._rates.shoe_doubled, at):
            counted = self._chance.random() < 0.5
            self._extra += counted
            yield at + 60 * MS, replace(said, draw=said.draw + counted)

    def _sighted(self, at: int, said: CardSighted) -> Iterator[Timed]:
        """Look at a card: hidden by an arm as yet, missed, misread, or seen."""
        if said.track not in self._late:
            late = self._strikes(self._rates.camera_late, at)
            self._late[said.track] = at + self._chance.randrange(5 * SECOND) if late else 0
        at = max(at, self._late[said.track])
        if self._misses(said.track, at):
            return
        if said.track not in self._seen:
            rested = said.change == "new"
            said = replace(
                said, change="new", at=said.at if rested and not self._late[said.track] else at
            )
        self._seen.add(said.track)
        yield at, self._read(said, at)

    def _misses(self, track: int, at: int) -> bool:
        if not self._clinging:
            return self._strikes(self._rates.camera_missed, at)
        if track not in self._missed:
            self._missed[track] = self._strikes(self._rates.camera_missed, at)
        return self._missed[track]

    def _read(self, said: CardSighted, at: int) -> CardSighted:
        if said.card is None:
            return said
        key = (said.track, said.card)
        if key not in self._misread or not self._clinging:
            wrong = self._strikes(self._rates.camera_misread, at)
            self._misread[key] = self._another(said.card) if wrong else said.card
        card = self._misread[key]
        return replace(said, card=card, candidates={card.value: 0.9999})

    def _another(self, card: Card | None) -> Card:
        return self._chance.choice([other for other in DECK if other is not card])


def _in_view(told: Sequence[Timed]) -> Iterator[Timed]:
    """Leave out what no camera reports: a card seen once it is gone, or gone that was not seen."""
    seen: set[int] = set()
    gone: set[int] = set()
    for at, said in told:
        match said:
            case CardSighted():
                if said.track in gone:
                    continue
                seen.add(said.track)
            case CardGone():
                gone.add(said.track)
                if said.track not in seen:
                    continue
            case _:
                pass
        yield at, said


def without(dead: Dead, heard: Sequence[Timed]) -> list[Timed]:
    """Return what is left where one device is silent from the first card to the last.

    Of a shoe's reader its lost link is reported; somebody still enters which shoe was loaded.
    """
    silent = (ShoeCardRead, ShoeCutCard) if dead == "shoe" else (CardSighted, CardGone)
    left = [(at, said) for at, said in heard if not isinstance(said, silent)]
    if dead == "shoe":
        at = heard[0][0]
        lost = ReaderFault(source="shoe", at=at, kind="link_lost", detail="the cable is out")
        left.insert(0, (at, lost))
    return [(at, replace(said, seq=seq)) for seq, (at, said) in enumerate(left, start=1)]


# --- one session --------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Plan:
    """What every session of a run has in common."""

    rulebook: str
    rates: Rates
    rounds: int
    """Of a session: the reconciler knows what came before."""
    every: int
    """One mistake in so many rounds; 0: none."""
    clinging: bool
    show: bool
    dead: Dead | None = None
    """The device that is silent for the whole session."""
    film: FilmRates | None = None
    """What cameras do, as measured on films; else ``rates`` says so of one camera."""
    eyes: tuple[Eye, ...] = (OVERHEAD,)
    spots: tuple[int, ...] = ()
    """Those that are played; none named: every spot of the felt."""


@dataclass(frozen=True, slots=True)
class Heard:
    """One session as it happened, and what spoilt sensors reported of it."""

    rules: Rulebook
    layout: TableLayout
    dealing: Dealing
    facts: tuple[AnyFact, ...]
    spoilt: list[Timed]


def heard(seed: int, plan: Plan) -> Heard:
    """Deal one session, listen to it, and spoil what was heard."""
    rules, layout = _place(plan.rulebook)
    spots = plan.spots or [spot.spot for spot in layout.spots]
    shoe = is_shoe_game(rules)
    mistakes = plan.rounds // plan.every if plan.every else 0
    codes = Random(seed).choices(_codes(plan.rulebook, len(spots)), k=mistakes)
    steps = deal_session(Table(rules, spots, seed), plan.rounds, seed, mistakes=codes)
    staged = stage(steps, layout, seed, shoe=shoe)
    ideal = ideal_observations(
        staged,
        layout,
        start_ns=START_NS,
        table=_TABLE,
        seed=seed,
        looks_ns=() if plan.film else _LOOKS_NS,
        eyes=plan.eyes,
    )
    if plan.film is not None:
        filmed = as_filmed(ideal, seed, start_ns=START_NS)
        ideal = tuple(film_noise.spoilt(filmed, plan.film, seed, layout))
    spoilt = Spoiler(plan.rates, seed, clinging=plan.clinging).spoil(ideal)
    if plan.dead is not None:
        spoilt = without(plan.dead, spoilt)
    return Heard(rules, layout, "shoe" if shoe else "pitch", staged.facts, spoilt)


def published(told: Heard, until_round: int | None = None) -> list[Published]:
    """Return what is published of a session, or of its rounds up to the one named."""
    table = Reckoning(told.rules, told.layout, told.dealing)
    until_ns = ends(told.facts, START_NS).get(until_round or 0, 2**63)
    wanted = takewhile(lambda timed: timed[0] <= until_ns, told.spoilt)
    said = [one for at, observation in wanted for one in table.feed(observation, at)]
    return [*said, *table.finish()]


def played(seed: int, plan: Plan, until_round: int | None = None) -> tuple[Counter[str], list[str]]:
    """Deal one session, spoil it, settle it, and count what became of its rounds.

    ``until_round`` is the last one that is settled; what is counted of later ones says nothing.
    """
    return counted(heard(seed, plan), seed, plan, until_round)


def counted(
    told: Heard, seed: int, plan: Plan, until_round: int | None = None
) -> tuple[Counter[str], list[str]]:
    """Settle what was heard of a session, and count what became of its rounds."""
    said = published(told, until_round)
    due, found = _settled(told.rules, told.facts), _reconciled(told.rules, said)
    own = matched(ends(told.facts, START_NS), ends(said), found)
    return _counted(due, own, seed, plan)


def game_of(rulebook: str) -> Game:
    return "shoe" if is_shoe_game(house(rulebook).rules) else "hand"


@cache
def _place(rulebook: str) -> tuple[Rulebook, TableLayout]:
    layout = msgspec.toml.decode(layout_text(_FELT), type=TableLayout)
    return house(rulebook).rules, layout


@cache
def _codes(rulebook: str, spots: int) -> list[str]:
    """Return the mistakes that need no other knobs than the rulebook's."""
    rules = house(rulebook).rules
    found = []
    # A ruling of the floor comes with an entry at the console, which no sensor's error concerns.
    for code in [name for name, one in known().items() if name == one.code]:
        try:
            mistake_for(code, rules, spots)
        except OperatorError:
            continue
        found += [code] if code not in _FLEETING else []
    return found


def _settled(rules: Rulebook, facts: Sequence[AnyFact]) -> dict[int, RoundResult]:
    engine = Engine(rules)
    results = [result for seq, fact in enumerate(facts, 1) for result in engine.feed(fact, seq)]
    return {result.round: result for result in (*results, *engine.finish())}


def _reconciled(rules: Rulebook, said: Sequence[AnyFact | ReviewRaised]) -> dict[int, RoundResult]:
    reviews = [item for item in said if isinstance(item, ReviewRaised)]
    found = _settled(rules, [item for item in said if not isinstance(item, ReviewRaised)])
    return {number: with_reviews(result, reviews) for number, result in found.items()}


def _counted(
    due: dict[int, RoundResult], found: dict[int, RoundResult], seed: int, plan: Plan
) -> tuple[Counter[str], list[str]]:
    counts: Counter[str] = Counter()
    lines: list[str] = []
    for number in sorted({*due, *found}):
        real, told = due.get(number), found.get(number)
        counts["rounds"] += 1
        asked = told is not None and bool(told.reviews)
        open_ = told is not None and (
            told.status == "review" or (told.status == "pending" and asked)
        )
        moneys = real is not None and told is not None and _money(real) == _money(told)
        kind = "review" if open_ else "exact" if moneys else "wrong"
        counts[kind] += 1
        counts["wrong net"] += kind == "wrong" and _nets(real) != _nets(told)
        mistakes = Counter() if real is None else _mistakes(real)
        accused = Counter() if told is None or open_ else _mistakes(told)
        counts["mistakes"] += mistakes.total()
        stated = (mistakes & accused).total()
        counts["stated"] += stated
        counts["questions"] += len(told.reviews) if told is not None and told.reviews else 0
        counts["asked"] += mistakes.total() if open_ else 0
        counts["missed"] += 0 if open_ else mistakes.total() - stated
        counts["false"] += (accused - mistakes).total()
        if plan.show and (kind != "exact" or mistakes != accused):
            lines.append(_line(seed, number, kind, real, told))
    return counts, lines


def _money(result: RoundResult) -> tuple[object, ...]:
    spots = tuple(
        (spot.spot, spot.insurance, tuple((h.hand, h.stake, h.outcome, h.net) for h in spot.hands))
        for spot in result.spots
    )
    return result.status, result.net, result.dealer.outcome, spots


def _nets(result: RoundResult | None) -> dict[int, int | None]:
    """Return what each spot that played gained."""
    return {} if result is None else {spot.spot: spot.net for spot in result.spots}


def _mistakes(result: RoundResult) -> Counter[tuple[str, int | None]]:
    return Counter((found.code, found.spot) for found in result.violations)


def _line(
    seed: int, number: int, kind: str, real: RoundResult | None, told: RoundResult | None
) -> str:
    asked = (
        []
        if told is None or not told.reviews
        else [review.what + str(review.candidates) for review in told.reviews]
    )
    mistakes = sorted(_mistakes(real), key=str) if real else []
    accused = sorted(_mistakes(told), key=str) if told else []
    return f"  seed {seed} round {number} {kind}: asked {asked}; due {mistakes}, told {accused}"
