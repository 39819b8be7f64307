"""Which instructions are alike: they differ in names, and in where their tiles begin, only.

What is alike becomes the same engine instructions and takes as long, so it is asked about once.
"""

from __future__ import annotations

from operator import attrgetter

from xdsl.ir import Operation, SSAValue

from nkijit.dialects.declare.accessors import operand_tuple
from nkijit.dialects.tiles import info_of, is_tile
from nkijit.passes.lower.program import EngineInstruction, What

SCHEDULING = ("name", "after")
"""Properties that say nothing of what an instruction does."""
_MOST = 16
"""More than one NKI instruction has stages and other parts."""
_TYPE = attrgetter("_type")
"""The type of a value: xDSL's own access takes three times as long."""
_KINDS = {what: number for number, what in enumerate(What)}


class Likeness:
    """Numbers of the instructions of one kernel, which may change meanwhile."""

    def __init__(self) -> None:
        self._known: dict[int, int] = {}
        """The number of each type and attribute, by its identity."""
        self._alive: list[object] = []
        """These types and attributes: an identity must not become another one's."""
        self._numbers: dict[object, int] = {}
        self._operations: dict[tuple[object, ...], int] = {}
        self._same: dict[tuple[object, ...], int] = {}
        """The numbers of operations by the very types and attributes that they have."""

    def number(self, op: Operation) -> int:
        """Equal for operations that are alike; counted from 0 in the order in which they come."""
        # Most are not only alike, but the same but for which tiles they use.
        properties = op.properties
        values = properties.values()
        types = map(_TYPE, operand_tuple(op))
        key = type(op), *properties, *map(id, values), *map(id, types)
        number = self._same.get(key)
        if number is None:
            number = self._same[key] = self._number_of(op)
            self._alive.extend(values)
        return number

    def _number_of(self, op: Operation) -> int:
        known = self._known
        key: list[object] = [type(op)]
        for value in operand_tuple(op):
            number = known.get(id(value._type))  # pyright: ignore[reportPrivateUsage]
            key.append(self._of_type(value) if number is None else number)
        for name, attr in op.properties.items():
            if name not in SCHEDULING:
                number = known.get(id(attr))
                key += (name, self._number(attr, attr) if number is None else number)
        return self._operations.setdefault(tuple(key), len(self._operations))

    def _of_type(self, value: SSAValue) -> int:
        if not is_tile(value):
            return self._number(value.type, value.type)
        info = info_of(value)
        kind = info.dtype.name, info.region, info.shape, info.strides, info.indirection
        return self._number(value.type, kind)

    def _number(self, of: object, kind: object) -> int:
        self._alive.append(of)
        number = self._known[id(of)] = self._numbers.setdefault(kind, len(self._numbers))
        return number


def like_of(number: int, instruction: EngineInstruction) -> int:
    """`EngineInstruction.like`, by the number of its NKI instruction."""
    kind = instruction.stage if instruction.stage >= 0 else -1 - _KINDS[instruction.what]
    return number * _MOST + kind % _MOST


def unlike(number: int) -> int:
    """`EngineInstruction.like` of an instruction that is like no other, by its own number."""
    return -1 - number
