"""What hashing a recording costs: ``python -m lab.bench.recording_hashes``.

A camera of 1280x720 at 15 pictures a second is recorded for a minute. Hashing its bytes is set
against encoding them in the same run; the picture is plain, so its video is small. The journal's
growth is that of one camera's entries.
"""

import hashlib
import tempfile
import time
from pathlib import Path

import msgspec

from server.table.config import Recorder
from server.table.recorder import Film
from stream.recorded import RecordingHashed
from tests.server.filmed import START_NS, session, shot

RATE = 15
SECONDS = 60
SIZE = (1280, 720)


def main() -> None:
    """Print the figures."""
    (camera,) = session().cameras
    entries = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        slow = msgspec.structs.replace(camera, fps=RATE)
        film = Film(folder, slow, START_NS, Recorder(folder=""))
        filmed_s = 0.0
        for number in range(RATE * SECONDS):
            at_ns = START_NS + number * 1_000_000_000 // RATE
            frame = shot(number, at_ns, SIZE)
            begun_s = time.process_time()
            film.add(frame)
            filmed_s += time.process_time() - begun_s
            if number % (10 * RATE) == 0:
                entries.append(entry(film, at_ns))
        film.close()
        entries.append(entry(film, START_NS + SECONDS * 1_000_000_000))
        data = (folder / camera.file).read_bytes()
    begun_s = time.process_time()
    hashlib.sha256(data).digest()
    hashed_s = time.process_time() - begun_s
    grown = sum(map(len, entries)) / SECONDS * 3600
    print(f"recorded {len(data) / 1e6:.2f} MB in {filmed_s:.2f} s of CPU")
    per_mb_ms = hashed_s * 1000 / (len(data) / 1e6)
    print(f"hashed in {per_mb_ms:.2f} ms a megabyte: {hashed_s / filmed_s:.3%} of that")
    print(f"the journal grows by {grown / 1e6:.2f} MB an hour for this camera")


def entry(film: Film, at_ns: int) -> bytes:
    """An entry with what was hashed since the last."""
    pieces = tuple(film.pieces)
    film.pieces.clear()
    hashed = RecordingHashed(at=at_ns, table="BJ-01", folder=f"BJ-01-{START_NS}", pieces=pieces)
    return msgspec.json.encode(hashed)


if __name__ == "__main__":
    main()
