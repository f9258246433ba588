"""Accounts, sessions, second factors, tokens and lockout in one SQLite file, used by one thread.

The file stores a password as its Argon2id hash. It stores only the SHA-256 of a session or token:
they are 256 random bits, so no slower hash is needed.
"""

import hmac
import secrets
from collections.abc import Collection
from contextlib import AbstractContextManager, suppress
from pathlib import Path
from typing import Final, Literal, Self, TypeAlias

import msgspec
import sqlalchemy as sa
from argon2 import PasswordHasher

from models.errors import OperatorError
from server.service.access.database import Database, accounts_file
from server.service.access.passwords import PasswordRules, Passwords, PasswordState, is_right
from server.service.access.people import RIGHTS, Person, Right, Role
from server.service.access.second_factor import Enrolment, Recovery, SecondFactors
from server.service.access.tokens import Token, Tokens, digest_of
from stream.clock import Clock

MINUTE_NS: Final = 60_000_000_000
TRIES: Final = 5
LOCKED_NS: Final = 15 * MINUTE_NS
IDLE_NS: Final = 30 * MINUTE_NS
SESSION_NS: Final = 12 * 60 * MINUTE_NS

_SEEN_NS: Final = 10_000_000_000
"""Nanoseconds within which a session's use is noted once: each note waits for the disk."""

_SCHEMA: Final = """
CREATE TABLE IF NOT EXISTS accounts (name TEXT PRIMARY KEY, role TEXT NOT NULL,
    password TEXT NOT NULL, active INTEGER NOT NULL, made_ns INTEGER NOT NULL);
CREATE TABLE IF NOT EXISTS sessions (digest BLOB PRIMARY KEY, name TEXT NOT NULL,
    csrf BLOB NOT NULL, made_ns INTEGER NOT NULL, seen_ns INTEGER NOT NULL);
CREATE TABLE IF NOT EXISTS account_tables (name TEXT NOT NULL, tab TEXT NOT NULL,
    PRIMARY KEY (name, tab));
CREATE TABLE IF NOT EXISTS tries (name TEXT PRIMARY KEY, failed INTEGER NOT NULL,
    last_ns INTEGER NOT NULL);
"""


FactorState: TypeAlias = Literal["off", "on", "due"]
"""``due``: the account's role requires a second factor, and none is set up yet."""


class Account(msgspec.Struct, frozen=True):
    """A person's account, without its secrets."""

    name: str
    role: Role
    active: bool
    made_ns: int
    second_factor: FactorState
    password: PasswordState = "own"
    tokens: int = 0
    tables: tuple[str, ...] = ()
    """The tables that it may see; where empty, all."""


class SignedIn(msgspec.Struct, frozen=True):
    """A new session, as its page sees it: without the cookie's secret."""

    name: str
    role: Role
    csrf: str
    second_factor: FactorState
    """While it is ``due`` the only permitted action is to enrol one."""
    password: PasswordState
    """While it is ``due`` the only permitted action is to change it."""


class Begun(msgspec.Struct, frozen=True):
    """A session with its cookie's secret. Both are shown once."""

    session: str
    shown: SignedIn


class LockedOut(OperatorError):
    """Too many wrong passwords for this name."""

    def __init__(self, left_ns: int) -> None:
        super().__init__(
            "too many wrong passwords", where="sign-in", way_out="Wait, or ask an administrator"
        )
        self.left_ns = left_ns


class CodeDue(OperatorError):
    """The password is right, but the account requires a code too."""

    def __init__(self) -> None:
        super().__init__(
            "a code is required",
            where="sign-in",
            way_out="Send the code from your authenticator, or a recovery code",
        )


class Accounts:
    """The store. Every method may access the disk.

    ``guarded_roles`` are those that require a second factor: without one, such an account may only
    enrol it.
    """

    def __init__(
        self,
        database: sa.Engine,
        clock: Clock,
        hasher: PasswordHasher,
        guarded_roles: Collection[Role] = (),
        rules: PasswordRules | None = None,
    ) -> None:
        self._connection = Database(database)
        self._connection.create(_SCHEMA)
        self._clock, self._hasher = clock, hasher
        self._factors = SecondFactors(self._connection, clock)
        self._passwords = Passwords(self._connection, clock, hasher, rules or PasswordRules())
        self._tokens = Tokens(self._connection, clock)
        self._guarded_roles = frozenset(guarded_roles)
        self._nobody = hasher.hash(secrets.token_urlsafe())

    @classmethod
    def open(
        cls,
        path: Path,
        clock: Clock,
        hasher: PasswordHasher,
        guarded_roles: Collection[Role] = (),
        rules: PasswordRules | None = None,
    ) -> Self:
        """Open the store, or create it, readable by this user only."""
        return cls(accounts_file(path), clock, hasher, guarded_roles, rules)

    def alone(self) -> AbstractContextManager[None]:
        """Return a context within which no other service changes an account."""
        return self._connection.alone()

    def close(self) -> None:
        """Close the store."""
        self._connection.close()

    # --- accounts -------------------------------------------------------------------------

    def all(self) -> tuple[Account, ...]:
        """Return every account by name."""
        query = "SELECT name, role, active, made_ns FROM accounts ORDER BY name"
        return tuple(map(self._read, self._connection.execute(query).fetchall()))

    def _read(self, row: tuple[str, str, bool, int]) -> Account:
        name, role, active, made_ns = row
        return self._complete(Account(name, Role(role), bool(active), made_ns, "off"))

    def _complete(self, account: Account) -> Account:
        return msgspec.structs.replace(
            account,
            second_factor=self._factor(account.name, account.role),
            password=self._passwords.state(account.name),
            tokens=len(self._tokens.of(account.name)),
            tables=self._tables(account.name),
        )

    def _tables(self, name: str) -> tuple[str, ...]:
        query = "SELECT tab FROM account_tables WHERE name = ? ORDER BY tab"
        return tuple(row[0] for row in self._connection.execute(query, (name,)).fetchall())

    def _limit(self, name: str, tables: Collection[str]) -> None:
        self._connection.execute("DELETE FROM account_tables WHERE name = ?", (name,))
        for one in set(tables):
            self._connection.execute("INSERT INTO account_tables VALUES (?, ?)", (name, one))

    def _factor(self, name: str, role: Role) -> FactorState:
        if self._factors.is_on(name):
            return "on"
        return "due" if role in self._guarded_roles else "off"

    def add(
        self,
        name: str,
        role: Role,
        password: str,
        *,
        is_first: bool = False,
        tables: Collection[str] = (),
    ) -> Account:
        """Create an account. A first password, set by somebody else, must be changed.

        It may see ``tables``, or all where none is named.

        Raises:
            OperatorError: the name is taken, or the password is too easily guessed.
        """
        self._passwords.check(name, password)
        account = Account(name, role, True, self._clock.now_ns(), "off")
        added = self._connection.execute(
            "INSERT INTO accounts VALUES (?, ?, ?, ?, ?) ON CONFLICT (name) DO NOTHING",
            (name, role, self._hasher.hash(password), True, account.made_ns),
        )
        if not added.rowcount:
            raise OperatorError(
                f"there is an account {name!r} already", where="accounts", way_out="Take another"
            )
        self._passwords.keep(name, None, is_first=is_first)
        self._limit(name, tables)
        return self._complete(account)

    def change(
        self,
        name: str,
        *,
        role: Role | None = None,
        active: bool | None = None,
        password: str | None = None,
        is_first: bool = False,
        keep_tokens: bool = False,
        tables: Collection[str] | None = None,
    ) -> Account | None:
        """Change an account and end its sessions; return ``None`` for an unknown name.

        Where everything given is as it was, nothing ends. A new password also ends the tokens,
        unless ``keep_tokens``; so does closing the account. A first password, set by somebody else,
        must be changed.

        Raises:
            OperatorError: no account would be left to manage the accounts, or the password is too
                easily guessed or was used before.
        """
        account = self._account(name)
        if account is None:
            return None
        kept = frozenset(account.tables if tables is None else tables)
        changed = msgspec.structs.replace(
            account,
            role=account.role if role is None else role,
            active=account.active if active is None else active,
            tables=account.tables if kept == set(account.tables) else tuple(sorted(kept)),
        )
        if password is None and changed == account:
            return account
        self._check_keeper(changed)
        if password is not None:
            self._passwords.check(name, password)
        self._connection.execute(
            "UPDATE accounts SET role = ?, active = ? WHERE name = ?",
            (changed.role, changed.active, name),
        )
        if password is not None:
            self._replace_password(name, password, is_first=is_first)
        self._limit(name, changed.tables)
        if (password is not None and not keep_tokens) or not changed.active:
            self._tokens.drop_all(name)
        self._connection.execute("DELETE FROM sessions WHERE name = ?", (name,))
        return self._complete(changed)

    def _replace_password(self, name: str, password: str, *, is_first: bool) -> None:
        query = "SELECT password FROM accounts WHERE name = ?"
        (former,) = self._connection.execute(query, (name,)).fetchone()
        self._connection.execute(
            "UPDATE accounts SET password = ? WHERE name = ?", (self._hasher.hash(password), name)
        )
        self._passwords.keep(name, former, is_first=is_first)
        self._connection.execute("DELETE FROM tries WHERE name = ?", (name,))

    def _check_keeper(self, changed: Account) -> None:
        left = [one for one in self.all() if one.name != changed.name] + [changed]
        if not any(one.active and one.role is Role.ADMIN for one in left):
            raise OperatorError(
                "no active administrator would be left",
                where=f"account {changed.name!r}",
                way_out="Make another administrator first",
            )

    def _account(self, name: str) -> Account | None:
        query = "SELECT name, role, active, made_ns FROM accounts WHERE name = ?"
        row = self._connection.execute(query, (name,)).fetchone()
        return None if row is None else self._read(row)

    # --- sessions -------------------------------------------------------------------------

    def sign_in(self, name: str, password: str, code: str | None = None) -> Begun | None:
        """Begin a session; ``None`` where something is wrong, without revealing what.

        Args:
            name: the account.
            password: the password.
            code: of the authenticator, or a recovery code; ignored for an account without a second
                factor.

        Raises:
            LockedOut: after five wrong passwords or codes, for fifteen minutes, whether or not
                there is such an account.
            CodeDue: the password is right, and a code is required.
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
        """Return whether it is the password of that active account; a wrong one counts.

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
                "INSERT INTO tries VALUES (?, ?, ?) ON CONFLICT (name)"
                " DO UPDATE SET failed = excluded.failed, last_ns = excluded.last_ns",
                (name, failed + 1, now_ns),
            )

    def _failed(self, name: str, now_ns: int) -> int:
        self._connection.execute("DELETE FROM tries WHERE last_ns < ?", (now_ns - LOCKED_NS,))
        query = "SELECT failed, last_ns FROM tries WHERE name = ?"
        failed, last_ns = self._connection.execute(query, (name,)).fetchone() or (0, 0)
        if failed >= TRIES:
            raise LockedOut(last_ns + LOCKED_NS - now_ns)
        return int(failed)

    def _is_right(self, name: str, password: str) -> bool:
        """Check a password; an unknown name takes as much time as a known one."""
        query = "SELECT password FROM accounts WHERE name = ? AND active"
        row = self._connection.execute(query, (name,)).fetchone()
        hashed = self._nobody if row is None else row[0]
        return is_right(self._hasher, hashed, password) and row is not None

    def _begin(self, name: str, now_ns: int) -> Begun:
        account = self._account(name)
        assert account is not None
        session, csrf = secrets.token_urlsafe(32), secrets.token_urlsafe(32)
        ended_ns = (now_ns - SESSION_NS, now_ns - IDLE_NS)
        self._connection.execute("DELETE FROM sessions WHERE made_ns < ? OR seen_ns < ?", ended_ns)
        self._connection.execute(
            "INSERT INTO sessions VALUES (?, ?, ?, ?, ?)",
            (digest_of(session), name, digest_of(csrf), now_ns, now_ns),
        )
        shown = SignedIn(name, account.role, csrf, account.second_factor, account.password)
        return Begun(session, shown)

    def by_session(self, session: str, csrf: str | None) -> tuple[Person, bool] | None:
        """Return a session's owner, and whether ``csrf`` is its own; ``None`` if it is over."""
        now_ns = self._clock.now_ns()
        row = self._connection.execute(
            "SELECT name, csrf FROM sessions WHERE digest = ? AND made_ns > ? AND seen_ns > ?",
            (digest_of(session), now_ns - SESSION_NS, now_ns - IDLE_NS),
        ).fetchone()
        account = None if row is None else self._account(row[0])
        if account is None or not account.active:
            return None
        with suppress(sa.exc.OperationalError):  # on a full disk the session just ends sooner
            self._connection.execute(
                "UPDATE sessions SET seen_ns = ? WHERE digest = ? AND seen_ns < ?",
                (now_ns, digest_of(session), now_ns - _SEEN_NS),
            )
        own = csrf is not None and hmac.compare_digest(row[1], digest_of(csrf))
        return _person(account, _rights(account), "session"), own

    def sign_out(self, session: str) -> None:
        """End a session."""
        self._connection.execute("DELETE FROM sessions WHERE digest = ?", (digest_of(session),))

    # --- second factors -------------------------------------------------------------------

    def standing(self, name: str) -> tuple[FactorState, PasswordState]:
        """Return the state of an account's second factor and password."""
        account = self._account(name)
        return ("off", "own") if account is None else (account.second_factor, account.password)

    def begin_factor(self, name: str, password: str) -> Enrolment | None:
        """Create a secret for an authenticator; ``None`` where the password is wrong.

        Raises:
            LockedOut: as :meth:`sign_in`.
            OperatorError: the account has a second factor already.
        """
        if not self.is_password(name, password):
            return None
        if self._factors.is_on(name):
            raise OperatorError(
                "there is a second factor already", where=name, way_out="Remove it first"
            )
        return self._factors.begin(name)

    def confirm_factor(self, name: str, code: str) -> Recovery | None:
        """Turn the second factor on; ``None`` where the code does not match the new secret."""
        return None if self._factors.is_on(name) else self._factors.confirm(name, code)

    def drop_own_factor(self, name: str, password: str, code: str) -> bool | None:
        """Turn one's own second factor off, with a code; ``None`` where something is wrong.

        Raises:
            LockedOut: as :meth:`sign_in`.
        """
        now_ns = self._clock.now_ns()
        failed = self._failed(name, now_ns)
        is_on = self._factors.is_on(name)
        right = self._is_right(name, password)
        right = right and (not is_on or self._factors.is_right(name, code))
        self._count(name, failed, now_ns, is_right=right)
        return self.drop_factor(name) if right else None

    def drop_factor(self, name: str) -> bool:
        """Turn a second factor off and end the account's sessions; return whether there was one."""
        was_on = self._factors.is_on(name)
        self._factors.drop(name)
        if was_on:
            self._connection.execute("DELETE FROM sessions WHERE name = ?", (name,))
        return was_on

    # --- tokens ---------------------------------------------------------------------------

    def add_token(
        self, name: str, label: str, scopes: Collection[Right], lasts_ns: int, made_by: str = ""
    ) -> tuple[Token, str]:
        """Create a token; its secret is shown once. It ends with the token ``made_by``."""
        return self._tokens.add(name, label, scopes, lasts_ns, made_by)

    def tokens(self, name: str) -> tuple[Token, ...]:
        """Return a person's tokens, oldest first."""
        return self._tokens.of(name)

    def by_token(self, secret: str) -> Person | None:
        """Return a token's owner, with the rights that token and account share."""
        found = self._tokens.find(secret)
        if found is None:
            return None
        key, name, scopes = found
        account = self._account(name)
        if account is None or not account.active:
            return None
        return _person(account, _rights(account) & scopes, f"token:{key}")

    def drop_token(self, name: str, key: str) -> bool:
        """Revoke a person's token and those it created; return whether there was one."""
        return self._tokens.drop(name, key)


def _person(account: Account, rights: frozenset[Right], by: str) -> Person:
    tables = frozenset(account.tables) if account.tables else None
    return Person(account.name, account.role, rights, by, tables)


def _rights(account: Account) -> frozenset[Right]:
    rights = RIGHTS[account.role]
    is_due = "due" in {account.second_factor, account.password}
    return rights & {Right.KEEP_SELF} if is_due else rights
