"""The shipped texts: rulebooks, side bets, table layouts and chip sets, by their ids."""

from importlib.resources import files
from typing import Final

import models
from models.errors import InstallerError

_RULEBOOKS: Final = "rulebooks"
_SIDE_BETS: Final = "side_bets"
_LAYOUTS: Final = "layouts"
_CHIP_SETS: Final = "chip_sets"


def rulebook_ids() -> tuple[str, ...]:
    """Return the ids of the shipped rulebooks, sorted."""
    return _ids(_RULEBOOKS)


def rulebook_text(rulebook: str) -> str:
    """Return a shipped rulebook's TOML; raises :class:`InstallerError` for an unknown id."""
    return _text(_RULEBOOKS, rulebook)


def side_bet_ids() -> tuple[str, ...]:
    """Return the ids of the shipped side bets, sorted."""
    return _ids(_SIDE_BETS)


def side_bet_text(bet: str) -> str:
    """Return a shipped side bet's TOML; raises :class:`InstallerError` for an unknown id."""
    return _text(_SIDE_BETS, bet)


def layout_ids() -> tuple[str, ...]:
    """Return the ids of the shipped table layouts, sorted."""
    return _ids(_LAYOUTS)


def layout_text(layout: str) -> str:
    """Return a shipped layout's TOML; raises :class:`InstallerError` for an unknown id."""
    return _text(_LAYOUTS, layout)


def chip_set_ids() -> tuple[str, ...]:
    """Return the ids of the shipped chip sets, sorted."""
    return _ids(_CHIP_SETS)


def chip_set_text(chips: str) -> str:
    """Return a shipped chip set's TOML; raises :class:`InstallerError` for an unknown id."""
    return _text(_CHIP_SETS, chips)


def _ids(folder: str) -> tuple[str, ...]:
    names = (entry.name for entry in (files(models) / folder).iterdir())
    return tuple(sorted(name.removesuffix(".toml") for name in names if name.endswith(".toml")))


def _text(folder: str, name: str) -> str:
    if name not in _ids(folder):
        raise InstallerError(
            f"no {folder.removesuffix('s').replace('_', ' ')} is called {name!r}",
            where=folder,
            way_out=f"Choose one of {', '.join(_ids(folder))}, or give a TOML file",
        )
    return (files(models) / folder / f"{name}.toml").read_text(encoding="utf-8")
