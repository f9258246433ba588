"""The wheel, built from a copy of this tree and installed into an empty environment."""

import pytest

from tests.packaging.wheel import Installed, installed_wheel


@pytest.fixture(scope="session")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Installed:
    return installed_wheel(tmp_path_factory.mktemp("wheel"))
