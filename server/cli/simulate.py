"""Sessions made from a seed, and files to try the commands on."""

from pathlib import Path
from typing import Annotated

import typer

from server.cli.options import RULEBOOK_HELP, Force, Json, Knobs

commands = typer.Typer()

PICTURE = "Camera and picture"


@commands.command(
    epilog="[dim]pitwatch simulate out/evening --rounds 5 --seed 7[/dim]\n\n"
    "[dim]pitwatch simulate out/errs --mistake dealer_hit_hard_17 --include split,double[/dim]"
)
def simulate(
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
        typer.Option("--mistake", metavar="CODE", help="Make this mistake once; repeatable."),
    ] = None,
    include: Annotated[
        str | None,
        typer.Option(help="Situations to play, one for each round: split+double,push."),
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
    """Write example facts, a picture, a session and configurations for the other commands."""
    from server.commands.examples import write_examples

    write_examples(folder)
