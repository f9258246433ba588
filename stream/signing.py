"""Keys that sign journals: Ed25519, one private file for the table, one public for everybody.

What a checkpoint signs::

    'pitwatch checkpoint 2' LF  |  identity (32)  |  seq (8)  |  at (8)  |  hash of entry seq (32)

both numbers big-endian, ``at`` in nanoseconds since the Unix epoch, the identity as
:mod:`stream.identity` hashes it. Journals of versions 1 and 2 had no identity; their checkpoints
are of form 1, without it. Everything else that a table's key signs begins with another purpose.
"""

import errno
import hashlib
import os
import stat
from pathlib import Path
from typing import Final, Self

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from cryptography.hazmat.primitives.asymmetric.types import PrivateKeyTypes
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    PublicFormat,
    load_pem_private_key,
    load_pem_public_key,
)

from models.errors import InstallerError, OperatorError
from stream.identity import Identity

_WITHOUT_IDENTITY: Final = b"pitwatch checkpoint 1\n"
_WITH_IDENTITY: Final = b"pitwatch checkpoint 2\n"
_FINGERPRINT_CHARS: Final = 64
_OTHERS: Final = stat.S_IRWXG | stat.S_IRWXO
_NO_NAMELESS_FILES: Final = (errno.EOPNOTSUPP, errno.EISDIR, errno.EINVAL)
"""The errors of file systems that cannot make a file without a name."""


class Signer:
    """A table's private key. Use :meth:`create` or :meth:`read`."""

    def __init__(self, key: Ed25519PrivateKey) -> None:
        self._key = key
        self.public = key.public_key().public_bytes(Encoding.Raw, PublicFormat.Raw)
        """The public key, 32 bytes."""
        self.fingerprint = fingerprint(self.public)

    @classmethod
    def create(cls, path: Path) -> Self:
        """Create a new key in a new file that only this user can read (PKCS #8 PEM, mode 0600).

        Raises:
            OperatorError: there is a file at ``path`` already, or it cannot be written.
        """
        key = Ed25519PrivateKey.generate()
        write_private_key(path, key)
        return cls(key)

    @classmethod
    def read(cls, path: Path) -> Self:
        """Read a table's key.

        Raises:
            InstallerError: it is missing, is no such key, or users other than its owner can read
                it.
        """
        text = _text(path)
        if path.stat().st_mode & _OTHERS:
            raise InstallerError(
                "the key can be read by others, so its signatures prove nothing",
                where=str(path),
                way_out=f"chmod 600 {path}, and make a new key if others may have copied it",
            )
        try:
            key = load_pem_private_key(text, password=None)
        except (ValueError, TypeError) as fault:
            raise _no_key(path) from fault
        if not isinstance(key, Ed25519PrivateKey):
            raise _no_key(path)
        return cls(key)

    def sign(self, seq: int, at_ns: int, head: bytes, identity: Identity | None = None) -> bytes:
        """Return the signature, 64 bytes, of a journal up to entry ``seq``."""
        return self._key.sign(_signed(seq, at_ns, head, identity))

    def sign_digest(self, purpose: str, digest: bytes) -> bytes:
        """Return the signature, 64 bytes, over a SHA-256 for ``purpose``, never a checkpoint's."""
        return self._key.sign(_purposed(purpose, digest))

    def public_pem(self) -> bytes:
        """Return the public key as PEM, for those who verify."""
        return self._key.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)


def write_private_key(path: Path, key: PrivateKeyTypes) -> None:
    """Write a private key to a new file that only this user can read (PKCS #8 PEM, mode 0600).

    The file appears once it is complete: a process that is killed meanwhile leaves none. Only a
    file system without nameless files, such as FAT, can leave half of one.

    Raises:
        OperatorError: there is a file at ``path`` already, or it cannot be written.
    """
    text = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    try:
        folder = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY)
        try:
            _write_named_last(folder, path, text)
        finally:
            os.close(folder)
    except OSError as fault:
        raise OperatorError(
            f"the key cannot be written: {fault.strerror}",
            where=str(path),
            way_out="Name a new file in a folder that exists; a key is never written over",
        ) from fault


def _write_named_last(folder: int, path: Path, text: bytes) -> None:
    try:
        handle = os.open(".", os.O_WRONLY | os.O_TMPFILE, 0o600, dir_fd=folder)
    except OSError as fault:
        if fault.errno not in _NO_NAMELESS_FILES:
            raise
        handle, nameless = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), False
    else:
        nameless = True
    with os.fdopen(handle, "wb") as file:
        os.fchmod(file.fileno(), 0o600)
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
        if nameless:
            # With a folder given, os.link follows the link that stands for the open file.
            os.link(f"/proc/self/fd/{file.fileno()}", path, src_dir_fd=folder)
    os.fsync(folder)


def read_public_key(path: Path) -> bytes:
    """Return the 32 bytes of a public key in PEM; raises ``InstallerError`` for anything else."""
    try:
        key = load_pem_public_key(_text(path))
    except (ValueError, TypeError) as fault:
        raise _no_key(path) from fault
    if not isinstance(key, Ed25519PublicKey):
        raise _no_key(path)
    return key.public_bytes(Encoding.Raw, PublicFormat.Raw)


def is_signed(
    public: bytes,
    signature: bytes,
    seq: int,
    at_ns: int,
    head: bytes,
    *,
    identity: Identity | None = None,
) -> bool:
    """Return whether ``public`` made ``signature`` over the journal up to ``seq``."""
    return _fits(public, signature, _signed(seq, at_ns, head, identity))


def is_digest_signed(public: bytes, signature: bytes, purpose: str, digest: bytes) -> bool:
    """Return whether ``public`` made ``signature`` over a SHA-256 for ``purpose``."""
    return _fits(public, signature, _purposed(purpose, digest))


def fingerprint(public: bytes) -> str:
    """Return a public key's fingerprint: the SHA-256 of its 32 bytes, in hex.

    People see and name a key by it alone. Files hold the key itself.
    """
    return hashlib.sha256(public).hexdigest()


def named_key(text: str, option: str) -> str:
    """Return the fingerprint of the key that a person names, by its public file or as typed.

    A typed fingerprint may have colons and blanks. ``option`` only serves the error message.

    Raises:
        OperatorError: it is neither.
        InstallerError: the file is no public key.
    """
    if Path(text).is_file():
        return fingerprint(read_public_key(Path(text)))
    bare = text.lower().replace(":", "").replace(" ", "")
    if len(bare) != _FINGERPRINT_CHARS or not set(bare) <= set("0123456789abcdef"):
        raise OperatorError(
            f"expected {_FINGERPRINT_CHARS} hex digits or a file, found {text!r}",
            where=option,
            way_out="`pitwatch journal keys` prints the fingerprint",
        )
    return bare


def _fits(public: bytes, signature: bytes, signed: bytes) -> bool:
    try:
        Ed25519PublicKey.from_public_bytes(public).verify(signature, signed)
    except (InvalidSignature, ValueError):
        return False
    return True


def _purposed(purpose: str, digest: bytes) -> bytes:
    return f"pitwatch {purpose}\n".encode() + digest


def _signed(seq: int, at_ns: int, head: bytes, identity: Identity | None) -> bytes:
    place = seq.to_bytes(8, "big") + at_ns.to_bytes(8, "big") + head
    if identity is None:
        return _WITHOUT_IDENTITY + place
    return _WITH_IDENTITY + identity.digest + place


def _text(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as fault:
        raise InstallerError(
            f"the key cannot be read: {fault.strerror}",
            where=str(path),
            way_out="Name the key's file; `pitwatch journal keys` makes one",
        ) from fault


def _no_key(path: Path) -> InstallerError:
    return InstallerError(
        "this is no Ed25519 key in PEM",
        where=str(path),
        way_out="Sign with the private key's file, verify with the public key's",
    )
