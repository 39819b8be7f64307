"""Whether an assigned value is a temporary: `t[k] = nisa.f(x)`, to which nothing else can refer.

The bytecode of an assignment says which of its instructions make the value that it hands over, and
a result knows from where its making was called (`Sites`). When those are the same, the result has
been nowhere but on the stack of that function: no variable and no container has it.

It is the same for a helper of the author's, `t[k] = helper(x)`, whose bytecode returns what it
calls, when the assignment calls that function itself: a cache in between would keep the result.

So it is for a variable that a function stores a result in and reads in one place, `t += x`.

Any other value may have another reference. It is copied, which is right in any case.
"""

from __future__ import annotations

import dis
import inspect
from bisect import bisect_right
from collections import ChainMap
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import lru_cache, partial
from types import CodeType, FrameType, FunctionType, MethodType
from typing import Any, cast

from nkijit.classic.destinations.bytecode import Bytecode
from nkijit.tracing.locations import Site, Sites, calls_from


def is_temporary(made: Sites, frame: FrameType | None) -> bool:
    """True when nothing can refer to a value after the assignment that a frame is executing.

    Args:
        made: the calls that made the value.
        frame: what executes `t[key] = value` or `t += value`.
    """
    if frame is None or not made:
        return False
    outer = 0 if len(made) == 1 else sum(1 for _ in calls_from(frame.f_back))
    at = len(made) - 1 - outer
    if at < 0 or made[at][0] is not frame.f_code:
        return False
    if made[at][1] not in _offsets_of_makers((frame.f_code, frame.f_lasti)):
        return False
    return at == 0 or _is_handed_over(made[: at + 1], frame)


def is_only_added(made: Sites, frame: FrameType | None) -> bool:
    """True for `x` in `x = nisa.f(…)`, `t += x`, when the function reads the variable nowhere else.

    Args:
        made: the calls that made the value.
        frame: what executes `t += x`.
    """
    if frame is None or not made or made[0][0] is not frame.f_code:
        return False
    if made[1:] != tuple(calls_from(frame.f_back)):
        return False
    return _is_stored_and_added(frame.f_code, made[0][1], frame.f_lasti)


@lru_cache(maxsize=1024)
def _is_stored_and_added(code: CodeType, made: int, added: int) -> bool:
    """True when a call's result goes to a local variable that the function reads in one place.

    That is the `t += x` at an offset, which each run through the call comes to without a jump: no
    result is added twice.
    """
    steps = list(dis.get_instructions(code))
    offsets = [step.offset for step in steps]
    # Some Python versions count the caches of an instruction, which come behind it.
    first, last = bisect_right(offsets, made), bisect_right(offsets, added) - 1
    store, load = steps[first], steps[last - 1]
    if "STORE_FAST" not in store.opname or not load.opname.startswith("LOAD_FAST"):
        return False
    name = _all(store.argval)[0]
    between = steps[first:last]
    if name != _all(load.argval)[-1] or name in code.co_cellvars:
        return False
    if not between or any(step.is_jump_target or "JUMP" in step.opname for step in between):
        return False
    loads = [step for step in steps if "LOAD_FAST" in step.opname and name in _loaded(step)]
    return len(loads) == 1


def _loaded(step: dis.Instruction) -> tuple[str, ...]:
    names = _all(step.argval)
    return names[1:] if step.opname.startswith("STORE") else names


def _all(names: Any) -> tuple[str, ...]:
    """The variables of an instruction, of which fused ones (Python 3.13) have two."""
    return cast("tuple[str, ...]", names) if isinstance(names, tuple) else (str(names),)


def _offsets_of_makers(assignment: Site) -> frozenset[int]:
    code, offset = assignment
    bytecode = Bytecode.of(code)
    found = bytecode.makers.get(offset)
    if found is None:
        makers = bytecode.makers_of_assigned(bytecode.number_at(offset))
        found = frozenset(at for maker in makers for at in bytecode.offsets(maker))
        bytecode.makers[offset] = found
    return found


def _is_handed_over(made: Sites, frame: FrameType) -> bool:
    """True when helpers have only returned a value, from the instruction to the assignment."""
    variables: Mapping[str, Any] = ChainMap(frame.f_locals, frame.f_globals)
    for (caller, call), (code, offset) in zip(reversed(made[1:]), reversed(made[:-1]), strict=True):
        bytecode, helper = Bytecode.of(caller), Bytecode.of(code)
        function = _function(bytecode.function_called(bytecode.number_at(call)), variables)
        if function is None or function.__code__ is not code:
            return False
        if not helper.is_returned(helper.number_at(offset)):
            return False
        variables = ChainMap(_variables_around(function), function.__globals__)
    return True


def _function(names: Sequence[str], variables: Mapping[str, Any]) -> FunctionType | None:
    """The function that a variable and attributes name; None when it is anything else."""
    if not names:
        return None
    value = variables.get(names[0])
    for name in names[1:]:
        value = inspect.getattr_static(value, name, None)
    while isinstance(value, partial):
        value = value.func
    if isinstance(value, (staticmethod, classmethod, MethodType)):
        value = cast(Any, value).__func__
    return value if isinstance(value, FunctionType) else None


def _variables_around(function: FunctionType) -> dict[str, Any]:
    """The variables of functions around one that it sees, those that have a value."""
    found: dict[str, Any] = {}
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
        with suppress(ValueError):
            found[name] = cell.cell_contents
    return found
