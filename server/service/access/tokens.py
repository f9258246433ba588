"""API tokens in the accounts' file: each ends with the token or account that created it.

Of a token only the SHA-256 is stored: it is 256 random bits, so no slower hash is needed.
"""

import hashlib
import secrets
from collections.abc import Collection
from typing import Final

import msgspec

from server.service.access.database import Database
from server.service.access.people import Right
from stream.clock import Clock

_SCHEMA: Final = """
CREATE TABLE IF NOT EXISTS tokens (id TEXT PRIMARY KEY, name TEXT NOT NULL, label TEXT NOT NULL,
    scopes TEXT NOT NULL, digest BLOB NOT NULL UNIQUE, made_ns INTEGER NOT NULL,
    ends_ns INTEGER NOT NULL);
CREATE TABLE IF NOT EXISTS token_makers (id TEXT PRIMARY KEY, maker TEXT NOT NULL);
"""


class Token(msgspec.Struct, frozen=True):
    """An API token, without its secret."""

    id: str
    name: str
    """Its owner; its rights never exceed that account's."""
    label: str
    scopes: tuple[Right, ...]
    made_ns: int
    ends_ns: int
    made_by: str = ""
    """The token that created it, and with which it ends; empty where a person did."""


class Tokens:
    """The tokens of all accounts. Every method may access the disk."""

    def __init__(self, connection: Database, clock: Clock) -> None:
        self._connection, self._clock = connection, clock
        connection.create(_SCHEMA)

    def add(
        self, name: str, label: str, scopes: Collection[Right], lasts_ns: int, made_by: str = ""
    ) -> tuple[Token, str]:
        """Create a token; its secret is shown once. It ends with the token ``made_by``."""
        secret, now_ns = "pw_" + secrets.token_urlsafe(32), self._clock.now_ns()
        ends_ns = now_ns + lasts_ns
        if made_by:
            query = "SELECT ends_ns FROM tokens WHERE id = ?"
            (maker_ends_ns,) = self._connection.execute(query, (made_by,)).fetchone()
            ends_ns = min(ends_ns, maker_ends_ns)
        token = Token(
            secrets.token_hex(6), name, label, tuple(sorted(scopes)), now_ns, ends_ns, made_by
        )
        self._connection.execute(
            "INSERT INTO tokens VALUES (?, ?, ?, ?, ?, ?, ?)",
            (token.id, name, label, " ".join(token.scopes), digest_of(secret), now_ns, ends_ns),
        )
        if made_by:
            self._connection.execute("INSERT INTO token_makers VALUES (?, ?)", (token.id, made_by))
        return token, secret

    def of(self, name: str) -> tuple[Token, ...]:
        """Return a person's tokens, oldest first."""
        rows = self._connection.execute(
            "SELECT id, name, label, scopes, made_ns, ends_ns, coalesce(maker, '') FROM tokens"
            " LEFT JOIN token_makers USING (id) WHERE name = ? ORDER BY made_ns, id",
            (name,),
        )
        return tuple(
            Token(key, owner, label, tuple(map(Right, scopes.split())), made, ends, maker)
            for key, owner, label, scopes, made, ends, maker in rows.fetchall()
        )

    def find(self, secret: str) -> tuple[str, str, frozenset[Right]] | None:
        """Return id, account and scopes of the valid token with this secret."""
        query = "SELECT id, name, scopes FROM tokens WHERE digest = ? AND ends_ns > ?"
        row = self._connection.execute(query, (digest_of(secret), self._clock.now_ns())).fetchone()
        return None if row is None else (row[0], row[1], frozenset(map(Right, row[2].split())))

    def drop(self, name: str, key: str) -> bool:
        """Revoke a person's token and those it created; return whether there was one."""
        query = "DELETE FROM tokens WHERE name = ? AND id = ?"
        if not self._connection.execute(query, (name, key)).rowcount:
            return False
        made = self._connection.execute("SELECT id FROM token_makers WHERE maker = ?", (key,))
        for (one,) in made.fetchall():
            self.drop(name, one)
        self._connection.execute("DELETE FROM token_makers WHERE id = ?", (key,))
        return True

    def drop_all(self, name: str) -> None:
        """Revoke every token of a person."""
        for token in self.of(name):
            self.drop(name, token.id)


def digest_of(secret: str) -> bytes:
    """Return the stored digest of a secret."""
    return hashlib.sha256(secret.encode()).digest()
