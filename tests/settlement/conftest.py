"""What reads the sensors of a scene."""

from collections.abc import Iterator

import pytest

from settlement.reckoning import Inference
from tests.settlement.felt_scene import Scene


def _reading(inference: Inference) -> Iterator[None]:
    before, Scene.inference = Scene.inference, inference
    yield
    Scene.inference = before


@pytest.fixture(scope="module", params=["reconciler", "reckoning"])
def each_inference(request: pytest.FixtureRequest) -> Iterator[None]:
    """Have each test's scenes read by the reconciler, and by the reckoning."""
    yield from _reading(request.param)


@pytest.fixture(scope="module")
def by_the_reckoning() -> Iterator[None]:
    """Have each test's scenes read by the reckoning."""
    yield from _reading("reckoning")
