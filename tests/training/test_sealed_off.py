"""Training loads its libraries without a look-up and without a file in the user's folders."""

from pathlib import Path

import pytest

pytest.importorskip("torch", reason="the training extra is not installed")
pytest.importorskip("ultralytics", reason="the training extra is not installed")

from tests.server.sealed_off import needs_a_sealed_network, sealed

pytestmark = pytest.mark.slow


@needs_a_sealed_network()
def test_training_loads_in_silence(tmp_path: Path) -> None:
    run = sealed(tmp_path, "python", "import vision.training.networks, vision.training.export")
    assert run.status == 0, run.output
    assert run.reached_for == ()
    assert run.left_behind == ()
