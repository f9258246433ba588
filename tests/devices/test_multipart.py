"""A multipart stream is cut into its pictures, whatever its parts' lengths say."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from devices.cameras.multipart import LostBoundary, Parts, is_whole, may_open_multipart

PICTURES = [b"\xff\xd8" + bytes([number]) * (200 + number) + b"\xff\xd9" for number in range(6)]


def part(jpeg: bytes, length: object, boundary: str = "frame") -> bytes:
    stated = "" if length is None else f"Content-Length: {length}\r\n"
    return f"--{boundary}\r\nContent-Type: image/jpeg\r\n{stated}\r\n".encode() + jpeg + b"\r\n"


def cut(stream: bytes, sizes: list[int]) -> list[bytes]:
    """The parts of a stream that comes in chunks of these sizes, and the rest at once."""
    parts, found, at = Parts(), list[bytes](), 0
    for size in [*sizes, len(stream)]:
        found += parts.feed(stream[at : at + size])
        at += size
    return found


LENGTHS = st.sampled_from(["right", None, 0, 3, 150, 210, 5000, 999_999_999, "-1", "many"])


@given(st.lists(LENGTHS, min_size=6, max_size=6), st.lists(st.integers(1, 90), max_size=40))
def test_every_picture_is_whole_whatever_length_is_stated(
    lengths: list[object], sizes: list[int]
) -> None:
    stream = b"".join(
        part(jpeg, len(jpeg) if length == "right" else length)
        for jpeg, length in zip(PICTURES, lengths, strict=True)
    )
    assert [one.rstrip() for one in cut(stream + b"--frame--\r\n", sizes)] == PICTURES


def test_a_picture_of_the_stated_length_does_not_wait_for_the_next() -> None:
    jpeg = PICTURES[0]
    assert [*Parts().feed(part(jpeg, len(jpeg))[:-2])] == [jpeg]


def test_a_part_that_is_cut_short_costs_itself() -> None:
    first, second, third = PICTURES[:3]
    stream = b"".join(
        [part(first, len(first)), part(second[:90], len(second)), part(third, len(third))]
    )
    found = cut(stream, [])
    assert found == [first, second[:90], third]
    assert [is_whole(one) for one in found] == [True, False, True]


def test_a_boundary_without_a_line_of_its_own_is_one() -> None:
    first, second = PICTURES[:2]
    stream = part(first, len(first))[:-2] + part(second, len(second))
    assert cut(stream, []) == [first, second]


def test_a_stream_without_a_boundary_is_refused() -> None:
    parts = Parts()
    assert [*parts.feed(part(PICTURES[0], None))] == []
    with pytest.raises(LostBoundary):
        [*parts.feed(bytes(1 << 26))]


@pytest.mark.parametrize(
    ("begin", "is_one"),
    [
        (part(PICTURES[0], 5), True),
        (b"\r\n" + part(PICTURES[0], None), True),
        (b"", None),
        (b"-", None),
        (b"--frame\r\nContent-Type: im", None),
        (b"G@\x00\x10", False),
        (b"<html>log in</html>", False),
        (b"#EXTM3U\n", False),
        (b"--frame\r\nContent-Type: text/plain\r\n\r\nhello", False),
        (b"--" + b"x" * 9000, False),
    ],
)
def test_a_stream_is_known_by_its_beginning(begin: bytes, is_one: bool | None) -> None:
    assert may_open_multipart(begin) is is_one
