"""Secrets of receivers: named by file or environment, read when needed, never printed."""

import os
from pathlib import Path

import msgspec

from models.errors import InstallerError


class SecretText:
    """A secret that is visible only through ``plain``."""

    __slots__ = ("plain",)

    def __init__(self, plain: str) -> None:
        self.plain = plain

    def __repr__(self) -> str:
        return "SecretText(…)"


class Secret(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The source of a secret: exactly one of the two."""

    file: str | None = None
    """The file with the secret; one line break at its end is ignored."""
    env: str | None = None
    """The environment variable with the secret."""

    def read(self, folder: Path) -> SecretText:
        """Return the secret; ``folder`` is the configuration's.

        Raises:
            InstallerError: neither or both are named, or the secret is missing or empty.
        """
        if (self.file is None) == (self.env is None):
            raise InstallerError(
                "a secret needs either file or env",
                where="secret",
                way_out='Write secret = { file = "…" } or secret = { env = "…" }',
            )
        if self.env is not None:
            return _found(os.environ.get(self.env, ""), f"environment variable {self.env}")
        path = folder / str(self.file)
        try:
            return _found(path.read_text("utf-8").rstrip("\r\n"), str(path))
        except (OSError, UnicodeDecodeError) as fault:
            why = getattr(fault, "strerror", None) or "it is not UTF-8 text"
            raise InstallerError(
                f"the secret cannot be read ({why})",
                where=str(path),
                way_out="Put it there, readable by the user that runs Pitwatch",
            ) from fault


def _found(text: str, where: str) -> SecretText:
    if not text:
        raise InstallerError(
            "the secret is empty or not set", where=where, way_out="Put the secret there"
        )
    return SecretText(text)
