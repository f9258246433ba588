"""The training code runs end to end, and never meets a deck that is kept for testing."""

import os
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

pytest.importorskip("torch", reason="the training extra is not installed")
pytest.importorskip("ultralytics", reason="the training extra is not installed")

from models.errors import OperatorError
from vision.training import decks

pytestmark = pytest.mark.slow

# `python -m vision.training` with a few of the real decks: rasterising all takes 80 s.
FEW_DECKS = """
from vision.training import decks
decks.TRAIN_SHEETS = {name: decks.TRAIN_SHEETS[name] for name in ("neoclassical", "berlin")}
decks.TRAIN_KDE = ()
decks.TEST_KDE = ("standard",)
from vision.training.__main__ import main
main()
"""


def art_is_installed() -> bool:
    try:
        return decks.SHEETS.is_dir() and bool(decks.typefaces(True) and decks.typefaces(False))
    except OperatorError:
        return False


def test_a_few_steps_end_in_measured_networks_that_can_be_gone_on_from(tmp_path: Path) -> None:
    if not art_is_installed():
        pytest.skip("gnome-cards-data or the typefaces are not installed")
    command = [sys.executable, "-W", "ignore", "-c", FEW_DECKS, "--quick", "--scenes", "1"]
    places = ["--out", str(tmp_path), "--checkpoints", str(tmp_path / "state")]
    subprocess.run([*command, "--steps", "3", *places], check=True, timeout=300, env=os.environ)
    for name in ("finder", "reader", "face"):
        manifest = tomllib.loads((tmp_path / f"{name}.toml").read_text("utf-8"))
        assert manifest["licence"] == "AGPL-3.0-or-later"
        assert len(manifest["sha256"]) == 64
        assert manifest["recipe"][f"{name}_steps"] == 3
        assert set(manifest["scores"]) >= {"unseen_typefaces", "deck_casino_jumbo"}
    onward = ["--onward", str(tmp_path), "--out", str(tmp_path / "on"), "--steps", "2"]
    onward += ["--finder-steps", "1"]
    subprocess.run(
        [*command, *onward, "--checkpoints", str(tmp_path / "anew")], check=True, timeout=300
    )
    face = tomllib.loads((tmp_path / "on" / "face.toml").read_text("utf-8"))
    assert face["recipe"]["steps_taken"] == 5
    assert face["recipe"]["history"] == [
        "at step 3 the exported weights were taken up again",
        "0.6 of the way from there to the weights of step 5 is exported",
    ]
    finder = tomllib.loads((tmp_path / "on" / "finder.toml").read_text("utf-8"))
    assert finder["recipe"]["steps_taken"] == finder["recipe"]["finder_steps"] == 4
    assert finder["recipe"]["history"] == [
        "at step 3 the exported weights were taken up again",
        "backs alone were learnt from there, indices held to that export",
    ]


def test_networks_to_go_on_from_that_are_not_there_are_named_in_one_line(tmp_path: Path) -> None:
    command = [sys.executable, "-W", "ignore", "-m", "vision.training", "--onward", str(tmp_path)]
    printed = subprocess.run(
        [*command, "--checkpoints", str(tmp_path / "state")],
        check=False,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert printed.returncode == 2
    assert "no network to continue from" in printed.stderr
    assert "Traceback" not in printed.stderr


def test_no_sheet_kept_for_testing_is_trained_on() -> None:
    assert not set(decks.TRAIN_SHEETS) & (decks.TEST_KIN | set(decks.TEST_SHEETS))


def test_decks_to_train_and_to_test_on_never_meet() -> None:
    assert not set(decks.train_deck_ids(150)) & set(decks.test_deck_ids(150))


def test_typefaces_kept_for_testing_draw_no_training_deck() -> None:
    if not art_is_installed():
        pytest.skip("gnome-cards-data or the typefaces are not installed")
    drawn = [decks.drawn_style("drawn", seed) for seed in range(150)]
    assert not any(style.font.name.startswith(decks.TEST_TYPEFACES) for style in drawn)
    unseen = [decks.drawn_style("unseen", seed) for seed in range(150)]
    assert all(style.font.name.startswith(decks.TEST_TYPEFACES) for style in unseen)
