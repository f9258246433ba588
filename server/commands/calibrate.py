"""``pitwatch calibrate``: one picture and the layout in, the camera's pose out."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import msgspec
import typer
from rich.table import Table
from rich.text import Text

from models.errors import InputRefused, OperatorError
from models.layout import TableLayout, landmarks
from models.session import CameraPose, CameraRecord, Session
from server.commands.options import (
    Force,
    Json,
)
from server.process.atomic_file import check_place, write_whole
from server.process.terminal import print_json, screen
from stream.clock import HostClock
from stream.recording import SESSION_FILE, read_session, table_layout
from stream.toml import to_toml

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from vision.calibration import Calibration, Tie
    from vision.camera import Camera

app = typer.Typer()


@app.command(
    "calibrate",
    epilog="[dim]pitwatch calibrate frame.png layout.toml --out pose.toml --picture o.png[/dim]\n\n"
    "[dim]pitwatch calibrate evening/overhead.mp4 evening/layout.toml --session evening[/dim]\n\n"
    "[dim]pitwatch calibrate frame.png five-spots --point 1800,385=circle-1 …[/dim]\n\n"
    "[dim]pitwatch calibrate --print-markers layout.toml markers.pdf[/dim]",
)
def calibrate_camera(
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
    if print_markers:
        write_markers(picture, Path(layout), force=force)
        return
    run_calibrate(
        Asked(
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


OBLIQUE_DEG: Final = 60.0
"""A camera lower over the felt sees the sides of chips: the picture shows stacks, too."""
_VIDEOS: Final = (".mp4", ".mkv", ".mov", ".avi", ".ts", ".m4v", ".webm")


@dataclass(frozen=True, slots=True)
class Asked:
    """The input of a calibration, and the destination of its result."""

    picture: Path
    layout: str
    points: tuple[str, ...] = ()
    point_file: Path | None = None
    at_s: float = 0.0
    out: Path | None = None
    drawn: Path | None = None
    session: Path | None = None
    camera: str | None = None
    force: bool = False
    """Whether existing files may be overwritten."""


def run_calibrate(asked: Asked, *, as_json: bool) -> None:
    """Find the pose, write the requested files, and print the expected error.

    Raises:
        OperatorError: the picture or a place to write cannot be used, or a point is no point.
        InstallerError: the picture does not determine the pose; why, and what to do about it.
    """
    from vision.calibration import calibrate
    from vision.camera import Camera
    from vision.felt import felt_of
    from vision.overlay import draw_layout, png

    for place in (asked.out, asked.drawn):
        check_place(place, force=asked.force)
    layout = table_layout(asked.layout)
    clicks = _clicks(asked, layout)
    session = None if asked.session is None else read_session(asked.session)
    camera = None if session is None else _camera(session, asked)
    image = picture_at(asked.picture, asked.at_s)
    found = calibrate(image, layout, clicks, where=str(asked.picture))
    if asked.out:
        write_whole(asked.out, to_toml(found.pose).encode())
    if asked.drawn:
        eye = Camera.of(found.pose)
        oblique = _elevation_deg(eye, layout) < OBLIQUE_DEG
        over = draw_layout(image, layout, felt_of(found.pose), found.ties, eye if oblique else None)
        write_whole(asked.drawn, png(over))
    if asked.session and session and camera:
        _put_into(asked.session, session, camera, found.pose)
    if as_json:
        print_json(_as_json(found, layout))
    else:
        _print(found, layout, asked)


def write_markers(layout: str, out: Path, *, force: bool) -> None:
    """Write a layout's markers as a PDF to print.

    Raises:
        OperatorError: a PDF cannot be written there.
        InstallerError: the layout has no markers.
    """
    from server.report.marker_sheets import marker_sheets

    check_place(out, force=force)
    if out.suffix.lower() != ".pdf":
        raise OperatorError(
            "markers are written as PDF, which keeps their size",
            where=str(out),
            way_out="Name a file that ends in .pdf",
        )
    write_whole(out, marker_sheets(table_layout(layout), HostClock().now_ns()))
    screen().print(Text(f"written {out}: print it at 100% and check that its line is 100 mm long"))


def picture_at(picture: Path, at_s: float) -> "NDArray[np.uint8]":
    """Return a picture, or the frame of a video at ``at_s``: ``(H, W, 3)`` uint8 BGR.

    Raises:
        OperatorError: it cannot be read, or the video ends before that.
    """
    from devices.cameras.file import FileCamera
    from vision.photos import open_picture

    if picture.suffix.lower() not in _VIDEOS:
        return open_picture(picture)
    at_ns = round(at_s * 1e9)
    for frame in FileCamera(picture, 0).frames():
        if frame.at_ns >= at_ns:
            return frame.image
    raise OperatorError(
        f"the video ends before second {at_s:g}", where=str(picture), way_out="Give an earlier --at"
    )


# --- clicked points ------------------------------------------------------------------------


def _clicks(asked: Asked, layout: TableLayout) -> "list[Tie]":
    named = landmarks(layout)
    clicked = [_tie(words, named, "--point", None) for words in asked.points]
    if asked.point_file:
        clicked += [
            _tie(line, named, str(asked.point_file), number)
            for number, line in _lines(asked.point_file)
        ]
    names = [tie.name for tie in clicked]
    if twice := [name for name in dict.fromkeys(names) if names.count(name) > 1]:
        raise OperatorError(
            f"{twice[0]} is given twice", where="the points", way_out="Give each point once"
        )
    return clicked


def _lines(file: Path) -> Iterator[tuple[int, str]]:
    try:
        lines = file.read_text("utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as fault:
        raise OperatorError(
            "the points cannot be read", where=str(file), way_out="Give a text file"
        ) from fault
    for number, line in enumerate(lines, 1):
        content = line.partition("#")[0].strip()
        if content:
            yield number, content


def _tie(words: str, named: dict[str, tuple[float, float]], source: str, line: int | None) -> "Tie":
    import numpy as np

    from vision.calibration import Tie

    place, _, name = (part.strip() for part in words.partition("="))
    try:
        x_px, y_px = (float(part) for part in place.split(","))
    except ValueError as fault:
        raise InputRefused(
            source=source, line=line, field="point", expected="X,Y=NAME", found=repr(words)
        ) from fault
    if name not in named or not np.isfinite((x_px, y_px)).all():
        raise InputRefused(
            source=source,
            line=line,
            field="point",
            expected=f"a place and one of {', '.join(named)}",
            found=repr(words),
        )
    return Tie(name, np.array([named[name]]), np.array([(x_px, y_px)]))


# --- writing the pose ----------------------------------------------------------------------


def _camera(session: Session, asked: Asked) -> CameraRecord:
    names = [camera.name for camera in session.cameras]
    wanted = asked.camera or (names[0] if len(names) == 1 else None)
    for camera in session.cameras:
        if camera.name == wanted:
            return camera
    raise OperatorError(
        f"the session has no camera {asked.camera!r}" if asked.camera else "which camera?",
        where=str(asked.session),
        way_out=f"Give --camera: {', '.join(names) or 'the session has none'}",
    )


def _put_into(folder: Path, session: Session, camera: CameraRecord, pose: CameraPose) -> None:
    """Rewrite the session's description with the camera's new pose."""
    changed = msgspec.structs.replace(camera, pose=pose, reference_points=())
    cameras = tuple(changed if one is camera else one for one in session.cameras)
    described = to_toml(msgspec.structs.replace(session, cameras=cameras))
    write_whole(folder / SESSION_FILE, described.encode())


# --- output --------------------------------------------------------------------------------


def _as_json(found: "Calibration", layout: TableLayout) -> dict[str, Any]:
    from vision.camera import Camera, chip_px

    eye = Camera.of(found.pose)
    return {
        "elevation_deg": round(_elevation_deg(eye, layout), 1),
        "chip_px": [round(px, 2) for px in chip_px(eye, layout)],
        "error_mm": round(found.pose.error_mm, 2),
        "worst": {"name": found.worst.name, "mm": round(found.worst.held_out_mm, 2)},
        "points": [
            {
                "name": error.name,
                "error_mm": round(error.error_mm, 2),
                "held_out_mm": round(error.held_out_mm, 2),
            }
            for error in found.errors
        ],
        "blur_px": round(found.blur_px, 2),
        "pose": found.pose,
    }


def _print(found: "Calibration", layout: TableLayout, asked: Asked) -> None:
    from vision.camera import Camera, chip_px
    from vision.felt import felt_of

    table = Table(box=None, header_style="dim", pad_edge=False)
    table.add_column("point")
    table.add_column("error, mm", justify="right")
    table.add_column("held-out error, mm", justify="right")
    for error in found.errors:
        style = "yellow" if error is found.worst else None
        table.add_row(error.name, f"{error.error_mm:.2f}", f"{error.held_out_mm:.2f}", style=style)
    pose, worst, console = found.pose, found.worst, screen()
    console.print(table)
    middle = felt_of(pose).px_per_mm(0.0, layout.depth_mm / 2)
    console.print(
        f"{len(found.errors)} points agree within {pose.error_mm:.2f} mm (rms); "
        f"{worst.name} is worst, {worst.held_out_mm:.2f} mm from where the others put it"
    )
    console.print(
        f"camera {pose.shift_mm[2] / 1000:.2f} m away, lens {_lens(pose.distortion)}, "
        f"{middle:.2f} pixels a millimetre, edges {found.blur_px:.1f} pixels soft",
        style="dim",
    )
    eye = Camera.of(pose)
    least, most = chip_px(eye, layout)
    console.print(
        f"{_elevation_deg(eye, layout):.0f} degrees above the felt; in the circles a chip's edge "
        f"is {least:.1f} to {most:.1f} pixels high",
        style="dim",
    )
    for name, place in (("pose", asked.out), ("picture", asked.drawn), ("session", asked.session)):
        if place:
            console.print(Text(f"{name}: {place}", style="dim"))


def _elevation_deg(camera: "Camera", layout: TableLayout) -> float:
    return camera.elevation_deg(0.0, layout.depth_mm / 2)


def _lens(radial: Sequence[float]) -> str:
    return " ".join(f"k{at} {value:+.3f}" for at, value in enumerate(radial, 1))
