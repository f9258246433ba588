"""A film whose pictures are hidden for ten seconds: what the watcher reports, and what comes of it.

Deal, turn of the hole card and draw of a short round are hidden: each picture black, the last one
repeated, or every one of half the size. The film is replayed from its pixels with the shipped
networks. What the watcher reports is the contract of :func:`tests.sensors.blind.blinded`, by which
the bench blinds simulated sessions.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path

import av
import numpy as np
import pytest

from devices.cameras.file import FileCamera
from devices.cameras.frame import Frame
from models.events import AnyObservation, CameraFault, CameraRecovered, CardGone, CardSighted
from models.judgements import RoundResult
from server.process.stopwatch import Stopwatch
from server.table.replay import Replayed, ReplayOptions, replay
from server.table.sources import Recording, open_recording
from settlement.reconcile.blindness import SEES_AGAIN_NS, Blindness
from simulation.session import Settings, simulate
from stream.journal import Journal
from tests.sensors.blind import KINDS, SPAN_NS, Kind, blinded
from vision.reader import Reader

pytestmark = pytest.mark.slow

SECOND_NS = 10**9
SETTINGS = Settings(rulebook="pitch-double-deck", seed=4, rounds=1, spots=(1, 3))
FROM_NS = SETTINGS.start_ns + 7 * SECOND_NS // 2
"""Amid the deal; the hole card is turned 7.7 s later, and lies there until 16 s later."""
SOON_NS = SECOND_NS


class BlindCamera(FileCamera):
    """A recorded camera whose pictures are hidden for ten seconds."""

    def __init__(self, path: Path, start_ns: int, kind: Kind) -> None:
        super().__init__(path, start_ns)
        self._kind = kind

    def frames(self) -> Iterator[Frame]:
        """Yield the pictures as they come."""
        last: Frame | None = None
        for frame in super().frames():
            if not FROM_NS <= frame.at_ns < FROM_NS + SPAN_NS:
                last = frame
                yield frame
            elif self._kind == "frozen":
                assert last is not None
                yield last.renumbered(frame.index, frame.at_ns)
            else:
                yield Frame(frame.index, frame.at_ns, self._hidden(frame))

    def _hidden(self, frame: Frame) -> av.VideoFrame:
        width, height = frame.size_px
        if self._kind == "size_changed":
            width, height = width // 2, height // 2
        black = np.full((height * 3 // 2, width), 128, np.uint8)
        black[:height] = 16
        return av.VideoFrame.from_ndarray(black, format="yuv420p")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("blinded") / "filmed"
    simulate(SETTINGS, made)
    return made


@cache
def replayed(folder: Path, kind: Kind | None) -> Replayed:
    def opened(path: Path) -> Recording:
        recording = open_recording(path)
        if kind is None:
            return recording
        cameras = tuple(
            (camera, BlindCamera(path / camera.file, recording.session.at, kind))
            for camera, _ in recording.cameras
        )
        return replace(recording, cameras=cameras)

    with Journal.in_memory() as journal:
        options = ReplayOptions(folder)
        return replay(options, journal, Reader.load, Stopwatch(lambda: 0), opened=opened)


def said(events: Sequence[object]) -> list[AnyObservation]:
    kinds = (CardSighted, CardGone, CameraFault, CameraRecovered)
    return [one for one in events if isinstance(one, kinds)]


def at(one: AnyObservation) -> int:
    assert one.at is not None
    return one.at


@pytest.mark.parametrize("kind", KINDS)
def test_the_turned_hole_card_is_asked_about_and_accuses_nobody(folder: Path, kind: Kind) -> None:
    (sound,), (blind,) = replayed(folder, None).rounds, replayed(folder, kind).rounds
    assert sound.status == "final"
    assert not sound.violations
    assert not blind.mistakes
    assert blind.net == sound.net
    assert [one.code for one in blind.suspected] == ["hole_card_exposed"]
    assert any("no camera saw the felt for" in question for question in asked(blind))


def asked(result: RoundResult) -> list[str]:
    return [review.what for review in result.reviews or ()]


@pytest.mark.parametrize("kind", KINDS)
def test_the_fault_is_known_for_as_long_as_it_lasts(folder: Path, kind: Kind) -> None:
    known = Blindness()
    for one in said(replayed(folder, kind).events):
        known.take(one)
    (span,) = known.during(FROM_NS, FROM_NS + SPAN_NS * 2)
    assert FROM_NS - SOON_NS <= span.from_ns <= FROM_NS
    assert FROM_NS + SPAN_NS <= span.until_ns <= FROM_NS + SPAN_NS + SOON_NS


@pytest.mark.parametrize("kind", KINDS)
def test_the_watcher_reports_what_the_bench_supposes(folder: Path, kind: Kind) -> None:
    sound, found = (said(replayed(folder, one).events) for one in (None, kind))
    heard = [(at(one), one) for one in sound]
    supposed = [one for _, one in blinded(heard, "camera:overhead", FROM_NS, kind)]
    assert _seen_at_once(found) == _seen_at_once(supposed)
    hidden = [one for one in found if isinstance(one, CardSighted) and _is_hidden(at(one), kind)]
    assert not hidden


def _is_hidden(at_ns: int, kind: Kind) -> bool:
    """Return whether a time lies well within the hidden one.

    A card that was on its way as the picture froze is taken to rest there.
    """
    return FROM_NS + (SOON_NS if kind == "frozen" else 0) <= at_ns < FROM_NS + SPAN_NS - SOON_NS


def _seen_at_once(reports: Sequence[AnyObservation]) -> set[tuple[str, object]]:
    """Return which cards and backs came or went by what was reported as the camera saw again."""
    again_ns = FROM_NS + SPAN_NS
    return {
        (one.face, one.card)
        for one in reports
        if isinstance(one, CardSighted)
        and one.change != "read"
        and again_ns - SOON_NS // 10 <= at(one) <= again_ns + SEES_AGAIN_NS // 4
    }
