"""What the bytecode of a function says of the values on its stack.

An instruction is known by its name, and by how it changes the height of the stack; `dis` has both
for the Python that runs. So nothing here depends on a version but the names below, which are those
of Python 3.11 to 3.14. A name that is not among them makes a question one without an answer.
"""

from __future__ import annotations

import dis
from bisect import bisect_right
from collections.abc import Sequence
from types import CodeType
from typing import Any, NamedTuple, cast

_ASSIGNMENTS = {"STORE_SUBSCR": 3, "STORE_SLICE": 4, "BINARY_OP": 1}
"""Instructions that hand a value to `__setitem__` or `__iadd__`, and how deep it lies: under the
container and the key, under the container and both ends of a slice, or at the top."""

_IDLE = ("EXTENDED_ARG", "CACHE", "NOP", "NOT_TAKEN", "JUMP_FORWARD")
"""Instructions that leave the stack as it is."""

_READING = (
    *("LOAD_", "PUSH_NULL", "BUILD_", "LIST_", "FORMAT_", "CONVERT_VALUE"),
    *("BINARY_", "UNARY_", "COMPARE_OP", "CONTAINS_OP", "IS_OP", "TO_BOOL"),
    *("CALL", "PRECALL", "KW_NAMES", "POP_JUMP_", "JUMP_IF_"),
    *_IDLE,
)
"""Beginnings of the names of instructions that touch nothing below what their own expression has
put on the stack. COPY, SWAP and what stores or unpacks, alone or fused, are none of them."""

_LEAVING = ("RETURN_", "RAISE_", "RERAISE", "JUMP_FORWARD", "JUMP_BACKWARD", "INTERPRETER_EXIT")
"""Beginnings of the names of instructions that do not go on to the next one."""

_VARIABLES = ("LOAD_FAST", "LOAD_NAME", "LOAD_DEREF", "LOAD_GLOBAL")
_ATTRIBUTES = ("LOAD_ATTR", "LOAD_METHOD")
_OF_CALLS = (
    *("PRECALL", "KW_NAMES", "PUSH_NULL", "EXTENDED_ARG", "CACHE"),
    *("LOAD_CONST", "BUILD_", "LIST_", "DICT_", "CALL_INTRINSIC_1"),
)
"""Beginnings of the names of instructions that collect the arguments of a call."""

_SAME = ("_BORROW", "_CHECK")
"""Endings that make no difference here: how a variable is loaded."""


class BytecodeStep(NamedTuple):
    """An instruction of bytecode."""

    offset: int
    name: str
    argument: Any = None
    """As `dis` shows it: the name of a variable, the offset that a jump leads to."""
    effect: int | None = 0
    """By how much it changes the height of the stack; None when that is not known."""
    effect_of_jump: int | None = None
    """The same when it jumps; None when it cannot."""
    begins: tuple[int | None, int | None] = (None, None)
    """Line and column of the source where the expression begins that it is of."""


MOST_FUNCTIONS = 256
"""Functions whose bytecode is kept; the oldest makes room."""


class Bytecode:
    """The instructions of a function."""

    def __init__(self, steps: Sequence[BytecodeStep]):
        """`steps`: in the order of their offsets."""
        self._steps = steps
        self.makers: dict[int, frozenset[int]] = {}
        """By the offset of an assignment, the offsets of what makes the value it hands over."""
        self._sources: list[list[tuple[int, int | None]]] = [[] for _ in steps]
        """For each instruction those that lead to it, and what they do to the stack then."""
        for number, step in enumerate(steps):
            if step.effect_of_jump is not None:
                self._sources[self.number_at(step.argument)].append((number, step.effect_of_jump))
            if not step.name.startswith(_LEAVING) and number + 1 < len(steps):
                self._sources[number + 1].append((number, step.effect))

    @staticmethod
    def of(code: CodeType) -> Bytecode:
        """That of a function, read once."""
        # By identity: the hash of a code object takes as long as its function is.
        known = _known.get(id(code))
        if known is None:
            known = code, Bytecode([_step(one) for one in dis.get_instructions(code)])
            while len(_known) >= MOST_FUNCTIONS:
                _known.pop(next(iter(_known)), None)
            _known[id(code)] = known
        return known[1]

    def number_at(self, offset: int) -> int:
        """The number of the instruction at an offset, which may be that of one of its caches."""
        return bisect_right(self._steps, offset, key=lambda step: step.offset) - 1

    def offsets(self, number: int) -> range:
        """The offsets of an instruction and of its caches."""
        start = self._steps[number].offset
        last = number + 1 == len(self._steps)
        return range(start, start + 2 if last else self._steps[number + 1].offset)

    # ---------------------------------------------------------------- where a value comes from

    def makers_of_assigned(self, number: int) -> frozenset[int]:
        """The instructions of which one has made the value that an assignment hands over.

        Nothing but the assignment takes the value from the stack. Empty when that is not certain.
        """
        depth = _ASSIGNMENTS.get(self._steps[number].name)
        return frozenset() if depth is None else self._makers(number, depth)

    def _makers(self, number: int, depth: int) -> frozenset[int]:
        """The instructions that put on the stack what lies so deep before one is executed.

        Heights are counted from there, so that the value ends at `1 - depth`. What was executed
        last with the stack at that height has made it, on each way that leads to the instruction.
        """
        top = 1 - depth
        makers: set[int] = set()
        seen = {(number, 0)}
        pending = [(number, 0)]
        while pending:
            at, height = pending.pop()
            if not self._sources[at]:  # where exceptions are handled, on another stack
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

    # ---------------------------------------------------------------- where it goes to

    def is_returned(self, number: int) -> bool:
        """True when what an instruction makes is returned at once, or after it got a name.

        Nothing comes between that could load the variable.
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
        """The instruction after one, idle ones left out; the number of all when there is none."""
        number += 1
        while number < len(self._steps) and self._steps[number].name in _IDLE:
            step = self._steps[number]
            jumps = step.effect_of_jump is not None
            number = self.number_at(step.argument) if jumps else number + 1
        return number

    # ---------------------------------------------------------------- what is called

    def function_called(self, number: int) -> Sequence[str]:
        """The function that an instruction calls, as a variable and names of attributes.

        Empty for anything but a call of a variable or of an attribute of one. What is called
        begins where the call does in the source, unlike its arguments.
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
"""By the identity of a code object, which is kept alive so that no other one has it."""
