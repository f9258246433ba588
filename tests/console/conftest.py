"""A house with two tables, a recording of one, people of every role, and a browser to look in."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from playwright.sync_api import Browser, sync_playwright

from simulation.session import simulate
from stream.journal import Journal
from tests.console.looking import Screen, chromium, screen
from tests.golden.sessions import SESSIONS
from tests.server.doubted import play_blinded
from tests.server.floor_record.served import STORES, kept_in
from tests.server.service.house import House, house, play
from vision.scenes.look import Look

SMALL = Look(width_px=640, height_px=360, fps=10, noise_sigma=1.0)


@pytest.fixture(scope="package")  # its event loop keeps every other from running
def browser() -> Iterator[Browser]:
    """Debian's Chromium, without a window."""
    with sync_playwright() as playwright:
        found = playwright.chromium.launch(executable_path=chromium(), args=["--no-sandbox"])
        yield found
        found.close()


@pytest.fixture(scope="package")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of journals: BJ-07 with two mistakes and its video, BJ-08 with a card in doubt."""
    folder = tmp_path_factory.mktemp("console")
    settings = replace(SESSIONS["mistake"], table="BJ-07", look=SMALL)
    simulate(settings, folder / "bj-07")
    play(folder / "bj-07.journal", "mistake", "BJ-07")
    with Journal.create(folder / "bj-08.journal") as journal:
        play_blinded(journal, "BJ-08")
    return folder


@pytest.fixture(scope="package", params=STORES)
def at_work(
    request: pytest.FixtureRequest, recorded: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[House]:
    """The service, in each kind of store, with an account of every role."""
    state = tmp_path_factory.mktemp("state")
    with (
        kept_in(request.param, recorded) as store,
        house(recorded, state, store=store, recordings=recorded) as found,
    ):
        found.staff()
        yield found


@pytest.fixture
def officer(browser: Browser, at_work: House) -> Iterator[Screen]:
    """Somebody of surveillance, signed in at the console."""
    with screen(browser, at_work) as found:
        found.enter("surveillance")
        yield found
