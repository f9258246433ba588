"""What repeated, dropped and late pictures cost: ``python -m lab.bench.repeats``.

A camera, an encoder or a decoder repeats pictures now and then: the picture before comes again,
with a time stamp of its own. Others are dropped, or are stamped early or late. Each session is
filmed once, its film is disturbed in each way, and the rounds that come out exactly are counted;
each is held against the same round of the clean film.

``decoder`` repeats a decoded picture bit for bit. ``camera`` repeats it before the encoder, which
adds its own small changes: the clean film is decoded, its pictures are repeated, and it is encoded
again as the simulator encodes.
"""

import argparse
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import TypeAlias

import av
import numpy as np

from devices.cameras.file import FileCamera
from devices.cameras.frame import Frame
from lab.bench.record import NETWORKS, Claim, add_option, record
from models.session import CameraRecord
from server.process.stopwatch import Stopwatch
from server.table.comparison import Comparison, tally
from server.table.replay import ReplayOptions, replay
from server.table.sources import Recording, open_recording
from simulation.session import Settings, simulate
from stream.clock import elapsed_ns
from stream.journal import Journal
from vision.reader import Reader
from vision.scenes.decks import deck_ids
from vision.scenes.look import varied_look

CRF = 25
"""The quality that the simulator films with."""
ENCODER = {"crf": str(CRF), "preset": "ultrafast"}
"""The simulator's own: a camera's encoder is no better, and looks ahead no more."""


@dataclass(frozen=True, slots=True)
class Disturbance:
    """How a film is disturbed.

    Attributes:
        repeats, drops: the share of pictures that show the one before, that are missing.
        jitter_ms: the most by which a picture's time is off, each way.
        encoded: whether pictures are repeated before the encoder.
    """

    name: str
    repeats: float = 0.0
    drops: float = 0.0
    jitter_ms: float = 0.0
    encoded: bool = False


SHARES = (0.01, 0.03, 0.1, 0.3)
CLEAN = Disturbance("clean")
DISTURBANCES = (
    *(Disturbance(f"decoder repeats {share:.0%}", repeats=share) for share in SHARES),
    *(Disturbance(f"camera repeats {share:.0%}", repeats=share, encoded=True) for share in SHARES),
    *(Disturbance(f"drops {share:.0%}", drops=share) for share in SHARES),
    *(Disturbance(f"jitter {ms} ms", jitter_ms=ms) for ms in (10.0, 30.0)),
    Disturbance("10% repeats, 10% drops, jitter 10 ms", 0.1, 0.1, 10.0),
)


Outcome: TypeAlias = dict[tuple[int, int], Comparison]
"""How each round came out, by its session and number."""


class DisturbedCamera(FileCamera):
    """A recorded camera whose pictures are repeated, dropped and jittered, by a seed."""

    def __init__(self, path: Path, start_ns: int, how: Disturbance, seed: int) -> None:
        super().__init__(path, start_ns)
        self._how, self._seed = how, seed

    def frames(self) -> Iterator[Frame]:
        """Yield the pictures as disturbed."""
        random, shown, latest_ns = np.random.default_rng(self._seed), None, 0
        for frame in super().frames():
            repeated, dropped = random.random(2) < (self._how.repeats, self._how.drops)
            off_ns = int(random.uniform(-1, 1) * self._how.jitter_ms * 1e6)
            shown = shown if repeated and shown is not None else frame
            latest_ns = max(latest_ns + 1_000_000, frame.at_ns + off_ns)
            if not dropped:
                yield shown.renumbered(frame.index, latest_ns)


def disturbed(how: Disturbance, seed: int, folder: Path) -> Recording:
    """Open a session whose film is disturbed as it is played."""
    recording = open_recording(folder)
    return replace(
        recording,
        cameras=tuple(
            (camera, _disturbed(folder, camera, recording.session.at, how, seed))
            for camera, _ in recording.cameras
        ),
    )


def _disturbed(
    folder: Path, camera: CameraRecord, start_ns: int, how: Disturbance, seed: int
) -> FileCamera:
    if not how.encoded:
        return DisturbedCamera(folder / camera.file, start_ns, how, seed)
    file = folder / f"repeated-{how.repeats}-{seed}.mp4"
    if not file.exists():
        _encode(DisturbedCamera(folder / camera.file, 0, how, seed), file)
    return FileCamera(file, start_ns)


def _encode(camera: FileCamera, file: Path) -> None:
    """Write the pictures as a camera's own encoder would."""
    part, base = file.with_suffix(".part"), Fraction(1, 90_000)
    with av.open(str(part), "w", format="mp4") as container:
        stream = None
        for frame in camera.frames():
            if stream is None:
                stream = container.add_stream("libx264", 15, ENCODER)
                stream.width, stream.height = frame.size_px
                stream.pix_fmt, stream.codec_context.time_base = "yuv420p", base
            picture = frame.encodable(round(frame.at_ns * 90_000 / 1e9), base)
            container.mux(stream.encode(picture))
        assert stream is not None
        container.mux(stream.encode(None))
    part.rename(file)


def rounds_of(folder: Path, opened: Callable[[Path], Recording]) -> tuple[Comparison, ...]:
    """Replay a session and return how each round compares with the truth."""
    with Journal.in_memory() as journal:
        found = replay(
            ReplayOptions(folder), journal, Reader.load, Stopwatch(elapsed_ns), opened=opened
        )
    return found.comparisons or ()


def filmed(seed: int, rounds: int, rulebook: str, films: Path) -> Path:
    """Return the session of a seed, filmed where it is not there yet."""
    folder = films / f"{rulebook}-{rounds}-{seed}"
    if not folder.exists():
        look = varied_look(seed, decks=deck_ids())
        simulate(Settings(rulebook=rulebook, rounds=rounds, seed=seed, look=look, crf=CRF), folder)
    return folder


def outcome(how: Disturbance, folders: Sequence[Path]) -> Outcome:
    """Replay every session disturbed in one way; return each round by its session and number."""
    return {
        (seed, one.round): one
        for seed, folder in enumerate(folders)
        for one in rounds_of(folder, partial(disturbed, how, seed))
    }


def lost(found: Outcome, clean: Outcome) -> dict[tuple[int, int], Comparison]:
    """Return the rounds that come out exactly of the clean film and no more of this one."""
    exact = {which for which, one in clean.items() if one.verdict == "exact"}
    missing = Comparison(0, "missing", ("the round is missing",))
    every = {which: found.get(which, missing) for which in sorted(exact)}
    return {which: one for which, one in every.items() if one.verdict != "exact"}


def report(how: Disturbance, found: Outcome, clean: Outcome) -> Iterator[Claim]:
    """Print what came of one disturbance, and yield its figures."""
    counted, missed = tally(tuple(found.values())), lost(found, clean)
    print(
        f"{how.name:38} {counted.exact:3} of {counted.rounds} exact,"
        f" {counted.review:3} for review, {counted.wrong:2} wrong,"
        f" {len(missed):2} exact only on the clean film",
        flush=True,
    )
    wrong = {which: one for which, one in found.items() if one.verdict == "wrong"}
    for (session, number), one in (missed | wrong).items():
        said = "; ".join(one.differences[:4])
        print(f"    session {session}, round {number}, {one.verdict}: {said}", flush=True)
    yield Claim(f"{how.name}: rounds exact", counted.exact, of=counted.rounds)
    if how.name != CLEAN.name:
        exact = sum(one.verdict == "exact" for one in clean.values())
        yield Claim(f"{how.name}: exact only on the clean film", len(missed), of=exact)
    yield Claim(f"{how.name}: wrong without a flag", counted.wrong, of=counted.rounds, most=0.0)


def said(asked: argparse.Namespace) -> tuple[str, ...]:
    """Return the arguments that decide the figures; where films are kept does not."""
    return ("--seeds", str(asked.seeds), *(("--only", *asked.only) if any(asked.only) else ()))


def main() -> None:
    """Film, disturb, replay, count; leave with 1 where a round was wrong without a flag."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=6)
    parser.add_argument("--first", type=int, default=9101)
    parser.add_argument("--rounds", type=int, default=4)
    parser.add_argument("--rulebook", default="kansas-shoe")
    parser.add_argument(
        "--only",
        nargs="+",
        default=[""],
        help="only the clean film and what has one of these in its name, in this order",
    )
    parser.add_argument("--keep", type=Path, help="keep the films here, and use those that are")
    add_option(parser)
    asked = parser.parse_args()
    films = asked.keep or Path(tempfile.mkdtemp(prefix="pitwatch-repeats-"))
    films.mkdir(parents=True, exist_ok=True)
    try:
        seeds = range(asked.first, asked.first + asked.seeds)
        folders = [filmed(seed, asked.rounds, asked.rulebook, films) for seed in seeds]
        clean = outcome(CLEAN, folders)
        claims = [*report(CLEAN, clean, clean)]
        chosen = (how for part in asked.only for how in DISTURBANCES if part in how.name)
        for how in dict.fromkeys(chosen):
            claims += report(how, outcome(how, folders), clean)
            if asked.record:
                record("repeats", claims, networks=NETWORKS, argv=said(asked))
    finally:
        if asked.keep is None:
            shutil.rmtree(films)
    sys.exit(1 if any(claim.most == 0 and claim.value for claim in claims) else 0)


if __name__ == "__main__":
    main()
