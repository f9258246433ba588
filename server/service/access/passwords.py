"""The rules for passwords: strength, lifetime, and reuse.

zxcvbn detects common passwords and those guessed early: it ships lists of leaked passwords, names
and words and knows keyboard rows, dates and repeats.
"""

from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError

from models.errors import OperatorError
from server.service.access.database import Database
from stream.clock import Clock

SHORTEST_PASSWORD: Final = 12
MOST_REMEMBERED: Final = 24
_LOOKED_AT: Final = 72
"""Characters that are judged; zxcvbn's time grows with the square."""
_STRONG_ENOUGH: Final = 3
"""On zxcvbn's scale from 0 to 4: 3 withstands 10^8 guesses."""
_OWN_WORDS: Final = ("pitwatch", "blackjack", "casino", "surveillance", "pit", "dealer")

PasswordState: TypeAlias = Literal["own", "due"]
"""``due``: somebody else set it or it is too old; it must be changed first."""

_SCHEMA: Final = """
CREATE TABLE IF NOT EXISTS password_ages (name TEXT PRIMARY KEY, since_ns INTEGER NOT NULL,
    is_first INTEGER NOT NULL);
CREATE TABLE IF NOT EXISTS former_passwords (number INTEGER PRIMARY KEY, name TEXT NOT NULL,
    password TEXT NOT NULL);
"""


@dataclass(frozen=True, slots=True)
class PasswordRules:
    """A house's settings."""

    remembered: int = 5
    """Number of former passwords that must not be reused."""
    lasts_ns: int | None = None
    """Lifetime after which it must be changed; ``None`` for no limit."""


def is_right(hasher: PasswordHasher, hashed: str, password: str) -> bool:
    """Return whether a password is the one that was hashed."""
    try:
        return hasher.verify(hashed, password)
    except (VerificationError, InvalidHashError):
        return False


class Passwords:
    """Ages and former passwords, in the accounts' file. Every method may access the disk."""

    def __init__(
        self,
        connection: Database,
        clock: Clock,
        hasher: PasswordHasher,
        rules: PasswordRules,
    ) -> None:
        self._connection, self._clock = connection, clock
        self._hasher, self._rules = hasher, rules
        connection.create(_SCHEMA)

    def check(self, name: str, new: str) -> None:
        """Raise ``OperatorError`` where ``new`` is common, easily guessed, or was used before."""
        from zxcvbn import zxcvbn

        judged = zxcvbn(new[:_LOOKED_AT], user_inputs=[name, *_OWN_WORDS])
        if judged["score"] < _STRONG_ENOUGH:
            warning = judged["feedback"]["warning"].rstrip(".") or "it is guessed early"
            raise OperatorError(
                f"this password is too easily guessed: {warning[0].lower()}{warning[1:]}",
                where=f"account {name!r}",
                way_out="Use four or more unrelated words, or let a password manager make one",
            )
        if any(is_right(self._hasher, former, new) for former in self._former(name)):
            raise OperatorError(
                "this password was used before", where=f"account {name!r}", way_out="Take another"
            )

    def _former(self, name: str) -> list[str]:
        query = "SELECT password FROM former_passwords WHERE name = ? ORDER BY number DESC LIMIT ?"
        rows = self._connection.execute(query, (name, self._rules.remembered)).fetchall()
        current = self._connection.execute("SELECT password FROM accounts WHERE name = ?", (name,))
        return [row[0] for row in [*current.fetchall(), *rows]]

    def keep(self, name: str, former: str | None, *, is_first: bool) -> None:
        """Note that a password was set now, in place of ``former``.

        Args:
            name: the account.
            former: the hash that it replaces.
            is_first: whether somebody else set it, so that it must be changed.
        """
        self._connection.execute(
            "INSERT INTO password_ages VALUES (?, ?, ?) ON CONFLICT (name)"
            " DO UPDATE SET since_ns = excluded.since_ns, is_first = excluded.is_first",
            (name, self._clock.now_ns(), is_first),
        )
        if former is not None:
            self._connection.execute(
                "INSERT INTO former_passwords (name, password) VALUES (?, ?)", (name, former)
            )
        self._connection.execute(
            "DELETE FROM former_passwords WHERE name = ? AND number NOT IN (SELECT number FROM"
            " former_passwords WHERE name = ? ORDER BY number DESC LIMIT ?)",
            (name, name, MOST_REMEMBERED),
        )

    def state(self, name: str) -> PasswordState:
        """Return whether an account's password must be changed.

        One that was set before ages were kept is as old as the account.
        """
        row = self._connection.execute(
            "SELECT coalesce(since_ns, made_ns), coalesce(is_first, FALSE) FROM accounts"
            " LEFT JOIN password_ages USING (name) WHERE name = ?",
            (name,),
        ).fetchone()
        if row is None:
            return "own"
        since_ns, is_first = row
        lasts_ns = self._rules.lasts_ns
        is_old = lasts_ns is not None and self._clock.now_ns() - since_ns >= lasts_ns
        return "due" if is_first or is_old else "own"
