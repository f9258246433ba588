"""Sessions made from a seed, and files to try the commands on."""

from pathlib import Path
from typing import Annotated

import typer

from server.cli.options import RULEBOOK_HELP, Force, Json, Knobs

commands = typer.Typer()

PICTURE = "How it is filmed"


@commands.command(
    epilog="[dim]pitwatch simulate out/evening --rounds 5 --seed 7[/dim]\n\n"
    "[dim]pitwatch simulate out/errs --mistake dealer_hit_hard_17 --include split,double[/dim]"
)
def simulate(
    session: Annotated[Path, typer.Argument(metavar="SESSION", help="A new folder to write.")],
    *,
    rulebook: Annotated[str, typer.Option("--rulebook", "-r", help=RULEBOOK_HELP)] = "kansas-shoe",
    knobs: Knobs = None,
    rounds: Annotated[int, typer.Option(min=1, max=1000)] = 3,
    seed: Annotated[int, typer.Option(min=0, help="Decides everything left to chance.")] = 1,
    spots: Annotated[str | None, typer.Option(help="Spots that play: 1,2,4. Default: all.")] = None,
    mistakes: Annotated[
        list[str] | None,
        typer.Option("--mistake", metavar="CODE", help="Err in this way once; repeatable."),
    ] = None,
    include: Annotated[
        str | None,
        typer.Option(help="Situations to bring about, one a round; + joins: split+double,push."),
    ] = None,
    peek: Annotated[
        bool, typer.Option(help="Whether the dealer looks under an ace or ten.")
    ] = True,
    table: Annotated[str, typer.Option(help="The table's id.")] = "BJ-01",
    live: Annotated[
        bool,
        typer.Option("--live", help="Then play it in real time to `pitwatch run`: ports, camera."),
    ] = False,
    shoe: Annotated[str, typer.Option(help="What the shoe speaks.")] = "angel-eye",
    layout: Annotated[str, typer.Option(help="A shipped felt, or a TOML file.")] = "five-spots",
    video: Annotated[
        bool, typer.Option(help="Whether to film it.", rich_help_panel=PICTURE)
    ] = True,
    vary: Annotated[
        bool,
        typer.Option(help="Draw deck, felt, pose, light from the seed.", rich_help_panel=PICTURE),
    ] = False,
    deck: Annotated[str | None, typer.Option(rich_help_panel=PICTURE)] = None,
    felt: Annotated[str | None, typer.Option(rich_help_panel=PICTURE)] = None,
    size: Annotated[
        str | None, typer.Option(metavar="WxH", help="Pixels: 1920x1080.", rich_help_panel=PICTURE)
    ] = None,
    fps: Annotated[float | None, typer.Option(min=1, max=120, rich_help_panel=PICTURE)] = None,
    crf: Annotated[
        int,
        typer.Option(min=0, max=51, help="Compression: 0 none, 51 worst.", rich_help_panel=PICTURE),
    ] = 25,
    preset: Annotated[
        str, typer.Option(help="Encoder: ultrafast … veryslow.", rich_help_panel=PICTURE)
    ] = "ultrafast",
    zoom: Annotated[float | None, typer.Option(min=0.2, max=3, rich_help_panel=PICTURE)] = None,
    tilt: Annotated[
        str | None, typer.Option(metavar="DEG,DEG", help="Camera tilt.", rich_help_panel=PICTURE)
    ] = None,
    rotation: Annotated[
        float | None, typer.Option(help="Degrees.", rich_help_panel=PICTURE)
    ] = None,
    shift: Annotated[
        str | None,
        typer.Option(metavar="PX,PX", help="Camera off centre.", rich_help_panel=PICTURE),
    ] = None,
    distortion: Annotated[
        float | None, typer.Option(help="Radial.", rich_help_panel=PICTURE)
    ] = None,
    markers: Annotated[
        bool,
        typer.Option(help="Stick the layout's markers to the felt.", rich_help_panel=PICTURE),
    ] = False,
    noise: Annotated[
        float | None, typer.Option(min=0, max=60, help="Grey levels.", rich_help_panel=PICTURE)
    ] = None,
    blur: Annotated[
        float | None, typer.Option(min=0, max=20, help="Sigma in pixels.", rich_help_panel=PICTURE)
    ] = None,
    glare: Annotated[float | None, typer.Option(min=0, max=1, rich_help_panel=PICTURE)] = None,
    shadow: Annotated[float | None, typer.Option(min=0, max=1, rich_help_panel=PICTURE)] = None,
    brightness: Annotated[
        float | None, typer.Option(min=0.1, max=3, rich_help_panel=PICTURE)
    ] = None,
    force: Force = False,
    as_json: Json = False,
) -> None:
    """Deal, err, pay and film a table by a seed, and write it as a session with its truth."""
    from server.commands import simulate as simulating
    from simulation.session import Settings

    width, height = simulating.pair(size, "--size", "x", int) or (None, None)
    look = simulating.look_of(
        seed,
        vary=vary,
        given={
            "deck": deck,
            "felt": felt,
            "width_px": width,
            "height_px": height,
            "fps": fps,
            "zoom": zoom,
            "tilt_deg": simulating.pair(tilt, "--tilt", ",", float),
            "rotation_deg": rotation,
            "shift_px": simulating.pair(shift, "--shift", ",", float),
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
        spots=simulating.numbers(spots, "--spots"),
        layout=layout,
        look=look,
        crf=crf,
        preset=simulating.encoder_preset(preset),
        video=video,
        shoe=simulating.shoe_driver(shoe),
        mistakes=tuple(mistakes or ()),
        include=tuple(include.split(",")) if include else (),
        peek=peek,
        table=table,
    )
    simulating.run_simulate(settings, session, as_json=as_json, force=force)
    if live:
        from server.commands.live_session import play_live

        play_live(session, as_json=as_json)


@commands.command(epilog="[dim]pitwatch examples examples[/dim]")
def examples(
    folder: Annotated[Path, typer.Argument(metavar="FOLDER", help="A new folder to write.")],
) -> None:
    """Write facts, a picture, a session and configurations to try the other commands on."""
    from server.commands.examples import write_examples

    write_examples(folder)
