"""Whether a check notices a mutant: in a copy of this process that has the mutant in it."""

import os
import resource
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import CodeType, FrameType
from typing import Any, Final

import pytest

from lab.mutation.mutants import PACKAGE, Mutant, apply, build_tables, function

CPU_SECONDS: Final = 40
"""A mutant that keeps the checks longer than this has no end, and is found by that."""
NONE: Final = -1
LOADING: Final = -2
"""Stands for the building of a module's tables, which a mutant may break."""


@dataclass(frozen=True)
class Check:
    """Something the engine is asked, and what it answers as it stands."""

    name: str
    ask: Callable[[], object]
    answer: object


@dataclass(frozen=True)
class Verdict:
    """What became of a mutant: the check that noticed it, ``None`` where none did."""

    mutant: Mutant
    by: str | None


class Judge:
    """Knows which checks pass through which function, and asks only those."""

    def __init__(self, checks: Sequence[Check]) -> None:
        self._checks = checks
        self._through = _passing_through(checks)

    def untouched(self, mutant: Mutant) -> bool:
        """Tell whether no check comes by the mutant's function."""
        return function(mutant).__code__ not in self._through

    def results(self, mutants: Sequence[Mutant], jobs: int) -> Iterator[Verdict]:
        """Judge each mutant in a process of its own, ``jobs`` at a time."""
        waiting = list(reversed(mutants))
        running: dict[int, tuple[Mutant, int]] = {}
        while waiting or running:
            while waiting and len(running) < jobs:
                mutant = waiting.pop()
                process, pipe = self._start(mutant)
                running[process] = (mutant, pipe)
            process, status = os.waitpid(-1, 0)[:2]
            mutant, pipe = running.pop(process)
            yield Verdict(mutant, self._found(pipe, status))

    def _start(self, mutant: Mutant) -> tuple[int, int]:
        reading, writing = os.pipe()
        process = os.fork()
        if process:
            os.close(writing)
            return process, reading
        try:
            number = self._first_noticing(mutant)
            os.write(writing, str(number).encode())
        finally:
            os._exit(0)

    def _first_noticing(self, mutant: Mutant) -> int:
        numbers = self._through.get(function(mutant).__code__, ())
        resource.setrlimit(resource.RLIMIT_CPU, (CPU_SECONDS, CPU_SECONDS))
        try:
            apply(mutant)
        except Exception:
            return LOADING
        return next((n for n in numbers if _differs(self._checks[n])), NONE)

    def _found(self, pipe: int, status: int) -> str | None:
        with os.fdopen(pipe, "rb") as file:
            answer = file.read()
        if status or not answer:
            return "no end"
        number = int(answer)
        if number == LOADING:
            return "loading"
        return None if number == NONE else self._checks[number].name


def _differs(check: Check) -> bool:
    try:
        return check.ask() != check.answer
    except (Exception, pytest.fail.Exception):
        return True


def _passing_through(checks: Sequence[Check]) -> Mapping[CodeType, Sequence[int]]:
    """Return the checks that come by each function of the engine.

    What a table was built with is asked everything: any check may come by the table.
    """
    everything = range(len(checks))
    passing = {code: list(everything) for code in _functions_called(build_tables)}
    building = frozenset(passing)
    for number, check in enumerate(checks):
        for code in _functions_called(check.ask) - building:
            passing.setdefault(code, []).append(number)
    return passing


def _functions_called(ask: Callable[[], object]) -> set[CodeType]:
    found: set[CodeType] = set()

    def note(frame: FrameType, event: str, _: Any) -> None:
        if event == "call":
            found.add(frame.f_code)

    sys.setprofile(note)
    try:
        ask()
    finally:
        sys.setprofile(None)
    return {code for code in found if f"/{PACKAGE}/" in code.co_filename}
