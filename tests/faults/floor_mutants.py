"""Forwarders and databases that are broken on purpose: the simulated disasters must catch each.

A broken forwarder is the product's own source with one change; a broken database is the model with
one. Each says what it does wrong.
"""

import sys
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import Final, TypeAlias

from server.floor_record.database import Chain
from stream.reading import Entry
from tests.faults.floor_disasters import (
    AT_EACH_STEP,
    AT_ONCE,
    Ended,
    MakeForwarding,
    MakeModel,
    forwarding,
    run_seed,
    run_step,
)
from tests.faults.floor_model import FloorModel

_MODULE: Final = "server.floor_record.forwarding"

Change: TypeAlias = tuple[str, str]
"""The right code, and the wrong one."""

FORWARDERS: Final[dict[str, tuple[Change, ...]]] = {
    "it moves on before the floor has answered, and never asks where the floor is": (
        (
            "        try:\n            outcomes = await floor.take(",
            "        for ready in group:\n"
            "            last = ready.parcel.entries[-1]\n"
            "            end = Place(last.seq, last.hash)\n"
            "            ready.one.chain = replace(ready.one.chain, place=end)\n"
            "        try:\n            outcomes = await floor.take(",
        ),
        (
            "        open_ones: dict[Path, Forwarded] = {}\n",
            "        open_ones: dict[Path, Forwarded] = vars(self).get('kept', {})\n",
        ),
        (
            "open_ones = await self._opened(floor, open_ones)",
            "open_ones = self.kept = await self._opened(floor, open_ones)",
        ),
    ),
    "it sends only the latest entries": (
        (
            "alike = tuple(takewhile(lambda entry: entry.version == version, entries))",
            "alike = tuple(takewhile(lambda entry: entry.version == version, entries))[-2:]",
        ),
    ),
    "it sends nothing where the journal is not the floor's": (
        (
            "            entries, place = await self._own_entry(one)\n",
            "            entries, place = (), known\n",
        ),
    ),
    "it waits for a journal that became shorter": (
        ("if place.seq >= seq or not entries:", "if place.seq >= seq:"),
    ),
    "it never says where the table is": (
        (
            "if place.seq < known.seq or self._site.elapsed_ns() - one.seen_ns >= SEEN_NS:",
            "if self._site.elapsed_ns() - one.seen_ns >= 1e18:",
        ),
    ),
    "it never asks again about a refused journal": (
        (
            "if self._site.elapsed_ns() - asked_ns >= _ASK_AGAIN_NS:",
            "if self._site.elapsed_ns() - asked_ns >= 1e18:",
        ),
    ),
    "it takes what a group refused for taken": (
        ('if outcome == "taken":', 'if outcome in ("taken", "gap", "busy"):'),
    ),
    "it never serves a journal that is behind": (
        ("for one in (*after, *late[: len(late) - len(after)]):", "for one in ():"),
    ),
    "it takes another journal of the same name for the one before": (
        ("return await self._site.identity(one.path) != one.identity", "return False"),
    ),
    "it files a journal under the day of another": (
        ("if await self._site.identity(path) != identity:", "if False:"),
    ),
    "it passes over a journal that became empty": (
        ("if table is None and first is None:", "if first is None:"),
    ),
    "it lets a journal rest that changed": (
        (
            "if one.is_at_rest(*await self._site.stamp(one.path), self._site.elapsed_ns()):",
            "if one.looked_ns > 0:",
        ),
    ),
}
"""What is wrong, and the changes that make it so."""


def broken_forwarding(changes: Sequence[Change]) -> MakeForwarding:
    """Return what makes forwarders from the product's source with some changes.

    Raises:
        ValueError: the source does not hold the right code exactly once.
    """
    found = find_spec(_MODULE)
    assert found is not None
    assert found.origin is not None
    source = Path(found.origin).read_text(encoding="utf-8")
    for right, wrong in changes:
        if source.count(right) != 1:
            raise ValueError(f"{_MODULE} does not hold exactly once: {right}")
        source = source.replace(right, wrong)
    module = ModuleType("broken_forwarding")
    sys.modules[module.__name__] = module  # dataclasses look their module up
    exec(compile(source, found.origin, "exec"), module.__dict__)
    return lambda site: module.Forwarding(site, at_once=AT_ONCE)


class _TakesWhatItHas(FloorModel):
    """Stores repeated entries a second time."""

    def take(self, chain: Chain, entries: Sequence[Entry], last_there: int) -> str:
        key = chain.table, chain.epoch
        before = len(self.entries[key])
        outcome = super().take(chain, entries, last_there)
        if outcome == "taken" and entries[0].seq <= before:
            self.entries[key].extend(entries[: before - entries[0].seq + 1])
        return outcome


class _IgnoresForks(FloorModel):
    """Takes entries with another hash for repeats."""

    def take(self, chain: Chain, entries: Sequence[Entry], last_there: int) -> str:
        there = self.entries[chain.table, chain.epoch]
        mine = [one if one.seq > len(there) else there[one.seq - 1] for one in entries]
        return super().take(chain, mine, last_there)


class _Forgets(FloorModel):
    """Acknowledges the last entry of a batch without storing it."""

    def take(self, chain: Chain, entries: Sequence[Entry], last_there: int) -> str:
        kept = entries[:-1] if len(entries) > 3 else entries
        return super().take(chain, kept, last_there)


class _NeverBehind(FloorModel):
    """Takes no notice of a table that ends before the floor's copy."""

    def seen(self, chain: Chain, last_there: int) -> str:
        row = self.chains[chain.table, chain.epoch]
        return super().seen(chain, max(last_there, row.seq))


class _AlarmsTooSoon(FloorModel):
    """Compares a table's end with the floor's last entry, however old the message is."""

    def seen(self, chain: Chain, last_there: int) -> str:
        row = self.chains[chain.table, chain.epoch]
        if row.state == "sound" and last_there < row.seq:
            row.state = "behind"
            self._put_aside((chain.table, chain.epoch), last_there, None, "behind")
        return super().seen(chain, last_there)


class _Silent(FloorModel):
    """Refuses a fork without an alarm."""

    def take(self, chain: Chain, entries: Sequence[Entry], last_there: int) -> str:
        outcome = super().take(chain, entries, last_there)
        if outcome == "fork":
            self.quarantine.pop()
        return outcome


class _GoesOnAfterAFork(FloorModel):
    """Lets a chain go on after a fork, as if nothing had been."""

    def take(self, chain: Chain, entries: Sequence[Entry], last_there: int) -> str:
        outcome = super().take(chain, entries, last_there)
        if outcome == "fork":
            row = self.chains[chain.table, chain.epoch]
            del self.entries[chain.table, chain.epoch][entries[0].seq - 1 :]
            row.state, row.seq = "sound", entries[0].seq - 1
            last = self.entries[chain.table, chain.epoch][-1:]
            row.head = last[0].hash if last else bytes(32)
        return outcome


class _HidesLag(FloorModel):
    """Shows each table at the floor's last entry."""

    def take(self, chain: Chain, entries: Sequence[Entry], last_there: int) -> str:
        return super().take(chain, entries, 0)

    def seen(self, chain: Chain, last_there: int) -> str:
        state = super().seen(chain, last_there)
        self.chains[chain.table, chain.epoch].table_seq = 0
        return state


class _OneEpoch(FloorModel):
    """Takes each journal of a table for the first one."""

    def latest(self, table: str, journal: str) -> tuple[str, int] | None:
        return min((key for key in self.chains if key[0] == table), default=None)


MODELS: Final[dict[str, MakeModel]] = {
    str(one.__doc__): one
    for one in (
        _TakesWhatItHas,
        _IgnoresForks,
        _Forgets,
        _NeverBehind,
        _AlarmsTooSoon,
        _Silent,
        _GoesOnAfterAFork,
        _HidesLag,
        _OneEpoch,
    )
}


def caught(
    make: MakeForwarding = forwarding, model: MakeModel = FloorModel, *, seeds: int, steps: int
) -> Ended | None:
    """Return the first failure in some steps and seeds; ``None`` where a mutant passes."""
    for step in range(1, steps):
        for disaster in AT_EACH_STEP.values():
            if (one := run_step(step, disaster, make, model)).fault:
                return one
    for seed in range(seeds):
        if (one := run_seed(seed, make, model)).fault:
            return one
    return None
