"""What is written as TOML is what TOML readers read."""

import tomllib

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from stream.toml import to_toml


class Inner(msgspec.Struct, frozen=True):
    words: tuple[str, ...]
    share: float


class Outer(msgspec.Struct, frozen=True):
    text: str
    number: int
    flag: bool
    inner: Inner
    numbers: tuple[int, ...]
    rows: tuple[Inner, ...]
    absent: int | None = None


FINITE = st.floats(allow_nan=False, allow_infinity=False)
TEXT = st.text(st.characters(exclude_categories=["Cs"]))
INNER = st.builds(Inner, words=st.lists(TEXT, max_size=3).map(tuple), share=FINITE)
OUTER = st.builds(
    Outer,
    text=TEXT,
    number=st.integers(-(2**63), 2**63 - 1),
    flag=st.booleans(),
    inner=INNER,
    numbers=st.lists(st.integers(0, 9), max_size=3).map(tuple),
    rows=st.lists(INNER, min_size=1, max_size=3).map(tuple),
    absent=st.none() | st.integers(0, 9),
)


@given(OUTER)
def test_any_value_reads_back(value: Outer) -> None:
    assert msgspec.convert(tomllib.loads(to_toml(value)), Outer) == value


def test_lists_of_tables_are_blocks_and_absent_fields_are_left_out() -> None:
    value = Outer("a", 1, True, Inner(("x",), 0.5), (1, 2), (Inner((), 1.0),))
    assert to_toml(value).splitlines() == [
        'text = "a"',
        "number = 1",
        "flag = true",
        'inner = { words = ["x"], share = 0.5 }',
        "numbers = [1, 2]",
        "",
        "[[rows]]",
        "words = []",
        "share = 1.0",
    ]
