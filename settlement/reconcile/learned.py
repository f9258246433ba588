"""What rounds that are over taught of the cameras, for a table that starts again."""

from typing import Final, TypeAlias

Slips: TypeAlias = tuple[int, int]
"""How many of a camera's errors lasted from look to look, and how many did not."""

Cover: TypeAlias = tuple[str, int, int, int]
"""A camera, a cell of the felt by column and row, and when a card last came into view there."""

Learned: TypeAlias = tuple[Slips, tuple[Cover, ...]]

NOTHING_LEARNED: Final[Learned] = ((0, 0), ())
