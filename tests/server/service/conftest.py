"""One house for all tests that only read; a test that changes something makes its own."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import TypeAlias

import pytest

from server.service.store import Store
from tests.server.floor_record.served import STORES, forwarded, kept_in
from tests.server.service.house import House, house, play


@pytest.fixture(scope="session")
def evening(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two tables' journals: BJ-07 with two mistakes, BJ-08 with none."""
    folder = tmp_path_factory.mktemp("journals")
    play(folder / "bj-07.journal", "mistake", "BJ-07")
    play(folder / "bj-08.journal", "plain", "BJ-08")
    return folder


Kept: TypeAlias = Callable[[Path], AbstractContextManager[Store | None]]


@pytest.fixture(params=STORES)
def kept(request: pytest.FixtureRequest) -> Kept:
    """Return what keeps a folder's tables: the folder itself, or the floor record."""
    if request.param == "folder":
        return lambda _: nullcontext()
    site = request.getfixturevalue("site")
    return lambda journals: forwarded(journals, site)


@pytest.fixture(scope="session", params=STORES)
def at_work(
    request: pytest.FixtureRequest, evening: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[House]:
    """A service over the evening, in each kind of store, with an account of every role."""
    state = tmp_path_factory.mktemp("state")
    with kept_in(request.param, evening) as store, house(evening, state, store=store) as found:
        found.staff()
        yield found
