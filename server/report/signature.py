"""A report's signature, by the key of the service that made it.

It is a text::

    pitwatch report 1 at=… sha256=… key=… signature=…

In HTML it is a comment, the last line of the file, and ``sha256`` covers every byte before that
line. In PDF it is in hex in an unsigned attribute of the signature that readers show
(:mod:`server.report.pades`), and ``sha256`` covers the whole file with the digits of ``sha256`` and
``signature`` all 0. The key signs (Ed25519) the digest of ``at`` and ``sha256``, for the purpose
``report``. PDFs of earlier versions end in the text as a comment and have no other signature.
"""

import hashlib
import re
from pathlib import Path
from typing import Final, Literal, TypeAlias

import msgspec

from models.errors import TechnicianError
from server.report.certificate import Certified, Identity
from stream.signing import Signer, fingerprint, is_digest_signed

Form: TypeAlias = Literal["html", "pdf"]
PURPOSE: Final = "pitwatch report 1"
_TEXT: Final = re.compile(
    rb"pitwatch report 1 at=(\d{1,19}) sha256=([0-9a-f]{64}) key=([0-9a-f]{64})"
    rb" signature=([0-9a-f]{128})"
)
_ENDS: Final = {b"<!-- ": b" -->\n", b"%": b"\n"}
"""Start and end of the last line."""
_LONGEST: Final = 512
_NO_DIGEST: Final = bytes(32)
_NO_SIGNATURE: Final = bytes(64)


class Signed(msgspec.Struct, frozen=True, kw_only=True):
    """A sound report."""

    at: int
    """Time of the signature, nanoseconds since the Unix epoch, UTC."""
    sha256: str
    """SHA-256 of the signed bytes, in hex."""
    key: str
    """The fingerprint of the signer's key."""
    certificate: Certified | None = None
    """For a PDF, the signer that PDF readers show; ``None`` in one of an earlier version."""


def signed_page(content: bytes, signer: Signer, at_ns: int) -> bytes:
    """Return an HTML report with its signature appended."""
    digest = hashlib.sha256(content).digest()
    return content + b"<!-- " + _signed_text(digest, signer, at_ns) + b" -->\n"


def signed_paper(content: bytes, signer: Signer, identity: Identity, at_ns: int) -> bytes:
    """Return a PDF report with both signatures."""
    from server.report.pades import certified

    blank = _text(at_ns, _NO_DIGEST, signer.public, _NO_SIGNATURE)
    whole = certified(content, identity, at_ns, blank)
    place = whole.index(_in_hex(blank))
    text = _signed_text(hashlib.sha256(whole).digest(), signer, at_ns)
    return _replaced(whole, place, text)


def check_report(content: bytes, where: str, key: str | None = None) -> Signed:
    """Check a report: any changed byte shows.

    Args:
        content: the whole file.
        where: its name, for messages.
        key: the fingerprint of the expected signer's key; without it any key is accepted.

    Raises:
        TechnicianError: it is unsigned, has changed, or another key signed it.
    """
    is_sealed = content.startswith(b"%PDF") and _in_hex(PURPOSE.encode()) in content
    found = _sealed(content, where) if is_sealed else _ending(content, where)
    if key is not None and key != found.key:
        raise _not_so(where, f"it is signed by another key, {found.key}")
    return found


def read_report(path: Path, key: str | None = None) -> Signed:
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


def _sealed(content: bytes, where: str) -> Signed:
    """Check a PDF with both signatures."""
    from server.report.pades import NotCertified, check_certified

    place = content.index(_in_hex(PURPOSE.encode()))
    piece = re.match(rb"(?:[0-9A-F]{2})*", content[place : place + 2 * _LONGEST])
    text = _TEXT.match(bytes.fromhex(piece[0].decode())) if piece else None
    if text is None:
        raise _not_so(where, "its signature was changed")
    blank = _text(int(text[1]), _NO_DIGEST, bytes.fromhex(text[3].decode()), _NO_SIGNATURE)
    found = _checked(text, _replaced(content, place, blank), where)
    try:
        return msgspec.structs.replace(found, certificate=check_certified(content))
    except NotCertified as fault:
        raise _not_so(where, str(fault)) from fault


def _ending(content: bytes, where: str) -> Signed:
    """Check a report whose last line is its signature."""
    start = content.rfind(b"\n", max(0, len(content) - _LONGEST), len(content) - 1) + 1
    body, line = content[:start], content[start:]
    before = b"%" if body.startswith(b"%PDF") else b"<!-- "
    text = _TEXT.fullmatch(line.removeprefix(before).removesuffix(_ENDS[before]))
    if text is None or line != before + text[0] + _ENDS[before]:
        raise _not_so(where, "it has no signature, or its last line was changed")
    return _checked(text, body, where)


def _checked(text: re.Match[bytes], covered: bytes, where: str) -> Signed:
    at, digest = int(text[1]), bytes.fromhex(text[2].decode())
    public, signature = (bytes.fromhex(text[n].decode()) for n in (3, 4))
    if text[0] != _text(at, digest, public, signature):
        raise _not_so(where, "its signature was changed")
    if hashlib.sha256(covered).digest() != digest:
        raise _not_so(where, "it was changed after it was signed")
    if not is_digest_signed(public, signature, PURPOSE, _both(at, digest)):
        raise _not_so(where, "its signature does not fit")
    return Signed(at=at, sha256=digest.hex(), key=fingerprint(public))


def _both(at_ns: int, digest: bytes) -> bytes:
    return hashlib.sha256(at_ns.to_bytes(8, "big") + digest).digest()


def _signed_text(digest: bytes, signer: Signer, at_ns: int) -> bytes:
    signature = signer.sign_digest(PURPOSE, _both(at_ns, digest))
    return _text(at_ns, digest, signer.public, signature)


def _text(at_ns: int, digest: bytes, public: bytes, signature: bytes) -> bytes:
    text = f"{PURPOSE} at={at_ns} sha256={digest.hex()} key={public.hex()} "
    return f"{text}signature={signature.hex()}".encode()


def _in_hex(text: bytes) -> bytes:
    """Encode a text as in a PDF's signature."""
    return text.hex().upper().encode()


def _replaced(content: bytes, place: int, text: bytes) -> bytes:
    written = _in_hex(text)
    return content[:place] + written + content[place + len(written) :]


def _not_so(where: str, what: str) -> TechnicianError:
    return TechnicianError(
        what, where=where, way_out="Do not rely on it: ask its maker for the report again"
    )
