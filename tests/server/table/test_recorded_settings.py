"""A recorded port has its driver's settings: without them tags would belong to no card."""

from pathlib import Path
from shutil import copy

import pytest
from msgspec.structs import replace

from devices.registry import make_driver
from devices.simulated import TagDevice
from models.cards import Card
from models.errors import InstallerError, TechnicianError
from models.events import ShoeCardRead
from server.table.sources import open_recording
from simulation.session import Settings, simulate
from stream.recording import Chunk, read_capture, read_session, write_capture, write_session
from tests.devices.wires import REGISTER, tag_of


@pytest.fixture
def tagged(tmp_path: Path) -> tuple[Path, list[Card]]:
    """A simulated session whose shoe reads tags, and the cards that left it."""
    folder = tmp_path / "evening"
    simulate(Settings(rounds=1, seed=4, spots=(1,), shoe="line", video=False), folder)
    session = read_session(folder)
    (record,) = (port for port in session.serial if port.driver == "line")
    line, reader, cards = make_driver("line"), TagDevice("id12"), list[Card]()
    chunks = []
    for chunk in read_capture(folder / record.file).chunks:
        for read in line.feed(chunk.data, chunk.offset_ns):
            if isinstance(read, ShoeCardRead) and read.card is not None and read.card not in cards:
                cards.append(read.card)
                chunks.append(Chunk(chunk.offset_ns, reader.show(tag_of(read.card, 10))))
    write_capture(folder / record.file, chunks)
    copy(REGISTER, folder / "tags.toml")
    by_tags = replace(record, driver="id12", settings={"register": "tags.toml"})
    serial = tuple(by_tags if port is record else port for port in session.serial)
    write_session(folder, replace(session, serial=serial))
    return folder, cards


def test_a_session_with_a_tag_register_is_read_with_it(tagged: tuple[Path, list[Card]]) -> None:
    folder, cards = tagged
    (port,) = (port for port in open_recording(folder).ports if port.record.driver == "id12")
    shoe = port.driver()
    readings = [read for chunk in port.chunks for read in shoe.feed(chunk.data, chunk.offset_ns)]
    assert [read.card for read in readings if isinstance(read, ShoeCardRead)] == cards
    assert len(cards) >= 4


def test_a_register_that_was_not_recorded_is_named(tagged: tuple[Path, list[Card]]) -> None:
    folder, _ = tagged
    (folder / "tags.toml").unlink()
    with pytest.raises(InstallerError, match="tag register cannot be read"):
        open_recording(folder)


def test_without_the_register_the_tags_are_nobodys(tagged: tuple[Path, list[Card]]) -> None:
    folder, _ = tagged
    session = read_session(folder)
    bare = tuple(replace(port, settings={}) for port in session.serial)
    write_session(folder, replace(session, serial=bare))
    with pytest.raises(TechnicianError, match="not one message of driver 'id12'"):
        open_recording(folder)
