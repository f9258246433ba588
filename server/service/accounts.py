"""Accounts, sessions, second factors, tokens and lockout in one SQLite file, used by one thread.

A password is kept as its Argon2id hash. Of a session and a token only the SHA-256 is kept: they
are 256 random bits, so nothing slower is needed.
"""

import hashlib
import hmac
import secrets
import sqlite3
from collections.abc import Collection
from contextlib import suppress
from pathlib import Path
from typing import Final, Literal, Self, TypeAlias

import msgspec
from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError

from models.errors import OperatorError
from server.service.people import RIGHTS, Person, Right, Role
from server.service.second_factor import Enrolment, Recovery, SecondFactors
from stream.clock import Clock

MINUTE_NS: Final = 60_000_000_000
TRIES: Final = 5
LOCKED_NS: Final = 15 * MINUTE_NS
IDLE_NS: Final = 30 * MINUTE_NS
SESSION_NS: Final = 12 * 60 * MINUTE_NS
SHORTEST_PASSWORD: Final = 12

_SCHEMA: Final = """
CREATE TABLE IF NOT EXISTS accounts (name TEXT PRIMARY KEY, role TEXT NOT NULL,
    password TEXT NOT NULL, active INTEGER NOT NULL, made_ns INTEGER NOT NULL);
CREATE TABLE IF NOT EXISTS sessions (digest BLOB PRIMARY KEY, name TEXT NOT NULL,
    csrf BLOB NOT NULL, made_ns INTEGER NOT NULL, seen_ns INTEGER NOT NULL);
CREATE TABLE IF NOT EXISTS tokens (id TEXT PRIMARY KEY, name TEXT NOT NULL, label TEXT NOT NULL,
    scopes TEXT NOT NULL, digest BLOB NOT NULL UNIQUE, made_ns INTEGER NOT NULL,
    ends_ns INTEGER NOT NULL);
CREATE TABLE IF NOT EXISTS tries (name TEXT PRIMARY KEY, failed INTEGER NOT NULL,
    last_ns INTEGER NOT NULL);
"""


FactorState: TypeAlias = Literal["off", "on", "due"]
"""``due``: the account's role asks for a second factor, and it has none yet."""


class Account(msgspec.Struct, frozen=True):
    """A person's account, without its secrets."""

    name: str
    role: Role
    active: bool
    made_ns: int
    second_factor: FactorState


class Token(msgspec.Struct, frozen=True):
    """An API token, without its secret."""

    id: str
    name: str
    """Whose it is; its rights never go beyond that account's."""
    label: str
    scopes: tuple[Right, ...]
    made_ns: int
    ends_ns: int


class SignedIn(msgspec.Struct, frozen=True):
    """A session that began. Both secrets are told once."""

    name: str
    role: Role
    session: str
    csrf: str
    second_factor: FactorState
    """While it is ``due`` nothing can be done but to enrol one."""


class LockedOut(OperatorError):
    """Too many wrong passwords for this name."""

    def __init__(self, left_ns: int) -> None:
        super().__init__(
            "too many wrong passwords", where="sign-in", way_out="Wait, or ask an administrator"
        )
        self.left_ns = left_ns


class CodeDue(OperatorError):
    """The password is right, and the account asks for a code too."""

    def __init__(self) -> None:
        super().__init__(
            "a code is asked for",
            where="sign-in",
            way_out="Send the code of your authenticator, or a recovery code",
        )


class Accounts:
    """The store. Every method may touch the disk.

    ``guarded_roles`` are those that must have a second factor: until it is there such an account
    may do nothing but enrol it.
    """

    def __init__(
        self,
        path: str,
        clock: Clock,
        hasher: PasswordHasher,
        guarded_roles: Collection[Role] = (),
    ) -> None:
        self._connection = sqlite3.connect(path, isolation_level=None)
        self._connection.executescript(_SCHEMA)
        self._clock, self._hasher = clock, hasher
        self._factors = SecondFactors(self._connection, clock)
        self._guarded_roles = frozenset(guarded_roles)
        self._nobody = hasher.hash(secrets.token_urlsafe())

    @classmethod
    def open(
        cls, path: Path, clock: Clock, hasher: PasswordHasher, guarded_roles: Collection[Role] = ()
    ) -> Self:
        """Open the store, or make it, readable by this user alone."""
        path.touch(mode=0o600)
        return cls(str(path), clock, hasher, guarded_roles)

    def close(self) -> None:
        """Close the file."""
        self._connection.close()

    # --- accounts -------------------------------------------------------------------------

    def all(self) -> tuple[Account, ...]:
        """Return every account by name."""
        rows = self._connection.execute(
            "SELECT name, role, active, made_ns FROM accounts ORDER BY name"
        )
        return tuple(
            Account(name, Role(role), bool(active), made, self._factor(name, Role(role)))
            for name, role, active, made in rows.fetchall()
        )

    def _factor(self, name: str, role: Role) -> FactorState:
        if self._factors.is_on(name):
            return "on"
        return "due" if role in self._guarded_roles else "off"

    def add(self, name: str, role: Role, password: str) -> Account:
        """Make an account.

        Raises:
            OperatorError: the name is taken.
        """
        account = Account(name, role, True, self._clock.now_ns(), self._factor(name, role))
        try:
            self._connection.execute(
                "INSERT INTO accounts VALUES (?, ?, ?, 1, ?)",
                (name, role, self._hasher.hash(password), account.made_ns),
            )
        except sqlite3.IntegrityError as taken:
            raise OperatorError(
                f"there is an account {name!r} already", where="accounts", way_out="Take another"
            ) from taken
        return account

    def change(
        self,
        name: str,
        *,
        role: Role | None = None,
        active: bool | None = None,
        password: str | None = None,
    ) -> Account | None:
        """Change an account and end its sessions; ``None`` where there is none of that name.

        Raises:
            OperatorError: nobody would be left to keep the accounts.
        """
        account = self._account(name)
        if account is None:
            return None
        changed = msgspec.structs.replace(
            account,
            role=account.role if role is None else role,
            active=account.active if active is None else active,
            second_factor=self._factor(name, account.role if role is None else role),
        )
        self._check_keeper(changed)
        self._connection.execute(
            "UPDATE accounts SET role = ?, active = ? WHERE name = ?",
            (changed.role, changed.active, name),
        )
        if password is not None:
            self._connection.execute(
                "UPDATE accounts SET password = ? WHERE name = ?",
                (self._hasher.hash(password), name),
            )
            self._connection.execute("DELETE FROM tries WHERE name = ?", (name,))
        self._connection.execute("DELETE FROM sessions WHERE name = ?", (name,))
        return changed

    def _check_keeper(self, changed: Account) -> None:
        left = [one for one in self.all() if one.name != changed.name] + [changed]
        if not any(one.active and one.role is Role.ADMIN for one in left):
            raise OperatorError(
                "no active administrator would be left",
                where=f"account {changed.name!r}",
                way_out="Make another administrator first",
            )

    def _account(self, name: str) -> Account | None:
        return next((one for one in self.all() if one.name == name), None)

    # --- sessions -------------------------------------------------------------------------

    def sign_in(self, name: str, password: str, code: str | None = None) -> SignedIn | None:
        """Begin a session; ``None`` where something is wrong, what of it is not told.

        Args:
            name: whose.
            password: the password.
            code: of the authenticator, or a recovery code; for an account without a second
                factor it is passed over.

        Raises:
            LockedOut: after five wrong passwords or codes, for fifteen minutes, whether or not
                there is such an account.
            CodeDue: the password is right, and a code is asked for.
        """
        now_ns = self._clock.now_ns()
        failed = self._failed(name, now_ns)
        is_right = self._is_right(name, password)
        if is_right and self._factors.is_on(name):
            if code is None:
                raise CodeDue
            is_right = self._factors.is_right(name, code)
        self._count(name, failed, now_ns, is_right=is_right)
        return self._begin(name, now_ns) if is_right else None

    def is_password(self, name: str, password: str) -> bool:
        """Tell whether it is the password of that active account; a wrong one counts.

        Raises:
            LockedOut: as :meth:`sign_in`.
        """
        now_ns = self._clock.now_ns()
        failed = self._failed(name, now_ns)
        is_right = self._is_right(name, password)
        self._count(name, failed, now_ns, is_right=is_right)
        return is_right

    def _count(self, name: str, failed: int, now_ns: int, *, is_right: bool) -> None:
        if is_right:
            self._connection.execute("DELETE FROM tries WHERE name = ?", (name,))
        else:
            self._connection.execute(
                "INSERT OR REPLACE INTO tries VALUES (?, ?, ?)", (name, failed + 1, now_ns)
            )

    def _failed(self, name: str, now_ns: int) -> int:
        self._connection.execute("DELETE FROM tries WHERE last_ns < ?", (now_ns - LOCKED_NS,))
        query = "SELECT failed, last_ns FROM tries WHERE name = ?"
        failed, last_ns = self._connection.execute(query, (name,)).fetchone() or (0, 0)
        if failed >= TRIES:
            raise LockedOut(last_ns + LOCKED_NS - now_ns)
        return int(failed)

    def _is_right(self, name: str, password: str) -> bool:
        """An unknown name costs as much time as a known one."""
        query = "SELECT password FROM accounts WHERE name = ? AND active"
        row = self._connection.execute(query, (name,)).fetchone()
        try:
            self._hasher.verify(self._nobody if row is None else row[0], password)
        except (VerificationError, InvalidHashError):
            return False
        return row is not None

    def _begin(self, name: str, now_ns: int) -> SignedIn:
        account = self._account(name)
        assert account is not None
        session, csrf = secrets.token_urlsafe(32), secrets.token_urlsafe(32)
        ended_ns = (now_ns - SESSION_NS, now_ns - IDLE_NS)
        self._connection.execute("DELETE FROM sessions WHERE made_ns < ? OR seen_ns < ?", ended_ns)
        self._connection.execute(
            "INSERT INTO sessions VALUES (?, ?, ?, ?, ?)",
            (_digest(session), name, _digest(csrf), now_ns, now_ns),
        )
        return SignedIn(name, account.role, session, csrf, account.second_factor)

    def by_session(self, session: str, csrf: str | None) -> tuple[Person, bool] | None:
        """Return whose session it is, and whether ``csrf`` is its own; ``None`` if it is over."""
        now_ns = self._clock.now_ns()
        row = self._connection.execute(
            "SELECT name, csrf FROM sessions WHERE digest = ? AND made_ns > ? AND seen_ns > ?",
            (_digest(session), now_ns - SESSION_NS, now_ns - IDLE_NS),
        ).fetchone()
        account = None if row is None else self._account(row[0])
        if account is None or not account.active:
            return None
        with suppress(sqlite3.OperationalError):  # on a full disk it ends sooner, no more
            self._connection.execute(
                "UPDATE sessions SET seen_ns = ? WHERE digest = ?", (now_ns, _digest(session))
            )
        own = csrf is not None and hmac.compare_digest(row[1], _digest(csrf))
        return Person(account.name, account.role, _rights(account), "session"), own

    def sign_out(self, session: str) -> None:
        """End a session."""
        self._connection.execute("DELETE FROM sessions WHERE digest = ?", (_digest(session),))

    # --- second factors -------------------------------------------------------------------

    def factor(self, name: str) -> FactorState:
        """Tell how it stands with an account's second factor."""
        account = self._account(name)
        return "off" if account is None else account.second_factor

    def begin_factor(self, name: str, password: str) -> Enrolment | None:
        """Make a secret for an authenticator; ``None`` where the password is wrong.

        Raises:
            LockedOut: as :meth:`sign_in`.
            OperatorError: the account has a second factor already.
        """
        if not self.is_password(name, password):
            return None
        if self._factors.is_on(name):
            raise OperatorError(
                "there is a second factor already", where=name, way_out="Drop it first"
            )
        return self._factors.begin(name)

    def confirm_factor(self, name: str, code: str) -> Recovery | None:
        """Turn the second factor on; ``None`` where the code is not of the secret just made."""
        return None if self._factors.is_on(name) else self._factors.confirm(name, code)

    def drop_factor(self, name: str) -> bool:
        """Turn a second factor off and end the account's sessions; tell whether there was one."""
        was_on = self._factors.is_on(name)
        self._factors.drop(name)
        self._connection.execute("DELETE FROM sessions WHERE name = ?", (name,))
        return was_on

    # --- tokens ---------------------------------------------------------------------------

    def add_token(
        self, name: str, label: str, scopes: Collection[Right], lasts_ns: int
    ) -> tuple[Token, str]:
        """Make a token; its secret is told once."""
        secret, now_ns = "pw_" + secrets.token_urlsafe(32), self._clock.now_ns()
        token = Token(
            secrets.token_hex(6), name, label, tuple(sorted(scopes)), now_ns, now_ns + lasts_ns
        )
        self._connection.execute(
            "INSERT INTO tokens VALUES (?, ?, ?, ?, ?, ?, ?)",
            (token.id, name, label, " ".join(token.scopes), _digest(secret), now_ns, token.ends_ns),
        )
        return token, secret

    def tokens(self, name: str) -> tuple[Token, ...]:
        """Return a person's tokens, oldest first."""
        rows = self._connection.execute(
            "SELECT id, name, label, scopes, made_ns, ends_ns FROM tokens WHERE name = ?"
            " ORDER BY made_ns, id",
            (name,),
        )
        return tuple(
            Token(key, owner, label, tuple(map(Right, scopes.split())), made, ends)
            for key, owner, label, scopes, made, ends in rows
        )

    def by_token(self, secret: str) -> Person | None:
        """Return whose token it is, with the rights that token and account share."""
        query = "SELECT id, name, scopes FROM tokens WHERE digest = ? AND ends_ns > ?"
        row = self._connection.execute(query, (_digest(secret), self._clock.now_ns())).fetchone()
        account = None if row is None else self._account(row[1])
        if account is None or not account.active:
            return None
        rights = _rights(account) & frozenset(map(Right, row[2].split()))
        return Person(account.name, account.role, rights, f"token:{row[0]}")

    def drop_token(self, name: str, key: str) -> bool:
        """Take back a person's own token; tell whether there was one."""
        query = "DELETE FROM tokens WHERE name = ? AND id = ?"
        return self._connection.execute(query, (name, key)).rowcount > 0


def _rights(account: Account) -> frozenset[Right]:
    rights = RIGHTS[account.role]
    return rights & {Right.KEEP_SELF} if account.second_factor == "due" else rights


def _digest(secret: str) -> bytes:
    return hashlib.sha256(secret.encode()).digest()
