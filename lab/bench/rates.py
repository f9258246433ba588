"""How often the camera errs: ``python -m lab.bench.rates --game hand --deck unknown``.

Films sessions with decks that no network learnt from, watches them with the shipped networks, and
holds every report against what was performed. The rates are those that the noise bench disturbs
its simulated sessions by. A card is *missed* where no report of it matches; it is *late* where it
is reported more than half a second after the simulator's camera, which the same arms hide cards
from; a report is *spurious* where no card matches it.
"""

import argparse
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass, field
from functools import cache
from math import sqrt
from pathlib import Path
from time import perf_counter_ns
from typing import Final, Literal, TypeAlias

from devices.cameras.file import FileCamera
from lab.bench.record import NETWORKS, RESULTS, Claim, add_option, load, record
from lab.bench.watching import network_reader
from models.cards import Card
from models.events import CardGone, CardSighted
from models.layout import TableLayout
from simulation.ideal import ideal_observations
from simulation.session import Scene, Settings, prepare, simulate
from tests.sensors.film_noise import LATER_S, FilmRates, Game, in_a_zone, together
from tests.vision.scoring import GLIMPSE_NS, Event, Rest, apart, matched, rests
from vision.felt import locate
from vision.scenes.decks import deck_ids
from vision.scenes.film import reference_points
from vision.scenes.lens import Lens
from vision.scenes.look import varied_look
from vision.sightings import CardReader
from vision.watch import Watcher

Deck: TypeAlias = Literal["unknown", "known"]

BOOKS: Final[dict[Game, tuple[str, ...]]] = {
    "shoe": ("kansas-shoe",),
    "hand": ("pitch-double-deck", "casino-single-deck", "home", "kansas-double-deck"),
}
LATE_NS: Final = 500_000_000
"""A card reported so long after the simulator's camera is late."""
GONE_LATE_NS: Final = 3_000_000_000
"""A card that is not reported gone by then was not seen to go."""
RANK_P: Final = 0.98
"""A rank of so large a share of a doubtful reading is certain."""


@dataclass
class Measured:
    """Counts of reports against what was performed."""

    counts: Counter[str] = field(default_factory=Counter)
    squares_mm2: float = 0.0
    """Sum of the squared errors of places, on both axes."""
    axes: int = 0
    watched_ns: int = 0
    frames: int = 0
    notes: list[str] = field(default_factory=list)

    def add(self, other: "Measured") -> None:
        """Add the counts of another session."""
        self.counts += other.counts
        self.squares_mm2 += other.squares_mm2
        self.axes += other.axes
        self.watched_ns += other.watched_ns
        self.frames += other.frames
        self.notes += other.notes

    @property
    def spread_mm(self) -> float:
        """The standard error of a place on each axis."""
        return sqrt(self.squares_mm2 / max(1, self.axes))


def measure(events: Sequence[tuple[int, Event]], scene: Scene, rounds: int) -> Measured:
    """Hold reports, each with the time it came at (ns from the start), against the performance."""
    found = Measured()
    found.counts["rounds"] = rounds
    sighted = [(told, one) for told, one in events if isinstance(one, CardSighted)]
    found.counts["sightings"] = len(sighted)
    placed = [(told, one) for told, one in sighted if one.change != "read"]
    by_track = _looks(sighted)
    gone = {one.track: told for told, one in events if isinstance(one, CardGone)}
    due = _due(scene)
    missed: list[Rest] = []
    lying = list(rests(scene.staged.performance, scene.layout))
    lasting = [rest for rest in lying if rest.until_ns - rest.from_ns > GLIMPSE_NS]
    for rest, match in matched(placed, lasting, of_face=True):
        kind = "faces" if rest.move.face_after == "up" else "backs"
        found.counts[kind] += 1
        if match is None:
            found.counts[f"{kind} missed"] += 1
            missed.append(rest)
            found.notes.append(f"missed {rest.move.card} {kind} at {rest.from_ns / 1e9:.2f} s")
            continue
        placed.remove(match)
        told_ns, event = match
        found.counts[f"{kind} seen"] += 1
        found.counts["cards seen"] += 1
        _late(found, rest, told_ns - due.get(rest.move, told_ns))
        _place(found, event, rest)
        if kind == "faces":
            looks = [one for at, one in by_track[event.track] if told_ns <= at <= rest.until_ns]
            _judge(found, event, looks, rest.move.card)
        if not _kept(by_track[event.track], rest):
            _going(found, rest, gone.get(event.track), scene)
    _hands(found, scene, missed)
    _spurious(found, placed, by_track, scene.layout)
    return found


def _late(found: Measured, rest: Rest, late_ns: int) -> None:
    if late_ns > LATE_NS:
        found.counts["cards late"] += 1
        for second in LATER_S:
            found.counts[f"cards late by {second} s"] += late_ns > second * 1_000_000_000
        at = f"{rest.from_ns / 1e9:.2f} s"
        found.notes.append(f"late {rest.move.card} at {at}, by {late_ns / 1e9:.2f} s")


def _hands(found: Measured, scene: Scene, missed: Sequence[Rest]) -> None:
    """Count the hands shown, and those of which a face was missed: mostly all of them are."""
    faces = [
        rest
        for rest in sorted(rests(scene.staged.performance, scene.layout), key=lambda r: r.from_ns)
        if rest.until_ns - rest.from_ns > GLIMPSE_NS and rest.move.face_after == "up"
    ]
    places = [(r.from_ns, r.move.end.x_mm, r.move.end.y_mm) for r in faces if r.move.end]
    hands = together(places)
    found.counts["hands shown"] += len(set(hands))
    found.counts["hands missed"] += len(
        {hand for hand, rest in zip(hands, faces, strict=True) if rest in missed}
    )


def _looks(sighted: Sequence[tuple[int, CardSighted]]) -> dict[int, list[tuple[int, CardSighted]]]:
    found: dict[int, list[tuple[int, CardSighted]]] = {}
    for told, one in sighted:
        found.setdefault(one.track, []).append((told, one))
    return found


def _due(scene: Scene) -> dict[object, int]:
    """Return when the simulator's camera reports each move's end."""
    heard = ideal_observations(scene.staged, scene.layout, start_ns=0, table="T")
    told = [(at, one) for at, one in heard if isinstance(one, CardSighted)]
    due: dict[object, int] = {}
    for rest in rests(scene.staged.performance, scene.layout):
        near = [at for at, one in told if apart(one, rest) <= 1 and (one.at or 0) >= rest.from_ns]
        if near:
            due[rest.move] = min(near)
    return due


def _place(found: Measured, event: CardSighted, rest: Rest) -> None:
    end = rest.move.end
    assert end is not None
    found.squares_mm2 += (event.x_mm - end.x_mm) ** 2 + (event.y_mm - end.y_mm) ** 2
    found.axes += 2


def _judge(found: Measured, first: CardSighted, looks: Sequence[CardSighted], card: Card) -> None:
    """Count what the first look says, and whether an error in it lasts to the next one."""
    named = _named(first)
    wrong = named is not None and named is not card
    found.counts["faces doubted"] += first.card is None
    found.counts["doubts of the rank"] += first.card is None and not _rank_is_sure(first)
    found.counts["faces misread"] += wrong
    found.counts["misread in another rank"] += named is not None and named.rank != card.rank
    found.counts["faces misread and sure"] += first.card not in (None, card)
    later = [one for one in looks if one is not first and one.face == "up"]
    again = named is not None and bool(later)
    changed = again and _named(later[0]) is not named
    found.counts["faces looked at again"] += again
    found.counts["looks that changed"] += changed
    if wrong:
        found.notes.append(f"{card} read as {named}, {first.candidates}")
        found.counts["errors looked at again"] += again
        found.counts["errors that lasted"] += again and not changed


def _rank_is_sure(one: CardSighted) -> bool:
    """Return whether only the suit of a face in doubt is left open."""
    ranks: dict[str, float] = {}
    for name, p in one.candidates.items():
        ranks[Card(name).rank] = ranks.get(Card(name).rank, 0.0) + p
    return bool(ranks) and max(ranks.values()) >= RANK_P * sum(ranks.values())


def _named(one: CardSighted) -> Card | None:
    if not one.candidates:
        return one.card
    return Card(max(one.candidates, key=lambda name: one.candidates[name]))


def _kept(looks: Sequence[tuple[int, CardSighted]], rest: Rest) -> bool:
    """Return whether the card was followed to its next place, or was turned over here."""
    return any(told > rest.until_ns and one.change != "read" for told, one in looks)


def _going(found: Measured, rest: Rest, gone_ns: int | None, scene: Scene) -> None:
    """Count whether a card that is taken up is reported gone."""
    if rest.until_ns >= scene.staged.performance.duration_ns:
        return
    found.counts["left their place"] += 1
    found.counts["not seen to go"] += gone_ns is None or gone_ns > rest.until_ns + GONE_LATE_NS


def _spurious(
    found: Measured,
    left: Sequence[tuple[int, CardSighted]],
    by_track: dict[int, list[tuple[int, CardSighted]]],
    layout: TableLayout,
) -> None:
    for told, one in left:
        if one.change not in ("new", "turned"):
            continue
        sure = one.face == "down" or one.card is not None
        kind = "faces" if one.face == "up" else "backs"
        found.counts[f"spurious {kind}"] += 1
        found.counts["spurious and doubtful"] += not sure
        found.counts["spurious in a zone of cards"] += in_a_zone((one.x_mm, one.y_mm), layout)
        found.counts["spurious and repeated"] += len(by_track[one.track]) > 1
        found.notes.append(
            f"spurious {one.change} {one.face} {one.card} {one.candidates} p {one.confidence}"
            f" at {told / 1e9:.2f} s ({one.x_mm:.0f}, {one.y_mm:.0f})"
        )


# --- the rates, as the noise bench takes them ------------------------------------------------


RATES: Final = {
    "faces misread": "faces seen",
    "faces misread and sure": "faces seen",
    "faces doubted": "faces seen",
    "doubts of the rank": "faces doubted",
    "misread in another rank": "faces misread",
    "faces missed": "faces",
    "hands missed": "hands shown",
    "backs missed": "backs",
    "cards late": "cards seen",
    **{f"cards late by {second} s": "cards late" for second in LATER_S},
    "errors that lasted": "errors looked at again",
    "looks that changed": "faces looked at again",
    "spurious faces": "faces",
    "spurious backs": "faces",
    "spurious and doubtful": "spurious",
    "spurious and repeated": "spurious",
    "spurious in a zone of cards": "spurious",
    "not seen to go": "left their place",
}
"""What is counted, and of what."""


@cache
def rate(game: Game, deck: Deck, what: str) -> float:
    """Return a recorded rate, by all runs of a game and deck: the count and a half, of the trials
    and one; of none, a half.

    Raises:
        SystemExit: nothing was recorded of that game and deck.
    """
    return _of_all({f"{game}, {deck} deck: "}, what)


@cache
def rate_of_all(deck: Deck, what: str) -> float:
    """Return a rate of all games together: of what does not depend on how a card was dealt.

    Raises:
        SystemExit: nothing was recorded of the deck.
    """
    return _of_all({f"{game}, {deck} deck: " for game in BOOKS}, what)


def _of_all(about: Set[str], what: str) -> float:
    seen, of = _counted(about, what)
    return (seen + 0.5) / (of + 1)


def counted_of_all(deck: Deck, what: str) -> tuple[int, int]:
    """Return how often something was recorded of all games together, and of how many.

    Raises:
        SystemExit: nothing was recorded of the deck.
    """
    return _counted({f"{game}, {deck} deck: " for game in BOOKS}, what)


def _counted(about: Set[str], what: str) -> tuple[int, int]:
    recorded = [one for run in load(RESULTS / "rates.json").runs for one in run.claims]
    if not any(one.claim.startswith(tuple(about)) for one in recorded):
        raise SystemExit(
            f"no rates of {' or '.join(sorted(about))}run python -m lab.bench.rates --record"
        )
    names = {name + what for name in about}
    found = [one for one in recorded if one.claim in names and one.of is not None]
    return sum(int(one.value) for one in found), sum(one.of or 0 for one in found)


def film_rates(game: Game, deck: Deck) -> FilmRates:
    """Return the recorded rates of a game, with its deck known to the reader or not."""

    def of(what: str) -> float:
        return rate(game, deck, what)

    misread = rate_of_all(deck, "faces misread")
    return FilmRates(
        misread=misread,
        misread_sure=min(1.0, rate_of_all(deck, "faces misread and sure") / misread),
        doubted=of("faces doubted"),
        changed=of("looks that changed"),
        hand_missed=of("hands missed"),
        back_missed=of("backs missed"),
        late=of("cards late"),
        going_late=of("not seen to go"),
        ghost_face=of("spurious faces"),
        ghost_back=of("spurious backs"),
        ghost_in_zone=of("spurious in a zone of cards"),
        misread_rank=rate_of_all(deck, "misread in another rank"),
        doubted_rank=rate_of_all(deck, "doubts of the rank"),
        late_by=tuple(rate_of_all(deck, f"cards late by {second} s") for second in LATER_S),
    )


def claims(game: Game, deck: Deck, found: Measured) -> Iterator[Claim]:
    """Yield the rates as figures to keep."""
    counts = found.counts.copy()
    counts["spurious"] = counts["spurious faces"] + counts["spurious backs"]
    name = f"{game}, {deck} deck"
    for what, of in RATES.items():
        if counts[of]:
            yield Claim(f"{name}: {what}", counts[what], of=counts[of])
    yield Claim(f"{name}: standard error of a place", round(found.spread_mm, 2), "mm")
    each = counts["sightings"] / max(1, counts["rounds"])
    yield Claim(f"{name}: sightings a round", round(each, 1))


# --- films -------------------------------------------------------------------------------------


def settings(seed: int, rulebook: str, rounds: int) -> Settings:
    """Say what session a seed stands for: as ``lab.bench.sessions`` films it."""
    return Settings(
        rulebook=rulebook, rounds=rounds, seed=seed, look=varied_look(seed, decks=deck_ids())
    )


def watch(folder: Path, scene: Scene, reader: CardReader) -> tuple[list[tuple[int, Event]], int]:
    """Watch a film from its start, which counts as 0; return its reports and its frames."""
    look = scene.look
    view = (
        Lens(scene.layout, look).pose() if look.distortion else reference_points(scene.layout, look)
    )
    locate(view, where="overhead")
    watcher = Watcher(reader, scene.layout, view, "overhead")
    events: list[tuple[int, Event]] = []
    at_ns = frames = 0
    for frame in FileCamera(folder / "overhead.mp4", 0).frames():
        at_ns, frames = frame.at_ns, frames + 1
        events += [(at_ns, event) for event in watcher.see(frame)]
    return events + [(at_ns, event) for event in watcher.finish()], frames


def of_session(wanted: Settings, deck: Deck, keep: Path) -> Measured:
    """Film, watch and measure one session; a film that is kept is not rendered again."""
    scene = prepare(wanted)
    folder = keep / f"{wanted.rulebook}-{wanted.seed}"
    if not folder.exists():
        simulate(wanted, folder)
    reader = network_reader(scene.look.deck, "own" if deck == "known" else None)
    began = perf_counter_ns()
    events, frames = watch(folder, scene, reader)
    spent_ns = perf_counter_ns() - began
    found = measure(events, scene, wanted.rounds)
    found.watched_ns, found.frames = spent_ns, frames
    return found


def main() -> None:
    """Film, watch, measure, print."""
    ask = argparse.ArgumentParser(description=__doc__)
    ask.add_argument("--game", choices=list(BOOKS), default="shoe")
    ask.add_argument("--deck", choices=["unknown", "known"], default="unknown")
    ask.add_argument("--seeds", type=int, nargs="+", default=list(range(1001, 1007)))
    ask.add_argument("--rounds", type=int, default=3)
    ask.add_argument("--keep", type=Path, help="keep the films here, and use those that are")
    ask.add_argument("--notes", action="store_true", help="print every error")
    add_option(ask)
    asked = ask.parse_args()
    whole = Measured()
    with tempfile.TemporaryDirectory() as scratch:
        for number, seed in enumerate(asked.seeds):
            books = BOOKS[asked.game]
            wanted = settings(seed, books[number % len(books)], asked.rounds)
            one = of_session(wanted, asked.deck, asked.keep or Path(scratch))
            whole.add(one)
            print(f"{wanted.rulebook} {seed} ({wanted.look.deck}): {_line(one)}", flush=True)
            for note in one.notes if asked.notes else ():
                print(f"    {note}")
    kept = list(claims(asked.game, asked.deck, whole))
    for claim in kept:
        print(f"{claim.claim}: {claim.value}{claim.unit and ' ' + claim.unit}", end="")
        print(f" of {claim.of}" if claim.of is not None else "")
    print(f"{whole.watched_ns / max(1, whole.frames) / 1e6:.2f} ms a frame")
    if asked.record:
        record("rates", kept, networks=NETWORKS)


def _line(found: Measured) -> str:
    return ", ".join(f"{what} {count}" for what, count in sorted(found.counts.items()))


if __name__ == "__main__":
    main()
