"""Hosts of a network of their own on this machine: network namespaces behind one bridge."""

import subprocess
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import Final

_BRIDGE: Final = "pit-floor"
_NET: Final = "10.87.0"


@dataclass(frozen=True, slots=True)
class Host:
    """A host of the network."""

    name: str
    address: str

    @property
    def runs(self) -> tuple[str, ...]:
        """The words before a command that runs there."""
        return "ip", "netns", "exec", self.name


@contextmanager
def network(names: Sequence[str]) -> Iterator[dict[str, Host]]:
    """Create a host for each name, until the block ends; this machine reaches them. Root only."""
    with ExitStack() as stack:
        _ip("link", "add", _BRIDGE, "type", "bridge")
        stack.callback(_ip, "link", "del", _BRIDGE)
        _ip("addr", "add", f"{_NET}.1/24", "dev", _BRIDGE)
        _ip("link", "set", _BRIDGE, "up")
        hosts = {}
        for number, name in enumerate(names, 2):
            host = hosts[name] = Host(f"{_BRIDGE}-{name}", f"{_NET}.{number}")
            cable = f"pit{number}"
            _ip("netns", "add", host.name)
            stack.callback(_ip, "netns", "del", host.name)
            _ip("link", "add", cable, "type", "veth", "peer", "eth0", "netns", host.name)
            _ip("link", "set", cable, "master", _BRIDGE, "up")
            inside = ("-n", host.name)
            _ip(*inside, "addr", "add", f"{host.address}/24", "dev", "eth0")
            _ip(*inside, "link", "set", "eth0", "up")
            _ip(*inside, "link", "set", "lo", "up")
        yield hosts


def _ip(*words: str) -> None:
    subprocess.run(["ip", *words], check=True)
