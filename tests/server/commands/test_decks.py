"""Decks on the command line: learnt from files, kept, checked and used."""

import json
from pathlib import Path

import cv2
import pytest

from models.cards import DECK, Card
from server.commands.app import run
from tests.vision.snapshots import fan, snapshot
from vision.scenes.decks import load_deck

CARDS = ("AS", "7D", "KH", "TC")


@pytest.fixture(scope="module")
def photographs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("photographs")
    deck = load_deck("casino-jumbo")
    for number, card in enumerate([*(c for c in DECK if str(c) in CARDS), None]):
        cv2.imwrite(str(folder / f"{card}.jpg"), snapshot(deck, card, number))
    return folder


@pytest.fixture(scope="module")
def library(photographs: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("decks") / "ours"
    files = [str(file) for file in sorted(photographs.iterdir())]
    assert run(["decks", "learn", "jumbo", *files, "--library", str(folder), "--json"]) == 3
    return folder


def printed(capsys: pytest.CaptureFixture[str]) -> list[dict[str, object]]:
    return [json.loads(line) for line in capsys.readouterr().out.splitlines()]


def test_what_is_still_missing_is_listed(library: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["decks", "check", "jumbo", "--library", str(library), "--json"]) == 3
    (deck,) = printed(capsys)
    assert deck["lacking"] == [str(card) for card in DECK if str(card) not in CARDS]
    assert (deck["backs"], deck["four_indices"], deck["sound"]) == (1, False, False)


def test_fans_teach_the_indices_and_the_cards_to_show_whole_are_listed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    deck, cards = load_deck("casino-jumbo"), [c for c in DECK if str(c) in CARDS]
    for seed in range(2):
        cv2.imwrite(str(tmp_path / f"fan-{seed}.jpg"), fan(deck, [Card.FIVE_D, *cards], seed))
    learn = ["decks", "learn", "jumbo", *map(str, tmp_path.iterdir()), "--library", str(tmp_path)]
    assert run([*learn, "--json"]) == 3
    (learnt,) = printed(capsys)
    by_index = learnt["by_index_alone"]
    assert isinstance(by_index, list)
    assert {"AS"} <= set(by_index) <= {"5D", *CARDS}
    assert run(learn) == 3
    assert "known by the index alone, show them whole too" in capsys.readouterr().out


def test_each_card_names_the_picture_it_was_learnt_from(
    library: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["decks", "show", "jumbo", "--library", str(library), "--json"]) == 0
    (deck,) = printed(capsys)
    pictures = deck["pictures"]
    assert isinstance(pictures, dict)
    assert {card: name for card, name in pictures.items() if name} == {
        card: f"{card}.jpg" for card in CARDS
    }


def test_a_deck_that_lacks_cards_is_not_read_by(
    library: Path, photographs: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    image = str(photographs / "AS.jpg")
    assert run(["read", image, "--deck", "jumbo", "--library", str(library)]) == 2
    assert "still lacks" in capsys.readouterr().err


def test_a_deck_that_nobody_learnt_is_refused_with_those_there_are(
    library: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["decks", "show", "other", "--library", str(library)]) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert "choose one of: jumbo" in printed.err


def test_a_name_that_is_no_file_name_is_refused(
    photographs: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    image = str(photographs / "AS.jpg")
    assert run(["decks", "learn", "../out", image, "--library", str(tmp_path / "library")]) == 2
    assert "not a valid deck name" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


def test_decks_are_listed(library: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["decks", "list", "--library", str(library), "--json"]) == 0
    assert [deck["deck"] for deck in printed(capsys)] == ["jumbo"]
