"""Finds, in a function's bytecode, where values on the stack come from and where they are used.

`dis` provides the name of each bytecode instruction and its effect on the height of the stack for
the running Python. Only the names below depend on the version; they cover Python 3.11 to 3.14. If a
name is unknown, queries return no answer.
"""

from __future__ import annotations

import dis
from bisect import bisect_right
from collections.abc import Sequence
from types import CodeType
from typing import Any, NamedTuple, cast

_ASSIGNMENTS = {"STORE_SUBSCR": 3, "STORE_SLICE": 4, "BINARY_OP": 1}
"""The bytecode instructions of assignments, and the depth of the assigned value on the stack.

These instructions call `__setitem__` or `__iadd__`. On the stack, the value is below the container
and the key, below the container and both ends of a slice, or at the top (depth 1).
"""

_IDLE = ("EXTENDED_ARG", "CACHE", "NOP", "NOT_TAKEN", "JUMP_FORWARD")
"""Instructions that do not change the stack."""

_READING = (
    *("LOAD_", "PUSH_NULL", "BUILD_", "LIST_", "FORMAT_", "CONVERT_VALUE"),
    *("BINARY_", "UNARY_", "COMPARE_OP", "CONTAINS_OP", "IS_OP", "TO_BOOL"),
    *("CALL", "PRECALL", "KW_NAMES", "POP_JUMP_", "JUMP_IF_"),
    *_IDLE,
)
"""Prefixes of instructions that access no stack values except the operands of their own expression.

COPY, SWAP, stores and unpacking instructions are left out, because they also access other values.
"""

_LEAVING = ("RETURN_", "RAISE_", "RERAISE", "JUMP_FORWARD", "JUMP_BACKWARD", "INTERPRETER_EXIT")
"""Prefixes of instructions after which the next instruction does not run."""

_VARIABLES = ("LOAD_FAST", "LOAD_NAME", "LOAD_DEREF", "LOAD_GLOBAL")
_ATTRIBUTES = ("LOAD_ATTR", "LOAD_METHOD")
_OF_CALLS = (
    *("PRECALL", "KW_NAMES", "PUSH_NULL", "EXTENDED_ARG", "CACHE"),
    *("LOAD_CONST", "BUILD_", "LIST_", "DICT_", "CALL_INTRINSIC_1"),
)
"""Prefixes of instructions that collect the arguments of a call."""

_SAME = ("_BORROW", "_CHECK")
"""Suffixes of the names of load instructions; variants of an instruction are treated equally."""


class BytecodeStep(NamedTuple):
    """A bytecode instruction."""

    offset: int
    name: str
    argument: Any = None
    """The argument as `dis` shows it: the name of a variable, or the target offset of a jump."""
    effect: int | None = 0
    """The change of the stack height if the instruction does not jump; None if unknown."""
    effect_of_jump: int | None = None
    """The change of the stack height if the instruction jumps; None if it cannot jump."""
    begins: tuple[int | None, int | None] = (None, None)
    """Line and column of the source at which the instruction's expression begins."""


MOST_FUNCTIONS = 256
"""The maximum number of functions with cached bytecode; the oldest is dropped first."""


class Bytecode:
    """The bytecode instructions of a function, and queries about the values on its stack."""

    def __init__(self, steps: Sequence[BytecodeStep]):
        """Create an instance from bytecode instructions in the order of their offsets."""
        self._steps = steps
        self.makers: dict[int, frozenset[int]] = {}
        """For each assignment, by offset: offsets of the instructions that produced the value."""
        self._sources: list[list[tuple[int, int | None]]] = [[] for _ in steps]
        """For each instruction, its predecessors: (number, effect on the stack height)."""
        for number, step in enumerate(steps):
            if step.effect_of_jump is not None:
                self._sources[self.number_at(step.argument)].append((number, step.effect_of_jump))
            if not step.name.startswith(_LEAVING) and number + 1 < len(steps):
                self._sources[number + 1].append((number, step.effect))

    @staticmethod
    def of(code: CodeType) -> Bytecode:
        """Return the cached bytecode of a function."""
        # By identity: hashing a code object takes time in proportion to its length.
        known = _known.get(id(code))
        if known is None:
            known = code, Bytecode([_step(one) for one in dis.get_instructions(code)])
            while len(_known) >= MOST_FUNCTIONS:
                _known.pop(next(iter(_known)), None)
            _known[id(code)] = known
        return known[1]

    def number_at(self, offset: int) -> int:
        """Return the number of the instruction that an offset belongs to.

        CPython's inline caches after an instruction have offsets, too.
        """
        return bisect_right(self._steps, offset, key=lambda step: step.offset) - 1

    def offsets(self, number: int) -> range:
        """Return the offsets of an instruction and of its inline caches."""
        start = self._steps[number].offset
        last = number + 1 == len(self._steps)
        return range(start, start + 2 if last else self._steps[number + 1].offset)

    # ---------------------------------------------------------------- producers of a value

    def makers_of_assigned(self, number: int) -> frozenset[int]:
        """Return the instructions that may have produced the value of an assignment.

        The set is empty unless the assignment is certainly the only user of the value on the stack.
        """
        depth = _ASSIGNMENTS.get(self._steps[number].name)
        return frozenset() if depth is None else self._makers(number, depth)

    def _makers(self, number: int, depth: int) -> frozenset[int]:
        """Return the instructions that push an operand of an instruction.

        `depth` is the operand's position on the stack, 1 at the top. Heights are relative to the
        stack before the instruction, so the operand is at height `1 - depth`. On each path to the
        instruction, the last instruction that leaves the stack at this height pushed the operand.
        Empty if this is uncertain.
        """
        top = 1 - depth
        makers: set[int] = set()
        seen = {(number, 0)}
        pending = [(number, 0)]
        while pending:
            at, height = pending.pop()
            if not self._sources[at]:  # an exception handler, with another stack
                return frozenset()
            for source, effect in self._sources[at]:
                name = self._steps[source].name
                if height == top and name not in _IDLE:
                    makers.add(source)
                    continue
                if effect is None or height < top or not name.startswith(_READING):
                    return frozenset()
                before = (source, height - effect)
                if before not in seen:
                    seen.add(before)
                    pending.append(before)
        return frozenset(makers)

    # ---------------------------------------------------------------- uses of a value

    def is_returned(self, number: int) -> bool:
        """Return whether the function returns an instruction's result without other uses.

        The function may store the result in a variable first, if only the return loads it.
        """
        names: list[str] = []
        variables: set[Any] = set()
        while len(names) < 3:
            number = self._next(number)
            if number == len(self._steps):
                return False
            step = self._steps[number]
            name = _plain(step.name)
            names.append(name)
            if name == "RETURN_VALUE":
                break
            fused = isinstance(step.argument, tuple)
            variables.update(cast("tuple[str, ...]", step.argument) if fused else (step.argument,))
        stored = names in (
            ["STORE_FAST", "LOAD_FAST", "RETURN_VALUE"],
            ["STORE_FAST_LOAD_FAST", "RETURN_VALUE"],
        )
        return names == ["RETURN_VALUE"] or (stored and len(variables) == 1)

    def _next(self, number: int) -> int:
        """Return the number of the next instruction outside of `_IDLE`, following jumps."""
        number += 1
        while number < len(self._steps) and self._steps[number].name in _IDLE:
            step = self._steps[number]
            jumps = step.effect_of_jump is not None
            number = self.number_at(step.argument) if jumps else number + 1
        return number

    # ---------------------------------------------------------------- called functions

    def function_called(self, number: int) -> Sequence[str]:
        """Return the name of the function that an instruction calls: a variable, then attributes.

        Example: `("nisa", "nc_matmul")`. Empty if the called function is any other expression. In
        the source, the expression of the function begins where the call begins; this distinguishes
        it from the arguments.
        """
        begins = self._steps[number].begins
        if None in begins or not self._steps[number].name.startswith("CALL"):
            return ()
        attributes: list[str] = []
        for step in reversed(self._steps[:number]):
            if step.begins != begins or step.name.startswith(_OF_CALLS):
                continue
            if _plain(step.name) in _VARIABLES:
                return (step.argument, *reversed(attributes))
            if step.name not in _ATTRIBUTES:
                break
            attributes.append(step.argument)
        return ()


def _plain(name: str) -> str:
    for ending in _SAME:
        name = name.removesuffix(ending)
    return name


def _step(one: dis.Instruction) -> BytecodeStep:
    jumps = one.opcode in dis.hasjrel or one.opcode in dis.hasjabs
    place = one.positions
    return BytecodeStep(
        one.offset,
        one.opname,
        one.argval,
        _effect(one, jump=False),
        _effect(one, jump=True) if jumps else None,
        (None, None) if place is None else (place.lineno, place.col_offset),
    )


def _effect(one: dis.Instruction, jump: bool) -> int | None:
    try:
        return dis.stack_effect(one.opcode, one.arg, jump=jump)
    except ValueError:
        return None


_known: dict[int, tuple[CodeType, Bytecode]] = {}
"""Cached bytecode by the `id` of a code object.

Each value references its code object, so Python cannot reuse the `id`.
"""
