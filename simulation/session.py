"""A simulated session's folder: video, serial bytes, the floor's entries and the truth."""

import shutil
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final

import msgspec

from devices.cameras.writer import Preset, VideoWriter
from models.errors import OperatorError, TechnicianError
from models.events import AnyFact, ConsoleEntry
from models.judgements import AnyEvent
from models.layout import TableLayout
from models.money import Odds
from models.rulebook import Rulebook
from models.session import CameraRecord, SerialRecord, Session
from simulation import wire
from simulation.chips import VALUES
from simulation.dealing import deal_session, is_shoe_game
from simulation.house import House, house
from simulation.mistakes import knobs_for
from simulation.staging import Staged, stage
from simulation.table import Table
from simulation.truth import settled
from simulation.wire import ShoeDriver
from stream.recording import SESSION_FILE, table_layout, write_events, write_session
from stream.scratch import scratch_folder
from stream.toml import to_toml
from vision.scenes.film import film, reference_points
from vision.scenes.lens import Lens
from vision.scenes.look import Look

Progress = Callable[[int, int], None]
"""Receives the number of filmed frames and their total."""
Filming = Callable[[Path], tuple[CameraRecord, ...]]
"""Films into a session's folder and describes each camera."""

_TRUTH: Final = "truth.jsonl"
START_NS: Final = 1_767_297_600_000_000_000
"""2026-01-01 20:00 UTC, nanoseconds: the start of simulated sessions."""
FLOOR: Final = "console:floor"
_CAMERA: Final = "overhead"


@dataclass(frozen=True, slots=True)
class Settings:
    """Everything that may vary from one simulated session to the next.

    Attributes:
        rulebook: a shipped rulebook's id, or a TOML file.
        knobs: ``KNOB=VALUE``, each applied to it.
        rounds: the number of rounds.
        seed: determines everything random: cards, wagers, hands, noise.
        spots: the spots that play; empty for all that the felt has.
        layout: a shipped layout's id, or a TOML file.
        look: deck, felt, picture, camera pose, light and noise.
        crf: the video's quality: 0 lossless, 23 usual, 51 worst.
        preset: the encoder's speed, ``ultrafast`` … ``veryslow``: time against size.
        video: whether to film; without, the session has no camera.
        shoe: the shoe's protocol.
        side_bet: the id of a shipped side bet that the rulebook takes, beside its own.
        mistakes: names of mistakes, each committed once: violation codes, and those ruled on.
        include: situations, each brought about once.
        peek: whether the dealer checks under an ace or a ten before the players act.
        table: the table's id.
        start_ns: start of the session, nanoseconds since the Unix epoch.
    """

    rulebook: str = "kansas-shoe"
    knobs: tuple[str, ...] = ()
    rounds: int = 3
    seed: int = 1
    spots: tuple[int, ...] = ()
    layout: str = "five-spots"
    look: Look = field(default_factory=Look)
    crf: int = 25
    preset: Preset = "ultrafast"
    video: bool = True
    shoe: ShoeDriver = "angel-eye"
    side_bet: str = ""
    mistakes: tuple[str, ...] = ()
    include: tuple[str, ...] = ()
    peek: bool = True
    table: str = "BJ-01"
    start_ns: int = START_NS


@dataclass(frozen=True, slots=True)
class Scene:
    """A session dealt and staged, not yet written."""

    house: House
    layout: TableLayout
    look: Look
    staged: Staged


def prepare(settings: Settings) -> Scene:
    """Deal and stage a session; raises as :func:`simulate` does."""
    played, layout = _house(settings), table_layout(settings.layout)
    shoe = is_shoe_game(played.rules)
    spots = _spots(settings, layout)
    empty = [spot.spot for spot in layout.spots if spot.spot not in spots]
    steps = deal_session(
        Table(played.rules, spots, settings.seed, empty=empty, peek=settings.peek),
        settings.rounds,
        settings.seed,
        mistakes=settings.mistakes,
        include=settings.include,
    )
    look = _dressed(settings.look, played.rules, settings.seed)
    if not look.markers:
        layout = msgspec.structs.replace(layout, markers=())
    return Scene(played, layout, look, stage(steps, layout, settings.seed, shoe=shoe))


def simulate(
    settings: Settings, folder: Path, progress: Progress | None = None, *, force: bool = False
) -> Path:
    """Deal a session and write its folder, whole or not at all.

    Raises:
        OperatorError: the folder exists and is no simulated session that ``force`` allows
            replacing, or the settings cannot be dealt.
        InputRefused: a rulebook, a setting or a layout does not match its format.
        TechnicianError: the disk refuses.
    """
    scene = prepare(settings)

    def filmed(part: Path) -> tuple[CameraRecord, ...]:
        if not settings.video:
            return ()
        _write_video(part, settings, scene, progress)
        return (_camera(scene),)

    return write_folder(settings, scene, folder, filmed, force=force)


def write_folder(
    settings: Settings, scene: Scene, folder: Path, filmed: Filming, *, force: bool = False
) -> Path:
    """Write a staged session's folder, whole or not at all; ``filmed`` adds its video.

    Raises:
        OperatorError: the folder exists and is no simulated session that ``force`` allows
            replacing.
        TechnicianError: the disk refuses.
    """
    with _whole(folder, force=force) as part:
        _write_sensors(part, settings, scene)
        _write_people(part, settings, scene)
        write_session(part, _described(settings, scene, filmed(part)))
    return folder


def _house(settings: Settings) -> House:
    """Return the rules, with the settings that the mistakes need."""
    plain = house(settings.rulebook, settings.knobs, settings.side_bet)
    needed = [knob for code in settings.mistakes for knob in knobs_for(code, plain.rules)]
    if not needed:
        return plain
    return house(settings.rulebook, (*settings.knobs, *needed), settings.side_bet)


def _spots(settings: Settings, layout: TableLayout) -> Sequence[int]:
    printed = [spot.spot for spot in layout.spots]
    if unknown := sorted(set(settings.spots) - set(printed)):
        raise OperatorError(
            f"the felt has no spot {unknown[0]}",
            where=f"layout {layout.name}",
            way_out=f"Choose among spots {printed[0]} to {printed[-1]}",
        )
    if settings.rounds < 1:
        raise OperatorError(
            f"{settings.rounds} rounds cannot be dealt",
            where="rounds",
            way_out="Deal at least one",
        )
    return settings.spots or printed


def _dressed(look: Look, rules: Rulebook, seed: int) -> Look:
    """Print the house's own rules on the felt."""
    soft = (
        "DEALER MUST HIT SOFT 17"
        if rules.dealer_soft17 == "hit"
        else "DEALER MUST DRAW TO 16 AND STAND ON ALL 17s"
    )
    return replace(
        look,
        dealing="shoe" if is_shoe_game(rules) else "pitch",
        lettering=(
            f"BLACKJACK PAYS {_printed(rules.blackjack_payout)}",
            soft,
            f"INSURANCE PAYS {_printed(rules.insurance_payout)}",
        ),
        seed=look.seed or seed,
    )


def _printed(odds: Odds) -> str:
    return f"{odds.pays} TO {odds.per}"


# --- the folder ---------------------------------------------------------------------------


@contextmanager
def _whole(folder: Path, *, force: bool) -> Iterator[Path]:
    """Build beside ``folder`` and rename at the end, so that nothing is half written."""
    if folder.exists() and not force:
        raise OperatorError(
            "the folder exists",
            where=str(folder),
            way_out="Name a new folder, or overwrite this session with --force",
        )
    if folder.exists() and not _is_simulated(folder):
        raise OperatorError(
            "what stands there is no simulated session, and --force overwrites nothing else",
            where=str(folder),
            way_out="Name a new folder",
        )
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        with scratch_folder(f".{folder.name}.", folder.parent) as part:
            yield part
            _put(part, folder)
    except OSError as fault:
        raise _no_room(folder, fault) from fault


def _is_simulated(folder: Path) -> bool:
    return all((folder / name).is_file() for name in (SESSION_FILE, _TRUTH))


def _put(part: Path, folder: Path) -> None:
    """Move a new session into place; remove an old one only after that."""
    if not folder.exists():
        part.rename(folder)
        return
    old = part.with_name(f"{part.name}.old")
    folder.rename(old)
    try:
        part.rename(folder)
    except BaseException:  # Ctrl-C too brings the old folder back
        old.rename(folder)
        raise
    shutil.rmtree(old)


def _no_room(folder: Path, fault: OSError) -> TechnicianError:
    return TechnicianError(
        f"the session cannot be written ({fault.strerror})",
        where=str(folder),
        way_out="Check that the folder may be written and the disk has space",
    )


def _write_sensors(part: Path, settings: Settings, scene: Scene) -> None:
    staged, seed = scene.staged, settings.seed
    if staged.shoe:
        reads = wire.shoe_reads(staged.shoe, settings.shoe, seed)
        (part / "shoe.cap").write_text(wire.capture(reads), "ascii")
    reads = wire.plate_reads(staged.plates, seed)
    (part / "plates.cap").write_text(wire.capture(reads), "ascii")


def _write_people(part: Path, settings: Settings, scene: Scene) -> None:
    write_events(part / "console.jsonl", list(console_entries(scene.staged, settings)))
    write_events(part / _TRUTH, list(truth(scene, settings)))
    (part / "layout.toml").write_text(to_toml(scene.layout), "utf-8")
    if scene.house.text is not None:
        (part / scene.house.name).write_text(scene.house.text, "utf-8")


def _write_video(part: Path, settings: Settings, scene: Scene, progress: Progress | None) -> None:
    look = scene.look
    performance = scene.staged.performance
    frames = int(performance.duration_ns * look.fps / 1e9) + 1
    size_px = (look.width_px, look.height_px)
    file = part / f"{_CAMERA}.mp4"
    with VideoWriter(
        file, fps=look.fps, size_px=size_px, crf=settings.crf, preset=settings.preset
    ) as writer:
        for number, image in enumerate(film(performance, scene.layout, look), start=1):
            writer.write(image)
            if progress is not None:
                progress(number, max(frames, number))


def _described(settings: Settings, scene: Scene, cameras: tuple[CameraRecord, ...]) -> Session:
    rules = scene.house.rules
    shoe = is_shoe_game(rules)
    ports = [SerialRecord(port="plates", driver="plate", file="plates.cap")]
    if shoe:
        ports.insert(0, SerialRecord(port="shoe", driver=settings.shoe, file="shoe.cap"))
    return Session(
        table=settings.table,
        rulebook=scene.house.name,
        currency="USD",
        table_min=rules.table_min,
        table_max=rules.table_max,
        chips=VALUES,
        layout="layout.toml",
        at=settings.start_ns,
        dealing="shoe" if shoe else "pitch",
        cameras=cameras,
        serial=tuple(ports),
        console="console.jsonl",
        truth=_TRUTH,
    )


def _camera(scene: Scene) -> CameraRecord:
    """Describe a distorting lens by its pose, any other by an installer's clicks."""
    layout, look = scene.layout, scene.look
    return CameraRecord(
        name=_CAMERA,
        file=f"{_CAMERA}.mp4",
        fps=look.fps,
        reference_points=() if look.distortion else reference_points(layout, look),
        pose=Lens(layout, look).pose() if look.distortion else None,
        deck=look.deck,
    )


# --- people and truth ---------------------------------------------------------------------


def console_entries(staged: Staged, settings: Settings) -> Iterator[ConsoleEntry]:
    """Yield the floor's entries, with their wall times."""
    for fact in staged.console:
        entered = _at_table(fact, settings)
        yield ConsoleEntry(at=entered.at, table=settings.table, source=FLOOR, fact=entered)


def truth(scene: Scene, settings: Settings) -> Iterator[AnyEvent]:
    """Yield the facts as they happened, each round followed by its correct result."""
    facts = [_at_table(fact, settings) for fact in scene.staged.facts]
    yield from settled(facts, scene.house.rules)


def _at_table(fact: AnyFact, settings: Settings) -> AnyFact:
    at = settings.start_ns + (fact.at or 0)
    return msgspec.structs.replace(fact, at=at, table=settings.table)
