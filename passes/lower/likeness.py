"""Equivalence classes of instructions that differ only in names and in the offsets of their tiles.

Equivalent instructions are lowered to the same engine instructions with the same durations, which
are therefore computed once.
"""

from __future__ import annotations

from operator import attrgetter

from xdsl.ir import Operation, SSAValue

from nkijit.dialects.declare.accessors import operand_tuple
from nkijit.dialects.tiles import info_of, is_tile
from nkijit.passes.lower.program import EngineInstruction, What

SCHEDULING = ("name", "after")
"""Properties that do not affect the execution of an instruction."""
_MAX_PARTS = 16
"""A number larger than the number of engine instructions of any NKI instruction."""
_TYPE = attrgetter("_type")
"""Returns the type of a value; xDSL's property takes three times as long."""
_KINDS = {what: number for number, what in enumerate(What)}


class Likeness:
    """Numbers the equivalence classes of a kernel's operations.

    The kernel may change between calls.
    """

    def __init__(self) -> None:
        self._known: dict[int, int] = {}
        """The number of each known type and attribute, by `id`."""
        self._alive: list[object] = []
        """The known types and attributes, kept alive so that their `id` is not reused."""
        self._numbers: dict[object, int] = {}
        self._operations: dict[tuple[object, ...], int] = {}
        self._by_identity: dict[tuple[object, ...], int] = {}
        """The number of each class of operations; the keys use `id`s of types and attributes."""

    def number(self, op: Operation) -> int:
        """Return the number of an operation's equivalence class, in the order of first use."""
        # A fast path: most operations have the same types and attributes as an earlier one.
        properties = op.properties
        values = properties.values()
        types = map(_TYPE, operand_tuple(op))
        key = type(op), *properties, *map(id, values), *map(id, types)
        number = self._by_identity.get(key)
        if number is None:
            number = self._by_identity[key] = self._number_of(op)
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
    """Return the `EngineInstruction.like` of an instruction.

    `number` is the number of the equivalence class of the NKI instruction.
    """
    kind = instruction.stage if instruction.stage >= 0 else -1 - _KINDS[instruction.what]
    return number * _MAX_PARTS + kind % _MAX_PARTS


def unlike(number: int) -> int:
    """Return the `EngineInstruction.like` of instruction `number`, which has no equivalents."""
    return -1 - number
