"""A report's signature: one line behind its end, which readers of HTML and PDF pass over.

::

    <!-- pitwatch report 1 at=… sha256=… key=… signature=… -->
    %pitwatch report 1 at=… sha256=… key=… signature=…

``sha256`` is of every byte before that line; what is signed (Ed25519) is the digest of ``at`` and
it, under the purpose ``report``.
"""

import hashlib
import re
from pathlib import Path
from typing import Final, Literal, TypeAlias

import msgspec

from models.errors import TechnicianError
from stream.signing import Signer, is_digest_signed

Form: TypeAlias = Literal["html", "pdf"]
PURPOSE: Final = "pitwatch report 1"
_ENDS: Final = {"html": (b"<!-- ", b" -->\n"), "pdf": (b"%", b"\n")}
_LINE: Final = re.compile(
    rb"(?:<!-- |%)pitwatch report 1 at=(\d{1,19}) sha256=([0-9a-f]{64}) key=([0-9a-f]{64})"
    rb" signature=([0-9a-f]{128})(?: -->)?\n"
)
_LONGEST: Final = 512


class Signed(msgspec.Struct, frozen=True, kw_only=True):
    """A report that is as it was made."""

    at: int
    """When it was signed, nanoseconds since the Unix epoch, UTC."""
    sha256: str
    """Of the report, without its last line, in hex."""
    key: str
    """The public key that signed it, in hex."""


def signed(content: bytes, form: Form, signer: Signer, at_ns: int) -> bytes:
    """Return a report with its signature behind it."""
    digest = hashlib.sha256(content).digest()
    signature = signer.sign_digest(PURPOSE, _both(at_ns, digest))
    return content + _line(form, at_ns, digest, signer.public, signature)


def check_report(content: bytes, where: str, key: bytes | None = None) -> Signed:
    """Check a report: any byte that was changed shows.

    Args:
        content: the whole file.
        where: its name, for messages.
        key: the public key, 32 bytes, that must have signed it; without it any key will do.

    Raises:
        TechnicianError: it is unsigned, changed, or signed by another.
    """
    start = content.rfind(b"\n", max(0, len(content) - _LONGEST), len(content) - 1) + 1
    body, line = content[:start], content[start:]
    found = _LINE.fullmatch(line)
    if found is None:
        raise _not_so(where, "it bears no signature, or its last line was changed")
    at, digest = int(found[1]), bytes.fromhex(found[2].decode())
    public, signature = (bytes.fromhex(found[n].decode()) for n in (3, 4))
    form: Form = "pdf" if body.startswith(b"%PDF") else "html"
    if line != _line(form, at, digest, public, signature):
        raise _not_so(where, "its last line was changed")
    if hashlib.sha256(body).digest() != digest:
        raise _not_so(where, "it was changed after it was signed")
    if not is_digest_signed(public, signature, PURPOSE, _both(at, digest)):
        raise _not_so(where, "its signature does not fit")
    if key is not None and key != public:
        raise _not_so(where, f"it is signed by another key, {public.hex()}")
    return Signed(at=at, sha256=digest.hex(), key=public.hex())


def read_report(path: Path, key: bytes | None = None) -> Signed:
    """Check a report's file; as :func:`check_report`."""
    try:
        content = path.read_bytes()
    except OSError as fault:
        raise TechnicianError(
            f"the report cannot be read ({fault.strerror})",
            where=str(path),
            way_out="Check the file's name",
        ) from fault
    return check_report(content, str(path), key)


def _both(at_ns: int, digest: bytes) -> bytes:
    return hashlib.sha256(at_ns.to_bytes(8, "big") + digest).digest()


def _line(form: Form, at_ns: int, digest: bytes, public: bytes, signature: bytes) -> bytes:
    before, behind = _ENDS[form]
    said = f"{PURPOSE} at={at_ns} sha256={digest.hex()} key={public.hex()} "
    return before + f"{said}signature={signature.hex()}".encode() + behind


def _not_so(where: str, what: str) -> TechnicianError:
    return TechnicianError(
        what, where=where, way_out="Do not rely on it: ask whoever made it for the report again"
    )
