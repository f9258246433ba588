"""A scratch folder is gone however the work in it ends."""

import sys
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

from stream import scratch
from stream.scratch import scratch_folder

_ENOUGH_STEPS = 40


class Signalled(BaseException):
    """What a signal raises."""


def work(place: Path, after_steps: int) -> bool:
    """Work in a scratch folder, with a signal before the given step; say whether it came."""
    left = after_steps

    def at(frame: FrameType, event: str, _argument: object) -> Any:
        nonlocal left
        if frame.f_code.co_filename not in (scratch.__file__, __file__):
            return None
        if event == "line":
            left -= 1
            if left == 0:
                raise Signalled
        return at

    sys.settrace(at)
    try:
        in_it(place)
    except Signalled:
        return True
    finally:
        sys.settrace(None)
    return False


def in_it(place: Path) -> None:
    with scratch_folder(".work.", place) as folder:
        (folder / "half").write_text("written")


@pytest.mark.parametrize("steps", range(1, _ENOUGH_STEPS))
def test_a_signal_before_any_step_leaves_nothing(tmp_path: Path, steps: int) -> None:
    work(tmp_path, steps)
    assert list(tmp_path.iterdir()) == []


def test_the_steps_above_are_all_there_are(tmp_path: Path) -> None:
    came = [work(tmp_path, steps) for steps in range(1, _ENOUGH_STEPS)]
    assert came[5]
    assert not came[-1]


def test_the_folder_belongs_to_its_owner_alone(tmp_path: Path) -> None:
    with scratch_folder("x.", tmp_path) as first, scratch_folder("x.", tmp_path) as second:
        assert first != second
        assert first.parent == tmp_path
        assert first.stat().st_mode & 0o777 == 0o700
    assert list(tmp_path.iterdir()) == []


def test_work_that_moves_its_folder_away_keeps_it(tmp_path: Path) -> None:
    with scratch_folder(".x.", tmp_path) as folder:
        folder.rename(tmp_path / "done")
    assert [each.name for each in tmp_path.iterdir()] == ["done"]
