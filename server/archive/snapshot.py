"""A camera picture as a signed PNG: its content, its time and its maker.

It is a bundle of one file, the PNG up to the chunk with the seal. ``pixels_sha256`` is over the
decoded picture, for comparison with the recording.
"""

import hashlib
import struct

import msgspec
import numpy as np
from numpy.typing import NDArray

from server.archive.clips import Clips
from server.bundle.bundle import Asked, Bundle, Verdict, joined
from server.bundle.containers import PNG, PNG_END, picture_file
from server.bundle.manifest import Head, Manifest, about, damaged
from stream.clock import utc
from stream.signing import Signer
from vision.crops import as_png, decoded
from vision.picture_files import LARGEST_PIXELS, declared_size


class Facts(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What a snapshot shows. Times are nanoseconds, UTC."""

    table: str
    round: int
    camera: str
    file: str
    """The recording's video file."""
    frame: int
    """The picture's index in that file, from 0 in the order of time."""
    at: int
    entry: int
    """The journal's last entry not later than the picture."""
    pixels_sha256: str
    made_by: str


def pixels_sha256(image: NDArray[np.uint8]) -> str:
    """Return the SHA-256 of a BGR picture, ``(H, W, 3)``: its size, then its bytes row by row."""
    size = struct.pack(">II", image.shape[1], image.shape[0])
    return hashlib.sha256(size + np.ascontiguousarray(image).tobytes()).hexdigest()


def snapshot(
    image: NDArray[np.uint8], facts: Facts, made_ns: int, head: Head, signer: Signer
) -> bytes:
    """Return a BGR picture as a signed PNG; ``head`` is the journal's last entry at ``made_ns``."""
    text = (
        f"table {facts.table}, round {facts.round}, camera {facts.camera}, {utc(facts.at)}, "
        f"picture {facts.frame} of {facts.file}"
    )
    manifest = Manifest(
        kind="snapshot", subject=text, at=made_ns, journals=(head,), about=about(facts)
    )
    picture = picture_file(as_png(image), f"{text}; journal {head.name} entry {facts.entry}")
    return joined(PNG, manifest, {"picture.png": picture}, signer)


def check_snapshot(bundle: Bundle, asked: Asked) -> Verdict:
    """Compare a snapshot's picture with its facts, and with a recording where one is given.

    Raises:
        TechnicianError: the picture, or the recording at that time, shows something else.
        PitwatchError: the recording cannot be read.
    """
    facts = bundle.manifest.about_as(Facts, bundle.path)
    content = bundle.content["picture.png"] + PNG_END
    width, height = declared_size(content) or (0, 0)
    if width * height > LARGEST_PIXELS:
        most = f"at most {LARGEST_PIXELS // 10**6} megapixels expected"
        raise damaged(bundle.path, f"its picture states {width} x {height} pixels, {most}")
    image = decoded(content)
    if image is None or pixels_sha256(image) != facts.pixels_sha256:
        raise damaged(bundle.path, "its picture is not the one that its facts name")
    details = {"facts": facts, "recording": asked.recording is not None}
    notes = (f"made by {facts.made_by}",)
    if asked.recording is None:
        return Verdict(details=details, notes=notes)
    frame = Clips(asked.recording).frame_at(facts.at, facts.camera)
    if frame.at_ns != facts.at or pixels_sha256(frame.image) != facts.pixels_sha256:
        raise damaged(asked.recording, f"it shows another picture at {utc(facts.at)}")
    return Verdict(
        ("that the recording shows the same picture, pixel by pixel",), (), details, notes
    )
