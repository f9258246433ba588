"""What the journal costs: ``python -m lab.bench.journal [--events N]``.

Appends one event at a time, durable each, without and with a key; then verifies and backs up.
Ratios are against the same file written and synced by hand, a line an event.
"""

import argparse
import os
import tempfile
from collections.abc import Callable
from pathlib import Path

import msgspec
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from lab.bench.record import Claim, add_option, record
from models.cards import Card
from models.events import ShoeCardRead
from stream.clock import HostClock, elapsed_ns
from stream.copies import backup_journal
from stream.journal import Checkpoints, Journal, verify_journal
from stream.signing import Signer

EVENT = ShoeCardRead(
    source="shoe", at=1, table="BJ-07", card=Card("8S"), draw=1, raw="05314481b8033446"
)


def _by_hand(path: Path, events: int) -> None:
    with path.open("ab", buffering=0) as file:
        for _ in range(events):
            file.write(msgspec.json.encode(EVENT) + b"\n")
            os.fsync(file.fileno())


def _journalled(path: Path, events: int, checkpoints: Checkpoints | None) -> None:
    with Journal.create(path, checkpoints) as journal:
        for _ in range(events):
            journal.append(EVENT)


def _seconds(work: Callable[[], object]) -> float:
    begun_ns = elapsed_ns()
    work()
    return (elapsed_ns() - begun_ns) / 1e9


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    parser.add_argument("--events", type=int, default=5000)
    parser.add_argument("--folder", help="on the disk to measure; default the temporary one")
    add_option(parser)
    given = parser.parse_args()
    events = given.events
    signer = Signer(Ed25519PrivateKey.generate())
    signed = Checkpoints(signer, HostClock(), entries=1000)
    claims: list[Claim] = []
    with tempfile.TemporaryDirectory(dir=given.folder) as folder:
        at = Path(folder)
        by_hand = _seconds(lambda: _by_hand(at / "lines", events))
        print(f"{'':34} {'s':>7} {'events/s':>9} {'x by hand':>10}")
        for name, work in (
            ("lines synced by hand", None),
            ("journal", lambda: _journalled(at / "plain.journal", events, None)),
            ("journal, signed every 1000", lambda: _journalled(at / "s.journal", events, signed)),
            ("verified", lambda: verify_journal(at / "s.journal", [signer.fingerprint])),
            ("backed up and verified twice", lambda: backup_journal(at / "s.journal", at / "b")),
        ):
            seconds = by_hand if work is None else _seconds(work)
            print(f"{name:34} {seconds:7.2f} {events / seconds:9.0f} {seconds / by_hand:10.2f}")
            claims += [
                Claim(name, round(events / seconds), "events/s"),
                Claim(f"{name}, time against lines by hand", round(seconds / by_hand, 3), "times"),
            ]
    if given.record:
        record("journal", claims)


if __name__ == "__main__":
    main()
