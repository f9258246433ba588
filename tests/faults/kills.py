"""Writers killed at random moments: ``python -m tests.faults.kills [--kills 500]``.

A child process appends signed batches and reports each number once it is durable; it is killed with
SIGKILL at a random moment, and the next goes on with the same journal. After each kill the
journal must verify and hold whatever was acknowledged.
"""

import argparse
import os
import random
import signal
import tempfile
import time
from pathlib import Path

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from models.events import ReaderFault
from stream.clock import HostClock
from stream.journal import Checkpoints, Journal, Verified, verify_journal
from stream.signing import Signer

_SEQ_BYTES = 8


def killed(path: Path, kills: int, seed: str = "kills") -> Verified:
    """Kill so many writers of a new journal; return what it is after the last went on and closed.

    Raises:
        AssertionError: something acknowledged is missing.
        TechnicianError: the journal is damaged.
    """
    chance = random.Random(seed)
    signer = Signer(Ed25519PrivateKey.generate())
    checkpoints, keys = Checkpoints(signer, HostClock(), entries=7), [signer.fingerprint]
    Journal.create(path, checkpoints).close()
    acknowledged = 0
    for number in range(kills):
        acknowledged = max(acknowledged, _one_life(path, checkpoints, chance, number))
        found = verify_journal(path, keys)
        assert found.entries >= acknowledged, f"{found.entries} entries of {acknowledged}"
    Journal.open(path, checkpoints).close()
    return verify_journal(path, keys)


def _one_life(path: Path, checkpoints: Checkpoints, chance: random.Random, number: int) -> int:
    """Let a writer live for a moment; return the last number that it acknowledged, or 0."""
    reading, writing = os.pipe()
    child = os.fork()
    if not child:
        os.close(reading)
        _write(path, checkpoints, random.Random(number), writing)
    os.close(writing)
    with os.fdopen(reading, "rb") as pipe:
        received = pipe.read(_SEQ_BYTES)
        time.sleep(chance.uniform(0, 0.03))
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        received += pipe.read()
    whole = len(received) // _SEQ_BYTES * _SEQ_BYTES
    return int.from_bytes(received[whole - _SEQ_BYTES : whole], "big") if whole else 0


def _write(path: Path, checkpoints: Checkpoints, chance: random.Random, acknowledge: int) -> None:
    journal = Journal.open(path, checkpoints)
    while True:
        event = ReaderFault(source="shoe", kind="x", detail="y" * chance.randint(1, 3000))
        last = journal.append_all([event] * chance.randint(1, 5))[-1]
        assert last.seq is not None
        os.write(acknowledge, last.seq.to_bytes(_SEQ_BYTES, "big"))


def main() -> None:
    """Kill writers and print what is left."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    parser.add_argument("--kills", type=int, default=500)
    parser.add_argument("--journal", type=Path, help="a new file; default a temporary one")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        found = killed(given.journal or Path(folder) / "table.journal", given.kills)
    sealed = "sealed" if found.sealed else "not sealed"
    print(f"{given.kills} kills: {found.entries} entries, {found.signed} signed, {sealed}")


if __name__ == "__main__":
    main()
