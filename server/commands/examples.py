"""``pitwatch examples``: files to try the other commands on."""

import shutil
from importlib.resources import files
from pathlib import Path
from typing import Annotated, Final

import typer
from rich.text import Text

import server
from models.errors import OperatorError
from server.demo import SESSION
from server.process.atomic_file import make_folder, write_whole
from server.process.terminal import screen

app = typer.Typer()


@app.command(epilog="[dim]pitwatch examples examples[/dim]")
def examples(
    folder: Annotated[Path, typer.Argument(metavar="FOLDER", help="A new folder to write.")],
) -> None:
    """Write example facts, a picture, a session and configurations for the other commands."""
    write_examples(folder)


_PICTURE_S: Final = 26.0
"""Second of the demo with fourteen readable cards and one in doubt."""


def write_examples(folder: Path) -> None:
    """Write facts, a picture of a table, two configurations and the demo session.

    Raises:
        OperatorError: the folder holds something already, or cannot be written.
    """
    from server.commands.calibrate import picture_at
    from vision.crops import encoded

    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise OperatorError(
            "the folder is not empty", where=str(folder), way_out="Name a new folder"
        )
    make_folder(folder, "Name another folder")
    for shipped in files(server).joinpath("examples").iterdir():
        write_whole(folder / shipped.name, shipped.read_bytes())
    picture = picture_at(SESSION / "overhead.mp4", _PICTURE_S)
    write_whole(folder / "table.jpg", encoded(picture))
    demo = folder / "demo"
    demo.mkdir()
    for recorded in SESSION.iterdir():
        shutil.copyfile(recorded, demo / recorded.name)
    screen().print(Text(_written(folder)))


def _written(folder: Path) -> str:
    return f"""written {folder}:
  facts.jsonl        two rounds written by hand, with a mistake in one  pitwatch settle
  table.jpg          a picture of a table                               pitwatch read
  demo/              a recorded session of five rounds                  pitwatch replay
  table.toml         the configuration of a live table                  pitwatch config check
  integration.toml   to which other systems the service reports         pitwatch relay"""
