"""Which addresses name a node of this machine, and when it is another one."""

import asyncio
from pathlib import Path

import pytest

from devices.link import ByteDevice
from devices.presence import local_path, node_at
from devices.registry import make_driver
from devices.shoes import line
from devices.simulators import SimulatedPort
from devices.supervisor import SECOND_NS, Supervisor
from devices.transport import SerialTransport
from models.cards import Card
from models.events import DeviceReturned, Observation, ShoeCardRead
from stream.clock import SimulatedClock

AWAY_NS = 600 * SECOND_NS


@pytest.mark.parametrize("url", ["socket://far:4001", "rfc2217://far", "loop://", "rtsp://cam/1"])
def test_an_address_with_a_scheme_names_no_node(url: str) -> None:
    assert local_path(url) is None


def test_a_path_names_a_node() -> None:
    assert local_path("/dev/pitwatch/shoe") == Path("/dev/pitwatch/shoe")


def test_a_link_to_nothing_is_no_node(tmp_path: Path) -> None:
    link = tmp_path / "shoe"
    link.symlink_to(tmp_path / "ttyUSB0")
    assert node_at(link) is None
    (tmp_path / "ttyUSB0").touch()
    assert node_at(link) == node_at(tmp_path / "ttyUSB0")


def test_a_node_that_its_user_may_open_is_another_than_before(tmp_path: Path) -> None:
    node = tmp_path / "ttyUSB0"
    node.touch(0o600)
    before = node_at(node)
    node.chmod(0o660)
    assert node_at(node) not in (before, None)


class PluggedLater(SimulatedClock):
    """The time at a table whose plug is out until an instant of it."""

    def __init__(self, port: SimulatedPort) -> None:
        super().__init__()
        self._port = port
        self.plugged_ns: int | None = None

    async def reached(self, at_ns: int) -> None:
        """Let time pass, and plug it in when that is due."""
        await super().reached(at_ns)
        if self.plugged_ns is None and self.now_ns() >= AWAY_NS:
            self._port.replug()
            self.plugged_ns = self.now_ns()


def test_a_port_that_returns_after_ten_minutes_is_open_at_the_next_look(tmp_path: Path) -> None:
    observations = list[Observation]()

    async def replugged() -> int:
        with SimulatedPort(tmp_path / "shoe") as port:
            clock = PluggedLater(port)
            returned = asyncio.Event()

            def report(one: Observation) -> None:
                observations.append(one)
                if isinstance(one, DeviceReturned):
                    port.send(line.encode_card(Card("9C"), 1))
                if isinstance(one, ShoeCardRead):
                    returned.set()

            path = Path(port.port)
            device = ByteDevice(
                "shoe",
                make_driver("line"),
                lambda: SerialTransport(str(path), 9600),
                clock,
                path=path,
            )
            port.unplug()
            task = asyncio.create_task(Supervisor(clock, report, lambda: 1.0).keep(device))
            await returned.wait()
            task.cancel()
            assert clock.plugged_ns is not None
            return clock.plugged_ns

    plugged_ns = asyncio.run(asyncio.wait_for(replugged(), 30))
    (back,) = (one for one in observations if isinstance(one, DeviceReturned))
    assert (back.at or 0) - plugged_ns <= SECOND_NS // 4
