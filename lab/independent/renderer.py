"""The renderer's process, and the pictures it made: each is rendered once and kept."""

import hashlib
import json
import os
import shutil
import subprocess
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Self

import numpy as np
from numpy.typing import NDArray

from lab.independent.jobs import Job

CACHE: Final = Path(".cache/independent")
VARIABLE: Final = "PITWATCH_BLENDER"
SCRIPT: Final = Path(__file__).with_name("blend.py")
MISSING: Final = (
    f"no Blender: set {VARIABLE} to a Python with bpy (pip install bpy==4.5.15) or to Blender 4.2+"
)


def command() -> list[str] | None:
    """Return how Blender is started with this package's script, or nothing where it is missing."""
    named = os.environ.get(VARIABLE) or shutil.which("blender")
    if not named:
        return None
    blender = Path(named).name.startswith("blender")
    return [named, *(("-b", "--python-exit-code", "1", "-P") if blender else ()), str(SCRIPT)]


@dataclass
class Renderer:
    """Renders jobs in one room; use it as a context."""

    setting: dict[str, Any]
    root: Path
    folder: Path

    def __enter__(self) -> Self:
        self._process: subprocess.Popen[str] | None = None
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._process is not None:
            self._process.communicate()

    def path(self, job: Job) -> Path:
        """Return where a job's picture is kept: named after all that decides it."""
        what = json.dumps([self.setting, job.line()], sort_keys=True)
        what = what.replace(str(self.root), "")
        return self.folder / f"{hashlib.sha256(what.encode()).hexdigest()[:20]}.npy"

    def render(self, jobs: Iterable[Job], tell: Callable[[int, int], None] | None = None) -> None:
        """Render those jobs that are missing, stills before what moves over them."""
        missing = {self.path(job): job for job in jobs}
        missing = {path: job for path, job in missing.items() if not path.exists()}
        ordered = sorted(missing.items(), key=lambda one: (one[1].over, one[1].shrink))
        for number, (path, job) in enumerate(ordered, start=1):
            self._ask(job.line() | {"out": str(path)})
            if tell is not None:
                tell(number, len(ordered))

    def pixels(self, job: Job) -> NDArray[np.float16]:
        """Return a rendered job: ``(H, W, 4)``, linear, its colour multiplied by its cover."""
        return np.asarray(np.load(self.path(job)), np.float16)

    def _ask(self, line: dict[str, Any]) -> None:
        process = self._process = self._process or self._started()
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(json.dumps(line) + "\n")
        process.stdin.flush()
        said: list[str] = []
        for answer in process.stdout:
            if answer.startswith("## "):
                return
            said = [*said[-40:], answer]
        raise RuntimeError("Blender stopped:\n" + "".join(said))

    def _started(self) -> "subprocess.Popen[str]":
        how = command()
        if how is None:
            raise SystemExit(MISSING)
        process = subprocess.Popen(
            how, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        )
        assert process.stdin is not None
        process.stdin.write(json.dumps(self.setting) + "\n")
        process.stdin.flush()
        return process
