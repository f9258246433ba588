"""Shoes and plates read over a real pseudo-terminal through pyserial."""

import asyncio
import socket
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from devices.link import ByteDevice
from devices.registry import make_driver
from devices.shoes import angel_eye, line
from devices.simulators import SimulatedPort
from devices.supervisor import Supervisor
from devices.transport import LinkLost, ReplayTransport, SerialTransport
from models.cards import Card
from models.errors import TechnicianError
from models.events import Observation, ReaderFault, ShoeCardRead
from stream.clock import ReplayClock, SimulatedClock
from stream.recording import Chunk
from tests.devices.live import LiveTable, summarised

SPADES = [angel_eye.encode_card(Card(code), n, n) for n, code in enumerate(("8S", "KS", "AS"), 1)]


@pytest.fixture
def port() -> Iterator[SimulatedPort]:
    with SimulatedPort() as simulated:
        yield simulated


def received(
    port: SimulatedPort, driver: str, count: int, chunks: list[bytes], gap_ns: int
) -> list[Observation]:
    """Send ``chunks`` to a host that has the port open; return its first ``count`` observations."""

    async def listen() -> list[Observation]:
        table = LiveTable()
        table.keep([table.device(port.port, driver)])
        await table.until_open("shoe")
        recorded = [Chunk((n + 1) * gap_ns, chunk) for n, chunk in enumerate(chunks)]
        await asyncio.to_thread(port.play, recorded, 0, ReplayClock(0, speed=1))
        await table.until(lambda: len(table.reported) >= count)
        await table.leave()
        return table.reported[:count]

    return asyncio.run(listen())


def read_cards(found: list[Observation]) -> list[str]:
    return [str(each.card) for each in found if isinstance(each, ShoeCardRead)]


def test_frames_that_come_byte_by_byte(port: SimulatedPort) -> None:
    stream = b"".join(SPADES)
    bytewise = [stream[i : i + 1] for i in range(len(stream))]
    assert read_cards(received(port, "angel-eye", 3, bytewise, 2_083_333)) == ["8S", "KS", "AS"]


def test_frames_that_come_all_at_once(port: SimulatedPort) -> None:
    found = received(port, "angel-eye", 3, [b"".join(SPADES)], 30_000_000)
    assert read_cards(found) == ["8S", "KS", "AS"]


def test_garbage_between_frames_is_reported_and_costs_no_card(port: SimulatedPort) -> None:
    chunks = [SPADES[0], b"\xff\x00~", SPADES[1][:3], SPADES[2]]
    found = received(port, "angel-eye", 4, chunks, 10_000_000)
    assert read_cards(found) == ["8S", "AS"]
    assert [each.raw for each in found if isinstance(each, ReaderFault)] == [
        "ff007e",
        SPADES[1][:3].hex(),
    ]


def test_a_wrong_checksum_is_a_fault_and_the_repeat_is_the_card(port: SimulatedPort) -> None:
    fault, card = received(port, "angel-eye", 2, [SPADES[0][:-1] + b"0", SPADES[0]], 10_000_000)
    assert isinstance(fault, ReaderFault)
    assert fault.kind == "checksum"
    assert isinstance(card, ShoeCardRead)
    assert card.card is Card("8S")


def test_lines_come_over_the_same_port(port: SimulatedPort) -> None:
    chunks = [line.encode_card(Card("9C"), 1), b"CUT\r", b"\n"]
    assert read_cards(received(port, "line", 2, chunks, 10_000_000)) == ["9C"]


def test_times_are_those_of_arrival(port: SimulatedPort) -> None:
    async def listen() -> list[int]:
        table = LiveTable()
        table.keep([table.device(port.port, "angel-eye")])
        await table.until_open("shoe")
        instants = []
        for number, card in enumerate(SPADES[:2], start=1):
            instants.append(table.clock.now_ns())
            port.send(card)
            await table.until(lambda due=number: len(table.reported) == due)  # type: ignore[misc]
            instants.append(table.reported[-1].at or 0)
        await table.leave()
        return [*instants, table.clock.now_ns()]

    instants = asyncio.run(listen())
    assert instants == sorted(instants)
    assert instants[1] > instants[0] > 0


def test_a_pulled_plug_is_a_lost_link_that_names_the_port(port: SimulatedPort) -> None:
    name = port.port

    async def listen() -> None:
        with closing(SerialTransport(name, 4800)) as transport:
            port.send(SPADES[0])
            assert await transport.read()
            port.unplug()
            await asyncio.wait_for(transport.read(), 30)
            await asyncio.wait_for(transport.read(), 30)

    with pytest.raises(LinkLost, match=f"^{name}: link lost"):
        asyncio.run(listen())


def test_a_port_in_use_is_refused(port: SimulatedPort) -> None:
    with (
        closing(SerialTransport(port.port, 4800)),
        pytest.raises(TechnicianError, match="cannot be opened"),
    ):
        SerialTransport(port.port, 4800)


def test_a_port_that_is_not_there_is_refused_by_name(tmp_path: Path) -> None:
    with pytest.raises(TechnicianError, match="no-such-port"):
        SerialTransport(str(tmp_path / "no-such-port"), 4800)


def test_what_is_written_reaches_the_device(port: SimulatedPort) -> None:
    async def write() -> None:
        with closing(SerialTransport(port.port, 9600)) as transport:
            await transport.write(b"?\r\n")

    asyncio.run(write())
    assert port.received(10) == b"?\r\n"


def test_any_pyserial_url_is_a_port() -> None:
    async def echo() -> bytes:
        with closing(SerialTransport("loop://", 9600)) as transport:
            await transport.write(SPADES[0])
            found = b""
            while len(found) < len(SPADES[0]):
                found += await transport.read()
            return found

    assert asyncio.run(echo()) == SPADES[0]


def test_a_shoe_behind_a_serial_device_server_is_read_lost_and_read_again() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        url = f"socket://127.0.0.1:{server.getsockname()[1]}"

        async def listen() -> list[str]:
            table = LiveTable()
            table.keep([table.device(url, "angel-eye")])
            for number, card in enumerate(SPADES, start=1):
                line, _ = await asyncio.to_thread(server.accept)
                await table.until_open("shoe")
                await table.until(
                    lambda due=number: summarised(table.reported).count("uncounted") == due - 1  # type: ignore[misc]
                )
                line.sendall(card)
                await table.until(lambda due=number: len(read_cards(table.reported)) == due)  # type: ignore[misc]
                line.close()
                await table.until(
                    lambda due=number: summarised(table.reported).count("link_lost") == due  # type: ignore[misc]
                )
            await table.leave()
            return summarised(table.reported)

        summary = asyncio.run(listen())
    between = ["link_lost", "returned", "uncounted"]
    assert summary[:10] == ["8S", *between, "KS", *between, "AS", "link_lost"]


def test_a_recording_stands_in_for_the_port() -> None:
    recorded = [Chunk(7, SPADES[0][:4]), Chunk(9, SPADES[0][4:] + SPADES[1][:2])]
    clock, observations, taken = SimulatedClock(), list[Observation](), list[tuple[int, bytes]]()
    device = ByteDevice(
        "shoe",
        make_driver("angel-eye"),
        lambda: ReplayTransport(recorded, 1000, clock),
        clock,
        tap=lambda at_ns, chunk: taken.append((at_ns, chunk)),
    )
    asyncio.run(Supervisor(clock, observations.append, lambda: 0.5).keep(device))
    card, cut_short = observations
    assert isinstance(card, ShoeCardRead)
    assert (card.card, card.at) == (Card("8S"), 1009)
    assert isinstance(cut_short, ReaderFault)
    assert cut_short.kind == "framing"
    assert taken == [(1000 + chunk.offset_ns, chunk.data) for chunk in recorded]
