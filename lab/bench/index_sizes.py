"""Decks with small, large, jumbo and four-corner indices: ``python -m lab.bench.index_sizes``.

Draws decks in typefaces that no network learnt from, films a table dealt with each, and compares
two readers of that film: ``pitwatch read``, which knows no size, of the frame that shows a face
first at rest, and the watcher of the whole film. A face is one card that lies face up for longer
than a glimpse. ``named by read`` are the faces that a frame names surely, ``of them reported``
those that the watcher names rightly in the end.
"""

import argparse
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np

from devices.cameras.file import FileCamera
from devices.cameras.writer import VideoWriter
from lab.bench.record import NETWORKS, Claim, Table, add_option, record
from lab.bench.spurious import CAUSES, cause
from models.cards import DECK
from models.events import CameraFault, CardSighted
from simulation.session import Scene, Settings, prepare
from tests.vision.scoring import GLIMPSE_NS, Event, Rest, matched, rests
from vision.felt import Felt, locate_felt
from vision.reader import Reader
from vision.scenes.decks import Deck, cut_atlas
from vision.scenes.film import Hands, film, reference_points
from vision.scenes.look import varied_look
from vision.sightings import CardReader
from vision.training.decks import TYPEFACES
from vision.training.drawn import draw_atlas
from vision.training.style import Style
from vision.watch import Watcher

_NARROW: Final = TYPEFACES / "truetype/liberation/LiberationSansNarrow-Bold.ttf"
_SERIF: Final = TYPEFACES / "truetype/crosextra/Caladea-Bold.ttf"
_ROUND: Final = TYPEFACES / "truetype/crosextra/Carlito-Bold.ttf"
RESTED_NS: Final = 400_000_000
"""How long a face has rested in the frame that is read."""
NEAR_MM: Final = 45.0
"""A reading of a frame is of a card this near that it names: its outline may be off."""


def _style(tall_mm: float, font: Path, *, four: bool = False) -> Style:
    """Return a deck whose ranks are so tall; the suit below and the margins grow with them."""
    return Style(
        font=font,
        rank_height=tall_mm,
        rank_width=0.8 * tall_mm,
        suit_height=0.75 * tall_mm,
        index_x=max(0.45 * tall_mm, 3.5) + 1.0,
        index_top=3.5,
        four_indices=four,
        pip_height=11.0,
        figures=True,
        court=77,
        back=5,
    )


DECKS: Final = {
    "small, 5 mm": _style(5.0, _NARROW),
    "usual, 7 mm": _style(7.0, _SERIF),
    "large, 10 mm": _style(10.0, _ROUND),
    "jumbo, 13 mm": _style(13.0, _NARROW),
    "jumbo, 17 mm": _style(17.0, _SERIF),
    "jumbo, 20 mm": _style(20.0, _NARROW),
    "jumbo, 23 mm": _style(23.0, _NARROW),
    "four corners, 6.5 mm": _style(6.5, _ROUND, four=True),
    "four corners, 10 mm": _style(10.0, _NARROW, four=True),
    "four corners, 17 mm": _style(17.0, _ROUND, four=True),
}
"""Named by how tall their ranks are. Networks learnt from ranks of 5 to 12.5 mm."""


@dataclass(frozen=True, slots=True)
class Filmed:
    """A film of a table, and what lay there."""

    file: Path
    scene: Scene
    felt: Felt

    @property
    def faces(self) -> list[Rest]:
        """The cards that lay face up for longer than a glimpse."""
        scene = self.scene
        every = rests(scene.staged.performance, scene.layout)
        return [
            one
            for one in every
            if one.move.face_after == "up" and one.until_ns - one.from_ns > GLIMPSE_NS
        ]


def filmed(name: str, deck: Deck, seed: int, rounds: int, rulebook: str, folder: Path) -> Filmed:
    """Film a table dealt with a deck, unless that film is there."""
    look = varied_look(seed, decks=("casino-jumbo",))
    scene = prepare(Settings(seed=seed, rounds=rounds, rulebook=rulebook, look=look))
    look = scene.look
    file = folder / f"{rulebook}-{name.replace(' ', '-')}-{seed}-{rounds}.mp4"
    if not file.exists():
        part = file.with_suffix(".part.mp4")
        with VideoWriter(part, fps=look.fps, size_px=(look.width_px, look.height_px)) as writer:
            for image in film(scene.staged.performance, scene.layout, look, deck):
                writer.write(image)
        part.rename(file)
    felt = locate_felt(reference_points(scene.layout, look), where="overhead")
    return Filmed(file, scene, felt)


def named_by_read(reader: CardReader, shot: Filmed) -> list[Rest]:
    """Return the faces that a single frame names surely, by a reader that knows no size."""
    waiting = shot.faces
    named: list[Rest] = []
    for frame in FileCamera(shot.file, 0).frames():
        due = [one for one in waiting if frame.at_ns >= one.from_ns + RESTED_NS]
        if not due:
            continue
        waiting = [one for one in waiting if one not in due]
        named += _named(reader, shot.felt, frame.image, [r for r in due if _lies(r, frame.at_ns)])
    return named


def _lies(rest: Rest, at_ns: int) -> bool:
    return rest.from_ns <= at_ns <= rest.until_ns


def _named(
    reader: CardReader, felt: Felt, image: "np.typing.NDArray[np.uint8]", due: Sequence[Rest]
) -> Iterator[Rest]:
    seen = reader.read(image, card_width_px=None)
    sure = seen.face_up & (seen.card_p.max(1, initial=0.0) >= reader.confident_p)
    places = [
        (at, felt.to_mm(seen.corners_px[at].mean(0, keepdims=True).astype(np.float64))[0])
        for at in np.flatnonzero(sure)
    ]
    for rest in due:
        end = rest.move.end
        assert end is not None
        if any(
            DECK[int(seen.card_p[at].argmax())] is rest.move.card
            and np.hypot(place[0] - end.x_mm, place[1] - end.y_mm) <= NEAR_MM
            for at, place in places
        ):
            yield rest


def told(reader: CardReader, shot: Filmed) -> list[tuple[int, Event]]:
    """Watch the film; return what was told, with the frame's time."""
    points = reference_points(shot.scene.layout, shot.scene.look)
    watcher = Watcher(reader, shot.scene.layout, points, "overhead")
    events: list[tuple[int, Event]] = []
    at_ns = 0
    for frame in FileCamera(shot.file, 0).frames():
        at_ns = frame.at_ns
        events += [(at_ns, event) for event in watcher.see(frame)]
    return events + [(at_ns, event) for event in watcher.finish()]


def compare(
    shot: Filmed, named: Sequence[Rest], events: Sequence[tuple[int, Event]]
) -> tuple[Counter[str], list[str]]:
    """Count what was told of a film, and what a frame of it names that was not."""
    counts, notes = Counter[str](), list[str]()
    sighted = [(at, e) for at, e in events if isinstance(e, CardSighted)]
    final = {e.track: e.card for _, e in sighted if e.card is not None}
    placed = [(at, e) for at, e in sighted if e.change != "read"]
    every = list(rests(shot.scene.staged.performance, shot.scene.layout))
    hands = Hands(shot.scene.staged.performance, shot.scene.layout, shot.scene.look)
    for rest, match in matched(placed, every):
        if match is not None:
            placed.remove(match)
        if rest.move.face_after != "up" or rest.until_ns - rest.from_ns <= GLIMPSE_NS:
            continue
        counts["faces"] += 1
        card = None if match is None else final.get(match[1].track)
        right, was_named = card is rest.move.card, rest in named
        counts["named by read"] += was_named
        counts["reported"] += right
        counts["of them reported"] += was_named and right
        counts["wrong"] += card is not None and not right
        if (was_named and not right) or (card is not None and not right):
            notes.append(f"{rest.move.card} from {rest.from_ns / 1e9:.2f} s: told {card}")
    held = [e for _, e in events if isinstance(e, CameraFault) and e.kind.startswith("held_back")]
    counts["held back"] = len(held)
    notes += [f"{e.kind} at {(e.at or 0) / 1e9:.2f} s: {e.detail}" for e in held]
    for _, event in placed:
        why = cause(event, every, shot.felt, hands)
        counts["told twice" if why.startswith("a card told twice") else "of nothing"] += 1
        counts[why] += 1
        notes.append(
            f"{why}: {event.change} {event.card} {event.face} "
            f"{event.candidates} track {event.track} at {(event.at or 0) / 1e9:.2f} s "
            f"({event.x_mm:.0f}, {event.y_mm:.0f})"
        )
    return counts, notes


KINDS: Final = (
    "faces",
    "named by read",
    "reported",
    "of them reported",
    "told twice",
    "of nothing",
    "wrong",
    "held back",
)


def main() -> None:
    """Film, read, watch, compare, print."""
    ask = argparse.ArgumentParser(description=__doc__)
    ask.add_argument("--first", type=int, default=31)
    ask.add_argument("--seeds", type=int, default=1, help="tables of each deck")
    ask.add_argument("--rounds", type=int, default=2)
    ask.add_argument("--rulebook", default="kansas-shoe")
    ask.add_argument("--decks", nargs="+", choices=DECKS, default=list(DECKS))
    ask.add_argument("--keep", type=Path, help="keep the films here, and use those that are")
    ask.add_argument("--notes", action="store_true", help="print every difference")
    add_option(ask)
    asked = ask.parse_args()
    reader, total, rows = Reader.load(), Counter[str](), list[tuple[str, ...]]()
    print(f"{'deck':22}" + "".join(f"{kind:>18}" for kind in KINDS))
    with tempfile.TemporaryDirectory() as scratch:
        for name in asked.decks:
            found = Counter[str]()
            notes = list[str]()
            for seed in range(asked.first, asked.first + asked.seeds):
                deck = cut_atlas(name, "test", draw_atlas(DECKS[name]))
                folder = asked.keep or Path(scratch)
                shot = filmed(name, deck, seed, asked.rounds, asked.rulebook, folder)
                counts, more = compare(shot, named_by_read(reader, shot), told(reader, shot))
                found += counts
                notes += more
            total += found
            rows.append((name, *(str(found[kind]) for kind in KINDS)))
            print(f"{name:22}" + "".join(f"{found[kind]:18}" for kind in KINDS), flush=True)
            for note in notes if asked.notes else ():
                print(f"    {note}")
    print(f"{'all':22}" + "".join(f"{total[kind]:18}" for kind in KINDS))
    rounds = len(asked.decks) * asked.seeds * asked.rounds
    for why in CAUSES:
        print(f"{total[why] / rounds:.3f} a round: {why}")
    if asked.record:
        _record(total, rows)


def _record(total: Counter[str], rows: Sequence[tuple[str, ...]]) -> None:
    missed = total["named by read"] - total["of them reported"]
    claims = (
        Claim("faces named by read and not by the film", missed, of=total["named by read"]),
        Claim("cards told twice", total["told twice"], of=total["faces"]),
        Claim("sightings of nothing", total["of nothing"], of=total["faces"]),
        Claim("wrong faces", total["wrong"], of=total["faces"], most=0),
    )
    causes = tuple((why, str(total[why])) for why in CAUSES)
    tables = (
        Table(("deck", *KINDS), tuple(rows)),
        Table(("a report of nothing", "number"), causes),
    )
    record("index_sizes", claims, tables, networks=NETWORKS)


if __name__ == "__main__":
    main()
