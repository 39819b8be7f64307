"""Temporaries: assigned values without another reference, as in `t[k] = nisa.f(x)`.

Bytecode shows the instructions that produce the value of an assignment, and a result records the
calls that created it (`Sites`). If both agree, the result was only on the stack of the assigning
function: no variable and no container refers to it.

This also holds for a helper, `t[k] = helper(x)`, that returns the result of a call directly, if the
assignment calls the helper itself: a cache in between would retain the result. The same is true for
a variable that a function assigns once and reads only in `t += x`.

All other values may have another reference and are copied, which is always correct.
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
    """Return whether no variable or container refers to a value that a frame assigns.

    Args:
        made: the calls that created the value.
        frame: the frame that executes `t[key] = value` or `t += value`.
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
    """Return whether `x` in `x = nisa.f(…)`, `t += x` is a variable with no other read.

    Args:
        made: the calls that created the value.
        frame: the frame that executes `t += x`.
    """
    if frame is None or not made or made[0][0] is not frame.f_code:
        return False
    if made[1:] != tuple(calls_from(frame.f_back)):
        return False
    return _is_stored_and_added(frame.f_code, made[0][1], frame.f_lasti)


@lru_cache(maxsize=1024)
def _is_stored_and_added(code: CodeType, made: int, added: int) -> bool:
    """Return whether the result of a call is stored in a local variable that is read only once.

    The call is at the offset `made`; the read is the `t += x` at the offset `added`. There is no
    jump between the two, so no result is added twice.
    """
    steps = list(dis.get_instructions(code))
    offsets = [step.offset for step in steps]
    # Some Python versions list the caches after an instruction.
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
    """Return the variables that a bytecode instruction names; two for fused ones (Python 3.13)."""
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
    """Return whether all functions between instruction and assignment only return the value."""
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
    """Return the function that `names` denotes: a variable, then attributes. None if unknown."""
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
    """Return the closure variables of a function that have a value, by name."""
    found: dict[str, Any] = {}
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
        with suppress(ValueError):
            found[name] = cell.cell_contents
    return found
