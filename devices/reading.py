"""The observations of a byte device."""

from typing import TypeAlias

from models.events import PlateRead, ReaderFault, ShoeCardRead, ShoeCutCard, ShoeLoaded

Reading: TypeAlias = ShoeCardRead | ShoeCutCard | ShoeLoaded | PlateRead | ReaderFault
