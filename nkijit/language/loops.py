"""Loops on the device, and blocks of instructions in a fixed order."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, cast

from xdsl.dialects.builtin import i32
from xdsl.dialects.scf import ForOp, YieldOp
from xdsl.ir import Block, Region

from nkijit.dialects.declare.properties import is_int32
from nkijit.dialects.nki.kernel import NoReorderOp
from nkijit.dialects.python_values import as_index, one_line
from nkijit.dialects.rule_texts.access import LOOP_LEFT, LOOP_NUMBER, LOOP_STEP
from nkijit.dialects.rule_texts.operands import ARGUMENT
from nkijit.isa.registers import register_move
from nkijit.tracing.checks import function, result_of
from nkijit.tracing.locations import assigned_name, author_frame, ssa_name
from nkijit.tracing.loop_numbers import ChangedNumber, changed_numbers, numbers_of
from nkijit.tracing.registers import VirtualRegister, allocate_register, loop_bound, open_while
from nkijit.tracing.scalars import scalar_in
from nkijit.tracing.tracer import Tracer, tracer_for

Bound = int | VirtualRegister
"""A bound of a loop on the device."""


def dynamic_range(
    start: Bound, stop: Bound | None = None, step: int = 1
) -> Iterable[VirtualRegister]:
    """A loop on the device: its body is traced once and its bounds may be registers.

    Args:
        start: first value, an int or a register; the bound when `stop` is left out.
        stop: bound (exclusive), an int or a register.
        step: compile-time int of at least 1.

    The loop variable is a register that must not be written. Leaving the body early (break,
    return) is an error. Source: NKI API reference, nki.language.dynamic_range.

    Example:

        for i in nl.dynamic_range(4):
            nisa.memset(x, 0.0)
    """
    tracer = tracer_for("nl.dynamic_range")
    lower, upper = (0, start) if stop is None else (start, stop)
    return _DynamicRange(tracer, lower, upper, step)


@dataclass(frozen=True, slots=True)
class _DynamicRange:
    """The result of `dynamic_range`: every iteration over it is a loop of its own."""

    tracer: Tracer
    lower: Any
    upper: Any
    step: Any

    def __iter__(self) -> Iterator[VirtualRegister]:
        call, tracer = "nl.dynamic_range", self.tracer
        bounds = ("start", self.lower), ("stop", self.upper)
        frame = author_frame()
        before = {} if frame is None else numbers_of(frame)
        op, index = _open_for(tracer, call, bounds, self.step, assigned_name(frame))
        try:
            yield index
        except GeneratorExit:
            if tracer.is_open:
                tracer.record(LOOP_LEFT, call, "its body was left before its end")
                tracer.close(op, YieldOp())
            raise
        tracer.close(op, YieldOp())
        if frame is not None and author_frame() is frame:
            for number in changed_numbers(frame, before):
                self._report(call, number)

    def _report(self, call: str, number: ChangedNumber) -> None:
        """Record that a number changes once, unless the loop has one iteration."""
        name, before, after = number
        message = (
            f"its body is traced once, so '{name}' changes once, from {before!r} to {after!r}, and "
            "not in each iteration"
        )
        help = f"keep {name} in a tile or a register that the body updates"
        if isinstance(self.lower, int) and isinstance(self.upper, int):
            bounds = (self.lower, self.upper, self.step)
            if len(range(*bounds)) < 2:
                return
            unrolled = (
                str(range(*bounds)) if self.step != 1 or self.lower else f"range({self.upper})"
            )
            help = f"write {unrolled}, which traces the body for each iteration; or {help}"
        self.tracer.record(LOOP_NUMBER, call, message, help)


def fori_loop(lower: Bound, upper: Bound, body_fun: Callable[[Any], None], step: int = 1) -> None:
    """A counted loop on the device: `for i in range(lower, upper, step): body_fun(i)`.

    Args:
        lower: first value, an int, a scalar or a register.
        upper: bound (exclusive), an int, a scalar or a register.
        body_fun: called once, while tracing, with `i`: an `nisa.NkiScalar` or, if a bound is a
            register, the register that holds the index.
        step: compile-time int of at least 1.

    Example:

        nl.fori_loop(0, 4, lambda i: nisa.memset(x, 0.0))

    Source: NKI API reference, nki.language.fori_loop.
    """
    call = "nl.fori_loop"
    tracer = tracer_for(call)
    body_fun = function(call, "body_fun", body_fun)
    bounds = ("lower", lower), ("upper", upper)
    op, index = _open_for(tracer, call, bounds, step, _parameter_of(body_fun))
    is_register = any(isinstance(b, VirtualRegister) and not b.is_value for b in (lower, upper))
    result_of(call, "body_fun", body_fun, index if is_register else scalar_in(index))
    tracer.close(op, YieldOp())


def while_loop(
    init: VirtualRegister, body_fun: Callable[[VirtualRegister], VirtualRegister]
) -> None:
    """A loop on the device: `r = init`, then `r = body_fun(r)` while `r` is not zero.

    Args:
        init: register with the first condition, which the loop does not change.
        body_fun: called once, while tracing, with a register that holds the condition; returns
            the register with the next condition.

    Example:

        nl.while_loop(register, lambda condition: nisa.register_alloc(0))

    Source: NKI API reference, nki.language.while_loop.
    """
    call = "nl.while_loop"
    tracer = tracer_for(call)
    tracer.refuse_loop(call)
    if not isinstance(cast(Any, init), VirtualRegister):
        tracer.wrong_argument(call, "init", "a register", init)
    body_fun = function(call, "body_fun", body_fun)
    condition = allocate_register(call)
    condition.ssa.name_hint = init.ssa.name_hint
    register_move(condition, init)
    op = open_while(condition)
    following: Any = result_of(call, "body_fun", body_fun, condition)
    if not isinstance(following, VirtualRegister):
        tracer.fail(
            ARGUMENT,
            call,
            f"'body_fun' returns the next condition, a register; got {one_line(following)}",
            "end the body with a return of its parameter, the register, after the instruction "
            "that updates it",
        )
    if following is not condition:
        register_move(condition, following)
    tracer.close(op, YieldOp())


@contextmanager
def no_reorder() -> Generator[None]:
    """Instructions traced inside `with nl.no_reorder():` keep their order on the device.

    Loops on the device are not allowed inside; the block may be inside a loop's body.

    Example:

        with nl.no_reorder():
            nisa.tensor_copy(out, x)

    Source: NKI API reference, nki.language.no_reorder.
    """
    tracer = tracer_for("nl.no_reorder")
    block = Block()
    op = NoReorderOp.create(regions=[Region(block)])
    tracer.open(op, block, tracer.location())
    try:
        yield
    finally:
        tracer.close(op)
        if block.is_empty:
            op.detach()


def _parameter_of(body_fun: Any) -> str | None:
    """Return the name of a function's first parameter; None if it has no meaningful one."""
    try:
        name = next(iter(inspect.signature(body_fun).parameters), "")
    except (TypeError, ValueError):
        return None
    return ssa_name(name) if name.strip("_") else None


def _open_for(
    tracer: Tracer, call: str, bounds: tuple[tuple[str, Any], ...], step: Any, name: str | None
) -> tuple[ForOp, VirtualRegister]:
    """Open a counted loop; `name`: the user's name for its index."""
    tracer.refuse_loop(call)
    by = as_index(step)
    if by is None or by < 1 or not is_int32(by):
        legal = "fit 32 bits" if by is not None and by > 1 else "be an int of at least 1"
        tracer.fail(LOOP_STEP, call, f"'step' must {legal}, it is {one_line(step)}")
    lower, upper = [loop_bound(tracer, call, name, value) for name, value in bounds]
    block = Block(arg_types=(i32,))
    block.args[0].name_hint = name or "i"
    # Not by its constructor, which adds a terminator: `close` adds it after the body.
    op = ForOp.create(operands=(lower, upper, tracer.constant(by)), regions=(Region(block),))
    tracer.open(op, block, tracer.location())
    return op, VirtualRegister(tracer, block.args[0], frozen=True)


__all__ = ["dynamic_range", "fori_loop", "no_reorder", "while_loop"]
