"""Photographs are read without a layout; what is no picture is refused in one clear line."""

from pathlib import Path

import cv2
import numpy as np
import pytest

from models.errors import OperatorError
from tests.vision.test_reader import felt, the_reader
from vision.photos import annotate, open_picture, read_photo


def saved(path: Path, *, depth: type = np.uint8, channels: int = 3) -> Path:
    picture = felt(("5H", 160, 180, 10), ("KC", 320, 180, 60), (None, 430, 80, 0))
    coded = {1: cv2.COLOR_BGR2GRAY, 4: cv2.COLOR_BGR2BGRA}
    stored = cv2.cvtColor(picture, coded[channels]) if channels in coded else picture
    if depth is np.uint16:
        stored = stored.astype(np.uint16) * 257
    cv2.imwrite(str(path), stored)
    return path


def test_a_photograph_gives_its_cards_doubts_and_backs(tmp_path: Path) -> None:
    reading = read_photo(saved(tmp_path / "two.png"), the_reader()).as_json()
    assert {card["card"] for card in reading["cards"]} == {"5H", "KC"}
    assert all(len(card["corners_px"]) == 4 and card["p"] <= 1 for card in reading["cards"])
    assert reading["backs"] == 1
    assert set(reading) == {"image", "cards", "doubtful", "backs", "ms"}


@pytest.mark.parametrize(("depth", "channels"), [(np.uint16, 3), (np.uint8, 1), (np.uint8, 4)])
def test_deep_grey_and_transparent_pictures_are_opened(
    tmp_path: Path, depth: type, channels: int
) -> None:
    picture = open_picture(saved(tmp_path / "odd.png", depth=depth, channels=channels))
    assert picture.shape == (360, 480, 3)
    assert picture.dtype == np.uint8


def test_an_annotated_picture_keeps_its_size_and_is_drawn_upon(tmp_path: Path) -> None:
    path = saved(tmp_path / "two.png")
    picture = open_picture(path)
    drawn = annotate(picture, read_photo(path, the_reader()))
    assert drawn.shape == picture.shape
    assert (drawn != picture).any()


@pytest.mark.parametrize(
    ("content", "says"),
    [
        pytest.param(b"", "empty", id="zero-size"),
        pytest.param(b"seven of hearts", "not a picture", id="text"),
        pytest.param(b"\xff\xd8\xff\xe0" + bytes(50), "breaks off", id="jpeg-start-only"),
    ],
)
def test_what_is_no_picture_is_refused_in_one_line(
    tmp_path: Path, content: bytes, says: str
) -> None:
    path = tmp_path / "bad.jpg"
    path.write_bytes(content)
    with pytest.raises(OperatorError, match=says) as refused:
        read_photo(path, the_reader())
    assert str(path) in str(refused.value)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize("suffix", [".png", ".jpg"])
def test_a_picture_that_breaks_off_is_refused(tmp_path: Path, suffix: str) -> None:
    path = saved(tmp_path / f"whole{suffix}")
    content = path.read_bytes()
    path.write_bytes(content[: len(content) // 2])
    with pytest.raises(OperatorError, match="breaks off"):
        open_picture(path)


def test_a_missing_file_and_a_folder_are_refused(tmp_path: Path) -> None:
    for path in (tmp_path / "nowhere.png", tmp_path):
        with pytest.raises(OperatorError, match="cannot be read"):
            open_picture(path)


def test_a_speck_is_refused_as_too_few_pixels(tmp_path: Path) -> None:
    path = tmp_path / "speck.png"
    cv2.imwrite(str(path), np.zeros((4, 300, 3), np.uint8))
    with pytest.raises(OperatorError, match="too few"):
        open_picture(path)


def test_more_than_a_hundred_megapixels_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "huge.png"
    cv2.imwrite(str(path), np.zeros((10_100, 10_000), np.uint8))
    with pytest.raises(OperatorError, match="100 megapixels"):
        open_picture(path)
