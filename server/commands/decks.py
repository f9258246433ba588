"""``pitwatch decks``: learn a deck's look once, and keep it."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final, NamedTuple

import msgspec
import typer
from rich.table import Table

from models.cards import DECK, Card
from models.errors import OperatorError
from models.session import Lettering, Name
from server.commands.options import DeckLibrary, Json, Letters, languages_of
from server.house.wording import card_text
from server.process.atomic_file import make_folder, write_whole
from server.process.exit_status import Exit
from server.process.terminal import Advance, print_json, progress_bar, screen

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from vision.decks.learning import Learnt, Lesson
    from vision.decks.library import Library
    from vision.decks.profile import DeckProfile

app = typer.Typer(no_args_is_help=True)

Deck = Annotated[str, typer.Argument(metavar="NAME", help="The deck's name.")]


@app.command(
    epilog="[dim]pitwatch decks learn bee-red cards/*.jpg[/dim]\n\n"
    "[dim]pitwatch decks learn bee-red turning-over-the-deck.mp4[/dim]"
)
def learn(
    name: Deck,
    files: Annotated[
        list[Path], typer.Argument(metavar="FILE", help="Photographs or videos, in any order.")
    ],
    *,
    letters: Letters = None,
    library: DeckLibrary = None,
    as_json: Json = False,
) -> None:
    """Learn a deck from pictures of every card and of the back, in any order.

    Best, each card is visible as a whole; of cards that only fans show the indices are learnt. Run
    the command again with more pictures until no card is missing. Exit 0 when the deck is ready;
    exit 3 while cards are missing or the pictures contradict each other.
    """
    raise typer.Exit(
        run_learn(name, files, library, as_json=as_json, letters=languages_of(letters))
    )


@app.command("list")
def list_decks(*, library: DeckLibrary = None, as_json: Json = False) -> None:
    """List the learnt decks."""
    show_list(library, as_json=as_json)


@app.command()
def show(name: Deck, *, library: DeckLibrary = None, as_json: Json = False) -> None:
    """Show from which picture each card of a deck was learnt."""
    show_one(name, library, as_json=as_json)


@app.command()
def check(name: Deck, *, library: DeckLibrary = None, as_json: Json = False) -> None:
    """Check that a deck is complete and undamaged, and that no two of its cards look alike."""
    raise typer.Exit(check_deck(name, library, as_json=as_json))


FILMS: Final = frozenset({".mp4", ".mov", ".mkv", ".avi", ".webm", ".m4v"})
EVERY_NS: Final = 300_000_000
"""Nanoseconds between the pictures taken from a film."""


class Picture(NamedTuple):
    """A picture to learn from, and the share of all pictures up to it."""

    name: str
    image: "NDArray[np.uint8]"
    done: float


def run_learn(
    name: str,
    files: Sequence[Path],
    folder: Path | None,
    *,
    as_json: bool,
    letters: Sequence[Lettering] = (),
) -> Exit:
    """Learn from pictures of a deck, keep the result, and print the missing cards.

    Earlier cards are kept; contradictions are reported and not learnt. ``letters``: the languages
    of the deck's letters, where they are known.

    Raises:
        OperatorError: a name or file does not exist, or a file is no picture.
        TechnicianError: a film, a network or the deck's earlier profile is damaged.
    """
    from server.house.known_decks import library
    from vision.decks.learning import Lesson
    from vision.reader import Reader
    from vision.sightings import in_languages

    learnt_decks = library(folder)
    _check_name(name)
    reader = in_languages(Reader.load(), letters)
    begun = learnt_decks.open(name) if name in learnt_decks.names() else None
    lesson = Lesson.new(reader, name) if begun is None else Lesson(reader, begun)
    with progress_bar("learning") as progress:
        shown = _show(lesson, files, progress)
    learnt = lesson.learnt()
    _keep(learnt.profile, learnt_decks)
    if as_json:
        print_json(_as_json(learnt, shown))
    else:
        _print(learnt, shown, learnt_decks)
    return Exit.CLEAN if learnt.finished else Exit.FINDINGS


def show_list(folder: Path | None, *, as_json: bool) -> None:
    """List the decks of a library."""
    from server.house.known_decks import library

    learnt_decks = library(folder)
    decks = [learnt_decks.open(name) for name in learnt_decks.names()]
    if as_json:
        for deck in decks:
            print_json(_outline(deck))
        return
    table = Table(box=None, header_style="dim", pad_edge=False)
    for heading in ("deck", "cards", "backs", "indices"):
        table.add_column(heading)
    for deck in decks:
        cards = f"{len(DECK) - len(deck.lacking)} of {len(DECK)}"
        table.add_row(deck.name, cards, str(len(deck.backs)), "4" if deck.four_indices else "2")
    screen().print(table if decks else f"no deck was learnt yet in {learnt_decks.folder}")


def show_one(name: str, folder: Path | None, *, as_json: bool) -> None:
    """Print the picture behind every card of a deck.

    Raises:
        OperatorError, InputRefused, TechnicianError: there is no such deck, or it is damaged.
    """
    from server.house.known_decks import library

    deck = library(folder).open(name)
    learnt_from = {str(card): picture for card, picture in zip(DECK, deck.pictures, strict=True)}
    if as_json:
        print_json({**_outline(deck), "pictures": learnt_from})
        return
    table = Table(box=None, header_style="dim", pad_edge=False)
    table.add_column("card", style="bold")
    table.add_column("learnt from", overflow="fold")
    for card, picture in zip(DECK, deck.pictures, strict=True):
        table.add_row(card_text(card), picture or "lacking")
    screen().print(table)


def check_deck(name: str, folder: Path | None, *, as_json: bool) -> Exit:
    """Check a deck's files and whether all its cards can be distinguished.

    Raises:
        OperatorError, InputRefused, TechnicianError: there is no such deck, or it is damaged.
    """
    from server.house.known_decks import library
    from vision.decks.learning import too_alike

    deck = library(folder).open(name)
    alike = too_alike(deck)
    sound = not alike and not deck.lacking
    if as_json:
        print_json({**_outline(deck), "sound": sound, "contradictions": list(alike)})
    else:
        lines = [*alike, *([_lacking(deck.lacking)] if deck.lacking else [])]
        screen().print("\n".join(lines) or f"{name}: 52 cards, no two alike")
    return Exit.CLEAN if sound else Exit.FINDINGS


def _check_name(name: str) -> None:
    try:
        msgspec.convert(name, Name)
    except msgspec.ValidationError as refused:
        raise OperatorError(
            f"{name!r} is not a valid deck name",
            where="decks learn",
            way_out="Use letters, digits, dots, dashes and underscores, a letter or digit first",
        ) from refused


def _show(lesson: "Lesson", files: Sequence[Path], progress: Advance) -> int:
    """Process every picture; return their number."""
    shown = 0
    for picture in _pictures(files):
        lesson.show(picture.name, picture.image)
        shown += 1
        progress(picture.done)
    return shown


def _pictures(files: Sequence[Path]) -> Iterator[Picture]:
    from devices.cameras.file import FileCamera
    from vision.photos import open_picture

    for number, file in enumerate(files):
        if file.suffix.lower() not in FILMS:
            yield Picture(file.name, open_picture(file), (number + 1) / len(files))
            continue
        camera, next_ns = FileCamera(file, 0), 0
        for frame in camera.frames():
            if frame.at_ns >= next_ns:
                next_ns = frame.at_ns + EVERY_NS
                done = (number + frame.index / camera.frame_count) / len(files)
                yield Picture(f"{file.name} at {frame.at_ns / 1e9:.1f} s", frame.image, done)


def _keep(deck: "DeckProfile", learnt_decks: "Library") -> None:
    from vision.decks.profile import manifest_bytes, picture_bytes

    pictures = picture_bytes(deck)
    make_folder(learnt_decks.folder, "Name another folder with --library")
    write_whole(learnt_decks.manifest(deck.name).with_suffix(".npz"), pictures)
    write_whole(learnt_decks.manifest(deck.name), manifest_bytes(deck, pictures))


def _outline(deck: "DeckProfile") -> dict[str, Any]:
    return {
        "deck": deck.name,
        "lacking": [str(card) for card in deck.lacking],
        "backs": len(deck.backs),
        "four_indices": deck.four_indices,
        "by_index_alone": [str(card) for card in _faceless(deck)],
    }


def _faceless(deck: "DeckProfile") -> list[Card]:
    """Return the cards that were learnt from their index alone."""
    return [card for card, faceless in zip(DECK, deck.faceless, strict=True) if faceless]


def _as_json(learnt: "Learnt", shown: int) -> dict[str, Any]:
    return {
        **_outline(learnt.profile),
        "shown": shown,
        "finished": learnt.finished,
        "by_what_remained": [str(card) for card in learnt.remained],
        "contradictions": list(learnt.contradictions),
    }


def _print(learnt: "Learnt", shown: int, learnt_decks: "Library") -> None:
    deck, lines = learnt.profile, []
    lines.append(f"{deck.name}: {len(DECK) - len(deck.lacking)} cards known, {shown} pictures seen")
    if learnt.remained:
        lines.append(f"identified by elimination:  {' '.join(map(card_text, learnt.remained))}")
    if deck.lacking:
        lines.append(_lacking(deck.lacking))
    if deck.faceless.any():
        only = " ".join(map(card_text, _faceless(deck)))
        lines.append(f"known by the index alone, show them whole too:  {only}")
    if not len(deck.backs):
        lines.append(
            "the back was not seen: add a picture of it, so that foreign backs are detected"
        )
    lines += learnt.contradictions
    if learnt.contradictions or deck.lacking:
        lines.append(
            "add pictures of the missing cards: each card whole, from above, in good light"
        )
    lines.append(f"kept in {learnt_decks.manifest(deck.name)}")
    screen().print("\n".join(lines), markup=False)


def _lacking(cards: Sequence[Card]) -> str:
    return f"still missing: {' '.join(map(card_text, cards))}"
