from collections.abc import Iterator

import pytest

from tests.server.floor_record.cluster import FloorSite, cluster, emptied, new_floor, programs


@pytest.fixture(scope="session")
def postgres() -> Iterator[FloorSite]:
    if programs() is None:
        pytest.skip("PostgreSQL is not installed: apt-get install postgresql")
    with cluster() as made:
        yield new_floor(made)


@pytest.fixture
def site(postgres: FloorSite) -> FloorSite:
    return emptied(postgres)
