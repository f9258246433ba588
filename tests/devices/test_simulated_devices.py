"""Both directions of every device, over a real pseudo-terminal."""

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from devices.link import ByteDevice
from devices.shoes.angel_eye import AngelEyeConfig, AngelEyeShoe, encode_command
from devices.simulated import (
    AngelEyeDevice,
    LineShoeDevice,
    PlatesDevice,
    SimulatedDevice,
    TagDevice,
)
from devices.simulators import SimulatedPort
from devices.transport import SerialTransport
from models.cards import DECK, Card
from models.errors import InstallerError
from models.events import Observation, PlateRead, ReaderFault, ShoeCardRead
from tests.devices.live import LiveTable, summarised
from tests.devices.wires import tag_of

LOCK, UNLOCK = encode_command("LK", 2), encode_command("LK", 1)
Talk = Callable[[LiveTable, ByteDevice, SimulatedPort], Awaitable[None]]


def talked(device: SimulatedDevice, driver: str, talk: Talk) -> list[Observation]:
    """Let host and device talk; return what was reported."""

    async def run(port: SimulatedPort) -> list[Observation]:
        table = LiveTable()
        kept = table.device(port.port, driver)
        table.keep([kept])
        await table.until_open("shoe")
        await talk(table, kept, port)
        await table.leave()
        return table.reported

    with SimulatedPort(device=device) as port:
        return asyncio.run(run(port))


def test_a_lock_is_acknowledged_and_cards_drawn_under_it_count_all_the_same() -> None:
    shoe, taken = AngelEyeDevice(), list[bool]()

    async def talk(table: LiveTable, kept: ByteDevice, port: SimulatedPort) -> None:
        port.send(shoe.draw(Card("8S")))
        taken.append(await kept.command(LOCK))
        taken.append(shoe.locked)
        port.send(shoe.draw(Card("KD")))
        taken.append(await kept.command(UNLOCK))
        port.send(shoe.draw(Card("3C")))
        await table.until_reported("shoe", "8S", "KD", "3C")

    assert summarised(talked(shoe, "angel-eye", talk)) == ["8S", "KD", "3C"]
    assert taken == [True, True, True]
    assert not shoe.locked


def test_a_shoe_that_refuses_for_ever_is_reported_and_still_read() -> None:
    shoe, taken = AngelEyeDevice(refusal="21"), list[bool]()

    async def talk(table: LiveTable, kept: ByteDevice, port: SimulatedPort) -> None:
        taken.append(await kept.command(LOCK))
        port.send(shoe.draw(Card("8S")))
        await table.until_reported("shoe", "8S")

    observations = talked(shoe, "angel-eye", talk)
    assert taken == [False]
    assert summarised(observations) == ["refusal"] * 4 + ["8S"]
    last = observations[3]
    assert isinstance(last, ReaderFault)
    assert last.detail == f"command {LOCK.hex()} given up after 3 tries: 21, busy"


def test_a_command_whose_checksum_the_shoe_reckons_otherwise_is_refused() -> None:
    shoe = AngelEyeDevice(check_covers_start=False)

    async def talk(table: LiveTable, kept: ByteDevice, port: SimulatedPort) -> None:
        assert not await kept.command(LOCK)
        assert await kept.command(encode_command("LK", 2, check_covers_start=False))

    observations = talked(shoe, "angel-eye", talk)
    assert summarised(observations) == ["refusal"] * 4
    assert shoe.locked


def test_a_shoe_that_does_not_answer_is_reported() -> None:
    async def talk(table: LiveTable, kept: ByteDevice, port: SimulatedPort) -> None:
        assert not await kept.command(LOCK)

    (given_up,) = talked(LineShoeDevice(), "angel-eye", talk)
    assert isinstance(given_up, ReaderFault)
    assert given_up.detail.endswith("given up after 3 tries: no answer")


def test_a_shoe_that_is_listened_to_only_is_sent_nothing() -> None:
    with pytest.raises(InstallerError, match="commands to the shoe are not allowed"):
        AngelEyeShoe().command("LK", 2)
    assert AngelEyeShoe(AngelEyeConfig(commands=True)).command("LK", 2) == LOCK
    assert AngelEyeShoe().greeting() == b""


@pytest.mark.parametrize("copies", [1, 2, 3])
def test_reports_sent_up_to_three_times_and_again_on_demand_are_one_card_each(copies: int) -> None:
    shoe = AngelEyeDevice(copies)

    async def talk(table: LiveTable, kept: ByteDevice, port: SimulatedPort) -> None:
        port.send(shoe.start())
        for card in DECK[:5]:
            port.send(shoe.draw(card) + shoe.send_last_again())
        port.send(shoe.cut())
        await table.until_reported("shoe", "ShoeCutCard")

    observations = talked(shoe, "angel-eye", talk)
    assert summarised(observations) == ["ShoeLoaded", *map(str, DECK[:5]), "ShoeCutCard"]


def test_an_error_is_reported_cleared_and_the_card_drawn_in_it_counts() -> None:
    shoe = AngelEyeDevice()

    async def talk(table: LiveTable, kept: ByteDevice, port: SimulatedPort) -> None:
        port.send(shoe.fail(4) + shoe.draw(Card("8S")))
        assert await kept.command(encode_command("EC", 4))
        port.send(shoe.draw(Card("KD")))
        await table.until_reported("shoe", "KD")

    assert summarised(talked(shoe, "angel-eye", talk)) == ["device_error", "8S", "KD"]
    assert shoe.error == 0


def test_plates_are_asked_for_every_circle_when_the_link_is_made() -> None:
    plates = PlatesDevice()
    plates.put(1, "0", 2500)
    plates.put(3, "I", 500)

    async def talk(table: LiveTable, kept: ByteDevice, port: SimulatedPort) -> None:
        await table.until(lambda: len(table.reported) == 2)
        port.send(plates.put(1, "0", 5000))
        await table.until(lambda: len(table.reported) == 3)

    observations = talked(plates, "plate", talk)
    amounts = [
        (each.spot, each.circle, each.amount)
        for each in observations
        if isinstance(each, PlateRead)
    ]
    assert amounts == [(1, "0", 2500), (3, "I", 500), (1, "0", 5000)]


@pytest.mark.parametrize(("driver", "length"), [("id12", 10), ("rdm6300", 10), ("idteck", 8)])
def test_tagged_cards_are_read_as_they_pass(driver: str, length: int) -> None:
    reader = TagDevice(driver)

    async def talk(table: LiveTable, kept: ByteDevice, port: SimulatedPort) -> None:
        for card in DECK:
            port.send(reader.show(tag_of(card, length), times=3))
        await table.until_reported("shoe", str(DECK[-1]))

    observations = talked(reader, driver, talk)
    assert [each.card for each in observations if isinstance(each, ShoeCardRead)] == [*DECK]


@contextmanager
def named_port(folder: Path, device: SimulatedDevice) -> Iterator[SimulatedPort]:
    with SimulatedPort(folder / "shoe", device) as port:
        yield port


def test_a_shoe_that_numbers_its_cards_reports_those_missed_while_unplugged(
    tmp_path: Path,
) -> None:
    shoe = LineShoeDevice()

    async def run(port: SimulatedPort) -> list[Observation]:
        table = LiveTable()
        table.keep([table.device(port.port, "line")])
        await table.until_open("shoe")
        port.send(shoe.draw(DECK[0]) + shoe.draw(DECK[1]))
        await table.until_reported("shoe", str(DECK[1]))
        port.unplug()
        await table.until_reported("shoe", "link_lost")
        shoe.draw(DECK[2])
        shoe.draw(DECK[3])
        port.replug()
        await table.until_reported("shoe", "uncounted")
        port.send(shoe.draw(DECK[4]))
        await table.until_reported("shoe", str(DECK[4]))
        await table.leave()
        return table.reported

    with named_port(tmp_path, shoe) as port:
        observations = asyncio.run(run(port))
    assert summarised(observations)[2:] == [
        "link_lost",
        "returned",
        "uncounted",
        "gap",
        str(DECK[4]),
    ]
    uncounted, gap = observations[4], observations[5]
    assert isinstance(uncounted, ReaderFault)
    assert isinstance(gap, ReaderFault)
    assert (uncounted.missing_from, uncounted.missing_to) == (3, None)
    assert (gap.missing_from, gap.missing_to) == (3, 4)


def test_a_port_that_another_process_took_is_reported_and_opened_when_free(
    tmp_path: Path,
) -> None:
    shoe = LineShoeDevice()

    async def run(port: SimulatedPort) -> list[Observation]:
        other = SerialTransport(port.port, 9600)
        table = LiveTable()
        table.keep([table.device(port.port, "line")])
        await table.until_reported("shoe", "link_lost")
        other.close()
        await table.until_reported("shoe", "link_lost", "returned")
        port.send(shoe.draw(DECK[0]))
        await table.until_reported("shoe", str(DECK[0]))
        await table.leave()
        return table.reported

    with named_port(tmp_path, shoe) as port:
        observations = asyncio.run(run(port))
    assert summarised(observations) == ["link_lost", "returned", str(DECK[0])]
    assert isinstance(observations[0], ReaderFault)
    assert "cannot be opened" in observations[0].detail


def test_endless_noise_is_reported_in_few_entries_and_hides_no_card() -> None:
    shoe = LineShoeDevice()

    async def talk(table: LiveTable, kept: ByteDevice, port: SimulatedPort) -> None:
        await asyncio.to_thread(port.send, b"\xff" * 128 * 400)
        port.send(b"\r\n" + shoe.draw(DECK[0]))
        await table.until_reported("shoe", str(DECK[0]))

    observations = talked(shoe, "line", talk)
    assert str(DECK[0]) in summarised(observations)
    assert 11 <= summarised(observations).count("framing") <= 60
    details = [each.detail for each in observations if isinstance(each, ReaderFault)]
    assert any(" more, the last: bytes that are no text" in detail for detail in details)
