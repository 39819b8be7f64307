"""Semantics of the Tensor Engine's instructions."""

from __future__ import annotations

import numpy as np

from nkijit.dialects.declare.operation import NisaOp
from nkijit.dialects.declare.queries import engine_of, passes_bits_through
from nkijit.dialects.dtypes import Kind
from nkijit.dialects.hardware.words import engine, matmul_perf_mode, nc_version
from nkijit.dialects.nisa.matmul import DOUBLE_ROW, NcMatmulOp, NcTransposeOp
from nkijit.passes.analysis.flow.matmul_writes import UndecidedError
from nkijit.passes.interpret.records.binding import Binding
from nkijit.passes.interpret.records.environment import Array, Env, Slots
from nkijit.passes.interpret.records.errors import failure
from nkijit.passes.interpret.records.operands import put
from nkijit.passes.interpret.records.records import (
    Matmul,
    Opaque,
    Scaled,
    Selected,
    Source,
    Transpose,
)
from nkijit.passes.interpret.semantics.registry import semantics


def added_to(op: NisaOp, slots: Slots) -> Array | bool:
    """Return where a product is added to the contents of dst: everywhere, nowhere, or a mask."""
    try:
        return slots.matmuls.added(op, slots.target)
    except UndecidedError as error:
        raise failure(op, str(error)) from None


def _added_to(op: NisaOp, slots: Slots) -> Array | bool:
    if passes_bits_through(op, slots.target):
        slots.matmuls.mark(op.required("dst"))
        return False
    return added_to(op, slots)


@semantics(NcMatmulOp, history=_added_to)
def nc_matmul(b: Binding) -> Matmul | Opaque:
    operands = {name: b.tile(name) for name in ("stationary", "moving")}
    double_row = b.value("perf_mode") is matmul_perf_mode.double_row
    shapes = {
        # double_row contracts over partitions and the first free dimension.
        name: (t.partitions * DOUBLE_ROW, t.free_size // DOUBLE_ROW)
        if double_row
        else (t.partitions, t.free_size)
        for name, t in operands.items()
    }
    if passes_bits_through(b.op, b.target):
        return _pass_through(b)
    stationary = b.read("stationary", shapes["stationary"])
    return accumulating(b, stationary, b.read("moving", shapes["moving"]))


def accumulating(b: Binding, stationary: Source | Scaled, moving: Source | Scaled) -> Matmul:
    """Return a product that is added to the contents of dst at the elements of `added_to`."""
    added: Array | bool = b.history
    previous = None if added is False else b.read("dst")
    return Matmul(stationary, moving, b.into(), added, previous)


def _pass_through(b: Binding) -> Opaque:
    """Return the step of a matmul in transpose mode.

    `moving` has a single 1 per column, which selects a row of `stationary`, bit by bit.
    """
    raw = b.dtype("dst") is b.dtype("stationary")
    values, moving = b.reader("stationary", raw=raw), b.reader("moving")
    op, platform = b.op, b.target.platform

    def selected(env: Env) -> Array:
        selector = moving(env)
        if not ((selector == 0) | (selector == 1)).all() or not (selector.sum(0) == 1).all():
            raise failure(
                op,
                f"on {platform} 'is_transpose' is transpose mode, which passes bits through and "
                "does not multiply; it is modelled for a moving tile with one 1 per column, such "
                "as an identity matrix, and 'moving' is another one: leave is_transpose= out",
            )
        rows = selector.argmax(0)
        return values(env)[rows, :].T

    if raw:
        write = put(b.into())
        described = Selected(b.read("stationary", raw=True), b.read("moving"), b.into())
        return Opaque(lambda env: write(env, selected(env)), described)
    dst = b.tile("dst")
    scratch, store = b.rounds("dst", (dst.partitions, dst.free_size))

    def step(env: Env) -> None:
        env[scratch][...] = selected(env)
        store(env)

    return Opaque(step, Selected(b.read("stationary"), b.read("moving"), b.into()))


def _written(op: NisaOp, slots: Slots) -> None:
    """Record that a Tensor Engine transpose writes dst, because later matmuls can add to dst."""
    if engine_of(op, slots.target) is engine.tensor:
        slots.matmuls.mark(op.required("dst"))


@semantics(NcTransposeOp, history=_written)
def nc_transpose(b: Binding) -> Transpose | Matmul:
    multiplies = engine_of(b.op, b.target) is engine.tensor and b.target.version is nc_version.gen2
    if multiplies and b.dtype("data").kind is Kind.float:
        # NeuronCore-v2 transposes with a matmul, which does not preserve NaN and infinities.
        identity = b.constant(np.eye(b.tile("data").partitions, dtype=np.float32))
        return Matmul(b.read("data"), identity, b.into(), added=False, previous=None)
    return Transpose(b.read("data", raw=True), (1, 0), b.into())
