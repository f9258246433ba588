"""How the code is cut: rooms, arrows between them, bodies of functions, long files.

``python -m lab.bench.house [--record]`` reads the product's sources, not the tests'; with
``--tree FOLDER`` those of another checkout. A room of the second level is what stands directly in
a package: a module or a package.
"""

import argparse
import ast
from collections.abc import Iterator
from pathlib import Path
from statistics import quantiles

from lab.bench.record import ROOT, Claim, add_option, record

PACKAGES = (
    "client",
    "devices",
    "models",
    "pitwatch",
    "server",
    "settlement",
    "simulation",
    "stream",
    "vision",
)
LONG_LINES = 400
"""A file of more lines is long; docs/design.md says so."""


def modules(folder: Path) -> dict[str, Path]:
    """Return the product's modules by name."""
    files = (file for package in PACKAGES for file in (folder / package).rglob("*.py"))
    return {_name(file.relative_to(folder)): file for file in files if "build" not in file.parts}


def _name(file: Path) -> str:
    return ".".join(file.with_suffix("").parts).removesuffix(".__init__")


def imports(source: str, known: dict[str, Path]) -> Iterator[str]:
    """Yield the modules of the product that one imports."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.ImportFrom) and node.module in known:
            for alias in node.names:
                inner = f"{node.module}.{alias.name}"
                yield inner if inner in known else node.module
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name in known)


def room(module: str) -> str:
    """Return the room of the second level in which a module stands."""
    return ".".join(module.split(".")[:2])


def arrows(known: dict[str, Path]) -> set[tuple[str, str]]:
    """Return which room imports which other one."""
    each = (
        (room(module), room(found))
        for module, file in known.items()
        for found in imports(file.read_text("utf-8"), known)
    )
    return {(one, other) for one, other in each if one != other}


def bodies(source: str) -> Iterator[int]:
    """Yield the lines of each function's body, without its docstring."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            first = node.body[0]
            is_text = isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant)
            rest = node.body[1:] if is_text else node.body
            if rest:
                yield (rest[-1].end_lineno or 0) - rest[0].lineno + 1


def claims(folder: Path) -> tuple[Claim, ...]:
    """Measure a tree."""
    known = modules(folder)
    texts = {module: file.read_text("utf-8") for module, file in known.items()}
    lengths = sorted(length for text in texts.values() for length in bodies(text))
    shares = quantiles(lengths, n=10)
    lines = {module: text.count("\n") for module, text in texts.items()}
    between = arrows(known)
    of_server = {pair for pair in between if all(one.startswith("server.") for one in pair)}
    rooms = {room(module) for module in known}
    return (
        Claim("lines of Python in the product", sum(lines.values())),
        Claim("rooms of the second level", len(rooms)),
        Claim("arrows between them", len(between)),
        Claim("rooms of server", sum(one.startswith("server.") for one in rooms)),
        Claim("arrows between the rooms of server", len(of_server)),
        Claim("body of a function, median", shares[4], "lines"),
        Claim("body of a function, 90th percentile", shares[8], "lines"),
        Claim("body of a function, longest", lengths[-1], "lines"),
        Claim(
            f"files of more than {LONG_LINES} lines", sum(n > LONG_LINES for n in lines.values())
        ),
    )


def main() -> None:
    """Print the figures, and record them where that is asked for."""
    parser = argparse.ArgumentParser(description=__doc__)
    add_option(parser)
    parser.add_argument("--tree", type=Path, default=ROOT, help="another checkout")
    asked = parser.parse_args()
    found = claims(asked.tree)
    for claim in found:
        print(f"{claim.claim}: {claim.value:,} {claim.unit}".rstrip())
    if asked.record:
        record("house", found)


if __name__ == "__main__":
    main()
