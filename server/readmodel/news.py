"""Wait for news of a floor or a queue."""

import asyncio


async def set_within(news: asyncio.Event, wait_ns: int) -> bool:
    """Wait for an event at most ``wait_ns``; return whether it came."""
    try:
        await asyncio.wait_for(news.wait(), wait_ns / 1e9)
    except TimeoutError:
        return False
    return True
