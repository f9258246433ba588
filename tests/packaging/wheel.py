"""Build the wheel, install it where nothing of this tree can be imported, run what it installs."""

import os
import shutil
import subprocess
import sys
import sysconfig
import venv
from dataclasses import dataclass
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parents[2]
_NOT_COPIED: Final = shutil.ignore_patterns(
    ".*", "build", "lab", "out", "shared", "tests", "*.egg-info", "__pycache__"
)


def package_folders() -> list[Path]:
    """Return the folder of every package that the wheel holds."""
    found = [*ROOT.glob("*/__init__.py"), *ROOT.glob("client/*/__init__.py")]
    return [init.parent for init in found if init.parent.name not in {"lab", "tests"}]


@dataclass(frozen=True)
class Installed:
    """An environment that holds the wheel and what it depends on."""

    wheel: Path
    place: Path

    @property
    def pitwatch(self) -> Path:
        """The program as a user runs it."""
        return self.place / "bin" / "pitwatch"

    def environment(self, home: Path) -> dict[str, str]:
        """Return variables for a user whose home is empty."""
        kept = {name: os.environ[name] for name in ("LANG", "TZ") if name in os.environ}
        path = f"{self.place / 'bin'}{os.pathsep}{os.environ['PATH']}"
        return {**kept, "PATH": path, "HOME": str(home), "TMPDIR": str(home)}

    def python(self, code: str, folder: Path) -> str:
        """Run code in the environment, from a folder, and return what it prints."""
        done = subprocess.run(
            [self.place / "bin" / "python", "-P", "-c", code],
            cwd=folder,
            env=self.environment(folder),
            capture_output=True,
            text=True,
            check=True,
        )
        return done.stdout


def installed_wheel(place: Path) -> Installed:
    """Build and install; the dependencies are those of the environment that runs the tests."""
    wheel = _built(place)
    environment = place / "environment"
    venv.create(environment, with_pip=False, symlinks=True)
    python = environment / "bin" / "python"
    pip: list[str | Path] = [sys.executable, "-m", "pip", "--disable-pip-version-check"]
    quietly = ["install", "--quiet", "--no-index", "--no-deps", "--no-compile"]
    _run([*pip, "--python", python, *quietly, wheel])
    site = environment / "lib" / f"python{sysconfig.get_python_version()}" / "site-packages"
    # A .pth file inside a folder that another one names is not read: the editable tree stays out.
    (site / "dependencies.pth").write_text(sysconfig.get_path("purelib") + "\n")
    return Installed(wheel, environment)


def _built(place: Path) -> Path:
    """Build by way of the source distribution, as ``python -m build`` does."""
    copy = place / "tree"
    shutil.copytree(ROOT, copy, ignore=_NOT_COPIED)
    _run([sys.executable, "-m", "build", "--no-isolation", "--outdir", place / "dist", copy])
    (wheel,) = (place / "dist").glob("*.whl")
    return wheel


def _run(command: list[str | Path]) -> None:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
