"""The integers in attributes, types and names, which may vary between iterations of a loop."""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterator, Sequence
from typing import Any, cast

from xdsl.dialects.builtin import (
    ArrayAttr,
    DenseArrayBase,
    IntegerAttr,
    IntegerType,
    MemRefType,
    NoneAttr,
    StringAttr,
    i1,
)
from xdsl.ir import Attribute

from nkijit.dialects.attributes import integer_attr
from nkijit.dialects.spelling import numbered

Frame = Hashable
"""An attribute, type or name without its integers: equal if only these differ."""

_DECIMAL = re.compile(r"(?<!\d)(?:0|[1-9]\d{0,8})(?!\d)")
"""A number in a name, in the form of `str(number)`: without leading zeros."""


def split_text(text: str) -> tuple[Frame, tuple[int, ...]]:
    """Split a text into a frame and its decimal numbers.

    Example:
        >>> split_text("q_3")
        (('q_', ''), (3,))
    """
    pieces = tuple(_DECIMAL.split(text))
    if len(pieces) == 1:
        return pieces, ()
    return pieces, tuple(map(int, _DECIMAL.findall(text)))


def join_text(text: str, numbers: Sequence[int]) -> str:
    """Replace the decimal numbers in a text. Raises ValueError if their count differs.

    Example:
        >>> join_text("q_3", [4])
        'q_4'
    """
    count = len(_DECIMAL.findall(text))
    if len(numbers) != count:
        raise ValueError(f"expected {numbered(count, 'number')} in the place of those of '{text}'")
    left = iter(numbers)
    return _DECIMAL.sub(lambda _: str(next(left)), text)


def split(attr: Attribute) -> tuple[Frame, tuple[int, ...]]:
    """Split an attribute or type into a frame and its integers, in order."""
    given: Any = attr
    if isinstance(given, IntegerAttr):
        integer = cast(Any, given)
        if integer.type == i1:
            return attr, ()
        return ("integer", integer.type), (integer.value.data,)
    if isinstance(given, DenseArrayBase):
        array = cast(DenseArrayBase[IntegerType], given)
        if not isinstance(cast(Any, array).elt_type, IntegerType):
            return attr, ()
        numbers = tuple(int(number) for number in array.get_values())
        return (DenseArrayBase, array.elt_type, len(numbers)), numbers
    if isinstance(given, ArrayAttr):
        frames, found = list[Frame](), list[int]()
        for item in cast(ArrayAttr[Attribute], given):
            frame, numbers = split(item)
            frames.append(frame)
            found += numbers
        return (ArrayAttr, *frames), tuple(found)
    if isinstance(given, StringAttr):
        frame, numbers = split_text(given.data)
        return (StringAttr, frame), numbers
    if isinstance(given, MemRefType):
        memref = cast(MemRefType[Attribute], given)
        if not isinstance(memref.layout, NoneAttr):
            return attr, ()
        shape = memref.get_shape()
        return (MemRefType, memref.element_type, memref.memory_space, len(shape)), tuple(shape)
    return attr, ()


def join(attr: Attribute, numbers: Sequence[int]) -> Attribute:
    """Replace the integers of an attribute or type.

    Raises ValueError for a different number of integers.
    """
    count = len(split(attr)[1])
    if len(numbers) != count:
        raise ValueError(
            f"expected {numbered(count, 'number')} in the place of those of {attr}, got "
            f"{len(numbers)}"
        )
    return _joined(attr, iter(numbers))


def _joined(attr: Attribute, numbers: Iterator[int]) -> Attribute:
    given: Any = attr
    own = split(attr)[1]
    if not own:
        return attr
    if isinstance(given, ArrayAttr):
        return ArrayAttr([_joined(item, numbers) for item in cast(ArrayAttr[Attribute], given)])
    taken = [next(numbers) for _ in own]
    if isinstance(given, IntegerAttr):
        kind = cast(Any, given).type
        made = integer_attr(taken[0])
        return made if made.type == kind else IntegerAttr(taken[0], kind)
    if isinstance(given, DenseArrayBase):
        return DenseArrayBase.from_list(cast(Any, given).elt_type, taken)
    if isinstance(given, StringAttr):
        return StringAttr(join_text(given.data, taken))
    memref = cast(MemRefType[Attribute], given)
    return MemRefType(memref.element_type, taken, memref.layout, memref.memory_space)


class Splits:
    """Cached `split`; frames are represented by numbers, which are equal for equal frames."""

    def __init__(self):
        self._known: dict[int, tuple[int, tuple[int, ...]]] = {}
        self._frames: dict[Frame, int] = {}
        self._kept: list[Attribute] = []
        """References to the attributes whose `id` is a key, so that the `id` is not reused."""

    def of(self, attr: Attribute) -> tuple[int, tuple[int, ...]]:
        """Return the number of an attribute's frame, and the integers of the attribute."""
        known = self._known.get(id(attr))
        if known is None:
            frame, numbers = split(attr)
            known = self.number(frame), numbers
            self._known[id(attr)] = known
            self._kept.append(attr)
        return known

    def number(self, frame: Frame) -> int:
        """Return the number of a frame."""
        return self._frames.setdefault(frame, len(self._frames))
