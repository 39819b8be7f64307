"""The state of the engines' accumulator registers along a kernel.

The Scalar Engine and the Vector Engine each have one float32 register per lane. Instructions
reset them, reduce into them, clobber them or read them out (`reduce_res`); what is read or
continued on must have been defined before.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from nkijit.dialects.declare import NisaOp
from nkijit.dialects.hardware import engine, reduce_cmd
from nkijit.dialects.nki import KernelOp
from nkijit.dialects.rule_texts.dataflow import ACCUMULATOR_MIXED, ACCUMULATOR_UNDEFINED
from nkijit.passes.accumulators import (
    accumulator_command,
    accumulator_lanes,
    accumulator_operator,
)
from nkijit.passes.verify.diagnostics import Diagnostic, diagnose, positions


@dataclass(frozen=True, slots=True)
class _State:
    """What is in the registers: None when undefined, else the operator they accumulate with."""

    operator: str | None
    since: NisaOp | None
    """The instruction that brought them into this state; None at the kernel's start."""


_UNKNOWN = _State(None, None)


def check_accumulators(kernel: KernelOp) -> Iterator[Diagnostic]:
    """Every use of accumulators that are undefined, or hold another reduction."""
    lanes_of: dict[engine, list[_State]] = {}
    for op in kernel.operations:
        if not isinstance(op, NisaOp):
            continue
        use = op.SPEC.accumulators
        if use is None:
            continue
        lanes = lanes_of.setdefault(use.engine, [_UNKNOWN] * kernel.target.pmax)
        used = accumulator_lanes(op)
        command, operator = accumulator_command(op), accumulator_operator(op)
        state = _joined(lanes[used], operator)
        if command is reduce_cmd.reduce and operator is not None:
            problem = _continue(op, use.engine, state, operator)
            if problem is not None:
                yield problem
            state = _State(operator, op)
        elif command is reduce_cmd.idle:
            if use.idle_clobbers:
                state = _State(None, op)
        else:
            state = _State(operator, op)
        # A command without its operator is an error of its own (reduce-cmd-needs-op).
        if command is reduce_cmd.idle and _reads_out(op) and state.operator is None:
            yield _undefined(op, use.engine, state, "'reduce_res' reads")
        if command is not reduce_cmd.idle or use.idle_clobbers:
            lanes[used] = [state] * len(lanes[used])


def _reads_out(op: NisaOp) -> bool:
    return "reduce_res" in op.SPEC.by_name and op.operand_named("reduce_res") is not None


def _joined(states: list[_State], operator: str | None) -> _State:
    """One state for several lanes: one that is undefined or holds another reduction, if any."""
    wrong = [s for s in states if s.operator is None] or [
        s for s in states if s.operator != operator
    ]
    return next(iter(wrong or states), _UNKNOWN)


def _continue(op: NisaOp, owner: engine, state: _State, operator: str) -> Diagnostic | None:
    if state.operator is None:
        return _undefined(op, owner, state, "reduce_cmd.reduce continues on")
    if state.operator == operator:
        return None
    return diagnose(
        ACCUMULATOR_MIXED,
        op,
        f"the accumulators of the {owner.name.capitalize()} Engine hold a reduction with "
        f"nl.{state.operator}, this one is nl.{operator}",
        notes=_since(state),
    )


def _undefined(op: NisaOp, owner: engine, state: _State, what: str) -> Diagnostic:
    if state.since is None:
        when = "which are undefined at the start of a kernel"
    elif state.since is op:
        when = "which reduce_cmd.idle leaves undefined"
    else:
        when = "which are undefined here"
    return diagnose(
        ACCUMULATOR_UNDEFINED,
        op,
        f"{what} the accumulators of the {owner.name.capitalize()} Engine, {when}",
        notes=_since(state) if state.since is not op else (),
    )


def _since(state: _State) -> tuple[str, ...]:
    if state.since is None:
        return ()
    places = positions(state.since.location)
    at = f" at {places[0]}" if places else ""
    return (f"last set by {state.since.name}{at}",)
