"""Instructions that are bound once for all that differ in their tiles only."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from typing import Any, cast

import numpy as np
import pytest
from support.garbage import random_kernel
from support.paths import LIT
from xdsl.ir import SSAValue

import nkijit as nki
import nkijit.isa as nisa
import nkijit.language as nl
from nkijit.dialects.nki.kernel import KernelOp, kernels_of
from nkijit.dialects.tiles import info_of
from nkijit.ir.text import parse
from nkijit.passes.interpret.plan import plan as plans
from nkijit.passes.interpret.plan.plan import Plan
from nkijit.passes.interpret.records.errors import InterpretationError
from nkijit.passes.interpret.records.records import (
    AccumulatorUse,
    Calculated,
    Chain,
    Chosen,
    Computed,
    Destination,
    Drawn,
    Gather,
    Generated,
    Loaded,
    Matmul,
    Meets,
    OfRegister,
    Opaque,
    Source,
    Transpose,
)
from nkijit.passes.interpret.steps import forms

LEFT_OUT: dict[type[Any], str] = {
    Opaque: "step",
    Calculated: "operands",
    Computed: "function",
    Chosen: "on_false",
    Drawn: "state",
    Gather: "check",
    Generated: "values",
    Loaded: "convert",
    Meets: "drive",
    OfRegister: "register",
    Transpose: "valid",
}
"""Functions that semantics make anew for each instruction, and a slot's number."""


def described(part: Any, plan: Plan) -> Any:
    """Return a record with the values of slots in place of their numbers."""
    if isinstance(part, (Source, Destination)):
        views = [
            (each.shape, each.strides, each.dtype, each.offsets[each.slots.index(part.slot)])
            for each in plan.slots.views
            if part.slot in each.slots
        ]
        rest = [getattr(part, f.name) for f in fields(part) if f.name != "slot"]
        return [*views, *(described(each, plan) for each in rest)]
    if isinstance(part, np.ndarray):
        return part.dtype, part.shape, part.tobytes()
    if isinstance(part, tuple):
        return [described(each, plan) for each in cast(tuple[Any, ...], part)]
    if isinstance(part, (float, np.generic)):
        return type(part), repr(part)
    if isinstance(part, SSAValue):
        return id(part)
    if is_dataclass(part) and not isinstance(part, type):
        names = [f.name for f in fields(part) if f.name != LEFT_OUT.get(type(part))]
        return type(part), [described(getattr(part, name), plan) for name in names]
    return part


def kernels() -> Iterator[KernelOp]:
    """Random kernels, and some of every instruction."""
    for seed in range(40):
        yield from kernels_of(parse(random_kernel(seed, static=seed % 2 == 0), f"kernel {seed}"))
    for path in sorted((LIT / "dialects" / "nisa").rglob("*.mlir")):
        if path.name in ("ops.mlir", "valid.mlir"):
            yield from kernels_of(parse(path.read_text(encoding="utf-8"), str(path)))


def outcome(kernel: KernelOp) -> tuple[Any, Any]:
    """The records of a kernel, and the bits that a run returns and leaves, or why it ends."""
    rng = np.random.default_rng(0)
    try:
        plan = Plan(kernel)
        given = [(info_of(v).shape, plan.slots.stored(info_of(v).dtype)) for v in kernel.arguments]
        inputs = [(4 * rng.standard_normal(shape)).astype(dtype) for shape, dtype in given]
    except InterpretationError as error:
        return None, str(error)
    made = [(op, described(record, plan)) for op, record in plan.records.items()]
    try:
        results = plan.run(inputs)
    except (InterpretationError, ValueError, AssertionError) as error:
        return made, str(error)
    return made, [array.tobytes() for array in (*results, *inputs)]


def no_key(*_: object) -> None:
    """That of an instruction that has a form of its own."""


def test_it_does_not_matter_that_instructions_share_a_form(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    every = list(kernels())
    assert len(every) > 50
    shared = [outcome(kernel) for kernel in every]
    monkeypatch.setattr(forms.StepForms, "_key", no_key)
    for kernel, (records, results) in zip(every, shared, strict=True):
        expected, alone = outcome(kernel)
        assert records == expected, kernel.sym_name.data
        assert results == alone, kernel.sym_name.data


X = np.random.default_rng(0).standard_normal((128, 64), dtype=np.float32)


def plan_of(kernel: Any) -> Plan:
    (ir,) = kernels_of(kernel.trace(X).module)
    return Plan(ir)


def steps_of(count: int, monkeypatch: pytest.MonkeyPatch) -> int:
    """Return the number of steps of a backend for a kernel with a given number of blocks."""

    @nki.jit
    def kernel(x: Any) -> Any:
        out = nl.ndarray((count * 128, 64), x.dtype, buffer=nl.shared_hbm)
        for i in range(count):
            tile = nl.ndarray(x.shape, x.dtype, buffer=nl.sbuf)
            nisa.dma_copy(tile, x)
            part = tile[:, i % 8 * 8 :]
            nisa.tensor_scalar(dst=part, data=part, op0=nl.add, operand0=1.0)
            nisa.dma_copy(out[i * 128 : (i + 1) * 128], tile)
        return out

    made: list[object] = []
    bind = plans.bind

    def counted(*arguments: Any) -> Any:
        made.append(arguments)
        return bind(*arguments)

    with monkeypatch.context() as patched:
        patched.setattr(plans, "bind", counted)
        plan_of(kernel)
    return len(made)


def test_more_instructions_are_not_more_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    assert [steps_of(count, monkeypatch) for count in (8, 40)] == [10, 10]


def test_in_place_instructions_have_another_form() -> None:
    """An operand that is the destination, or overlaps it, is read before anything is written."""

    @nki.jit
    def kernel(x: Any) -> Any:
        tile = nl.ndarray(x.shape, x.dtype, buffer=nl.sbuf)
        nisa.dma_copy(tile, x)
        out = nl.ndarray(x.shape, x.dtype, buffer=nl.shared_hbm)
        for start in (0, 1, 0):
            into, data = tile[:, 1:33], tile[:, start : start + 32]
            nisa.tensor_scalar(dst=into, data=data, op0=nl.multiply, operand0=0.5)
            nisa.tensor_tensor(dst=into, data1=data, data2=into, op=nl.add)
        nisa.dma_copy(out, tile)
        return out

    expected = X.copy()
    for start in (0, 1, 0):
        expected[:, 1:33] = expected[:, start : start + 32] * np.float32(0.5)
        expected[:, 1:33] = expected[:, start : start + 32] + expected[:, 1:33]
    (result,) = plan_of(kernel).run([X])
    assert result.tobytes() == expected.tobytes()


def test_numbers_that_are_equal_and_not_the_same_are_other_forms() -> None:
    @nki.jit
    def kernel(x: Any) -> Any:
        tile = nl.ndarray(x.shape, x.dtype, buffer=nl.sbuf)
        nisa.dma_copy(tile, x)
        out = nl.ndarray((3, *x.shape), x.dtype, buffer=nl.shared_hbm)
        for i, number in enumerate((0.0, -0.0, 0.0)):
            scaled = nl.ndarray(x.shape, x.dtype, buffer=nl.sbuf)
            nisa.tensor_scalar(dst=scaled, data=tile, op0=nl.multiply, operand0=number)
            nisa.dma_copy(out[i], scaled)
        return out

    (result,) = plan_of(kernel).run([X])
    expected = np.stack([X * np.float32(number) for number in (0.0, -0.0, 0.0)])
    assert result.tobytes() == expected.tobytes()


def test_the_partitions_that_accumulators_belong_to_are_of_the_form() -> None:
    @nki.jit
    def kernel(x: Any) -> Any:
        tile = nl.ndarray(x.shape, x.dtype, buffer=nl.sbuf)
        nisa.dma_copy(tile, x)
        out = nl.ndarray((128, 1), x.dtype, buffer=nl.shared_hbm)
        for first in (0, 32, 64):
            rows = slice(first, first + 32)
            squares = nl.ndarray(x.shape, x.dtype, buffer=nl.sbuf)
            total = nl.ndarray((128, 1), x.dtype, buffer=nl.sbuf)
            nisa.activation(
                dst=squares[rows],
                op=nl.square,
                data=tile[rows],
                reduce_op=nl.add,
                reduce_res=total[rows],
                reduce_cmd=nisa.reduce_cmd.reset_reduce,
            )
            nisa.dma_copy(out[rows], total[rows])
        return out

    records = plan_of(kernel).records.values()
    uses = [record.accumulators for record in records if isinstance(record, Chain)]
    lanes = [use.registers.lanes for use in uses if isinstance(use, AccumulatorUse)]
    assert lanes == [slice(0, 32), slice(32, 64), slice(64, 96)]


def test_earlier_writes_of_matmuls_are_part_of_the_form() -> None:
    @nki.jit
    def kernel(x: Any) -> Any:
        tile = nl.ndarray((64, 64), x.dtype, buffer=nl.sbuf)
        nisa.dma_copy(tile, x[0:64])
        out = nl.ndarray((2, 64, 64), x.dtype, buffer=nl.shared_hbm)
        for i in range(2):
            sums = nl.ndarray((64, 64), nl.float32, buffer=nl.psum)
            for _ in range(3):
                nisa.nc_matmul(dst=sums, stationary=tile, moving=tile)
            copied = nl.ndarray((64, 64), x.dtype, buffer=nl.sbuf)
            nisa.tensor_copy(copied, sums)
            nisa.dma_copy(out[i], copied)
        return out

    records = plan_of(kernel).records.values()
    added = [record.added for record in records if isinstance(record, Matmul)]
    assert added == [False, True, True] * 2
