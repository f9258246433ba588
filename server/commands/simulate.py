"""``pitwatch simulate``: interpret the options, deal and film, print what was written."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, cast, get_args

import msgspec
import typer
from rich.text import Text

from models.errors import OperatorError
from models.judgements import RoundSettled
from models.session import Name
from server.commands.options import RULEBOOK_HELP, Force, Json, Knobs
from server.house.wording import counted
from server.process.terminal import print_json, progress_bar, screen
from simulation.wire import ShoeDriver
from stream.recording import read_events
from vision.scenes.look import FELTS, Look, varied_look

if TYPE_CHECKING:
    from devices.cameras.writer import Preset
    from simulation.session import Settings

app = typer.Typer()

PICTURE = "Camera and picture"


@app.command(
    "simulate",
    epilog="[dim]pitwatch simulate out/evening --rounds 5 --seed 7[/dim]\n\n"
    "[dim]pitwatch simulate out/errs --mistake dealer_hit_hard_17 --include split,double[/dim]",
)
def simulate_session(
    session: Annotated[Path, typer.Argument(metavar="SESSION", help="A new folder to write.")],
    *,
    rulebook: Annotated[str, typer.Option("--rulebook", "-r", help=RULEBOOK_HELP)] = "kansas-shoe",
    knobs: Knobs = None,
    rounds: Annotated[int, typer.Option(min=1, max=1000, help="Number of rounds.")] = 3,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the random numbers.")] = 1,
    spots: Annotated[
        str | None, typer.Option(help="The spots in play: 1,2,4. Default: all.")
    ] = None,
    mistakes: Annotated[
        list[str] | None,
        typer.Option(
            "--mistake",
            metavar="NAME",
            help="Make this mistake once, a violation code or one that the floor rules on: "
            "misdeal_called_off, card_offered_to_next. Repeatable.",
        ),
    ] = None,
    include: Annotated[
        str | None,
        typer.Option(help="Situations to play, one for each round: split+double,push."),
    ] = None,
    side_bet: Annotated[
        str | None,
        typer.Option(
            metavar="ID", help="The rulebook also takes this shipped side bet; players lay it."
        ),
    ] = None,
    peek: Annotated[
        bool, typer.Option(help="The dealer checks the hole card under an ace or a ten.")
    ] = True,
    table: Annotated[str, typer.Option(help="The table's id.")] = "BJ-01",
    live: Annotated[
        bool,
        typer.Option("--live", help="Then play it in real time as ports and camera for `run`."),
    ] = False,
    shoe: Annotated[str, typer.Option(help="The shoe's protocol.")] = "angel-eye",
    layout: Annotated[
        str, typer.Option(help="The layout: a TOML file or a shipped id.")
    ] = "five-spots",
    video: Annotated[bool, typer.Option(help="Render the video.", rich_help_panel=PICTURE)] = True,
    vary: Annotated[
        bool,
        typer.Option(
            help="Choose deck, felt, camera pose and light at random from the seed.",
            rich_help_panel=PICTURE,
        ),
    ] = False,
    deck: Annotated[
        str | None, typer.Option(help="The deck's design.", rich_help_panel=PICTURE)
    ] = None,
    felt: Annotated[
        str | None, typer.Option(help="The felt's colour.", rich_help_panel=PICTURE)
    ] = None,
    size: Annotated[
        str | None, typer.Option(metavar="WxH", help="Pixels: 1920x1080.", rich_help_panel=PICTURE)
    ] = None,
    fps: Annotated[
        float | None,
        typer.Option(min=1, max=120, help="Frames a second.", rich_help_panel=PICTURE),
    ] = None,
    crf: Annotated[
        int,
        typer.Option(
            min=0, max=51, help="H.264 quality: 0 is lossless, 51 worst.", rich_help_panel=PICTURE
        ),
    ] = 25,
    preset: Annotated[
        str,
        typer.Option(help="Encoder's preset: ultrafast … veryslow.", rich_help_panel=PICTURE),
    ] = "ultrafast",
    zoom: Annotated[
        float | None,
        typer.Option(
            min=0.2, max=3, help="Scale; 1 shows the whole felt.", rich_help_panel=PICTURE
        ),
    ] = None,
    tilt: Annotated[
        str | None,
        typer.Option(metavar="DEG,DEG", help="The camera's tilt.", rich_help_panel=PICTURE),
    ] = None,
    rotation: Annotated[
        float | None,
        typer.Option(help="The camera's rotation in degrees.", rich_help_panel=PICTURE),
    ] = None,
    shift: Annotated[
        str | None,
        typer.Option(
            metavar="PX,PX", help="Offset of the table's centre.", rich_help_panel=PICTURE
        ),
    ] = None,
    distortion: Annotated[
        float | None, typer.Option(help="Radial lens distortion.", rich_help_panel=PICTURE)
    ] = None,
    markers: Annotated[
        bool,
        typer.Option(help="Show the layout's markers on the felt.", rich_help_panel=PICTURE),
    ] = False,
    noise: Annotated[
        float | None,
        typer.Option(min=0, max=60, help="Noise in grey levels.", rich_help_panel=PICTURE),
    ] = None,
    blur: Annotated[
        float | None,
        typer.Option(min=0, max=20, help="Blur: sigma in pixels.", rich_help_panel=PICTURE),
    ] = None,
    glare: Annotated[
        float | None,
        typer.Option(min=0, max=1, help="Strength of the glare.", rich_help_panel=PICTURE),
    ] = None,
    shadow: Annotated[
        float | None,
        typer.Option(min=0, max=1, help="Strength of the shadow.", rich_help_panel=PICTURE),
    ] = None,
    brightness: Annotated[
        float | None,
        typer.Option(
            min=0.1, max=3, help="Brightness; 1 leaves it as it is.", rich_help_panel=PICTURE
        ),
    ] = None,
    force: Force = False,
    as_json: Json = False,
) -> None:
    """Simulate a table from a seed; write it as a session with its truth file."""
    from server.commands.live_session import play_live
    from simulation.session import Settings

    width, height = pair(size, "--size", "x", int) or (None, None)
    look = look_of(
        seed,
        vary=vary,
        given={
            "deck": deck,
            "felt": felt,
            "width_px": width,
            "height_px": height,
            "fps": fps,
            "zoom": zoom,
            "tilt_deg": pair(tilt, "--tilt", ",", float),
            "rotation_deg": rotation,
            "shift_px": pair(shift, "--shift", ",", float),
            "distortion": distortion,
            "markers": markers,
            "noise_sigma": noise,
            "blur_px": blur,
            "glare": glare,
            "shadow": shadow,
            "brightness": brightness,
        },
    )
    settings = Settings(
        rulebook=rulebook,
        knobs=tuple(knobs or ()),
        rounds=rounds,
        seed=seed,
        spots=numbers(spots, "--spots"),
        layout=layout,
        look=look,
        crf=crf,
        preset=encoder_preset(preset),
        video=video,
        shoe=shoe_driver(shoe),
        side_bet=side_bet or "",
        mistakes=tuple(mistakes or ()),
        include=tuple(include.split(",")) if include else (),
        peek=peek,
        table=table,
    )
    run_simulate(settings, session, as_json=as_json, force=force)
    if live:
        play_live(session, as_json=as_json)


def run_simulate(settings: "Settings", folder: Path, *, as_json: bool, force: bool = False) -> None:
    """Write a session's folder, whole or not at all, and print its contents.

    Raises:
        PitwatchError: the settings cannot be dealt, or the disk refuses.
    """
    from simulation.session import simulate

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
    from vision.scenes.decks import deck_ids

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


def encoder_preset(name: str) -> "Preset":
    """Return the encoder's preset; raises ``OperatorError`` for an unknown one."""
    from devices.cameras.writer import Preset

    _check("--preset", name, get_args(Preset))
    return cast(Preset, name)


def _check_choices(settings: "Settings") -> None:
    from vision.scenes.decks import deck_ids

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
