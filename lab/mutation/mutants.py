"""Mutants of the rules engine: each of its functions with one thing changed.

What changes are made is mutmut's choice. They are put into the running program one at a time, by
exchanging the code of one function, so that a mutant costs no start of a program.
"""

import ast
import importlib
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import CodeType, FunctionType
from typing import Any, Final, cast

from mutmut.mutation.file_mutation import mutate_file_contents

PACKAGE: Final = Path("settlement")
LEFT_OUT: Final = ("__init__", "native")
"""They choose which form of the engine runs, and hold no rule of the game."""
MODULES: Final = tuple(
    sorted(path.stem for path in PACKAGE.glob("*.py") if path.stem not in LEFT_OUT)
)

_MARK: Final = "__mutmut_"
_JOINT: Final = "ǁ"
_ORIGINAL: Final = "orig"
_DISPATCH: Final = re.compile(
    r"^(?: *@_mutmut_mutated\(.*\)|from mutmut.*|mutants_\S+: MutantDict = .*|mutants_\S+\[.*)\n",
    re.MULTILINE,
)
"""What mutmut writes to choose a mutant while a program runs."""


@dataclass(frozen=True)
class Mutant:
    """One function of one module, changed in one place.

    ``place`` is the function as its module calls it, ``State.begin``; ``change`` distinguishes one
    change to it from the others.
    """

    module: str
    place: str
    change: str

    def __str__(self) -> str:
        return f"{self.module}.{self.place}#{self.change}"

    @property
    def original(self) -> bool:
        """Whether this is the function as it stands."""
        return self.change == _ORIGINAL


@dataclass(frozen=True)
class _Mutated:
    """A module with every mutant of every function in it."""

    source: str
    codes: dict[Mutant, CodeType]
    texts: dict[Mutant, tuple[str, ...]]
    at: dict[int, Mutant]
    """Whose every line of the source is."""


def mutants(module: str) -> tuple[Mutant, ...]:
    """Return every mutant of a module of the engine."""
    return tuple(one for one in _mutated(module).codes if not one.original)


def function(mutant: Mutant) -> FunctionType:
    """Return the function of the running engine that is changed."""
    found: Any = importlib.import_module(f"{PACKAGE}.{mutant.module}")
    for name in mutant.place.split("."):
        found = vars(found)[name]
    inner = getattr(found, "__func__", None) or getattr(found, "fget", None)
    return cast(FunctionType, inner or found)


def apply(mutant: Mutant) -> None:
    """Make the function behave as the mutant, for every caller in this process."""
    function(mutant).__code__ = _mutated(mutant.module).codes[mutant]
    build_tables()


def build_tables() -> None:
    """Reckon anew what the engine reckons once, as its modules are loaded."""
    for module in MODULES:
        exec(_tables(module), vars(importlib.import_module(f"{PACKAGE}.{module}")))


def difference(mutant: Mutant) -> str:
    """Return the lines that the mutant changes, as they are and as it has them."""
    texts = _mutated(mutant.module).texts
    before = texts[Mutant(mutant.module, mutant.place, _ORIGINAL)]
    pairs = zip(before, texts[mutant], strict=False)
    changed = [(a.strip(), b.strip()) for a, b in pairs if a != b and _MARK not in a]
    return "\n".join(f"- {one}\n+ {other}" for one, other in changed[:4])


def source(module: str) -> str:
    """Return a module's text with every function followed by its mutants, none of them in use."""
    return _DISPATCH.sub("\n", _mutated(module).source)


def mutant_at(module: str, line: int) -> Mutant | None:
    """Return the mutant, or the original function, that a line of :func:`source` belongs to."""
    return _mutated(module).at.get(line)


@cache
def _tables(module: str) -> CodeType:
    """Return the statements by which a module gives names to what functions return."""
    path = PACKAGE / f"{module}.py"
    named = [one for one in ast.parse(path.read_text("utf-8")).body if _calls(one)]
    return compile(ast.Module(named, []), str(path), "exec", dont_inherit=True)


def _calls(statement: ast.stmt) -> bool:
    if not isinstance(statement, ast.Assign | ast.AnnAssign) or statement.value is None:
        return False
    return any(isinstance(part, ast.Call) for part in ast.walk(statement.value))


@cache
def _mutated(module: str) -> _Mutated:
    path = PACKAGE / f"{module}.py"
    made = mutate_file_contents(str(path), path.read_text("utf-8"))
    lines = made.code.splitlines()
    compiled = dict(_codes(compile(made.code, str(path), "exec", dont_inherit=True)))
    spans = made.line_span_by_function_name
    names = {name: Mutant(module, *_read(name)) for name in spans}
    numbers = {name: range(span.start, span.end + 1) for name, span in spans.items()}
    return _Mutated(
        source=made.code,
        codes={names[name]: compiled[name] for name in spans},
        texts={names[name]: tuple(lines[n - 1] for n in numbers[name]) for name in spans},
        at={number: names[name] for name in spans for number in numbers[name]},
    )


def _codes(module: CodeType) -> Iterator[tuple[str, CodeType]]:
    for constant in module.co_consts:
        if isinstance(constant, CodeType):
            if _MARK in constant.co_name:
                yield constant.co_name, constant
            else:
                yield from _codes(constant)


def _read(name: str) -> tuple[str, str]:
    """Return place and change of ``xǁStateǁbegin__mutmut_3``, or of ``x_judge__mutmut_3``."""
    mangled, _, change = name.rpartition(_MARK)
    if mangled.startswith(f"x{_JOINT}"):
        return mangled[2:].replace(_JOINT, "."), change
    return mangled.removeprefix("x_"), change
