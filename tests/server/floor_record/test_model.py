"""The simulation's model of the database does what PostgreSQL does, call for call."""

import random
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import date
from pathlib import Path
from typing import Final, ParamSpec

import psycopg
import pytest

from models.errors import PitwatchError
from server.archive.days import Begun
from server.floor_record.database import Chain, FloorDatabase, Parcel
from stream.identity import Identity
from stream.journal import Place, link
from stream.reading import Entry
from tests.faults.floor_model import FloorModel
from tests.server.floor_record.cluster import FloorSite, emptied
from tests.thoroughness import ALL

pytestmark = pytest.mark.slow

P = ParamSpec("P")
SEEDS: Final = 60 if ALL else 12
CALLS: Final = 120
BEGUN: Final = Begun(Path("a.journal"), date(2026, 3, 1), 0)
BODIES: Final = (
    b'{"type":"wager_placed","at":1772366400000000000,"round":3,"spot":1}',
    b'{"type":"card_dealt","to":"dealer","round":null}',
    b'{"type":"new_kind","x":"\\u0000"}',
    b'{"type":"round_settled","result":{"round":1,"violations":[{"code":"late"}]}}',
)
NO_EVENTS: Final = (
    b"no JSON",
    b'{"type":"\xff"}',
    b'{"at":1}',
    b'["type"]',
    b'{"type":null}',
    b"",
    b'{"type":NaN}',
    b'{"type":"x"}\x00',
)


@dataclass
class Histories:
    """The lives of a journal: each a chain of entries that begins as another did."""

    chance: random.Random
    lives: list[list[Entry]]

    def grow(self) -> None:
        """Let a life go on, or let another branch off."""
        life = self.chance.choice(self.lives)
        if self.chance.random() < 0.15:
            life = life[: self.chance.randint(0, len(life))]
            self.lives.append(life)
        for _ in range(self.chance.randint(1, 4)):
            head = life[-1].hash if life else Place().head
            body = self.chance.choice(BODIES if self.chance.random() < 0.97 else NO_EVENTS)
            body = body.replace(b'"type":"new_kind"', b'"type":"k%d"' % self.chance.randrange(99))
            seq = len(life) + 1
            life.append(Entry(seq, link(head, seq, body), body, 3))

    def some(self, seq: int) -> list[Entry]:
        """Return consecutive entries, most often those that the floor waits for; some damaged."""
        life = self.chance.choice(self.lives)
        start = seq if self.chance.random() < 0.6 else self.chance.randint(0, max(len(life) - 1, 0))
        found = life[start : start + self.chance.randint(1, 6)]
        if found and self.chance.random() < 0.06:
            at = self.chance.randrange(len(found))
            odd = self.chance.choice(BODIES)
            found[at] = (
                found[at]._replace(body=odd) if at % 2 else found[at]._replace(hash=bytes(32))
            )
        return found


def said(call: Callable[P, str | int], *values: P.args, **named: P.kwargs) -> object:
    try:
        return call(*values, **named)
    except PitwatchError:
        return "refused"


def test_the_model_does_what_postgresql_does(postgres: FloorSite) -> None:
    outcomes = set[object]()
    for seed in range(SEEDS):
        outcomes |= both_asked(emptied(postgres), seed)
    refusals = {"fork", "forked", "gap", "broken_link", "no_event", "behind", "unknown"}
    assert outcomes >= {"taken", "sound", *refusals}


def both_asked(site: FloorSite, seed: int) -> set[object]:
    """Ask both the same, compare answers and contents, and return the answers."""
    chance, model = random.Random(seed), FloorModel()
    journals = {name: Histories(chance, [[]]) for name in ("BJ-07 a", "BJ-07 b", "BJ-08 c")}
    outcomes = set[object]()
    with FloorDatabase.connected(site.owner) as floor:
        for _ in range(CALLS):
            parcels = list[Parcel]()
            for _ in range(chance.choice((1, 1, 2, 4))):
                name = chance.choice(list(journals))
                identity = Identity(journal=name, name=name, table=name[:5])
                histories = journals[name]
                histories.grow()
                begun = chance.choice((BEGUN, BEGUN, None))
                there = chance.randint(0, 20)
                opened = floor.open_chain(name[:5], identity, begun, there)
                assert model.open_chain(name[:5], identity, begun, there) == opened
                if opened is None:
                    continue
                known = Place(max(0, opened.place.seq + chance.choice((0, 0, 0, -1, 1))))
                chain = Chain(
                    name[:5], max(1, opened.epoch - (chance.random() < 0.1)), known, "sound"
                )
                kind = chance.random()
                if kind < 0.8 and (entries := histories.some(opened.place.seq)):
                    if chance.random() < 0.02:
                        chain = replace(chain, epoch=99)
                    parcels.append(Parcel(chain, entries, chance.randint(0, 20)))
                elif kind < 0.9:
                    there = opened.place.seq + (
                        chance.choice((0, 1, 5)) if chance.random() < 0.8 else -1
                    )
                    real = said(floor.seen, chain, there)
                    assert said(model.seen, chain, there) == real
                    outcomes.add(real)
                else:
                    real = said(floor.begin_epoch, name[:5], name, "test")
                    assert said(model.begin_epoch, name[:5], name, "test") == real
            if parcels:
                taken = floor.take(parcels)
                assert model.take_all(parcels) == taken, (seed, parcels)
                outcomes.update(taken)
    assert contents(site) == model_contents(model), seed
    return outcomes


def contents(site: FloorSite) -> list[object]:
    with psycopg.connect(site.owner) as owner:
        return [
            owner.execute(query).fetchall()
            for query in (
                "SELECT table_id, epoch, journal, day, reason, seq, head, table_seq, state"
                " FROM pitwatch.chains ORDER BY 1, 2",
                "SELECT table_id, epoch, seq, hash, convert_to(body, 'UTF8'), version"
                " FROM pitwatch.entries ORDER BY 1, 2, 3",
                "SELECT table_id, epoch, seq, hash, body, reason"
                " FROM pitwatch.quarantine ORDER BY number",
            )
        ]


def model_contents(model: FloorModel) -> list[object]:
    return [
        [
            (*key, row.journal, row.day, row.reason, row.seq, row.head, row.table_seq, row.state)
            for key, row in sorted(model.chains.items())
        ],
        [(*key, *entry) for key, entries in sorted(model.entries.items()) for entry in entries],
        [(o.table, o.epoch, o.seq, o.hash, o.body, o.reason) for o in model.quarantine],
    ]
