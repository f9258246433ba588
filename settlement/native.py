"""Compiled forms, used where they were built from exactly the sources that lie here.

``scripts/compile`` builds each form's modules into a folder named after a hash of their sources. A
changed source has another hash, so a form that is out of date is never found; then, and where
``PITWATCH_INTERPRETED`` is set, the sources themselves run. Both do the same.

Nothing of the game is here: this is the only file of the package that looks at files.
"""

import hashlib
import os
import sys
from typing import Final, NamedTuple


class Form(NamedTuple):
    """What is compiled into one library."""

    name: str
    package: str
    """The folder of the package, from the root of the project."""
    modules: tuple[str, ...]
    """The modules of the package that are compiled."""
    effort: str
    """How hard the C compiler tries: where it gains little, it need not take long."""


_ENGINE_MODULES: Final = (
    "acting",
    "cards",
    "closing",
    "dealer",
    "dealing",
    "doubt",
    "engine",
    "engine_state",
    "facts",
    "hands",
    "houserules",
    "judge",
    "payments",
    "play",
    "reading",
    "script",
    "sentences",
    "settling",
    "shoe",
    "splits",
    "state",
    "tables",
    "wagering",
)

_RECONCILER_MODULES: Final = (
    "camera",
    "chips",
    "clinging",
    "decisions",
    "draws",
    "faces",
    "felt",
    "grounds",
    "happenings",
    "identity",
    "looks",
    "matching",
    "pitch",
    "questions",
    "reconciler",
    "reviews",
    "rounds",
    "sightings",
    "splits",
    "table",
    "timing",
    "unread",
    "unseen",
    "voice",
    "wagers",
    "weighing",
)

ENGINE: Final = Form("engine", "settlement", _ENGINE_MODULES, "3")
RECONCILER: Final = Form("reconciler", "settlement/reconcile", _RECONCILER_MODULES, "1")
FORMS: Final = (ENGINE, RECONCILER)

INTERPRETED: Final = "PITWATCH_INTERPRETED"
"""Set to anything, this variable keeps the compiled form out."""

_ROOT: Final = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))  # noqa: PTH100, PTH120


def home() -> str:
    """Return the folder that holds every compiled form."""
    return os.path.join(_ROOT, "build", "compiled")  # noqa: PTH118


def folder(form: Form) -> str:
    """Return the folder of the form that belongs to these sources and this Python."""
    return os.path.join(home(), f"{sys.implementation.cache_tag}-{_key(form)}")  # noqa: PTH118


def found(form: Form) -> str | None:
    """Return the folder to import a form's modules from, ``None`` for the sources themselves."""
    if os.environ.get(INTERPRETED) or not os.path.isdir(home()):  # noqa: PTH112
        return None
    compiled = folder(form)
    return compiled if os.path.isdir(compiled) else None  # noqa: PTH112


def sources(form: Form) -> list[str]:
    """Return the files that a form depends on, from the root of the project."""
    names = sorted(os.listdir(os.path.join(_ROOT, "models")))  # noqa: PTH118, PTH208
    files = [f"models/{name}" for name in names if name.endswith(".py")]
    files += [f"settlement/{name}.py" for name in ("__init__", "clauses", "native")]
    files += modules(ENGINE)
    if form is not ENGINE:
        files += [f"{form.package}/__init__.py", *modules(form)]
    return files


def modules(form: Form) -> list[str]:
    """Return the files that are compiled, from the root of the project."""
    return [f"{form.package}/{name}.py" for name in form.modules]


def _key(form: Form) -> str:
    digest = hashlib.sha256()
    for name in sources(form):
        with open(os.path.join(_ROOT, name), "rb") as file:  # noqa: PTH118, PTH123
            content = file.read()
        digest.update(f"{name} {len(content)}\n".encode())
        digest.update(content)
    return digest.hexdigest()[:20]
