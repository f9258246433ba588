"""How the wheel is built: everything that it installs lies in the package ``pitwatch``.

In a checkout the packages lie side by side and import each other as ``models.cards``. Installed
so, they would clash with a user's own ``models`` or ``stream.py``. The wheel has them as
``pitwatch.models``; their import statements are rewritten as they are copied, nothing else is.
"""

import ast
import shutil
from pathlib import Path

from setuptools import setup
from setuptools.command.bdist_wheel import bdist_wheel
from setuptools.command.build_py import build_py

HOUSE = "pitwatch"


def rewritten(source: str, packages: frozenset[str], where: str) -> str:
    """Return a module's source with its imports of ``packages`` made imports of ``pitwatch.*``."""
    lines = source.splitlines(keepends=True)
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.ImportFrom) and node.level == 0:
            if str(node.module).split(".")[0] in packages:
                _replace(lines, node, "from ", f"from {HOUSE}.")
        elif isinstance(node, ast.Import):
            _rewrite_plain(lines, node, packages, where)
    return "".join(lines)


def _rewrite_plain(
    lines: list[str], node: ast.Import, packages: frozenset[str], where: str
) -> None:
    own = [one for one in node.names if one.name.split(".")[0] in packages]
    if not own:
        return
    one = own[0]
    if len(node.names) > 1 or ("." in one.name and one.asname is None):
        raise SystemExit(
            f"{where}:{node.lineno}: this import cannot be mapped into the package {HOUSE}; "
            f"write: from {one.name} import NAME"
        )
    bound = "" if one.asname else f" as {one.name}"
    _replace(lines, node, f"import {one.name}", f"import {HOUSE}.{one.name}{bound}")


def _replace(lines: list[str], node: ast.stmt, old: str, new: str) -> None:
    before = lines[node.lineno - 1]
    at = len(before.encode()[: node.col_offset].decode())
    lines[node.lineno - 1] = before[:at] + before[at:].replace(old, new, 1)


class BuildPackages(build_py):
    """Moves the packages into ``pitwatch`` once they are copied; an editable install has none."""

    def run(self) -> None:
        """Copy, move and rewrite."""
        super().run()
        if not self.editable_mode:
            packages = frozenset(str(name).split(".")[0] for name in self.packages) - {HOUSE}
            _move(Path(self.build_lib), packages)


class BuildWheel(bdist_wheel):
    """Says that the wheel installs one top-level package."""

    def egg2dist(self, egginfo_path: str, distinfo_path: str) -> None:
        """Write the metadata."""
        super().egg2dist(egginfo_path, distinfo_path)
        Path(distinfo_path, "top_level.txt").write_text(f"{HOUSE}\n", "utf-8")


def _move(library: Path, packages: frozenset[str]) -> None:
    for package in packages:
        place = library / HOUSE / package
        shutil.rmtree(place, ignore_errors=True)
        shutil.move(library / package, place)
    for file in (library / HOUSE).rglob("*.py"):
        where = file.relative_to(library).as_posix()
        file.write_text(rewritten(file.read_text("utf-8"), packages, where), "utf-8")


if __name__ == "__main__":
    setup(cmdclass={"build_py": BuildPackages, "bdist_wheel": BuildWheel})
