"""Events handed on within the process."""

import asyncio

import pytest

from models.events import Event, RoundOpened
from stream.bus import Bus, Lagging, Subscription


def opened(number: int) -> RoundOpened:
    return RoundOpened(seq=number, round=number)


async def drained(subscription: Subscription) -> list[Event]:
    return [event async for event in subscription]


def test_every_subscriber_gets_every_event_in_order() -> None:
    async def scene() -> list[list[Event]]:
        bus = Bus()
        readers = [bus.subscribe(), bus.subscribe()]
        for number in (1, 2, 3):
            bus.publish(opened(number))
        for reader in readers:
            bus.unsubscribe(reader)
        return [await drained(reader) for reader in readers]

    assert asyncio.run(scene()) == [[opened(1), opened(2), opened(3)]] * 2


def test_a_subscriber_waits_for_what_comes_later() -> None:
    async def scene() -> list[Event]:
        bus = Bus()
        reader = bus.subscribe()
        waiting = asyncio.create_task(drained(reader))
        await asyncio.sleep(0)
        bus.publish(opened(1))
        await asyncio.sleep(0)
        bus.unsubscribe(reader)
        return await asyncio.wait_for(waiting, 5)

    assert asyncio.run(scene()) == [opened(1)]


def test_what_was_published_before_is_not_handed_on() -> None:
    async def scene() -> list[Event]:
        bus = Bus()
        bus.publish(opened(1))
        reader = bus.subscribe()
        bus.publish(opened(2))
        bus.unsubscribe(reader)
        bus.publish(opened(3))
        return await drained(reader)

    assert asyncio.run(scene()) == [opened(2)]


def test_a_slow_reader_is_cut_off_and_told_where_to_go_on() -> None:
    async def scene() -> tuple[list[Event], int | None, list[Event]]:
        bus = Bus()
        slow, quick = bus.subscribe(capacity=2), bus.subscribe(capacity=9)
        for number in range(1, 6):
            bus.publish(opened(number))
        bus.unsubscribe(quick)
        reading = aiter(slow)
        got = [await anext(reading), await anext(reading)]
        with pytest.raises(Lagging, match="after event 2") as lagging:
            await anext(reading)
        return got, lagging.value.after_seq, await drained(quick)

    got, after_seq, other = asyncio.run(scene())
    assert got == [opened(1), opened(2)]
    assert after_seq == 2
    assert len(other) == 5


def test_a_reader_leaves_once() -> None:
    async def scene() -> list[Event]:
        bus = Bus()
        reader = bus.subscribe()
        bus.unsubscribe(reader)
        bus.unsubscribe(reader)
        return await drained(reader)

    assert asyncio.run(scene()) == []
