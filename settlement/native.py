"""Compiled forms, used where they were built from exactly the present sources.

``scripts/compile`` builds each form's modules into a folder named after a hash of their sources. A
changed source has another hash, so an outdated form is never found. Then, and where
``PITWATCH_INTERPRETED`` is set, the sources themselves run. Both give the same results.

This file has no rules of the game: it is the only one of the package that reads files.
"""

import hashlib
import os
import sys
from typing import Final, NamedTuple


class Form(NamedTuple):
    """The modules of one compiled library."""

    name: str
    package: str
    """The folder of the package, from the root of the project."""
    interpreted: tuple[str, ...]
    """The modules of the package that are not compiled; every other one is."""
    effort: str
    """The C compiler's optimisation level: high only where it gains speed."""


ENGINE: Final = Form(
    "engine",
    "settlement",
    (
        "__init__",
        "balance",
        "clauses",
        "engine_state",
        "ledger",
        "native",
        "pay_tables",
        "rulebooks",
    ),
    "3",
)
RECONCILER: Final = Form("reconciler", "settlement/reconcile", ("__init__",), "1")
RECKONING: Final = Form("reckoning", "settlement/reckoning", ("__init__",), "1")
FORMS: Final = (ENGINE, RECONCILER, RECKONING)

INTERPRETED: Final = "PITWATCH_INTERPRETED"
"""The environment variable that disables the compiled form, with any value."""

_ROOT: Final = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))  # noqa: PTH100, PTH120


def home() -> str:
    """Return the folder that holds every compiled form."""
    return os.path.join(_ROOT, "build", "compiled")  # noqa: PTH118


def folder(form: Form) -> str:
    """Return the folder of the form for these sources and this Python."""
    return os.path.join(home(), f"{sys.implementation.cache_tag}-{_key(form)}")  # noqa: PTH118


def found(form: Form) -> str | None:
    """Return the folder to import a form's modules from, ``None`` for the sources themselves."""
    if os.environ.get(INTERPRETED) or not os.path.isdir(home()):  # noqa: PTH112
        return None
    compiled = folder(form)
    return compiled if os.path.isdir(compiled) else None  # noqa: PTH112


def sources(form: Form) -> list[str]:
    """Return the files that a form depends on, relative to the project's root."""
    files = [f"models/{name}.py" for name in _modules_in("models")]
    files += [f"settlement/{name}.py" for name in ("__init__", "clauses", "engine_state", "native")]
    files += modules(ENGINE)
    if form is RECKONING:
        files += [f"{RECONCILER.package}/__init__.py", *modules(RECONCILER)]
    if form is not ENGINE:
        files += [f"{form.package}/__init__.py", *modules(form)]
    return files


def modules(form: Form) -> list[str]:
    """Return the compiled files, relative to the project's root."""
    found = _modules_in(form.package)
    return [f"{form.package}/{name}.py" for name in found if name not in form.interpreted]


def _modules_in(package: str) -> list[str]:
    names = os.listdir(os.path.join(_ROOT, package))  # noqa: PTH118, PTH208
    return sorted(name.removesuffix(".py") for name in names if name.endswith(".py"))


def _key(form: Form) -> str:
    digest = hashlib.sha256()
    for name in sources(form):
        with open(os.path.join(_ROOT, name), "rb") as file:  # noqa: PTH118, PTH123
            content = file.read()
        digest.update(f"{name} {len(content)}\n".encode())
        digest.update(content)
    return digest.hexdigest()[:20]
