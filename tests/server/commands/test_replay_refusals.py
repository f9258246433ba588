"""A recording that cannot be trusted is refused in one line, before anything is written."""

from collections.abc import Callable
from pathlib import Path
from shutil import copytree

import numpy as np
import pytest

from server.commands.app import run
from simulation.session import Settings, simulate
from vision.scenes.look import Look
from vision.sightings import Sightings


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    look = Look(width_px=320, height_px=180, fps=5)
    settings = Settings(rounds=1, seed=3, spots=(1,), look=look)
    return simulate(settings, tmp_path_factory.mktemp("recorded") / "session")


@pytest.fixture
def session(recorded: Path, tmp_path: Path) -> Path:
    return copytree(recorded, tmp_path / "session")


class Blind:
    """A reader that sees nothing: what is refused here is refused whatever is read."""

    confident_p = 1.0

    @classmethod
    def load(cls) -> "Blind":
        return cls()

    def read(self, image: object, *, card_width_px: object, region: object = None) -> Sightings:
        return Sightings(
            np.zeros((0, 4, 2), np.float32),
            np.zeros(0, np.bool_),
            np.zeros(0, np.float32),
            np.zeros((0, 52), np.float32),
        )


@pytest.fixture(autouse=True)
def _nothing_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("vision.reader.Reader", Blind)


@pytest.fixture
def refused(session: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Callable[[], str]:
    """Replay the session with every output asked for; return the one line that refuses it."""
    outputs = {name: tmp_path / f"out.{name}" for name in ("report", "journal", "facts")}

    def replayed() -> str:
        options = [text for name, path in outputs.items() for text in (f"--{name}", str(path))]
        assert run(["replay", str(session), "--json", *options]) == 2
        printed = capsys.readouterr()
        assert printed.out == ""
        assert printed.err.count("\n") == 1
        assert "Traceback" not in printed.err
        assert sorted(path.name for path in tmp_path.iterdir()) == ["session"]
        return printed.err

    return replayed


def edit(file: Path, old: str, new: str) -> None:
    text = file.read_text("utf-8")
    assert old in text
    file.write_text(text.replace(old, new, 1), "utf-8")


def test_a_truncated_video(session: Path, refused: Callable[[], str]) -> None:
    video = session / "overhead.mp4"
    video.write_bytes(video.read_bytes()[: video.stat().st_size // 2])
    line = refused()
    assert "overhead.mp4" in line
    assert "Copy the recording again" in line


def test_a_video_damaged_in_the_middle(session: Path, refused: Callable[[], str]) -> None:
    video = session / "overhead.mp4"
    content = bytearray(video.read_bytes())
    middle = len(content) // 2
    content[middle : middle + 4096] = bytes(4096)
    video.write_bytes(content)
    line = refused()
    assert "overhead.mp4" in line
    assert "damaged" in line


def test_a_video_that_is_none(session: Path, refused: Callable[[], str]) -> None:
    (session / "overhead.mp4").write_bytes(b"this is no video")
    assert "overhead.mp4" in refused()


@pytest.mark.parametrize("file", ["overhead.mp4", "shoe.cap", "plates.cap", "console.jsonl"])
def test_a_missing_recording(session: Path, refused: Callable[[], str], file: str) -> None:
    (session / file).unlink()
    line = refused()
    assert file in line
    assert "Restore" in line


def test_a_shoe_session_in_which_no_shoe_was_recorded(
    session: Path, refused: Callable[[], str]
) -> None:
    (session / "shoe.cap").write_text("")
    assert "dealt from a shoe" in refused()


def test_a_capture_that_is_nothing_but_garbage(session: Path, refused: Callable[[], str]) -> None:
    noise = "\n".join(f"{at} deadbeef5aa5" for at in range(0, 90, 3))
    (session / "shoe.cap").write_text(noise + "\n")
    line = refused()
    assert "shoe.cap" in line
    assert "angel-eye" in line


def test_the_wrong_driver(session: Path, refused: Callable[[], str]) -> None:
    edit(session / "session.toml", '"angel-eye"', '"line"')
    assert "driver" in refused()


def test_an_unknown_driver(session: Path, refused: Callable[[], str]) -> None:
    edit(session / "session.toml", '"angel-eye"', '"devil-eye"')
    line = refused()
    assert "devil-eye" in line
    assert "session.toml" in line


def test_an_unknown_rulebook(session: Path, refused: Callable[[], str]) -> None:
    edit(session / "session.toml", "kansas-shoe", "atlantis-shoe")
    line = refused()
    assert "session.toml" in line
    assert "atlantis-shoe" in line
    assert "kansas-shoe" in line


def test_a_deck_that_nobody_learnt(session: Path, refused: Callable[[], str]) -> None:
    edit(session / "session.toml", "decks = []", 'decks = ["bee-red"]')
    message = refused()
    assert "no deck is called 'bee-red'" in message
    assert "pitwatch decks learn" in message


def test_an_impossible_layout(session: Path, refused: Callable[[], str]) -> None:
    edit(session / "layout.toml", "shoe_mouth = [400.0", "shoe_mouth = [4000.0")
    line = refused()
    assert "layout.toml" in line
    assert "shoe_mouth leaves the felt" in line


def test_a_field_that_is_no_number(session: Path, refused: Callable[[], str]) -> None:
    edit(session / "layout.toml", "width_mm = 2000.0", 'width_mm = "wide"')
    line = refused()
    assert "width_mm" in line
    assert "'wide'" in line


def test_a_console_file_of_facts(session: Path, refused: Callable[[], str]) -> None:
    (session / "console.jsonl").write_text('{"type": "round_closed", "at": 5}\n')
    line = refused()
    assert "console.jsonl:1" in line
    assert "console_entry" in line


def test_a_console_entry_of_a_sensor(session: Path, refused: Callable[[], str]) -> None:
    entry = '{"type":"console_entry","source":"shoe","at":5,"fact":{"type":"round_closed"}}\n'
    (session / "console.jsonl").write_text(entry)
    line = refused()
    assert "console.jsonl:1" in line
    assert "'source': expected console:NAME, the person who states it, found 'shoe'" in line


def test_a_truth_with_a_broken_line(session: Path, refused: Callable[[], str]) -> None:
    with (session / "truth.jsonl").open("a") as truth:
        truth.write('{"type": "card_dealt", "to": 0, "card": "AS"}\n')
    assert "truth.jsonl:" in refused()


def test_a_folder_that_is_no_session(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["replay", str(tmp_path)]) == 2
    assert "session.toml" in capsys.readouterr().err


def test_an_output_that_cannot_be_written_is_refused_before_the_work(
    session: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["replay", str(session), "--report", str(session / "none" / "r.html")]) == 2
    assert "no such folder" in capsys.readouterr().err


def test_a_journal_is_never_written_over(
    session: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    kept = tmp_path / "kept.journal"
    kept.write_text("yesterday")
    assert run(["replay", str(session), "--journal", str(kept)]) == 2
    assert "exists already" in capsys.readouterr().err
    assert kept.read_text() == "yesterday"
