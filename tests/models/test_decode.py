import pytest
from hypothesis import given
from hypothesis import strategies as st

from models.cards import Card
from models.decode import LONGEST_LINE, decode_event, decode_events, from_toml
from models.errors import InputRefused
from models.events import CardDealt, ConsoleEntry, RoundClosed, TrayCounted
from models.layout import TableLayout


def refused(*lines: bytes) -> InputRefused:
    with pytest.raises(InputRefused) as caught:
        list(decode_events(lines, "facts.jsonl"))
    return caught.value


def test_an_event_is_read_with_its_line() -> None:
    line = b'{"type":"card_dealt","to":"dealer","card":"AS"}'
    assert [(number, type(event)) for number, event in decode_events([b"\n", line], "f")] == [
        (2, CardDealt)
    ]


@pytest.mark.parametrize(
    ("line", "field", "expected"),
    [
        pytest.param(b'{"type":"card_dealt","to":1,"hnd":1,"card":"9S"}', "hnd", "'hand'"),
        pytest.param(b'{"type":"card_dealt","to":1,"card":"9S","fase":"up"}', "fase", "'face'"),
        pytest.param(
            b'{"type":"wager_placed","spot":1,"kind":"main","amont":5,"amount":5}',
            "amont",
            "'amount'",
        ),
        pytest.param(b'{"type":"card_dealt","Card":"8S","to":1,"card":"9S"}', "Card", "'card'"),
        pytest.param(
            b'{"type":"tray_counted","amount":1,"Hand":1}',
            "Hand",
            "one of type, seq, at, table, evidence, amount",
        ),
        pytest.param(
            b'{"type":"console_entry","source":"console:ann",'
            b'"fact":{"type":"player_acted","spot":1,"action":"hit","manor":"hand"}}',
            "fact.manor",
            "'manner'",
        ),
    ],
)
def test_an_unknown_field_is_refused_with_the_nearest_right_name(
    line: bytes, field: str, expected: str
) -> None:
    """Alone, and among the lines that are read at once."""
    good = b'{"type":"round_closed"}'
    for lines in ([line], [good, good, line, good]):
        refusal = refused(*lines)
        assert (refusal.field, refusal.expected) == (field, expected)
        assert (refusal.line, refusal.found) == (lines.index(line) + 1, "no such field")


def test_a_journal_of_a_newer_version_may_have_more_fields() -> None:
    line = (
        b'{"type":"console_entry","source":"console:ann","mood":"good",'
        b'"fact":{"type":"card_dealt","to":1,"card":"9S","tilt":{"deg":3},"hand":1}}'
    )
    event = decode_event(line, "07.journal", 9, newer=True)
    assert isinstance(event, ConsoleEntry)
    assert event.fact == CardDealt(to=1, hand=1, card=Card("9S"))
    with pytest.raises(InputRefused) as caught:
        decode_event(line.replace(b"9S", b"9X"), "07.journal", 9, newer=True)
    assert caught.value.field == "fact.card"


OPENED = b'{"type":"round_opened","round":%d}'


@pytest.mark.parametrize(
    ("numbers", "line", "found"),
    [
        pytest.param([1, 1], 2, "1, which stands on line 1 already", id="again"),
        pytest.param([1, 2, 3, 2], 4, "2, which stands on line 2 already", id="again-later"),
        pytest.param([4, 6, 5], 3, "5 after round 6 on line 2", id="backward"),
    ],
)
def test_a_round_number_that_does_not_grow_is_refused(
    numbers: list[int], line: int, found: str
) -> None:
    refusal = refused(*(OPENED % number for number in numbers))
    assert (refusal.line, refusal.field, refusal.found) == (line, "round", found)
    assert refusal.expected == f"a number above {max(numbers)}"


def test_each_tables_rounds_are_numbered_for_themselves() -> None:
    lines = [b'{"type":"round_opened","round":1,"table":"%s"}' % name for name in (b"A", b"B")]
    assert len(list(decode_events([*lines, OPENED % 1, OPENED % 7], "f"))) == 4


@pytest.mark.parametrize(
    ("line", "field", "found"),
    [
        pytest.param(b'{"type":"card_dealt","to":0,"card":"AS"}', "to", "0", id="spot-0"),
        pytest.param(b'{"type":"card_dealt","to":"house","card":null}', "to", "'house'", id="who"),
        pytest.param(b'{"type":"card_dealt","to":2,"card":"1S"}', "card", "'1S'", id="no-card"),
        pytest.param(b'{"type":"card_delt","to":2,"card":"AS"}', "type", "'card_delt'", id="type"),
        pytest.param(
            b'{"type":"wager_placed","spot":1,"kind":"main","amount":10.5}',
            "amount",
            "10.5",
            id="float-money",
        ),
        pytest.param(
            b'{"type":"wager_placed","spot":1,"kind":"main","amount":1e30}',
            "amount",
            "1e+30",
            id="huge-money",
        ),
        pytest.param(b'{"type":"wager_placed","spot":1}', "kind", "nothing", id="missing"),
        pytest.param(b"[]", "line", "[]", id="not-an-object"),
        pytest.param(b'{"type":', "line", "'{\"type\":'", id="cut-off"),
        pytest.param(b'\xff\xfe{\x00"\x00', "line", "UTF-16", id="utf-16"),
        pytest.param(b'{"type":"\xff"}', "line", "byte 0xff at position 10", id="not-utf8"),
        pytest.param(
            b'{"type":"round_closed","mood":"\xff"}',
            "line",
            "byte 0xff at position 32",
            id="not-utf8-where-nobody-looks",
        ),
        pytest.param(
            b'{"type":"tray_counted","amount":1,"amount":2}',
            "amount",
            "it more than once",
            id="twice",
        ),
        pytest.param(
            b'{"type":"tray_counted","amount" :1,"\\u0061mount":2}',
            "amount",
            "it more than once",
            id="twice-in-disguise",
        ),
        pytest.param(
            b'{"type":"round_closed"}{"type":"round_closed"}',
            "line",
            '\'{"type":"round_closed"}{"type":"round_closed"}\'',
            id="two",
        ),
        pytest.param(
            b'{"type":"round_closed"}\x00', "line", '\'{"type":"round_closed"}\\x00\'', id="nul"
        ),
        pytest.param(
            b'{"type":"round_opened","round":1' + b"0" * 18 + b"0}",
            "round",
            "1" + "0" * 19,
            id="huge-round",
        ),
        pytest.param(
            b'{"type":"tray_counted","amount":1' + b"0" * 5000 + b"}",
            "amount",
            "'1" + "0" * 57 + "…",
            id="endless-number",
        ),
        pytest.param(
            b'{"type":"card_dealt","to":1,"card":"AS","probability":1e400}',
            "probability",
            "'1e400'",
            id="beyond-every-float",
        ),
        pytest.param(
            b'{"type":"tray_counted","amount":NaN}',
            "line",
            '\'{"type":"tray_counted","amount":NaN}\'',
            id="nan",
        ),
    ],
)
def test_a_bad_line_is_refused_by_line_field_and_finding(
    line: bytes, field: str, found: str
) -> None:
    fault = refused(b'{"type":"round_closed"}', line)
    assert (fault.source, fault.line, fault.field, fault.found) == ("facts.jsonl", 2, field, found)


def test_nothing_after_a_bad_line_is_yielded() -> None:
    stream = decode_events([b'{"type":"round_closed"}', b"{}", b'{"type":"round_closed"}'], "f")
    assert isinstance(next(stream)[1], RoundClosed)
    with pytest.raises(InputRefused):
        next(stream)
    assert list(stream) == []


BLANK, CLOSED, HALF = b"", b'{"type":"round_closed"}', b'{"type":\n"round_closed"}'


@pytest.mark.parametrize(
    ("lines", "bad"),
    [
        pytest.param([CLOSED + CLOSED, BLANK], 1, id="two-and-none"),
        pytest.param([CLOSED + b" " + CLOSED, *HALF.split(b"\n")], 1, id="two-and-a-half"),
        pytest.param([*HALF.split(b"\n"), CLOSED + CLOSED], 1, id="halves-first"),
        pytest.param([CLOSED, b"{}", CLOSED], 2, id="empty-object"),
        pytest.param([CLOSED, b"x" * (LONGEST_LINE + 1)], 2, id="endless-line"),
    ],
)
def test_what_adds_up_over_several_lines_is_refused_by_its_line(
    lines: list[bytes], bad: int
) -> None:
    assert refused(*lines).line == bad


@given(st.lists(st.sampled_from([CLOSED, BLANK, b" ", b'{"type":"tray_counted","amount":7}\r'])))
def test_blank_lines_and_line_ends_change_nothing(lines: list[bytes]) -> None:
    decoded = [(number, type(event)) for number, event in decode_events(lines, "f")]
    kinds = [TrayCounted if b"tray" in line else RoundClosed for line in lines if line.strip()]
    numbers = [number for number, line in enumerate(lines, 1) if line.strip()]
    assert decoded == list(zip(numbers, kinds, strict=True))


def test_a_byte_order_mark_is_passed_over() -> None:
    ((number, event),) = decode_events([b"\xef\xbb\xbf" + CLOSED], "f")
    assert (number, event) == (1, RoundClosed())


def test_each_table_counts_its_own_seq() -> None:
    line = b'{"type":"round_closed","seq":1,"table":"BJ-%d"}'
    assert len(list(decode_events([line % 1, line % 2], "f"))) == 2


@pytest.mark.parametrize("second", [1, 2], ids=["backwards", "twice"])
def test_seq_must_grow(second: int) -> None:
    fault = refused(
        b'{"type":"round_closed","seq":2}', b'{"type":"round_closed","seq":%d}' % second
    )
    assert (fault.line, fault.field) == (2, "seq")


def check_names_a_line(refusal: InputRefused) -> None:
    assert refusal.line is not None


@given(st.lists(st.binary(max_size=80), max_size=5))
def test_any_bytes_are_read_or_refused(lines: list[bytes]) -> None:
    try:
        for number, event in decode_events(lines, "f"):
            assert lines[number - 1].strip(), event
    except InputRefused as refusal:
        check_names_a_line(refusal)


SHOE_LOADED = b'{"type":"shoe_loaded","source":"shoe","raw":"","x":'


def test_endless_nesting_is_refused() -> None:
    fault = refused(SHOE_LOADED + b"[" * 100_000 + b"]" * 100_000 + b"}")
    assert fault.field == "line"


def test_a_toml_field_is_refused_with_its_line() -> None:
    with pytest.raises(InputRefused) as caught:
        from_toml('name = "x"\nwidth_mm = -1.0\n', TableLayout, "layout.toml")
    assert (caught.value.line, caught.value.field) == (2, "width_mm")


def test_a_document_that_is_not_toml_is_refused_with_its_line() -> None:
    with pytest.raises(InputRefused) as caught:
        from_toml("name = \n", TableLayout, "layout.toml")
    assert caught.value.line == 1
