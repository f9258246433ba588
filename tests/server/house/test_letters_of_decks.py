"""A session or a table may say what language its decks' letters are of."""

import msgspec
import numpy as np
import pytest
from numpy.typing import NDArray

from models.session import Session
from server.house.known_decks import taught
from server.table.config import TableConfig
from vision.change import Rect
from vision.reader import nothing
from vision.sightings import CardReader, Sightings


class Told:
    """A reader that remembers which languages it was told."""

    confident_p = 0.9

    def __init__(self, languages: tuple[str, ...] = ()) -> None:
        self.languages = languages

    def for_session(self) -> CardReader:
        return self

    def in_languages(self, languages: tuple[str, ...]) -> CardReader:
        return Told(tuple(languages))

    def read(
        self,
        image: NDArray[np.uint8],
        *,
        card_width_px: float | None,
        region: Rect | None = None,
    ) -> Sightings:
        return nothing()


@pytest.mark.parametrize("kind", [Session, TableConfig])
def test_the_languages_are_optional_and_known_by_name(kind: type[msgspec.Struct]) -> None:
    field = next(one for one in msgspec.structs.fields(kind) if one.name == "letters")
    assert field.default == ()
    assert msgspec.convert(["german"], field.type) == ("german",)
    with pytest.raises(msgspec.ValidationError):
        msgspec.convert(["klingon"], field.type)


def test_a_reader_is_told_the_languages_where_some_are_named() -> None:
    reader = Told()
    assert taught(reader, (), []) is reader
    told = taught(reader, (), [], ("german", "french"))
    assert isinstance(told, Told)
    assert told.languages == ("german", "french")
