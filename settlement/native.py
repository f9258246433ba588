"""The engine's compiled form, used where it was built from exactly the sources that lie here.

``scripts/compile`` builds these modules into a folder named after a hash of their sources. A
changed source has another hash, so a form that is out of date is never found; then, and where
``PITWATCH_INTERPRETED`` is set, the sources themselves run. Both do the same.

Nothing of the game is here: this is the only file of the package that looks at files.
"""

import hashlib
import os
import sys
from typing import Final

MODULES: Final = (
    "acting",
    "cards",
    "closing",
    "dealer",
    "dealing",
    "doubt",
    "engine",
    "facts",
    "hands",
    "houserules",
    "judge",
    "payments",
    "play",
    "reading",
    "script",
    "settling",
    "shoe",
    "splits",
    "state",
    "tables",
    "wagering",
)
"""What is compiled, all into one library."""

INTERPRETED: Final = "PITWATCH_INTERPRETED"
"""Set to anything, this variable keeps the compiled form out."""

_ROOT: Final = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))  # noqa: PTH100, PTH120


def home() -> str:
    """Return the folder that holds every compiled form."""
    return os.path.join(_ROOT, "build", "compiled")  # noqa: PTH118


def folder() -> str:
    """Return the folder of the form that belongs to these sources and this Python."""
    return os.path.join(home(), f"{sys.implementation.cache_tag}-{_key()}")  # noqa: PTH118


def found() -> str | None:
    """Return the folder to import the engine from, ``None`` for the sources themselves."""
    if os.environ.get(INTERPRETED) or not os.path.isdir(home()):  # noqa: PTH112
        return None
    compiled = folder()
    return compiled if os.path.isdir(compiled) else None  # noqa: PTH112


def sources() -> list[str]:
    """Return the files that the compiled form depends on, from the root of the project."""
    names = sorted(os.listdir(os.path.join(_ROOT, "models")))  # noqa: PTH118, PTH208
    vocabulary = [f"models/{name}" for name in names if name.endswith(".py")]
    other = [f"settlement/{name}.py" for name in ("__init__", "clauses", "native")]
    return vocabulary + other + [f"settlement/{name}.py" for name in MODULES]


def _key() -> str:
    digest = hashlib.sha256()
    for name in sources():
        with open(os.path.join(_ROOT, name), "rb") as file:  # noqa: PTH118, PTH123
            content = file.read()
        digest.update(f"{name} {len(content)}\n".encode())
        digest.update(content)
    return digest.hexdigest()[:20]
