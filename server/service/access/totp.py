"""Time-based one-time codes, RFC 6238: HMAC-SHA-1, six digits, thirty seconds a step.

Every authenticator app supports these parameters, whatever else its URI states.
"""

import base64
import hashlib
import hmac
import secrets
from typing import Final
from urllib.parse import quote, urlencode

STEP_NS: Final = 30_000_000_000
DIGITS: Final = 6
DRIFT: Final = 1
"""Steps that a person's clock may be ahead or behind."""
_SECRET_BYTES: Final = 20
_ISSUER: Final = "Pitwatch"


def new_secret() -> bytes:
    """Return a new secret, as long as the hash (RFC 4226, section 4)."""
    return secrets.token_bytes(_SECRET_BYTES)


def step_at(at_ns: int) -> int:
    """Return the step of a time in nanoseconds since the Unix epoch."""
    return at_ns // STEP_NS


def code_of(secret: bytes, step: int) -> str:
    """Return the code of a step (RFC 4226, section 5.3)."""
    digest = hmac.new(secret, step.to_bytes(8, "big"), hashlib.sha1).digest()
    offset = digest[-1] & 0xF
    number = int.from_bytes(digest[offset : offset + 4], "big") & 0x7FFFFFFF
    return str(number % 10**DIGITS).zfill(DIGITS)


def step_of(secret: bytes, code: str, at_ns: int, after: int) -> int | None:
    """Return the step of ``code``, around ``at_ns`` and after the step ``after``.

    A code is valid once: the caller passes the last used step as ``after``. ``None`` if it is
    wrong.
    """
    now = step_at(at_ns)
    fitting = [
        step
        for step in range(now - DRIFT, now + DRIFT + 1)
        if hmac.compare_digest(code_of(secret, step).encode(), code.encode())
    ]
    return next((step for step in fitting if step > after), None)


def in_base32(secret: bytes) -> str:
    """Return a secret as people type it into an app."""
    return base64.b32encode(secret).decode().rstrip("=")


def uri_of(secret: bytes, name: str) -> str:
    """Return the ``otpauth`` URI of an account, for an app's QR code."""
    parameters = {
        "secret": in_base32(secret),
        "issuer": _ISSUER,
        "algorithm": "SHA1",
        "digits": DIGITS,
        "period": STEP_NS // 1_000_000_000,
    }
    return f"otpauth://totp/{_ISSUER}:{quote(name)}?{urlencode(parameters)}"
