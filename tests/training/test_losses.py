"""How the losses are computed on a device, and how fast a classifier that continues learns."""

from pathlib import Path

import pytest

pytest.importorskip("torch", reason="the training extra is not installed")
pytest.importorskip("ultralytics", reason="the training extra is not installed")

import torch

from vision.training.loop import Recipe, face_lesson, reader_lesson
from vision.training.losses import halved

pytestmark = pytest.mark.slow


@pytest.mark.parametrize(
    ("capability", "half"), [("AVX512", True), ("AVX2", False), ("DEFAULT", False)]
)
def test_a_processor_computes_in_half_precision_only_where_that_is_faster(
    capability: str, half: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(torch.backends.cpu, "get_cpu_capability", lambda: capability)
    convolution = torch.nn.Conv2d(3, 4, 3)
    with halved(torch.device("cpu")):
        out = convolution(torch.zeros(1, 3, 8, 8))
    assert (out.dtype == torch.bfloat16) == half


def test_a_classifier_that_continues_begins_at_the_further_rate(tmp_path: Path) -> None:
    recipe = Recipe(reader_steps=1100, face_steps=1100)
    for lesson in (
        reader_lesson(recipe, tmp_path, None, 100),
        face_lesson(recipe, tmp_path, None, 100),
    ):
        assert lesson.rate_at(100) < lesson.rate_at(300)  # it rises at first
        assert max(map(lesson.rate_at, range(100, 1100))) <= recipe.further_rate
        assert lesson.rate_at(200) == pytest.approx(0.9 * recipe.further_rate)
        assert lesson.rate_at(1099) <= 0.01 * recipe.further_rate
