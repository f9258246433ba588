"""Tags and what they are fixed to."""

from pathlib import Path

import msgspec
import pytest

from devices.reading import Reading
from devices.registry import make_driver
from devices.tags import id12, idteck, rdm6300
from devices.tags.reader import TagReader
from devices.tags.register import TagRegister, read_register
from models.cards import Card
from models.errors import InputRefused, InstallerError
from models.events import PlateRead, ReaderFault, ShoeCardRead, ShoeCutCard, ShoeLoaded
from tests.devices.wires import AT_NS

MS = 1_000_000
EIGHT, KING, CUT, START, CHIP, PLAQUE = (f"041514{n:04X}" for n in range(6))
REGISTER = TagRegister(
    cards={EIGHT: Card("8S"), KING: Card("KD")},
    chips={CHIP: 2500, PLAQUE: 100_000},
    cut=(CUT,),
    start=(START,),
)


def reader(**settings: object) -> TagReader:
    config = msgspec.convert({"spot": 3} | settings, rdm6300.Rdm6300Config)
    return TagReader(rdm6300.Rdm6300Framer(), config, REGISTER)


def read(listener: TagReader, *shown: tuple[str, int]) -> list[Reading]:
    """What the reader reports of tags shown at these milliseconds."""
    return [
        reading
        for tag, at_ms in shown
        for reading in listener.feed(rdm6300.encode_tag(tag), AT_NS + at_ms * MS)
    ]


def kinds(readings: list[Reading]) -> list[str]:
    return [
        each.kind if isinstance(each, ReaderFault) else type(each).__name__ for each in readings
    ]


@pytest.mark.parametrize(
    ("driver", "frame", "tag"),
    [
        pytest.param("id12", "02 30343135313438463236 4143 0D0A 03", "0415148F26", id="id12"),
        pytest.param("rdm6300", "02 30343135313438463236 4143 03", "0415148F26", id="rdm6300"),
        pytest.param("idteck", "02 3135313438463236 03 78", "15148F26", id="idteck"),
    ],
)
def test_the_frame_of_the_docstring_is_read(driver: str, frame: str, tag: str) -> None:
    encoders = {"id12": id12, "rdm6300": rdm6300, "idteck": idteck}
    assert encoders[driver].encode_tag(tag) == bytes.fromhex(frame)
    (found,) = make_driver(driver).feed(bytes.fromhex(frame), AT_NS)
    assert isinstance(found, ReaderFault)
    assert (found.kind, found.detail) == ("unknown_tag", f"tag {tag} is not in the register")


def test_whether_the_check_of_idteck_covers_its_start_is_a_setting() -> None:
    frame = idteck.encode_tag("15148F26", check_covers_start=True)
    assert frame[-1] == idteck.encode_tag("15148F26")[-1] ^ 0x02
    (found,) = make_driver("idteck", {"check_covers_start": True}).feed(frame, AT_NS)
    assert isinstance(found, ReaderFault)
    assert found.kind == "unknown_tag"


def test_a_tag_that_lies_near_is_one_card_however_often_it_is_sent() -> None:
    found = read(reader(), *((EIGHT, at_ms) for at_ms in range(0, 3000, 65)), (KING, 3000))
    assert [each.card for each in found if isinstance(each, ShoeCardRead)] == [
        Card("8S"),
        Card("KD"),
    ]
    assert len(found) == 2


def test_a_card_cannot_leave_the_shoe_twice() -> None:
    found = read(reader(), (EIGHT, 0), (KING, 1000), (EIGHT, 2000))
    assert kinds(found) == ["ShoeCardRead", "ShoeCardRead", "repeat"]


def test_a_card_that_comes_again_after_the_cut_card_is_of_a_new_shoe() -> None:
    found = read(reader(), (EIGHT, 0), (CUT, 1000), (KING, 2000), (EIGHT, 3000), (KING, 4000))
    assert [type(each) for each in found] == [
        ShoeCardRead,
        ShoeCutCard,
        ShoeCardRead,
        ShoeLoaded,
        ShoeCardRead,
        ShoeCardRead,
    ]
    assert [each.draw for each in found if isinstance(each, ShoeCardRead)] == [1, 2, 1, 2]


def test_a_start_tag_lets_every_card_come_again() -> None:
    found = read(reader(), (EIGHT, 0), (CUT, 1000), (START, 2000), (EIGHT, 3000))
    assert kinds(found) == ["ShoeCardRead", "ShoeCutCard", "ShoeLoaded", "ShoeCardRead"]


def test_a_chip_is_the_amount_on_its_circle() -> None:
    (found,) = read(reader(source="plate", circle="I"), (CHIP, 0))
    assert isinstance(found, PlateRead)
    assert (found.source, found.spot, found.circle) == ("plate:3", 3, "I")
    assert (found.amount, found.chips) == (2500, {"2500": 1})


def test_two_chips_at_once_are_no_amount() -> None:
    shown = read(reader(source="plate"), (CHIP, 0), (PLAQUE, 60), (CHIP, 120))
    assert kinds(shown) == ["PlateRead", "contradiction", "contradiction"]


def test_a_chip_laid_after_another_was_gone_is_the_new_amount() -> None:
    found = read(reader(source="plate"), (CHIP, 0), (PLAQUE, 2000))
    assert [each.amount for each in found if isinstance(each, PlateRead)] == [2500, 100_000]


def test_a_register_is_read_in_either_case(tmp_path: Path) -> None:
    file = tmp_path / "tags.toml"
    file.write_text('cut = ["ab01"]\n[cards]\n"0415148f26" = "8S"\n[chips]\n"0F" = 2500\n')
    found = read_register(file)
    assert (found.cards, found.chips) == ({"0415148F26": Card("8S")}, {"0F": 2500})
    assert found.cut == ("AB01",)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        pytest.param('[cards]\n"AA" = "9X"\n', "a card such as AS", id="no-such-card"),
        pytest.param('cut = ["aa"]\n[cards]\n"AA" = "9S"\n', "each tag once", id="twice"),
        pytest.param('[chips]\n"AA" = 0\n', "from 1 to", id="chip-of-no-value"),
        pytest.param('[dice]\n"AA" = 1\n', "dice", id="unknown-table"),
        pytest.param("[cards\n", "TOML", id="no-toml"),
    ],
)
def test_a_register_that_is_wrong_is_refused_by_its_field(
    tmp_path: Path, text: str, message: str
) -> None:
    file = tmp_path / "tags.toml"
    file.write_text(text)
    with pytest.raises(InputRefused, match=message) as refused:
        read_register(file)
    assert str(file) in str(refused.value)


def test_a_register_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(InstallerError, match=r"none\.toml: the tag register cannot be read"):
        make_driver("id12", {"register": str(tmp_path / "none.toml")})


def test_chips_without_a_spot_are_refused(tmp_path: Path) -> None:
    file = tmp_path / "tags.toml"
    file.write_text('[chips]\n"0F0021BA31" = 2500\n')
    with pytest.raises(InstallerError, match="no spot is set for them"):
        make_driver("id12", {"register": str(file)})
