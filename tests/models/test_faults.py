"""A fault is found exactly where msgspec refuses, and lies at a place of the document."""

from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from models.events import ConsoleEntry, ReviewResolved
from models.faults import first_fault
from models.house import House
from models.judgements import AnyEvent
from models.layout import TableLayout

_PLAIN = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(2**70), 2**70),
    st.floats(allow_nan=False, allow_infinity=False),
    st.sampled_from(["", "dealer", "AS", "up", "card_dealt", "card", "main", "x" * 70]),
)
_TREES = st.recursive(
    _PLAIN,
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.dictionaries(st.sampled_from(["type", "to", "card", "fact", "x"]), inner, max_size=3),
    ),
    max_leaves=6,
)
_DOCUMENTS: tuple[tuple[Any, dict[str, Any]], ...] = (
    (AnyEvent, {"type": "card_dealt", "to": 1, "card": "AS", "face": "up", "evidence": [1, 2]}),
    (
        AnyEvent,
        {
            "type": "console_entry",
            "source": "console:ann",
            "fact": {"type": "wager_placed", "spot": 1, "kind": "main", "amount": 500},
        },
    ),
    (
        AnyEvent,
        {
            "type": "card_sighted",
            "source": "camera:1",
            "track": 3,
            "card": "AS",
            "confidence": 0.9,
            "x_mm": 1.0,
            "y_mm": 2.0,
            "alternatives": [["KS", 0.2]],
        },
    ),
    (
        TableLayout,
        {
            "name": "t",
            "width_mm": 2000.0,
            "height_mm": 1000.0,
            "spots": [{"number": 1, "betting": {"x_mm": 1.0, "y_mm": 2.0, "radius_mm": 50.0}}],
        },
    ),
)


@st.composite
def spoilt(draw: st.DrawFn) -> tuple[Any, Any]:
    """A document of which one part is replaced, taken out or added."""
    kind, document = draw(st.sampled_from(_DOCUMENTS))
    tree = msgspec.json.decode(msgspec.json.encode(document))
    at = tree
    while True:
        keys = list(at) if isinstance(at, dict) else list(range(len(at)))
        if not keys:
            break
        key = draw(st.sampled_from(keys))
        if isinstance(at[key], dict | list) and draw(st.booleans()):
            at = at[key]
            continue
        if isinstance(at, dict) and draw(st.booleans()):
            del at[key]
        else:
            at[key] = draw(_TREES)
        break
    if isinstance(at, dict) and draw(st.booleans()):
        at[draw(st.sampled_from(["tp", "card", "spot", "amount"]))] = draw(_TREES)
    return kind, tree


@given(spoilt())
def test_a_fault_is_found_exactly_where_the_decoder_refuses(case: tuple[Any, Any]) -> None:
    kind, tree = case
    fault = first_fault(kind, tree)
    try:
        msgspec.json.decode(msgspec.json.encode(tree), type=kind)
    except msgspec.ValidationError:
        assert fault is not None
        assert fault.expected
        at = tree
        for step in fault.path[:-1]:
            at = at[step]
        if fault.path and fault.value is not msgspec.UNSET:
            assert at[fault.path[-1]] == fault.value
    else:
        assert fault is None


@pytest.mark.parametrize(
    ("kind", "tree", "field", "expected"),
    [
        (House, {"shifts": ["04:00", 5]}, "shifts[1]", "text"),
        (House, {"zone": "Atlantis"}, "", "zone: expected"),
        (TableLayout, {"name": 3}, "name", "text"),
        (ConsoleEntry, {"type": "console_entry", "fact": {"type": "x"}}, "fact.type", "one of "),
        (ReviewResolved, {"type": "review"}, "type", "one of review_resolved"),
        (dict[str, tuple[int, int]], {"a": [1, 2], "b": [1]}, "b", "a list"),
        (dict[str, tuple[int, int]], {"a": [1, "2"]}, "a[1]", "a whole number"),
    ],
)
def test_the_field_and_what_it_accepts_are_named(
    kind: Any, tree: Any, field: str, expected: str
) -> None:
    fault = first_fault(kind, tree)
    assert fault is not None
    assert fault.field == field
    assert fault.expected.startswith(expected)
