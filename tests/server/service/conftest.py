"""One house for all that only look; whoever changes something makes one of their own."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.server.floor_record.served import kept_in
from tests.server.service.house import House, house, play


@pytest.fixture(scope="session")
def evening(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two tables' journals: BJ-07 with two mistakes, BJ-08 with none."""
    folder = tmp_path_factory.mktemp("journals")
    play(folder / "bj-07.journal", "mistake", "BJ-07")
    play(folder / "bj-08.journal", "plain", "BJ-08")
    return folder


@pytest.fixture(scope="session", params=["folder", "floor"])
def at_work(
    request: pytest.FixtureRequest, evening: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[House]:
    """A service over the evening, in each kind of store, with an account of every role."""
    state = tmp_path_factory.mktemp("state")
    with kept_in(request.param, evening) as store, house(evening, state, store=store) as found:
        found.staff()
        yield found
