"""``pitwatch simulate``: interpret the options, deal and film, print what was written."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, cast, get_args

import msgspec
from rich.text import Text

from devices.cameras.writer import Preset
from models.errors import OperatorError
from models.judgements import RoundSettled
from models.session import Name
from server.house.wording import counted
from server.process.terminal import print_json, progress_bar, screen
from simulation.session import Settings, simulate
from simulation.wire import ShoeDriver
from stream.recording import read_events
from vision.scenes.decks import deck_ids
from vision.scenes.look import FELTS, Look, varied_look


def run_simulate(settings: Settings, folder: Path, *, as_json: bool, force: bool = False) -> None:
    """Write a session's folder, whole or not at all, and print its contents.

    Raises:
        PitwatchError: the settings cannot be dealt, or the disk refuses.
    """
    _check_choices(settings)
    with progress_bar("filming") as progress:
        simulate(settings, folder, lambda done, of: progress(done / of), force=force)
    settled = [e.result for e in read_events(folder / "truth.jsonl") if isinstance(e, RoundSettled)]
    codes = [violation.code for result in settled for violation in result.violations]
    if as_json:
        print_json({"session": str(folder), "rounds": len(settled), "violations": codes})
        return
    line = Text("written ", style="bold green")
    line.append(f"{folder}: {counted(len(settled), 'round')}, seed {settings.seed}")
    if codes:
        line.append(f"\nmistakes in it: {', '.join(codes)}", style="yellow")
    line.append(f"\nnow: pitwatch replay {folder}", style="dim")
    screen().print(line)


def look_of(seed: int, *, vary: bool, given: Mapping[str, Any]) -> Look:
    """Return the look of the film: the usual or a random one, then as ``given``.

    Raises:
        OperatorError: no encoder accepts the picture.
    """
    start = varied_look(seed, decks=deck_ids()) if vary else Look()
    look = replace(start, **{name: value for name, value in given.items() if value is not None})
    if look.width_px % 2 or look.height_px % 2:
        raise OperatorError(
            f"a picture of {look.width_px}x{look.height_px} cannot be encoded",
            where="--size",
            way_out="Give even numbers, such as 1920x1080",
        )
    return look


def pair(text: str | None, option: str, between: str, kind: type[int] | type[float]) -> Any:
    """Read two numbers separated by ``between``, ``None`` where nothing was given.

    Raises:
        OperatorError: it is not two such numbers.
    """
    if text is None:
        return None
    try:
        one, other = (kind(part) for part in text.split(between))
    except ValueError as fault:
        raise OperatorError(
            f"{text!r} is not two numbers",
            where=option,
            way_out=f"Write them as 3{between}4",
        ) from fault
    return one, other


def numbers(text: str | None, option: str) -> tuple[int, ...]:
    """Read ``1,2,4``; raises ``OperatorError`` for anything else."""
    try:
        return tuple(int(part) for part in text.split(",")) if text else ()
    except ValueError as fault:
        raise OperatorError(
            f"{text!r} is not a list of numbers", where=option, way_out="Write it as 1,2,4"
        ) from fault


def shoe_driver(name: str) -> ShoeDriver:
    """Return the shoe's protocol; raises ``OperatorError`` for an unknown one."""
    _check("--shoe", name, get_args(ShoeDriver))
    return cast(ShoeDriver, name)


def encoder_preset(name: str) -> Preset:
    """Return the encoder's preset; raises ``OperatorError`` for an unknown one."""
    _check("--preset", name, get_args(Preset))
    return cast(Preset, name)


def _check_choices(settings: Settings) -> None:
    _check("--deck", settings.look.deck, deck_ids())
    _check("--felt", settings.look.felt, FELTS)
    try:
        msgspec.convert(settings.table, Name)
    except msgspec.ValidationError as fault:
        raise OperatorError(
            f"{settings.table!r} cannot be a table's id",
            where="--table",
            way_out="Use at most 64 of A to Z, a to z, 0 to 9, dot, dash and underscore; "
            "begin with a letter or a digit",
        ) from fault


def _check(option: str, value: str, choices: Sequence[str]) -> None:
    if value not in choices:
        raise OperatorError(
            f"there is no {value!r}", where=option, way_out=f"Choose one of {', '.join(choices)}"
        )
