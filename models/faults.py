"""Where a value does not fit its type, and what the type expects there.

The decoder refuses a document as a whole. This module walks the refused document beside its type
and names the first field at fault, for the person who must mend it. It asks msgspec about each
part, so that it finds a fault exactly where msgspec refuses.
"""

from collections.abc import Iterator, Sequence
from difflib import get_close_matches
from functools import cache
from types import UnionType
from typing import Annotated, Any, Final, NamedTuple, Union, get_args, get_origin, get_type_hints

import msgspec
from msgspec import inspect

from models.cards import Card

Path = tuple[str | int, ...]
"""The steps to a value in a document: a field's name, or an index in a list."""

_SHAPES: Final[dict[type[inspect.Type], tuple[str, type | tuple[type, ...]]]] = {
    inspect.BoolType: ("true or false", bool),
    inspect.DictType: ("one JSON object", dict),
    inspect.FloatType: ("a number", (int, float)),
    inspect.IntType: ("a whole number", (int, float)),
    inspect.ListType: ("a list", list),
    inspect.NoneType: ("null", type(None)),
    inspect.StructType: ("one JSON object", dict),
    inspect.TupleType: ("a list", list),
    inspect.VarTupleType: ("a list", list),
}
"""Of each type, its name for a person and the plain values that have its shape. All other types
are written as text."""
_TEXT: Final = ("text", str)
_BOUNDS: Final = (
    ("gt", "above"),
    ("ge", "from"),
    ("lt", "below"),
    ("le", "to"),
    ("min_length", "of at least"),
    ("max_length", "of at most"),
)


class Fault(NamedTuple):
    """One value that does not fit, and the path to it.

    ``value`` is ``UNSET`` where a field is missing. ``is_unknown`` marks a field that its record
    does not have.
    """

    path: Path
    expected: str
    value: object
    is_unknown: bool = False

    @property
    def field(self) -> str:
        """The path as a person writes it: ``spots[0].kind``; empty for the whole document."""
        steps = (f"[{step}]" if isinstance(step, int) else f".{step}" for step in self.path)
        return "".join(steps).removeprefix(".")

    def __str__(self) -> str:
        return f"field {self.field!r}: expected {self.expected}"


def faults(kind: Any, tree: object, path: Path = ()) -> Iterator[Fault]:
    """Yield every part of ``tree`` that does not fit ``kind``.

    Of a record the unknown fields come first, as they are often misspelt ones, and the missing
    fields last.

    Args:
        kind: a type that msgspec decodes.
        tree: the document as plain dicts, lists, texts and numbers.
        path: the steps to the document, where it is a part of a larger one.
    """
    try:
        msgspec.convert(tree, kind)
    except (msgspec.ValidationError, OverflowError) as refused:
        near = [one for one in _members(kind) if _has_shape(one, tree)]
        inside = False
        for fault in _inside(near, tree, path):
            inside = True
            yield fault
        if not inside:
            # A record's own check refuses in the project's words: the cause of msgspec's.
            own = refused.__cause__
            yield Fault(path, str(own) if own else expected_of(kind), tree)


def first_fault(kind: Any, tree: object) -> Fault | None:
    """Return the first of :func:`faults`; ``None`` where all parts fit."""
    return next(faults(kind, tree), None)


def expected_of(kind: Any) -> str:
    """Describe the values that a type accepts, such as ``a whole number from 1 to 99``."""
    options: list[str] = []
    words: list[str] = []
    for one in _members(kind):
        node = _type(one)
        if isinstance(node, inspect.LiteralType):
            options += map(str, node.values)
        elif isinstance(node, inspect.EnumType) and node.cls is not Card:
            options += [str(member.value) for member in node.cls]
        else:
            words.append(_described(node))
    if len(options) == 1:
        words.append(f'"{options[0]}"')
    elif options:
        words.insert(0, f"one of {', '.join(options)}")
    return " or ".join(dict.fromkeys(words))


def _described(node: inspect.Type) -> str:
    """Describe a type that does not list its values, with its bounds."""
    if isinstance(node, inspect.EnumType):
        return "a card such as AS, a rank alone such as A?"
    word, _ = _SHAPES.get(type(node), _TEXT)
    bounds = ((how, getattr(node, name, None)) for name, how in _BOUNDS)
    return " ".join([word, *(f"{how} {bound}" for how, bound in bounds if bound is not None)])


def _inside(near: Sequence[Any], tree: object, path: Path) -> Iterator[Fault]:
    """Yield the faults in the parts of a value; ``near`` are the types of the value's shape."""
    records = [node for one in near if isinstance(node := _type(one), inspect.StructType)]
    if isinstance(tree, dict) and records:
        tag_field = records[0].tag_field
        tag = tree.get(tag_field, msgspec.UNSET) if tag_field else None
        for node in records:
            if node.tag == tag:
                yield from _in_record(node, tree, path)
                return
        tags = ", ".join(sorted(str(node.tag) for node in records))
        yield Fault((*path, str(tag_field)), f"one of {tags}", tag)
    elif isinstance(tree, dict) and near:
        _, of_values = get_args(_bare(near[0]))
        for name, value in tree.items():
            yield from faults(of_values, value, (*path, name))
    elif isinstance(tree, list) and near:
        of_items = get_args(_bare(near[0]))
        for at, value in enumerate(tree[: len(of_items)] if of_items[-1] is not ... else tree):
            yield from faults(of_items[0 if of_items[-1] is ... else at], value, (*path, at))


def _in_record(node: inspect.StructType, record: dict[str, Any], path: Path) -> Iterator[Fault]:
    known = {field.encode_name: field for field in node.fields}
    names = [*([node.tag_field] if node.tag_field else []), *known]
    if node.forbid_unknown_fields:
        for name, value in record.items():
            if name not in names:
                near = get_close_matches(name, names, 1)
                wanted = f"{near[0]!r}" if near else f"one of {', '.join(names)}"
                yield Fault((*path, name), wanted, value, is_unknown=True)
    kinds = get_type_hints(node.cls, include_extras=True)
    for name, field in known.items():
        if name in record:
            yield from faults(kinds[field.name], record[name], (*path, name))
    for name, field in known.items():
        if name not in record and field.required:
            yield Fault((*path, name), expected_of(kinds[field.name]), msgspec.UNSET)


def _members(kind: Any) -> tuple[Any, ...]:
    """Return the types of a union; of any other type the type alone."""
    return get_args(kind) if get_origin(kind) in (Union, UnionType) else (kind,)


def _bare(kind: Any) -> Any:
    return get_args(kind)[0] if get_origin(kind) is Annotated else kind


def _has_shape(kind: Any, value: object) -> bool:
    _, written_as = _SHAPES.get(type(_type(kind)), _TEXT)
    return isinstance(value, written_as)


@cache
def _type(kind: Any) -> inspect.Type:
    """Return the type's description, cached: a file may hold many faulty events."""
    return inspect.type_info(kind)
