"""What the Tensor Engine computes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from nkijit.dialects.declare.queries import engine_of
from nkijit.dialects.dtypes import Kind
from nkijit.dialects.hardware.words import engine, matmul_perf_mode, nc_version
from nkijit.dialects.nisa.matmul import DOUBLE_ROW, NcMatmulOp, NcTransposeOp
from nkijit.passes.interpret.binding import (
    Array,
    Binding,
    Env,
    InterpretationError,
    Step,
    semantics,
)
from nkijit.passes.interpret.errors import failure


@semantics(NcMatmulOp)
def nc_matmul(b: Binding) -> Step:
    operands = {name: b.tile(name) for name in ("stationary", "moving")}
    double_row = b.value("perf_mode") is matmul_perf_mode.double_row
    shapes = {
        # double_row contracts over partitions and the first free dimension.
        name: (t.partitions * DOUBLE_ROW, t.free_size // DOUBLE_ROW)
        if double_row
        else (t.partitions, t.free_size)
        for name, t in operands.items()
    }
    stationary = b.read("stationary", shapes["stationary"])
    moving = b.read("moving", shapes["moving"])
    if b.value("is_transpose") and b.target.version >= nc_version.gen3:
        return _pass_through(b)

    def multiply(env: Env, out: Array) -> None:
        np.matmul(stationary.read(env).T, moving.read(env), out)

    return accumulating(b, multiply)


def accumulating(b: Binding, multiply: Callable[[Env, Array], None]) -> Step:
    """Multiply into a float32 array, add what `accumulate` says and dst held, and round to dst."""
    dst = b.tile("dst")
    shape = (dst.partitions, dst.free_size)
    product = b.scratch(shape)
    store = b.store(product, shape, "dst")
    added = _accumulated(b)
    previous = b.read("dst")

    def step(env: Env) -> None:
        out = env[product]
        multiply(env, out)
        if added is not None:
            np.add(out, previous.read(env), out, where=added)
        store(env)

    return step


def _accumulated(b: Binding) -> Any:
    """Where the product is added to dst: everywhere (True), nowhere (None), or a mask."""
    written = b.matmul_writes("dst")
    accumulate = b.value("accumulate")
    dst = b.tile("dst")
    if dst.indirection is not None:
        if accumulate is None and written.any():
            raise failure(
                b.op,
                "where 'dst' is, is known at run time only, so whether it adds has to be said "
                "with accumulate=",
            )
        b.mark_written("dst")
        return True if accumulate else None
    if accumulate is None and b.scattered("dst"):
        raise failure(
            b.op,
            "what a matmul has written before is known at run time only, so whether it adds has "
            "to be said with accumulate=",
        )
    before = written.reshape(dst.partitions, dst.free_size).copy()
    written[...] = True
    if accumulate is None:
        # Location by location: the first matmul overwrites, later ones add.
        return True if before.all() else (before if before.any() else None)
    return True if accumulate else None


def _pass_through(b: Binding) -> Step:
    """Transpose mode: `moving` holds a single one per column and selects rows bit by bit."""
    stationary = b.read("stationary", raw=True)
    moving = b.read("moving")
    b.mark_written("dst")
    dst = b.tile("dst")
    raw = b.dtype("dst") is b.dtype("stationary")
    values = stationary if raw else b.read("stationary")
    shape = (dst.partitions, dst.free_size)
    target = b.read("dst", raw=True).slot
    scratch = b.scratch(shape)
    store = b.store(scratch, shape, "dst")

    def step(env: Env) -> None:
        selector = moving.read(env)
        if not ((selector == 0) | (selector == 1)).all() or not (selector.sum(0) == 1).all():
            raise InterpretationError(
                "nc_matmul in transpose mode is modelled for a moving tile with one 1 per column"
            )
        selected = _columns(values.read(env), selector.argmax(0))
        if raw:
            written = env[target]
            written[...] = selected.reshape(written.shape)
        else:
            env[scratch][...] = selected
            store(env)

    return step


def _columns(values: Array, rows: Array) -> Array:
    return values[rows, :].T


@semantics(NcTransposeOp)
def nc_transpose(b: Binding) -> Step:
    if engine_of(b.op, b.target) is engine.tensor:
        b.mark_written("dst")
        if b.target.version is nc_version.gen2 and b.dtype("data").kind is Kind.float:
            return _multiply_by_identity(b)
    source, dst = b.read("data", raw=True), b.read("dst", raw=True)

    def step(env: Env) -> None:
        written = env[dst.slot]
        # NumPy buffers the assignment when source and destination share memory.
        written[...] = source.read(env).T.reshape(written.shape)

    return step


def _multiply_by_identity(b: Binding) -> Step:
    """NeuronCore-v2 transposes with a matmul, which NaN and infinities do not survive."""
    source = b.read("data")
    data = b.tile("data")
    shape = (data.free_size, data.partitions)
    identity = np.eye(data.partitions, dtype=np.float32)
    product = b.scratch(shape)
    store = b.store(product, shape, "dst")

    def step(env: Env) -> None:
        np.matmul(source.read(env).T, identity, env[product])
        store(env)

    return step
