"""The Angel Eye's protocol, report by report."""

import pytest

from devices.framing import exclusive_or
from devices.reading import Reading
from devices.shoes.angel_eye import (
    AngelEyeConfig,
    AngelEyeFramer,
    AngelEyeShoe,
    Reply,
    Report,
    encode_card,
    encode_command,
    encode_cut_card,
    encode_error,
    encode_retransmission,
    encode_start,
)
from models.cards import Card
from models.errors import InstallerError
from models.events import ReaderFault, ShoeCardRead, ShoeCutCard, ShoeLoaded
from tests.devices.wires import AT_NS

EIGHT_OF_SPADES = bytes.fromhex("0531 4481 B803 3446")


def readings(*frames: bytes) -> tuple[Reading, ...]:
    return AngelEyeShoe().feed(b"".join(frames), AT_NS)


def report(body: bytes) -> bytes:
    """A report with a correct checksum, whatever its content."""
    return b"\x05" + body + b"\x03%02X" % exclusive_or(body + b"\x03")


def cards(found: tuple[Reading, ...]) -> list[tuple[Card | None, int]]:
    return [(each.card, each.draw) for each in found if isinstance(each, ShoeCardRead)]


def faults(found: tuple[Reading, ...]) -> list[str]:
    return [each.kind for each in found if isinstance(each, ReaderFault)]


def test_the_published_card_is_read_with_its_evidence() -> None:
    assert readings(EIGHT_OF_SPADES) == (
        ShoeCardRead(source="shoe", at=AT_NS, card=Card("8S"), draw=1, raw=EIGHT_OF_SPADES.hex()),
    )


def test_the_published_card_is_encoded() -> None:
    assert encode_card(Card("8S"), 1, 1) == EIGHT_OF_SPADES


def test_a_card_without_a_suit_cannot_be_encoded() -> None:
    with pytest.raises(ValueError, match=r"8\?"):
        encode_card(Card("8?"), 1, 1)


@pytest.mark.parametrize(
    ("covers_start", "check"),
    [
        pytest.param(True, b"1B", id="worked-example"),
        pytest.param(False, b"19", id="maker's-text"),
    ],
)
def test_lock_command_under_both_readings(covers_start: bool, check: bytes) -> None:
    frame = encode_command("LK", 2, check_covers_start=covers_start)
    assert frame == bytes.fromhex("024F504C4B303203") + check


def test_nothing_is_sent_unless_configured() -> None:
    with pytest.raises(InstallerError, match="commands = true"):
        AngelEyeShoe().command("LK", 2)
    allowed = AngelEyeShoe(AngelEyeConfig(commands=True))
    assert allowed.command("LK", 2) == bytes.fromhex("024F504C4B3032033142")


@pytest.mark.parametrize("times", [2, 3, 4])
def test_a_report_repeated_at_once_is_one_card(times: int) -> None:
    assert cards(readings(*[EIGHT_OF_SPADES] * times)) == [(Card("8S"), 1)]


def test_the_same_card_under_the_next_number_is_a_second_card() -> None:
    found = readings(encode_card(Card("8S"), 1, 1), encode_card(Card("8S"), 1, 2))
    assert cards(found) == [(Card("8S"), 1), (Card("8S"), 2)]


def test_a_repeat_after_another_report_is_a_new_card() -> None:
    one, other = encode_card(Card("8S"), 1, 1), encode_card(Card("KD"), 2, 2)
    assert cards(readings(one, other, one)) == [(Card("8S"), 1), (Card("KD"), 2), (Card("8S"), 3)]


def test_a_repeat_after_a_damaged_copy_is_still_one_card() -> None:
    damaged = EIGHT_OF_SPADES[:-1] + b"0"
    found = readings(EIGHT_OF_SPADES, damaged, EIGHT_OF_SPADES)
    assert cards(found) == [(Card("8S"), 1)]
    assert faults(found) == ["checksum"]


def test_a_retransmission_of_the_last_card_is_nothing_new() -> None:
    found = readings(EIGHT_OF_SPADES, encode_retransmission(Card("8S"), 1, 2))
    assert cards(found) == [(Card("8S"), 1)]
    assert faults(found) == []


def test_a_retransmission_of_a_card_never_reported_is_reported_but_is_no_card() -> None:
    found = readings(EIGHT_OF_SPADES, encode_retransmission(Card("KD"), 2, 2))
    assert cards(found) == [(Card("8S"), 1)]
    assert faults(found) == ["retransmission"]


def test_cut_card_then_start_is_a_new_shoe_once() -> None:
    start = [encode_start(n) for n in (3, 4)]
    found = readings(EIGHT_OF_SPADES, encode_cut_card(2), *start, encode_card(Card("KD"), 1, 5))
    assert [type(each) for each in found] == [ShoeCardRead, ShoeCutCard, ShoeLoaded, ShoeCardRead]
    assert cards(found) == [(Card("8S"), 1), (Card("KD"), 1)]


def test_the_round_in_play_goes_on_after_the_cut_card() -> None:
    found = readings(EIGHT_OF_SPADES, encode_cut_card(2), encode_card(Card("KD"), 1, 3))
    assert cards(found) == [(Card("8S"), 1), (Card("KD"), 2)]


def test_a_start_at_power_up_is_a_loaded_shoe() -> None:
    (found,) = readings(encode_start(1))
    assert isinstance(found, ShoeLoaded)


def test_a_start_in_the_middle_of_a_shoe_is_a_fault_and_keeps_the_count() -> None:
    found = readings(EIGHT_OF_SPADES, encode_start(2), encode_card(Card("KD"), 1, 3))
    assert faults(found) == ["restart"]
    assert cards(found) == [(Card("8S"), 1), (Card("KD"), 2)]


@pytest.mark.parametrize("mode", [0, 1])
def test_a_card_drawn_while_locked_or_in_error_has_left_the_shoe(mode: int) -> None:
    assert cards(readings(report(b"1d" + bytes((0x80 | mode, 0xB8))))) == [(Card("8S"), 1)]


def test_a_card_drawn_in_setting_mode_is_not_counted() -> None:
    found = readings(report(b"1d\x82\xb8"), encode_card(Card("KD"), 1, 2))
    assert faults(found) == ["card_outside_game"]
    assert cards(found) == [(Card("KD"), 1)]


@pytest.mark.parametrize("face", [0x80, 0xB0, 0xBE, 0xD1, 0x38], ids=lambda face: f"{face:02x}")
def test_a_face_that_no_card_has_is_a_card_unknown(face: int) -> None:
    assert cards(readings(report(b"1D\x81" + bytes((face,))))) == [(None, 1)]


@pytest.mark.parametrize(
    ("number", "meaning"),
    [(1, "cannot read"), (3, "button misuse"), (5, "reverse midway"), (7, "draw time-out")],
)
def test_an_error_is_reported_in_words(number: int, meaning: str) -> None:
    (found,) = readings(encode_error(number, 1))
    assert isinstance(found, ReaderFault)
    assert (found.kind, found.detail) == ("device_error", f"{meaning}, in error mode")


@pytest.mark.parametrize("number", [3, 5])
def test_an_error_byte_that_looks_like_a_control_byte_ends_no_frame(number: int) -> None:
    frame = report(b"1E" + bytes((number,)))
    assert list(AngelEyeFramer().feed(frame)) == [Report("1", "E", bytes((number,)), frame)]


@pytest.mark.parametrize("body", [b"1P", b"1G11", b"1L1", b"1M020001", b"1e\x41"])
def test_reports_without_cards_are_passed_over(body: bytes) -> None:
    assert readings(report(body)) == ()


def test_a_report_of_no_known_code_is_a_fault() -> None:
    assert faults(readings(report(b"1Z"))) == ["unknown_report"]


def test_replies_are_distinguished_from_reports() -> None:
    found = list(AngelEyeFramer().feed(b"\x06\x1502" + EIGHT_OF_SPADES))
    assert found[:2] == [Reply(None, b"\x06"), Reply("02", b"\x1502")]
    assert isinstance(found[2], Report)


def test_a_refused_command_is_reported_in_words() -> None:
    (found,) = readings(b"\x1521")
    assert isinstance(found, ReaderFault)
    assert found.detail == "the shoe refused a command: 21, busy"


@pytest.mark.parametrize("lost", range(1, 8))
def test_a_frame_that_lost_its_end_does_not_take_the_next_with_it(lost: int) -> None:
    following = encode_card(Card("KD"), 2, 2)
    found = readings(EIGHT_OF_SPADES[:-lost], following)
    assert cards(found) == [(Card("KD"), 1)]
    assert faults(found) == ["checksum" if lost < 3 else "framing"]
    assert found[0].raw == EIGHT_OF_SPADES[:-lost].hex()


@pytest.mark.parametrize("lost", range(1, 8))
def test_a_frame_that_lost_one_byte_does_not_take_the_next_with_it(lost: int) -> None:
    damaged = EIGHT_OF_SPADES[:lost] + EIGHT_OF_SPADES[lost + 1 :]
    found = readings(damaged, encode_card(Card("KD"), 2, 2))
    assert cards(found) == [(Card("KD"), 1)]
    assert "".join(each.raw for each in found[:-1]) == damaged.hex()


def test_an_endless_report_is_given_up_at_128_bytes() -> None:
    found = readings(b"\x051G" + b"1" * 200, EIGHT_OF_SPADES)
    assert faults(found) == ["overflow", "framing"]
    assert len(bytes.fromhex(found[0].raw)) == 128
    assert cards(found) == [(Card("8S"), 1)]


@pytest.mark.parametrize("filler", range(118, 130))
def test_the_cap_holds_up_no_later_frame(filler: int) -> None:
    found = readings(report(b"1G" + b"1" * filler), EIGHT_OF_SPADES)
    assert cards(found) == [(Card("8S"), 1)]
    fits = 1 + 2 + filler + 3 <= 128
    assert bool(faults(found)) is not fits


def test_an_unfinished_report_ends_where_the_next_begins() -> None:
    found = readings(encode_start(1)[:-3], EIGHT_OF_SPADES[:4])
    assert faults(found) == ["framing"]
    assert found[0].raw == encode_start(1)[:-3].hex()


def test_garbage_is_reported_as_soon_as_a_frame_begins() -> None:
    assert faults(readings(b"\xff\xff")) == []
    assert faults(readings(b"\xff\xff" + EIGHT_OF_SPADES[:1])) == ["framing"]


def test_a_broken_report_is_reported_as_soon_as_it_shows() -> None:
    assert faults(readings(b"\x051D\x81\xb8x")) == ["framing"]


@pytest.mark.parametrize(
    ("numbers", "missed"),
    [
        pytest.param([1, 2, 3], [], id="one-after-another"),
        pytest.param([8, 9, 10, 11], [], id="after-nine-comes-nought"),
        pytest.param([1, 2, 2, 2, 3], [], id="sent-three-times"),
        pytest.param([1, 3], ["1 reports left out before number 3"], id="one-left-out"),
        pytest.param([8, 11], ["2 reports left out before number 1"], id="two-over-the-turn"),
    ],
)
def test_a_skipped_number_is_reported_where_numbers_count(
    numbers: list[int], missed: list[str]
) -> None:
    stream = b"".join(encode_card(Card("8S"), number, number) for number in numbers)
    counting = AngelEyeShoe(AngelEyeConfig(seq_counts=True)).feed(stream, AT_NS)
    found = [each for each in counting if isinstance(each, ReaderFault)]
    assert [each.detail for each in found] == missed
    assert all(each.kind == "missed_report" for each in found)
    assert faults(readings(stream)) == []


def test_a_shoe_that_starts_may_count_from_anywhere() -> None:
    shoe = AngelEyeShoe(AngelEyeConfig(seq_counts=True))
    found = shoe.feed(encode_cut_card(4) + encode_start(1) + encode_card(Card("8S"), 1, 2), AT_NS)
    assert faults(found) == []
