"""Pure rules of the game: reconcile, play, judge, pay, post."""

from typing import Final

from settlement.native import ENGINE, found

_folder = found(ENGINE)

COMPILED: Final = _folder is not None
"""Whether the engine runs in its compiled form."""

if _folder is not None:
    __path__.insert(0, _folder)
