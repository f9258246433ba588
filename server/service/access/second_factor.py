"""The second factor of accounts: a time-based code, or one of ten recovery codes, each once.

The secret must be stored in plain text, since codes are computed from it: only its user can read
the file. Of a recovery code only the SHA-256 is stored; it is 80 random bits.
"""

import base64
import hashlib
import secrets
from typing import Final

import msgspec

from server.service.access.database import Database
from server.service.access.totp import in_base32, new_secret, step_of, uri_of
from stream.clock import Clock

RECOVERY_CODES: Final = 10
_CODE_BYTES: Final = 10

_SCHEMA: Final = """
CREATE TABLE IF NOT EXISTS factors (name TEXT PRIMARY KEY, secret BLOB NOT NULL,
    confirmed INTEGER NOT NULL, last_step INTEGER NOT NULL);
CREATE TABLE IF NOT EXISTS recoveries (name TEXT NOT NULL, digest BLOB NOT NULL,
    PRIMARY KEY (name, digest));
"""


class Enrolment(msgspec.Struct, frozen=True):
    """The data for an authenticator app. Both are shown once."""

    secret: str
    """In base 32, for typing."""
    uri: str
    """``otpauth://…``, for a QR code."""


class Recovery(msgspec.Struct, frozen=True):
    """Codes that replace the app, each usable once. They are shown once."""

    codes: tuple[str, ...]


class SecondFactors:
    """The second factors in the accounts' file. Every method may access the disk."""

    def __init__(self, connection: Database, clock: Clock) -> None:
        self._connection, self._clock = connection, clock
        connection.create(_SCHEMA)

    def is_on(self, name: str) -> bool:
        """Return whether an account's sign-in asks for a code."""
        query = "SELECT 1 FROM factors WHERE name = ? AND confirmed"
        return self._connection.execute(query, (name,)).fetchone() is not None

    def begin(self, name: str) -> Enrolment:
        """Create a secret; it takes effect once a code of it has been confirmed."""
        secret = new_secret()
        self._connection.execute(
            "INSERT INTO factors VALUES (?, ?, FALSE, 0) ON CONFLICT (name)"
            " DO UPDATE SET secret = excluded.secret, confirmed = FALSE, last_step = 0",
            (name, secret),
        )
        return Enrolment(in_base32(secret), uri_of(secret, name))

    def confirm(self, name: str, code: str) -> Recovery | None:
        """Turn the factor on where ``code`` matches the new secret; ``None`` if it does not."""
        if not self._is_timely(name, code):
            return None
        codes = tuple(_new_code() for _ in range(RECOVERY_CODES))
        self._connection.execute("UPDATE factors SET confirmed = TRUE WHERE name = ?", (name,))
        for one in codes:
            self._connection.execute("INSERT INTO recoveries VALUES (?, ?)", (name, _digest(one)))
        return Recovery(codes)

    def is_right(self, name: str, code: str) -> bool:
        """Return whether ``code`` is the app's or a recovery code, and mark it as used."""
        return self._is_timely(name, code) or self._is_recovery(name, code)

    def drop(self, name: str) -> None:
        """Turn an account's second factor off."""
        for table in ("factors", "recoveries"):
            self._connection.execute(f"DELETE FROM {table} WHERE name = ?", (name,))

    def _is_timely(self, name: str, code: str) -> bool:
        query = "SELECT secret, last_step FROM factors WHERE name = ?"
        row: tuple[bytes, int] | None = self._connection.execute(query, (name,)).fetchone()
        if row is None:
            return False
        step = step_of(row[0], code, self._clock.now_ns(), row[1])
        if step is None:
            return False
        self._connection.execute("UPDATE factors SET last_step = ? WHERE name = ?", (step, name))
        return True

    def _is_recovery(self, name: str, code: str) -> bool:
        query = "DELETE FROM recoveries WHERE name = ? AND digest = ?"
        return self._connection.execute(query, (name, _digest(code))).rowcount > 0


def _new_code() -> str:
    """Return four groups of four: 80 bits in base 32, easy to copy."""
    text = base64.b32encode(secrets.token_bytes(_CODE_BYTES)).decode().lower()
    return "-".join(text[at : at + 4] for at in range(0, len(text), 4))


def _digest(code: str) -> bytes:
    plain = "".join(code.split()).replace("-", "").lower()
    return hashlib.sha256(plain.encode()).digest()
