"""One house for all that only look; whoever changes something makes one of their own."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.server.service.house import House, house, play


@pytest.fixture(scope="session")
def evening(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two tables' journals: BJ-07 with two mistakes, BJ-08 with none."""
    folder = tmp_path_factory.mktemp("journals")
    play(folder / "bj-07.journal", "mistake", "BJ-07")
    play(folder / "bj-08.journal", "plain", "BJ-08")
    return folder


@pytest.fixture(scope="session")
def at_work(evening: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    """A service over the evening, with an account of every role."""
    with house(evening, tmp_path_factory.mktemp("state")) as found:
        found.staff()
        yield found
