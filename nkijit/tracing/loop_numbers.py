"""Python numbers that the body of a loop on the device changes, although it is traced once."""

from __future__ import annotations

import dis
import re
from collections.abc import Iterator
from itertools import pairwise
from types import CodeType, FrameType
from typing import NamedTuple

Number = int | float


class ChangedNumber(NamedTuple):
    """A variable that the body of a loop reads before it changes the variable's number."""

    name: str
    before: Number
    after: Number


def numbers_of(frame: FrameType) -> dict[str, Number]:
    """Return the variables of a function that are numbers or booleans."""
    return {n: v for n, v in frame.f_locals.items() if type(v) in (int, float, bool)}


def changed_numbers(frame: FrameType, before: dict[str, Number]) -> list[ChangedNumber]:
    """Return the numbers that the body of a `for` needs from the iteration before.

    The frame is at the end of the body; `before` is `numbers_of(frame)` at its start. Numbers that
    only their own update or texts read are left out: counters of names, for example.
    """
    after = numbers_of(frame)
    changed = [name for name in before if repr(after.get(name)) != repr(before[name])]
    changed = [name for name in changed if name in after]
    if not changed:
        return []
    accesses = list(_accesses(frame.f_code, frame.f_lasti))
    found = [name for name in changed if _is_carried([a for a in accesses if a.name == name])]
    return [ChangedNumber(name, before[name], after[name]) for name in found]


class _Access(NamedTuple):
    """A read or write of a variable in the body of a loop or after it."""

    name: str
    reads: bool
    in_body: bool
    line: int | None
    is_text: bool
    """True if the value that is read becomes a part of a text."""


def _accesses(code: CodeType, at: int) -> Iterator[_Access]:
    """Yield the accesses from the `for` at offset `at` on; nothing if there is no `for`."""
    end = 0
    for instruction, following in pairwise(dis.get_instructions(code)):
        # The offset can be that of an inline cache.
        if instruction.offset <= at < following.offset and instruction.opname == "FOR_ITER":
            end = instruction.argval
        # Comprehensions save variables of the same name with LOAD_FAST_AND_CLEAR.
        kinds = re.findall("(LOAD|STORE)_(?:FAST|DEREF)(?!_AND_CLEAR)", instruction.opname)
        if not end or not kinds:
            continue
        names = _names(instruction.argval)
        line = None if instruction.positions is None else instruction.positions.lineno
        is_text = following.opname.startswith(("FORMAT_", "CONVERT_VALUE"))
        for kind, name in zip(kinds, names, strict=False):
            yield _Access(name, kind == "LOAD", instruction.offset < end, line, is_text)


def _names(argument: str | tuple[str, ...]) -> tuple[str, ...]:
    """Return the variables of an instruction, as `dis` shows its argument."""
    return (argument,) if isinstance(argument, str) else argument


def _is_carried(accesses: list[_Access]) -> bool:
    """True if the first access to a variable in the body reads it, and not just to update it."""
    if not accesses or not accesses[0].reads or not accesses[0].in_body:
        return False
    updates = {a.line for a in accesses if a.in_body and not a.reads}
    return any(a.reads and not a.is_text and a.line not in updates for a in accesses)
