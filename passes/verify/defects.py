"""Finds instructions that compilers or devices of some release of NKI are known to get wrong.

`nkijit/releases/defects.toml` has the texts and releases of the defects, with the ids of
`MATCHERS`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import NamedTuple

from xdsl.dialects.scf import ForOp, WhileOp
from xdsl.ir import BlockArgument, Operation, SSAValue

from nkijit.dialects.access import Indirection
from nkijit.dialects.declare.kinds import Role
from nkijit.dialects.declare.operation import NisaOp, is_instruction, scalar_constant
from nkijit.dialects.declare.queries import SBUF, engine_of, skips_out_of_bounds
from nkijit.dialects.hardware.targets import Target
from nkijit.dialects.hardware.words import engine, reduce_cmd
from nkijit.dialects.nisa.activation import ActivationOp
from nkijit.dialects.nisa.elementwise import TensorScalarOp, TensorTensorOp
from nkijit.dialects.nisa.matmul import NcTransposeOp
from nkijit.dialects.nisa.movement import DmaCopyOp
from nkijit.dialects.nisa.select import FP32_MIN, MAX_INDEX, RangeSelectOp
from nkijit.dialects.nisa.transpose import DmaTransposeOp
from nkijit.dialects.nki.kernel import DevicePrintOp, KernelOp
from nkijit.dialects.nki.views import base_of, index_of
from nkijit.dialects.tiles import info_of, is_tile


class Match(NamedTuple):
    """An operation with a defect."""

    op: Operation
    operands: tuple[tuple[str, SSAValue], ...] = ()
    """The operands concerned, with their names in the signature."""


Matcher = Callable[[KernelOp], Iterator[Match]]
"""A function that yields the operations of a kernel that a defect affects."""

_LOOPS = (ForOp, WhileOp)


def _instructions(kernel: KernelOp) -> Iterator[NisaOp]:
    return (op for op in kernel.walk() if is_instruction(op))


def _operands(op: NisaOp) -> Iterator[tuple[str, SSAValue]]:
    return ((f.name, value) for f, value in op.given_operands() if is_tile(value))


def _skipping_transposes(kernel: KernelOp) -> Iterator[Match]:
    for op in _instructions(kernel):
        if not isinstance(op, DmaTransposeOp) or not skips_out_of_bounds(op):
            continue
        if info_of(op.src).indirection is Indirection.vector:
            yield Match(op, (("src", op.src),))


def _gathers_in_another_dtype(kernel: KernelOp) -> Iterator[Match]:
    for op in _instructions(kernel):
        for name, value in _operands(op):
            info = info_of(value)
            of = info_of(base_of(value))
            if info.indirection is Indirection.vector and info.dtype is not of.dtype:
                yield Match(op, ((name, value),))


def _received_places(kernel: KernelOp) -> Iterator[Match]:
    for op in _instructions(kernel):
        if op.name.startswith("ncc.all_to_all_v") and op.get("has_rdispls"):
            yield Match(op)


def _nested_loops(kernel: KernelOp) -> Iterator[Match]:
    for op in kernel.walk():
        if isinstance(op, _LOOPS) and _is_in_a_loop(op):
            yield Match(op)


def _is_in_a_loop(op: Operation) -> bool:
    outer = op.parent_op()
    while outer is not None and not isinstance(outer, KernelOp):
        if isinstance(outer, _LOOPS):
            return True
        outer = outer.parent_op()
    return False


def _addresses_on_chip(kernel: KernelOp) -> Iterator[Match]:
    for op in _instructions(kernel):
        if isinstance(op, DmaCopyOp):
            for name, value in _operands(op):
                if index_of(value) is not None and info_of(value).region is SBUF:
                    yield Match(op, ((name, value),))


def _wide_integers(kernel: KernelOp) -> Iterator[Match]:
    for op in _instructions(kernel):
        for name, value in _operands(op):
            dtype = info_of(value).dtype
            if dtype.is_integer and dtype.ends[1] > MAX_INDEX:
                yield Match(op, ((name, value),))
                break


def _all(kernel: KernelOp) -> Iterator[Match]:
    return map(Match, _instructions(kernel))


def _racing_loops(kernel: KernelOp) -> Iterator[Match]:
    before: dict[SSAValue, bool] = {}
    for op in kernel.walk():
        if isinstance(op, _LOOPS) and not _is_in_a_loop(op):
            inside = [access for inner in op.walk() for access in _accesses(inner)]
            if any(base in before and (writes or before[base]) for base, writes in inside):
                yield Match(op)
        for base, writes in _accesses(op):
            before[base] = before.get(base, False) or writes


def _accesses(op: Operation) -> Iterator[tuple[SSAValue, bool]]:
    """Yield the tensors that an operation accesses, and whether it writes them."""
    if is_instruction(op):
        for f, value in op.given_operands():
            if is_tile(value):
                yield base_of(value), f.role is not Role.read


def _addresses_by_loop_variables(kernel: KernelOp) -> Iterator[Match]:
    for op in _instructions(kernel):
        for name, value in _operands(op):
            index = index_of(value)
            if isinstance(index, BlockArgument) and isinstance(index.block.parent_op(), ForOp):
                yield Match(op, ((name, value),))


def _transpose_engines(kernel: KernelOp) -> Iterator[Match]:
    target: Target = kernel.target
    select = NcTransposeOp.SPEC.select_engine
    assert select is not None
    for op in _instructions(kernel):
        if not isinstance(op, NcTransposeOp) or op.value_of("engine") is engine.unknown:
            continue
        if engine_of(op, target) is not select.choose(op, target):
            yield Match(op, (("dst", op.dst),))


def _flat_prints(kernel: KernelOp) -> Iterator[Match]:
    for op in kernel.walk():
        if isinstance(op, DevicePrintOp):
            info = info_of(op.tensor)
            if len(info.shape) == 1 and not info.region.on_chip:
                yield Match(op, (("tensor", op.tensor),))


def _range_selects(kernel: KernelOp) -> Iterator[Match]:
    for op in _instructions(kernel):
        if isinstance(op, RangeSelectOp) and (
            op.value_of("on_false_value") != FP32_MIN
            or op.value_of("reduce_cmd") is not reduce_cmd.reset_reduce
        ):
            yield Match(op)


def _cleared_accumulators(kernel: KernelOp) -> Iterator[Match]:
    holds_sums, idle = False, list[NisaOp]()
    for op in _instructions(kernel):
        if not isinstance(op, ActivationOp):
            continue
        command = op.value_of("reduce_cmd")
        if command is reduce_cmd.reduce:
            yield from map(Match, idle)
        if command is not reduce_cmd.idle:
            holds_sums = True
            idle.clear()
        elif holds_sums:
            idle.append(op)


_LATER_OPERATORS = ("abs", "power", "rsqrt")


def _later_operators(kernel: KernelOp) -> Iterator[Match]:
    for op in _instructions(kernel):
        if isinstance(op, (TensorScalarOp, TensorTensorOp)) and any(
            op.get(name) in _LATER_OPERATORS for name in ("op", "op0", "op1")
        ):
            yield Match(op)


def _counted_at_run_time(kernel: KernelOp) -> Iterator[Match]:
    for op in kernel.walk():
        if isinstance(op, ForOp) and any(
            scalar_constant(bound) is None for bound in (op.lb, op.ub, op.step)
        ):
            yield Match(op)


MATCHERS: Mapping[str, Matcher] = {
    "gather-transpose-skip": _skipping_transposes,
    "vector-select-view": _gathers_in_another_dtype,
    "received-places": _received_places,
    "nested-loops": _nested_loops,
    "on-chip-address": _addresses_on_chip,
    "integer-copy": _wide_integers,
    "division": _all,
    "loop-dependences": _racing_loops,
    "loop-variable": _addresses_by_loop_variables,
    "transpose-engine": _transpose_engines,
    "flat-print": _flat_prints,
    "range-select-arguments": _range_selects,
    "activation-accumulator": _cleared_accumulators,
    "alu-operators": _later_operators,
    "loop-count": _counted_at_run_time,
}
"""For each known defect, by id, the function that finds the affected operations."""
