import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from server.commands.app import run
from server.commands.read import drawing_names
from simulation.session import Settings, prepare
from vision.crops import jpeg
from vision.scenes.film import still


@pytest.fixture
def photo(tmp_path: Path) -> Path:
    settings = Settings(rounds=1, seed=3, spots=(3,))
    scene = prepare(settings)
    image = still(scene.staged.performance, 9_000_000_000, scene.layout, scene.look)
    file = tmp_path / "table.jpg"
    file.write_bytes(jpeg(image, (480, 300, 960, 780), 960))
    return file


def test_a_photograph_is_read_into_the_fixed_shape(
    photo: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    drawn = tmp_path / "drawn"
    assert run(["read", str(photo), str(photo), "--json", "--annotate", str(drawn)]) == 0
    printed, again = (json.loads(line) for line in capsys.readouterr().out.splitlines())
    assert list(printed) == ["image", "cards", "doubtful", "backs", "ms"]
    assert printed["image"] == str(photo)
    assert printed["cards"] or printed["doubtful"]
    for card in printed["cards"]:
        assert 0 < card["p"] <= 1
        assert [len(corner) for corner in card["corners_px"]] == [2, 2, 2, 2]
    assert {**printed, "ms": 0} == {**again, "ms": 0}
    assert (drawn / "table.read.jpg").read_bytes().startswith(b"\xff\xd8")


def test_like_names_from_several_folders_are_drawn_apart(photo: Path, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    other = elsewhere / photo.name
    other.write_bytes(photo.read_bytes())
    drawn = tmp_path / "drawn"
    assert run(["read", str(photo), str(other), "--annotate", str(drawn)]) == 0
    assert {file.name for file in drawn.iterdir()} == {"table.read.jpg", "table-2.read.jpg"}


@given(st.lists(st.sampled_from(["1.jpg", "a/1.jpg", "b/1.png", "1-2.jpg", "b/1-2.jpg"])))
def test_no_two_images_are_drawn_to_one_file(images: list[str]) -> None:
    names = drawing_names([Path(image) for image in images])
    assert len(set(names.values())) == len(names) == len(set(images))


def test_a_folder_for_drawings_that_cannot_be_made_is_reported(
    photo: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["read", str(photo), "--annotate", str(photo / "drawn")]) == 2
    assert str(photo / "drawn") in capsys.readouterr().err


def test_a_file_that_is_no_picture_is_refused_before_anything_is_read(
    photo: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    bad = tmp_path / "bad.jpg"
    bad.write_bytes(b"no picture")
    assert run(["read", str(photo), str(bad), "--json"]) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.count("\n") == 1
    assert str(bad) in printed.err
