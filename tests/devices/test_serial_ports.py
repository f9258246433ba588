"""Shoes and plates heard over a real pseudo-terminal through pyserial."""

import asyncio
import threading
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from devices.driver import Reading, observations
from devices.registry import make_driver
from devices.shoes import angel_eye, line
from devices.simulators import SimulatedPort
from devices.transport import LinkLost, ReplayTransport, SerialTransport
from models.cards import Card
from models.errors import TechnicianError
from models.events import ReaderFault, ShoeCardRead
from stream.clock import HostClock, ReplayClock, SimulatedClock
from stream.recording import Chunk

SPADES = [angel_eye.encode_card(Card(code), n, n) for n, code in enumerate(("8S", "KS", "AS"), 1)]


@pytest.fixture
def port() -> Iterator[SimulatedPort]:
    with SimulatedPort() as simulated:
        yield simulated


def heard(port: SimulatedPort, driver: str, count: int) -> list[Reading]:
    """Open ``port`` as pyserial does and return the first ``count`` readings."""

    async def listen() -> list[Reading]:
        found: list[Reading] = []
        with closing(SerialTransport(port.port, 4800)) as transport:
            source = observations(make_driver(driver), transport, HostClock())
            while len(found) < count:
                found.append(await asyncio.wait_for(anext(source), 30))
            await source.aclose()  # type: ignore[attr-defined]
        return found

    return asyncio.run(listen())


def read_cards(found: list[Reading]) -> list[str]:
    return [str(each.card) for each in found if isinstance(each, ShoeCardRead)]


def sent_later(port: SimulatedPort, chunks: list[bytes], gap_ns: int) -> threading.Thread:
    recorded = [Chunk((n + 1) * gap_ns, chunk) for n, chunk in enumerate(chunks)]
    thread = threading.Thread(target=port.play, args=(recorded, 0, ReplayClock(0, speed=1)))
    thread.start()
    return thread


def test_frames_that_come_byte_by_byte(port: SimulatedPort) -> None:
    stream = b"".join(SPADES)
    player = sent_later(port, [stream[i : i + 1] for i in range(len(stream))], 2_083_333)
    assert read_cards(heard(port, "angel-eye", 3)) == ["8S", "KS", "AS"]
    player.join()


def test_frames_that_come_all_at_once(port: SimulatedPort) -> None:
    player = sent_later(port, [b"".join(SPADES)], 30_000_000)
    assert read_cards(heard(port, "angel-eye", 3)) == ["8S", "KS", "AS"]
    player.join()


def test_garbage_between_frames_is_reported_and_costs_no_card(port: SimulatedPort) -> None:
    player = sent_later(port, [SPADES[0], b"\xff\x00~", SPADES[1][:3], SPADES[2]], 10_000_000)
    found = heard(port, "angel-eye", 4)
    player.join()
    assert read_cards(found) == ["8S", "AS"]
    assert [each.raw for each in found if isinstance(each, ReaderFault)] == [
        "ff007e",
        SPADES[1][:3].hex(),
    ]


def test_a_wrong_checksum_is_a_fault_and_the_repeat_is_the_card(port: SimulatedPort) -> None:
    player = sent_later(port, [SPADES[0][:-1] + b"0", SPADES[0]], 10_000_000)
    fault, card = heard(port, "angel-eye", 2)
    player.join()
    assert isinstance(fault, ReaderFault)
    assert fault.kind == "checksum"
    assert isinstance(card, ShoeCardRead)
    assert card.card is Card("8S")


def test_lines_come_over_the_same_port(port: SimulatedPort) -> None:
    player = sent_later(port, [line.encode_card(Card("9C"), 1), b"CUT\r", b"\n"], 10_000_000)
    assert read_cards(heard(port, "line", 2)) == ["9C"]
    player.join()


def test_times_are_those_of_arrival(port: SimulatedPort) -> None:
    clock = HostClock()

    async def listen() -> tuple[int, int | None, int, int | None]:
        with closing(SerialTransport(port.port, 4800)) as transport:
            source = observations(make_driver("angel-eye"), transport, clock)
            begun_ns = clock.now_ns()
            port.send(SPADES[0])
            first = await asyncio.wait_for(anext(source), 30)
            again_ns = clock.now_ns()
            port.send(SPADES[1])
            second = await asyncio.wait_for(anext(source), 30)
            await source.aclose()  # type: ignore[attr-defined]
        return begun_ns, first.at, again_ns, second.at

    begun_ns, first_ns, again_ns, second_ns = asyncio.run(listen())
    assert first_ns is not None
    assert second_ns is not None
    assert begun_ns <= first_ns <= again_ns <= second_ns <= clock.now_ns()


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


def test_a_recording_stands_in_for_the_port() -> None:
    recorded = [Chunk(7, SPADES[0][:4]), Chunk(9, SPADES[0][4:] + SPADES[1][:2])]

    async def listen() -> list[Reading]:
        clock = SimulatedClock()
        transport = ReplayTransport(recorded, 1000, clock)
        driver = make_driver("angel-eye")
        return [each async for each in observations(driver, transport, clock)]

    card, cut_short = asyncio.run(listen())
    assert isinstance(card, ShoeCardRead)
    assert (card.card, card.at) == (Card("8S"), 1009)
    assert isinstance(cut_short, ReaderFault)
    assert cut_short.kind == "framing"
