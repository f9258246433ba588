"""A deck's profile: the look of each card and of its back, and the two files that hold it.

``NAME.toml`` describes the profile; ``NAME.npz`` beside it holds the pictures, a millimetre a pixel
and coarser. A profile is made at a site from its own cards; none is shipped.
"""

import hashlib
import io
import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Final

import msgspec
import numpy as np
from msgspec import Meta
from numpy.typing import NDArray

from models.cards import DECK, Card
from models.decode import from_toml
from models.errors import InputRefused, TechnicianError
from models.session import Name
from stream.toml import to_toml
from vision.decks.appearance import CORNERS, FACE_PX, INDEX_PX, RIM_PX, Appearance

FORMAT: Final = 1  # version of the two files of a deck
_CARDS: Final = len(DECK)
# Height, width, colours of one face with its rim, pixels.
_FACE: Final = (FACE_PX[1] + 2 * RIM_PX, FACE_PX[0] + 2 * RIM_PX, 3)


class Manifest(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """``NAME.toml``."""

    format: Annotated[int, Meta(ge=FORMAT, le=FORMAT)]
    name: Name
    four_indices: bool
    """Whether all four corners carry an index."""
    lacking: tuple[str, ...] = ()
    """Cards not yet learnt; a complete profile lacks none."""
    pictures: tuple[str, ...]
    """For each card, in the order of ``models.cards.DECK``, the picture behind it; empty for a
    lacking one."""
    sha256: Annotated[str, Meta(pattern="^[0-9a-f]{64}$")]
    """SHA-256 of ``NAME.npz``."""


@dataclass(frozen=True, slots=True)
class DeckProfile:
    """A deck as it was learnt.

    Attributes:
        name: the deck's name in its library.
        cards: 52 cards in the order of ``models.cards.DECK``; a lacking card is black, and the face
            of one that was learnt from its index alone.
        pictures: the picture each was learnt from; empty for a lacking one.
        backs: ``(B, 2, 48, 36, 3)`` uint8, every back seen, both ways up.
        four_indices: whether all four corners carry an index.
    """

    name: str
    cards: Appearance
    pictures: tuple[str, ...]
    backs: NDArray[np.uint8]
    four_indices: bool

    def __post_init__(self) -> None:
        if len(self.cards) != _CARDS or len(self.pictures) != _CARDS:
            raise ValueError(f"{len(self.cards)} cards and {len(self.pictures)} pictures, not 52")
        if self.backs.shape[1:] != (2, *_FACE):
            raise ValueError(f"backs of shape {self.backs.shape}")

    @property
    def known(self) -> NDArray[np.bool_]:
        """Which cards were learnt, ``(52,)``."""
        return np.array([bool(picture) for picture in self.pictures])

    @property
    def faceless(self) -> NDArray[np.bool_]:
        """Which cards were learnt from their index alone, ``(52,)``; their faces are black."""
        return self.known & ~self.cards.faces.any((1, 2, 3, 4))

    @property
    def lacking(self) -> tuple[Card, ...]:
        """The cards not yet learnt."""
        return tuple(card for card, known in zip(DECK, self.known, strict=True) if not known)


def manifest_bytes(profile: DeckProfile, weights: bytes) -> bytes:
    """Return the ``NAME.toml`` of a profile whose ``NAME.npz`` is ``weights``."""
    manifest = Manifest(
        format=FORMAT,
        name=profile.name,
        four_indices=profile.four_indices,
        lacking=tuple(str(card) for card in profile.lacking),
        pictures=profile.pictures,
        sha256=hashlib.sha256(weights).hexdigest(),
    )
    return to_toml(manifest).encode()


def picture_bytes(profile: DeckProfile) -> bytes:
    """Return the content of ``NAME.npz``; the same profile gives the same bytes."""
    packed = io.BytesIO()
    cards = profile.cards
    np.savez_compressed(packed, indices=cards.indices, faces=cards.faces, backs=profile.backs)
    return packed.getvalue()


def read_profile(path: Path) -> DeckProfile:
    """Read the profile whose manifest is ``path``, and check it whole.

    Raises:
        InputRefused: the manifest does not match its format.
        TechnicianError: the pictures are missing, damaged or of another manifest.
    """
    manifest = _manifest(path)
    weights = _content(path.with_suffix(".npz"), manifest.sha256)
    if len(manifest.pictures) != _CARDS:
        raise _refused(path, "pictures", "52 names", str(len(manifest.pictures)))
    lacking = tuple(str(c) for c, p in zip(DECK, manifest.pictures, strict=True) if not p)
    if lacking != manifest.lacking:
        raise _refused(path, "lacking", f"{lacking}, as pictures says", str(manifest.lacking))
    try:
        with np.load(io.BytesIO(weights), allow_pickle=False) as held:
            arrays = [np.asarray(held[key]) for key in ("indices", "faces", "backs")]
        indices, faces, backs = (_bytes(array) for array in arrays)
        cards = Appearance(indices, faces)
        return DeckProfile(manifest.name, cards, manifest.pictures, backs, manifest.four_indices)
    except (KeyError, ValueError, OSError, zipfile.BadZipFile) as fault:
        raise _damaged(path.with_suffix(".npz"), "holds no deck's pictures") from fault


def unlearnt(name: str) -> DeckProfile:
    """Return a profile without any card."""
    indices = np.zeros((_CARDS, CORNERS, INDEX_PX[1], INDEX_PX[0], 3), np.uint8)
    cards = Appearance(indices, np.zeros((_CARDS, 2, *_FACE), np.uint8))
    return DeckProfile(name, cards, ("",) * _CARDS, np.zeros((0, 2, *_FACE), np.uint8), False)


def _manifest(path: Path) -> Manifest:
    try:
        return from_toml(path.read_text("utf-8"), Manifest, str(path))
    except UnicodeDecodeError as fault:
        raise _damaged(path, "is no text") from fault
    except OSError as fault:
        raise _damaged(path, fault.strerror or "cannot be read") from fault


def _content(path: Path, sha256: str) -> bytes:
    try:
        weights = path.read_bytes()
    except OSError as fault:
        raise _damaged(path, fault.strerror or "cannot be read") from fault
    if hashlib.sha256(weights).hexdigest() != sha256:
        raise _damaged(path, "differs from what its manifest says")
    return weights


def _bytes(array: NDArray[np.generic]) -> NDArray[np.uint8]:
    if array.dtype != np.uint8:
        raise ValueError(f"pictures of {array.dtype}")
    return np.asarray(array, np.uint8)


def _refused(path: Path, field: str, expected: str, found: str) -> InputRefused:
    return InputRefused(source=str(path), field=field, expected=expected, found=found)


def _damaged(path: Path, what: str) -> TechnicianError:
    return TechnicianError(
        what, where=str(path), way_out="Restore the file, or learn the deck again"
    )
