"""``pitwatch read``: the cards in photographs."""

from collections.abc import Mapping, Sequence
from itertools import chain, count
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.table import Table
from rich.text import Text

from models.cards import Card
from models.session import Lettering
from server.commands.options import DeckLibrary, Force, Json, Letters, languages_of
from server.house.wording import card_text, is_red
from server.process.atomic_file import check_place, make_folder, write_whole
from server.process.terminal import print_json, progress_bar, screen

if TYPE_CHECKING:
    from vision.photos import PhotoReading

app = typer.Typer()


@app.command(
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
    library: DeckLibrary = None,
    force: Force = False,
    as_json: Json = False,
) -> None:
    """Find and read the cards in photographs. An uncertain reading is marked as uncertain."""
    run_read(
        images,
        annotate,
        as_json=as_json,
        decks=deck or (),
        letters=languages_of(letters),
        kept_in=library,
        force=force,
    )


def run_read(
    images: Sequence[Path],
    annotated: Path | None,
    *,
    as_json: bool,
    decks: Sequence[str] = (),
    letters: Sequence[Lettering] = (),
    kept_in: Path | None = None,
    force: bool = False,
) -> None:
    """Read every image, then print the results.

    Args:
        images: the pictures.
        annotated: a folder for pictures with the readings; created where missing.
        as_json: whether to print JSON.
        decks: the learnt decks of the cards, where known.
        letters: the languages of their letters, where known.
        kept_in: the library that keeps them.
        force: whether existing drawings may be overwritten.

    Raises:
        OperatorError: an image is no picture, a deck is unknown or lacks cards, or the folder or a
            drawing cannot be written.
        TechnicianError: a network or a deck's profile is missing or damaged.
    """
    from server.house.known_decks import library, taught
    from vision.photos import open_picture, read_photo
    from vision.reader import Reader

    for image in images:
        open_picture(image)
    reader = taught(Reader.load(), decks, [library(kept_in)], letters)
    if annotated:
        make_folder(annotated, "Name another folder with --annotate")
    drawings = drawing_names(images)
    if annotated:
        for name in drawings.values():
            check_place(annotated / name, force=force)
    readings = []
    with progress_bar("reading") as progress:
        for done, image in enumerate(images, start=1):
            readings.append(read_photo(image, reader))
            progress(done / len(images))
    for image, reading in zip(images, readings, strict=True):
        if annotated:
            _draw(reading, annotated / drawings[image])
        if as_json:
            print_json(reading.as_json())
    if not as_json:
        screen().print(_table(readings))


def drawing_names(images: Sequence[Path]) -> Mapping[Path, str]:
    """Name the drawing of each image; equal names from several folders stay distinct."""
    names: dict[Path, str] = {}
    taken: set[str] = set()
    for image in dict.fromkeys(images):
        stems = chain([image.stem], (f"{image.stem}-{number}" for number in count(2)))
        names[image] = next(name for stem in stems if (name := f"{stem}.read.jpg") not in taken)
        taken.add(names[image])
    return names


def _draw(reading: "PhotoReading", path: Path) -> None:
    from vision.crops import jpeg
    from vision.photos import annotate, open_picture

    drawn = annotate(open_picture(Path(reading.image)), reading)
    height, width = drawn.shape[:2]
    write_whole(path, jpeg(drawn, (0, 0, width, height), width))


def _table(readings: "Sequence[PhotoReading]") -> Table:
    table = Table(box=None, header_style="dim", pad_edge=False)
    table.add_column("image", style="bold", overflow="fold")
    table.add_column("cards")
    table.add_column("doubtful", style="yellow")
    table.add_column("backs", justify="right")
    table.add_column("ms", justify="right", style="dim")
    for reading in readings:
        found = reading.as_json()
        cards = Text()
        for one in found["cards"]:
            card = Card(one["card"])
            cards.append(card_text(card) + " ", style="bold red" if is_red(card) else "bold")
        doubtful = ", ".join(" or ".join(one["candidates"]) for one in found["doubtful"])
        table.add_row(reading.image, cards, doubtful, str(found["backs"]), f"{found['ms']:.0f}")
    return table
