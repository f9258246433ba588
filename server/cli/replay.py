"""Recorded sessions and pictures."""

from pathlib import Path
from typing import Annotated

import typer

from server.cli.decks import Letters, Library, languages_of
from server.cli.options import RULEBOOK_HELP, Force, HouseFile, Json, Knobs

commands = typer.Typer()

PICTURE = "Camera and picture"


@commands.command(
    epilog="[dim]pitwatch replay evening/ --report report.html[/dim]\n\n"
    "[dim]pitwatch replay evening/ --json | jq .status[/dim]"
)
def replay(
    session: Annotated[Path, typer.Argument(metavar="SESSION", help="A session folder.")],
    *,
    report: Annotated[
        Path | None, typer.Option("--report", help="Write a self-contained HTML report.")
    ] = None,
    journal: Annotated[
        Path | None, typer.Option("--journal", help="Write the journal to this new file.")
    ] = None,
    facts: Annotated[
        Path | None, typer.Option("--facts", help="Write the facts to this file, for `settle`.")
    ] = None,
    rulebook: Annotated[
        str | None,
        typer.Option("--rulebook", "-r", help=RULEBOOK_HELP + " Default: the session's."),
    ] = None,
    knobs: Knobs = None,
    speed: Annotated[
        float | None,
        typer.Option(min=0.01, help="Multiple of real time. Default: as fast as possible."),
    ] = None,
    force: Force = False,
    house: HouseFile = None,
    as_json: Json = False,
) -> None:
    """Replay a recorded session: video and serial bytes in, payouts and mistakes out.

    If the session has a truth file, the payouts are compared with it. Exit 0 only if every round
    is final and matches the truth, without mistakes or device faults. Exit 3 if a person must
    check something. Exit 2 if the session is refused.
    """
    from server.commands.replay import Outputs, run_replay
    from server.house.house_file import house_for
    from server.table.replay import ReplayOptions

    options = ReplayOptions(
        folder=session,
        rulebook=rulebook,
        knobs=tuple(knobs or ()),
        speed=speed,
        pictures=report is not None,
    )
    found = house_for(house, session)
    outputs = Outputs(report, journal, facts, force, found)
    raise typer.Exit(run_replay(options, outputs, house=found, as_json=as_json))


@commands.command(
    epilog="[dim]pitwatch read hand.jpg table.png[/dim]\n\n"
    "[dim]pitwatch read *.jpg --json --annotate drawn/[/dim]"
)
def read(
    images: Annotated[list[Path], typer.Argument(metavar="IMAGE", help="JPEG, PNG, WebP…")],
    *,
    annotate: Annotated[
        Path | None,
        typer.Option(metavar="FOLDER", help="Draw each result into FOLDER/NAME.read.jpg."),
    ] = None,
    deck: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="A learnt deck that may be on the table; repeatable."),
    ] = None,
    letters: Letters = None,
    library: Library = None,
    force: Force = False,
    as_json: Json = False,
) -> None:
    """Find and read the cards in photographs. An uncertain reading is marked as uncertain."""
    from server.commands.read import run_read

    run_read(
        images,
        annotate,
        as_json=as_json,
        decks=deck or (),
        letters=languages_of(letters),
        kept_in=library,
        force=force,
    )


@commands.command(
    epilog="[dim]pitwatch calibrate frame.png layout.toml --out pose.toml --picture o.png[/dim]\n\n"
    "[dim]pitwatch calibrate evening/overhead.mp4 evening/layout.toml --session evening[/dim]\n\n"
    "[dim]pitwatch calibrate frame.png five-spots --point 1800,385=circle-1 …[/dim]\n\n"
    "[dim]pitwatch calibrate --print-markers layout.toml markers.pdf[/dim]"
)
def calibrate(
    picture: Annotated[
        str, typer.Argument(metavar="PICTURE", help="A picture or a video from the camera.")
    ],
    layout: Annotated[
        str, typer.Argument(metavar="LAYOUT", help="The layout: a TOML file or a shipped id.")
    ],
    *,
    points: Annotated[
        list[str] | None,
        typer.Option(
            "--point",
            metavar="X,Y=NAME",
            help="Instead of markers: pixel of a named point of the layout; repeatable.",
        ),
    ] = None,
    point_file: Annotated[
        Path | None, typer.Option("--points", help="A file of such points, one on each line.")
    ] = None,
    out: Annotated[
        Path | None, typer.Option("--out", metavar="POSE.toml", help="Write the pose to this file.")
    ] = None,
    drawn: Annotated[
        Path | None,
        typer.Option("--picture", metavar="PNG", help="Write the picture with the layout drawn."),
    ] = None,
    session: Annotated[
        Path | None, typer.Option(help="Write the pose into this session's session.toml.")
    ] = None,
    camera: Annotated[
        str | None, typer.Option(help="The camera's name, if the session has several.")
    ] = None,
    at_s: Annotated[
        float, typer.Option("--at", min=0, help="Second of the video to take the frame from.")
    ] = 0.0,
    print_markers: Annotated[
        bool,
        typer.Option(
            "--print-markers", help="Arguments LAYOUT OUT.pdf: write its markers for printing."
        ),
    ] = False,
    force: Force = False,
    as_json: Json = False,
) -> None:
    """Find a camera's pose and lens from markers on the felt, or from points that you name."""
    from server.commands import calibrate as calibrating

    if print_markers:
        calibrating.print_markers(picture, Path(layout), force=force)
        return
    calibrating.run_calibrate(
        calibrating.Asked(
            Path(picture),
            layout,
            tuple(points or ()),
            point_file,
            at_s,
            out,
            drawn,
            session,
            camera,
            force,
        ),
        as_json=as_json,
    )
