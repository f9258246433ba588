"""``house.toml``: find and read it."""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from models.decode import from_tree, toml_line, toml_tree
from models.errors import InputRefused, InstallerError
from models.house import FIELDS, House

HOUSE_FILE: Final = "house.toml"
VARIABLE: Final = "PITWATCH_HOUSE"


def house_for(
    named: Path | None, *beside: Path, environment: Mapping[str, str] = os.environ
) -> House:
    """Return the house of a command.

    It reads the first of these: the file named on the command line, the file in the variable
    ``PITWATCH_HOUSE``, ``house.toml`` in one of the folders ``beside``. Without any, it returns the
    default house: UTC, English, US dollars.

    Raises:
        InstallerError: a named file is missing, or cannot be read.
        InputRefused: a field of it is invalid.
    """
    configured = environment.get(VARIABLE)
    if named is not None or configured:
        return read_house(named or Path(str(configured)))
    lying = (folder / HOUSE_FILE for folder in beside)
    return next((read_house(file) for file in lying if file.is_file()), House())


def read_house(file: Path) -> House:
    """Read a house's file; raises as :func:`house_for` does."""
    try:
        text = file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as fault:
        why = getattr(fault, "strerror", None) or "it is not UTF-8 text"
        raise InstallerError(
            f"the house's file cannot be read ({why})",
            where=str(file),
            way_out=f"Name it with --house or {VARIABLE}; deploy/house.toml shows one",
        ) from fault
    return _checked(toml_tree(text, str(file)), text, str(file))


def _checked(tree: dict[str, Any], text: str, source: str) -> House:
    for field, (expected, is_sound) in FIELDS.items():
        if field in tree and not is_sound(tree[field]):
            raise InputRefused(
                source=source,
                line=toml_line(text, field),
                field=field,
                expected=expected,
                found=repr(tree[field]),
            )
    return from_tree(tree, House, source, text)


def folders_of(names: Sequence[str]) -> tuple[Path, ...]:
    """Return the folders of ``names``: themselves, or those of the named files."""
    paths = [Path(name) for name in names if name != "-"]
    return tuple(dict.fromkeys(path if path.is_dir() else path.parent for path in paths))
