"""``pitwatch read``: the cards in photographs."""

from collections.abc import Sequence
from pathlib import Path

from rich.table import Table
from rich.text import Text

from models.cards import Card
from models.errors import OperatorError
from server.console import print_json, progress_bar, screen
from server.deck_shelf import library, taught
from server.wholefile import write_whole
from server.wording import card_text, is_red
from vision.crops import jpeg
from vision.photos import PhotoReading, annotate, open_picture, read_photo
from vision.reader import Reader


def run_read(
    images: Sequence[Path],
    annotated: Path | None,
    *,
    as_json: bool,
    decks: Sequence[str] = (),
    shelf: Path | None = None,
) -> None:
    """Read each image and print what it shows; every one is read before the first is printed.

    Args:
        images: the pictures.
        annotated: a folder to draw what was read into.
        as_json: whether to print JSON.
        decks: the learnt decks that the cards are of, where that is known.
        shelf: the library that keeps them.

    Raises:
        OperatorError: an image is no picture, a deck is not known or lacks cards, or the
            drawings cannot be written.
        TechnicianError: a network or a deck's profile is missing or damaged.
    """
    _check_folder(annotated)
    for image in images:
        open_picture(image)
    reader = taught(Reader.load(), decks, [library(shelf)])
    readings = []
    with progress_bar("reading") as progress:
        for done, image in enumerate(images, start=1):
            readings.append(read_photo(image, reader))
            progress(done / len(images))
    for reading in readings:
        if annotated:
            _draw(reading, annotated)
        if as_json:
            print_json(reading.as_json())
    if not as_json:
        screen().print(_table(readings))


def _check_folder(folder: Path | None) -> None:
    if folder is not None and not folder.is_dir():
        raise OperatorError(
            "there is no such folder", where=str(folder), way_out="Make it, or name another"
        )


def _draw(reading: PhotoReading, folder: Path) -> None:
    drawn = annotate(open_picture(Path(reading.image)), reading)
    height, width = drawn.shape[:2]
    path = folder / f"{Path(reading.image).stem}.read.jpg"
    write_whole(path, jpeg(drawn, (0, 0, width, height), width))


def _table(readings: Sequence[PhotoReading]) -> Table:
    table = Table(box=None, header_style="dim", pad_edge=False)
    table.add_column("image", style="bold", overflow="fold")
    table.add_column("cards")
    table.add_column("doubtful", style="yellow")
    table.add_column("backs", justify="right")
    table.add_column("ms", justify="right", style="dim")
    for reading in readings:
        said = reading.as_json()
        cards = Text()
        for one in said["cards"]:
            card = Card(one["card"])
            cards.append(card_text(card) + " ", style="bold red" if is_red(card) else "bold")
        doubtful = ", ".join(" or ".join(one["candidates"]) for one in said["doubtful"])
        table.add_row(reading.image, cards, doubtful, str(said["backs"]), f"{said['ms']:.0f}")
    return table
