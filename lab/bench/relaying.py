"""How fast the relay delivers: against bare posts to a receiver, and from journal to receiver.

Run ``python -m lab.bench.relaying``.
"""

import argparse
import tempfile
import time
from http.client import HTTPConnection
from pathlib import Path
from statistics import quantiles
from typing import Final

from lab.bench.record import Claim, add_option, record
from models.events import RoundOpened
from stream.journal import Journal
from tests.server.integration.receivers import receiving
from tests.server.integration.relays import configured, hook, relaying
from tests.server.service.house import until, write

MESSAGES: Final = 2_000
LIVE: Final = 300


def rounds(first: int, last: int) -> list[RoundOpened]:
    """Events of the least size."""
    return [RoundOpened(round=n, at=n, table="BJ-09") for n in range(first, last + 1)]


def bare() -> float:
    """Return posts a second of one connection that does nothing else."""
    with receiving() as receiver:
        link = HTTPConnection("127.0.0.1", receiver.port)
        began = time.perf_counter()
        for _ in range(MESSAGES):
            link.request("POST", "/hook", b"x" * 700)
            link.getresponse().read()
        taken = MESSAGES / (time.perf_counter() - began)
        link.close()
    return taken


def relayed() -> float:
    """Return messages a second out of a journal that is already there."""
    with tempfile.TemporaryDirectory() as name, receiving() as receiver:
        folder = Path(name)
        write(folder / "a.journal", *rounds(1, MESSAGES))
        to = configured(folder, hook(receiver.url, send=("round_opened",)))
        with relaying(folder, folder, to):
            until(lambda: receiver.taken)
            began, first = time.perf_counter(), len(receiver.taken)
            until(lambda: len(receiver.taken) >= MESSAGES)
            return (MESSAGES - first) / (time.perf_counter() - began)


def waits_ms() -> list[float]:
    """Return how long each of ``LIVE`` events took from its journal to the receiver."""
    waits = []
    with tempfile.TemporaryDirectory() as name, receiving() as receiver:
        folder = Path(name)
        with Journal.create(folder / "a.journal") as journal:
            to = configured(folder, hook(receiver.url, send=("round_opened",)))
            with relaying(folder, folder, to):
                for number in range(1, LIVE + 1):
                    journal.append_all(rounds(number, number))
                    began = time.perf_counter()
                    while len(receiver.taken) < number:
                        time.sleep(0.0005)
                    waits.append((time.perf_counter() - began) * 1e3)
    return waits


def main() -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    add_option(parser)
    asked = parser.parse_args()
    posts, messages = bare(), relayed()
    print(f"bare posts            {posts:8.0f} a second")
    print(f"signed and noted      {messages:8.0f} a second, {messages / posts:.2f} of it")
    cuts = quantiles(waits_ms(), n=100)
    print(f"journal to receiver   {cuts[49]:8.1f} ms median, {cuts[98]:.1f} ms 99th percentile")
    if asked.record:
        claims = (
            Claim("bare posts, one connection", round(posts), "a second"),
            Claim(
                "webhooks: signed, one after another, each noted on disk",
                round(messages),
                "a second",
            ),
            Claim("webhooks against bare posts", round(messages / posts, 2), "times"),
            Claim("from the journal's entry to the receiver, median", round(cuts[49], 1), "ms"),
            Claim("from the journal's entry to the receiver, 99%", round(cuts[98], 1), "ms"),
        )
        record("relaying", claims)


if __name__ == "__main__":
    main()
