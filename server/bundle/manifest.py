"""The manifest of a bundle, and its seal: what a bundle is of, every file in it, and who made it.

A seal is one line of JSON::

    {"manifest":{…},"sha256":"…","key":"…","signature":"…"}

``sha256`` is over the bytes of the manifest. The maker's key signs it (Ed25519, purpose
``bundle 1``); a bundle that nobody signed has no ``key`` and no ``signature``. Only this one way to
write a seal is valid, so every byte of it is covered. ``>`` is written as an escape, which lets a
seal stand in a comment of a page.
"""

import hashlib
from typing import Annotated, Final, Literal, TypeAlias, TypeVar

import msgspec

from models.errors import TechnicianError
from stream.signing import Signer, fingerprint, is_digest_signed

FORM: Final = "pitwatch bundle 1"
PURPOSE: Final = "bundle 1"
"""The purpose of a maker's signature."""
MANIFEST: Final = "manifest.json"
"""The file of a folder or ZIP that holds the seal."""
BEGINS: Final = f'{{"manifest":{{"form":"{FORM}"'.encode()
"""The first bytes of every seal."""

Kind: TypeAlias = Literal["incident", "snapshot", "report", "day", "backup"]
Digest: TypeAlias = Annotated[str, msgspec.Meta(pattern=r"^[0-9a-f]{64}\Z")]
Signature: TypeAlias = Annotated[str, msgspec.Meta(pattern=r"^[0-9a-f]{128}\Z")]
T = TypeVar("T")


class File(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A file of a bundle."""

    name: str
    """Its path in the bundle, with ``/`` between folders."""
    size: int
    """Bytes."""
    sha256: Digest


class Head(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A journal that a bundle rests on, up to one entry."""

    journal: str | None = None
    """The journal's id; ``None`` where the maker knew only its name."""
    name: str
    entries: int
    """The number of that entry …"""
    head: Digest
    """… and its hash, which covers every entry before it."""


class Manifest(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What a bundle is of."""

    form: str = FORM
    kind: Kind
    subject: str
    """What it is of, for people."""
    at: int
    """When it was made, nanoseconds since the Unix epoch, UTC."""
    journals: tuple[Head, ...]
    files: tuple[File, ...] = ()
    """Every file but the seal, in order."""
    about: msgspec.Raw = msgspec.field(default_factory=lambda: msgspec.Raw(b"null"))
    """What only bundles of this kind have."""

    def about_as(self, kind: type[T], where: object) -> T:
        """Return ``about``; raises ``TechnicianError`` where it does not follow its format."""
        try:
            return msgspec.json.decode(self.about, type=kind)
        except (msgspec.MsgspecError, UnicodeDecodeError) as fault:
            raise damaged(where, f"its manifest does not follow its format: {fault}") from fault


class Seal(
    msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True
):
    """A manifest with its hash and its maker's signature."""

    manifest: msgspec.Raw
    sha256: Digest
    key: Digest | None = None
    """The maker's public key."""
    signature: Signature | None = None


def listed(name: str, data: bytes) -> File:
    """Return the line of a manifest for a file."""
    return File(name=name, size=len(data), sha256=hashlib.sha256(data).hexdigest())


def about(facts: msgspec.Struct) -> msgspec.Raw:
    """Return what only bundles of one kind have, for :attr:`Manifest.about`."""
    return msgspec.Raw(msgspec.json.encode(facts))


def sealed(manifest: Manifest, signer: Signer | None) -> bytes:
    """Return the seal of a manifest, signed where a key is given."""
    text = msgspec.json.encode(manifest).replace(b">", b"\\u003e")
    digest = hashlib.sha256(text).digest()
    seal = Seal(manifest=msgspec.Raw(text), sha256=digest.hex())
    if signer is not None:
        signature = signer.sign_digest(PURPOSE, digest).hex()
        seal = msgspec.structs.replace(seal, key=signer.public.hex(), signature=signature)
    return _line(seal)


def opened(text: bytes, where: object) -> tuple[Manifest, str | None]:
    """Return the manifest in a seal, and the fingerprint of the key that signed it.

    Raises:
        TechnicianError: the seal was changed, or is of another version.
    """
    try:
        seal = msgspec.json.decode(text, type=Seal)
        manifest = msgspec.json.decode(seal.manifest, type=Manifest)
    except (msgspec.MsgspecError, UnicodeDecodeError) as fault:
        raise damaged(where, f"its seal does not follow its format: {fault}") from fault
    if text != _line(seal):
        raise damaged(where, "its seal was changed")
    digest = hashlib.sha256(seal.manifest).digest()
    if digest.hex() != seal.sha256:
        raise damaged(where, "its manifest was changed after it was made")
    if manifest.form != FORM:
        raise damaged(where, f"it is of another form, {manifest.form!r}")
    if seal.key is None and seal.signature is None:
        return manifest, None
    key, signature = (bytes.fromhex(text or "") for text in (seal.key, seal.signature))
    if not is_digest_signed(key, signature, PURPOSE, digest):
        raise damaged(where, "its signature does not fit")
    return manifest, fingerprint(key)


def damaged(where: object, what: str) -> TechnicianError:
    """Return the error of a bundle that is not as it was made."""
    return TechnicianError(
        what, where=str(where), way_out="Do not rely on it: use another copy, or have it made again"
    )


def _line(seal: Seal) -> bytes:
    return msgspec.json.encode(seal) + b"\n"
