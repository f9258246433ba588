"""What every shoe driver keeps to, whatever its wire looks like."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest

from devices.driver import Driver
from devices.reading import Reading
from devices.registry import DRIVERS, make_driver
from devices.shoes import angel_eye, line
from devices.tags import id12, idteck, rdm6300
from models.cards import DECK, Card
from models.events import ReaderFault, ShoeCardRead, ShoeCutCard, ShoeLoaded
from tests.devices.wires import CUT_TAGS, SETTINGS, START_TAGS, mark, tag_of

AT_NS = 1_700_000_000_000_000_000


@dataclass(frozen=True)
class Wire:
    """How one kind of shoe puts things on the wire; each message has a number of its own."""

    driver: str
    card: Callable[[Card, int, int], bytes]
    cut_card: Callable[[int], bytes]
    start: Callable[[int], bytes]
    error: Callable[[int], bytes] | None


def tagged(driver: str, encode: Callable[[str], bytes], length: int) -> Wire:
    """An RFID reader at the mouth of a shoe; it has no way to complain of itself."""
    return Wire(
        driver,
        lambda card, _draw, _number: encode(tag_of(card, length)),
        lambda _number: encode(mark(CUT_TAGS, length)),
        lambda _number: encode(mark(START_TAGS, length)),
        None,
    )


WIRES = [
    Wire(
        "angel-eye",
        angel_eye.encode_card,
        angel_eye.encode_cut_card,
        angel_eye.encode_start,
        lambda number: angel_eye.encode_error(1, number),
    ),
    Wire(
        "line",
        lambda card, draw, _number: line.encode_card(card, draw),
        lambda _number: line.encode_cut_card(),
        lambda _number: line.encode_start(),
        lambda _number: line.encode_error("cannot read"),
    ),
    tagged("id12", id12.encode_tag, 10),
    tagged("rdm6300", rdm6300.encode_tag, 10),
    tagged("idteck", idteck.encode_tag, 8),
]


@pytest.fixture(params=WIRES, ids=lambda wire: wire.driver)
def wire(request: pytest.FixtureRequest) -> Wire:
    found: Wire = request.param
    return found


def listener(wire: Wire) -> Driver[Any]:
    return make_driver(wire.driver, SETTINGS.get(wire.driver))


def received(wire: Wire, *frames: bytes) -> tuple[Reading, ...]:
    return listener(wire).feed(b"".join(frames), AT_NS)


def drawn(found: tuple[Reading, ...]) -> list[tuple[Card | None, int]]:
    return [(each.card, each.draw) for each in found if isinstance(each, ShoeCardRead)]


def test_every_shoe_driver_is_held_to_this() -> None:
    assert {wire.driver for wire in WIRES} == DRIVERS.keys() - {"plate"}


def test_a_whole_deck_is_read_in_order_and_counted(wire: Wire) -> None:
    frames = [wire.card(card, n, n) for n, card in enumerate(DECK, start=1)]
    found = received(wire, wire.start(0), *frames)
    assert isinstance(found[0], ShoeLoaded)
    assert drawn(found) == [(card, n) for n, card in enumerate(DECK, start=1)]


def test_every_observation_bears_its_source_its_time_and_its_evidence(wire: Wire) -> None:
    frames = [wire.start(1), wire.card(Card("8S"), 1, 2), wire.cut_card(3)]
    if wire.error is not None:
        frames.append(wire.error(4))
    found = received(wire, *frames)
    assert [(each.source, each.at) for each in found] == [("shoe", AT_NS)] * len(frames)
    assert [each.raw for each in found] == [frame.hex() for frame in frames]


def test_the_count_begins_anew_with_a_new_shoe(wire: Wire) -> None:
    found = received(
        wire,
        wire.start(1),
        wire.card(Card("8S"), 1, 2),
        wire.cut_card(3),
        wire.card(Card("KD"), 2, 4),
        wire.start(5),
        wire.card(Card("AS"), 1, 6),
    )
    assert drawn(found) == [(Card("8S"), 1), (Card("KD"), 2), (Card("AS"), 1)]
    assert [type(each) for each in found].count(ShoeLoaded) == 2
    assert [type(each) for each in found].count(ShoeCutCard) == 1


def test_a_shoe_started_twice_was_loaded_once(wire: Wire) -> None:
    found = received(wire, wire.start(1), wire.start(2), wire.card(Card("8S"), 1, 3))
    assert [type(each) for each in found] == [ShoeLoaded, ShoeCardRead]


def test_a_reader_switched_off_and_on_keeps_its_count(wire: Wire) -> None:
    found = received(wire, wire.card(Card("8S"), 1, 1), wire.start(2), wire.card(Card("KD"), 2, 3))
    assert [type(each) for each in found] == [ShoeCardRead, ReaderFault, ShoeCardRead]
    assert drawn(found) == [(Card("8S"), 1), (Card("KD"), 2)]


def test_a_damaged_frame_is_a_fault_and_no_card(wire: Wire) -> None:
    frame = bytearray(wire.card(Card("8S"), 1, 1))
    frame[-4] ^= 0x01
    found = received(wire, bytes(frame), wire.cut_card(2))
    assert drawn(found) == []
    assert isinstance(found[0], ReaderFault)
    assert isinstance(found[-1], ShoeCutCard)


@pytest.mark.parametrize("wire", [each for each in WIRES if each.error], ids=lambda w: w.driver)
def test_a_device_error_is_a_fault_and_costs_no_card(wire: Wire) -> None:
    assert wire.error is not None
    found = received(wire, wire.error(1), wire.card(Card("8S"), 1, 2))
    assert isinstance(found[0], ReaderFault)
    assert found[0].kind == "device_error"
    assert drawn(found) == [(Card("8S"), 1)]


def test_the_end_of_the_stream_within_a_frame_is_a_fault(wire: Wire) -> None:
    driver = listener(wire)
    assert driver.feed(wire.card(Card("8S"), 1, 1)[:-1], AT_NS) == ()
    (cut_short,) = driver.finish(AT_NS)
    assert isinstance(cut_short, ReaderFault)
    assert driver.finish(AT_NS) == ()


def test_a_link_that_was_lost_and_came_back_leaves_the_draws_it_may_have_missed(
    wire: Wire,
) -> None:
    driver = listener(wire)
    driver.feed(wire.card(Card("8S"), 1, 1) + wire.card(Card("KD"), 2, 2)[:-1], AT_NS)
    cut_short, missed = driver.returned(AT_NS + 5)
    assert isinstance(cut_short, ReaderFault)
    assert isinstance(missed, ReaderFault)
    assert (missed.kind, missed.missing_from, missed.missing_to) == ("uncounted", 2, None)
    assert missed.at == AT_NS + 5
    (next_card,) = driver.feed(wire.card(Card("AS"), 2, 3), AT_NS + 9)
    assert isinstance(next_card, ShoeCardRead)
