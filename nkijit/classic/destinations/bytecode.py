"""The origins and uses of values on the stack of a function, from its bytecode.

`dis` provides the name of a bytecode instruction and its effect on the height of the stack for the
running Python. Only the names below depend on the version; they are those of Python 3.11 to 3.14.
With an unknown name, a query has no answer.
"""

from __future__ import annotations

import dis
from bisect import bisect_right
from collections.abc import Sequence
from types import CodeType
from typing import Any, NamedTuple, cast

_ASSIGNMENTS = {"STORE_SUBSCR": 3, "STORE_SLICE": 4, "BINARY_OP": 1}
"""Instructions that pass a value to `__setitem__` or `__iadd__`, and its depth on the stack: below
the container and the key, below the container and both ends of a slice, or at the top."""

_IDLE = ("EXTENDED_ARG", "CACHE", "NOP", "NOT_TAKEN", "JUMP_FORWARD")
"""Instructions that do not change the stack."""

_READING = (
    *("LOAD_", "PUSH_NULL", "BUILD_", "LIST_", "FORMAT_", "CONVERT_VALUE"),
    *("BINARY_", "UNARY_", "COMPARE_OP", "CONTAINS_OP", "IS_OP", "TO_BOOL"),
    *("CALL", "PRECALL", "KW_NAMES", "POP_JUMP_", "JUMP_IF_"),
    *_IDLE,
)
"""Prefixes of instructions that access no values below those of their own expression on the stack.
COPY, SWAP, stores and unpacking instructions, alone or fused, are not among them."""

_LEAVING = ("RETURN_", "RAISE_", "RERAISE", "JUMP_FORWARD", "JUMP_BACKWARD", "INTERPRETER_EXIT")
"""Prefixes of instructions that do not continue with the next one."""

_VARIABLES = ("LOAD_FAST", "LOAD_NAME", "LOAD_DEREF", "LOAD_GLOBAL")
_ATTRIBUTES = ("LOAD_ATTR", "LOAD_METHOD")
_OF_CALLS = (
    *("PRECALL", "KW_NAMES", "PUSH_NULL", "EXTENDED_ARG", "CACHE"),
    *("LOAD_CONST", "BUILD_", "LIST_", "DICT_", "CALL_INTRINSIC_1"),
)
"""Prefixes of instructions that collect the arguments of a call."""

_SAME = ("_BORROW", "_CHECK")
"""Suffixes for ways of loading a variable, which are equivalent here."""


class BytecodeStep(NamedTuple):
    """A bytecode instruction."""

    offset: int
    name: str
    argument: Any = None
    """As `dis` shows it: the name of a variable, the offset that a jump leads to."""
    effect: int | None = 0
    """The change of the stack height; None if unknown."""
    effect_of_jump: int | None = None
    """The change if it jumps; None if it cannot jump."""
    begins: tuple[int | None, int | None] = (None, None)
    """Line and column of the source where its expression begins."""


MOST_FUNCTIONS = 256
"""Most functions with cached bytecode; the oldest is dropped first."""


class Bytecode:
    """The instructions of a function."""

    def __init__(self, steps: Sequence[BytecodeStep]):
        """Create it from instructions in the order of their offsets."""
        self._steps = steps
        self.makers: dict[int, frozenset[int]] = {}
        """The offsets of the producers of the assigned value, by the offset of the assignment."""
        self._sources: list[list[tuple[int, int | None]]] = [[] for _ in steps]
        """The predecessors of each instruction, with their effects on the stack height."""
        for number, step in enumerate(steps):
            if step.effect_of_jump is not None:
                self._sources[self.number_at(step.argument)].append((number, step.effect_of_jump))
            if not step.name.startswith(_LEAVING) and number + 1 < len(steps):
                self._sources[number + 1].append((number, step.effect))

    @staticmethod
    def of(code: CodeType) -> Bytecode:
        """Return the bytecode of a function, which is cached."""
        # By identity: hashing a code object takes time in proportion to its length.
        known = _known.get(id(code))
        if known is None:
            known = code, Bytecode([_step(one) for one in dis.get_instructions(code)])
            while len(_known) >= MOST_FUNCTIONS:
                _known.pop(next(iter(_known)), None)
            _known[id(code)] = known
        return known[1]

    def number_at(self, offset: int) -> int:
        """Return the number of the instruction at an offset, or at that of one of its caches."""
        return bisect_right(self._steps, offset, key=lambda step: step.offset) - 1

    def offsets(self, number: int) -> range:
        """Return the offsets of an instruction and of its caches."""
        start = self._steps[number].offset
        last = number + 1 == len(self._steps)
        return range(start, start + 2 if last else self._steps[number + 1].offset)

    # ---------------------------------------------------------------- producers of a value

    def makers_of_assigned(self, number: int) -> frozenset[int]:
        """Return the instructions that may have produced the value of an assignment.

        Only the assignment pops the value from the stack. The set is empty if that is uncertain.
        """
        depth = _ASSIGNMENTS.get(self._steps[number].name)
        return frozenset() if depth is None else self._makers(number, depth)

    def _makers(self, number: int, depth: int) -> frozenset[int]:
        """Return the instructions that push the value at a depth of the stack of an instruction.

        Heights are relative to the instruction, so the value is at `1 - depth`. On each path to the
        instruction, the last instruction at that height produced the value.
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
        """Return whether the result of an instruction is returned at once, or from a variable.

        No instruction in between can load the variable.
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
        """Return the next instruction that is not idle, or the number of instructions."""
        number += 1
        while number < len(self._steps) and self._steps[number].name in _IDLE:
            step = self._steps[number]
            jumps = step.effect_of_jump is not None
            number = self.number_at(step.argument) if jumps else number + 1
        return number

    # ---------------------------------------------------------------- called functions

    def function_called(self, number: int) -> Sequence[str]:
        """Return the function that an instruction calls, as a variable and names of attributes.

        The result is empty unless a variable or an attribute of one is called. In the source, the
        expression of the function begins where the call begins, unlike its arguments.
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
"""By the identity of a code object; the reference keeps Python from reusing the identity."""
