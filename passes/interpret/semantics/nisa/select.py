"""Semantics of selections by a predicate."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from nkijit.dialects.declare.operation import NisaOp
from nkijit.dialects.declare.queries import required_tile
from nkijit.dialects.nisa.select import (
    FP32_MIN,
    AffineSelectOp,
    RangeSelectOp,
    SelectReduceOp,
    SequenceBoundsOp,
    TensorCopyPredicatedOp,
)
from nkijit.passes.interpret.records.binding import Binding
from nkijit.passes.interpret.records.environment import Array, Env
from nkijit.passes.interpret.records.operands import reader
from nkijit.passes.interpret.records.records import Chosen, Computed, Opaque, Reach
from nkijit.passes.interpret.semantics.nisa.accumulators import accumulator_use
from nkijit.passes.interpret.semantics.nisa.described import constructor, declared
from nkijit.passes.interpret.semantics.nisa.pattern import affine_of_register, affine_values
from nkijit.passes.interpret.semantics.registry import semantics
from nkijit.passes.numerics.operators import BINARY, select

Mask = npt.NDArray[np.bool_]


def affine_condition(op: NisaOp) -> Callable[[Array], Mask]:
    """Return a function from the affine values to the mask of elements taken from the tile."""
    compare = BINARY[op.value_of("cmp_op")]

    def holds(values: Array) -> Mask:
        compared = np.empty(values.shape, np.bool_)
        compare(values, np.float32(0), compared)
        return compared

    return holds


def range_condition(op: NisaOp) -> Callable[[Array, Array], Mask]:
    """Return a function from float32 bounds to the mask of elements taken from the tile.

    The bounds have the shape (P, 1), the mask (P, F).
    """
    compare0, compare1 = BINARY[op.value_of("comp_op0")], BINARY[op.value_of("comp_op1")]
    data = required_tile(op, "on_true_tile")
    first, shape = op.value_of("range_start"), (data.partitions, data.free_size)
    indices = np.arange(first, first + data.free_size, dtype=np.float32)

    def holds(low: Array, high: Array) -> Mask:
        inside, also = np.empty(shape, np.bool_), np.empty(shape, np.bool_)
        compare0(indices, low, inside)
        compare1(indices, high, also)
        inside &= also
        return inside

    return holds


def predicate_condition(op: NisaOp) -> Callable[[Array], Mask]:
    """Return a function from predicate values to the mask of elements that are selected."""
    compare = np.equal if op.value_of("reverse_pred") else np.not_equal
    return lambda predicate: compare(predicate, 0)


@semantics(TensorCopyPredicatedOp)
def tensor_copy_predicated(b: Binding) -> Opaque:
    shape = b.tile("dst").shape
    number = b.number("src")
    if number is None:
        source = b.read("src", shape, raw=True)
    else:
        source = b.constant(b.rounded(number, "dst"))
    read, predicate = reader(source, b.slots), b.reader("predicate", shape, raw=True)
    holds, dst = predicate_condition(b.op), b.as_stored().slot

    def step(env: Env) -> None:
        np.copyto(env[dst], read(env), where=holds(predicate(env)))

    before = b.read("dst", shape, raw=True)
    sources = (source, b.read("predicate", shape, raw=True), before)
    return Opaque(step, declared(b, Reach.elements, sources, b.as_stored()))


@semantics(AffineSelectOp)
def affine_select(b: Binding) -> Opaque:
    holds = affine_condition(b.op)
    known = affine_values(b, lambda values: ~holds(values))
    name = ("affine condition", b.value("cmp_op"))
    of = affine_of_register(b, name) if callable(known) else None

    def on_false(env: Env) -> Array:
        return known(env) if callable(known) else known

    shape = b.tile("dst").shape
    fill = np.float32(b.value("on_false_value"))
    if b.dtype("on_true_tile") is b.dtype("dst"):
        bits, stored = b.reader("on_true_tile", shape, raw=True), b.rounded(fill, "dst")
        dst = b.as_stored().slot

        def copy(env: Env) -> None:
            np.copyto(env[dst], bits(env))
            np.copyto(env[dst], stored, where=on_false(env))

        source = b.read("on_true_tile", shape, raw=True)
        return Opaque(copy, Chosen(source, on_false, of, float(fill), b.as_stored()))
    values = b.reader("on_true_tile", shape)
    scratch, store = b.rounds("dst", shape)

    def convert(env: Env) -> None:
        np.copyto(env[scratch], values(env))
        np.copyto(env[scratch], fill, where=on_false(env))
        store(env)

    source = b.read("on_true_tile", shape)
    return Opaque(convert, Chosen(source, on_false, of, float(fill), b.as_stored()))


@semantics(RangeSelectOp)
def range_select(b: Binding) -> Computed:
    holds, fill = range_condition(b.op), np.float32(FP32_MIN)

    def select_in_range(x: Array, low: Array, high: Array, out: Array) -> None:
        np.copyto(out, x)
        np.copyto(out, fill, where=~holds(low, high))

    sources = (b.read("on_true_tile"), b.read("bound0"), b.read("bound1"))
    return Computed(
        select_in_range,
        sources,
        b.into(),
        early=3,
        accumulators=accumulator_use(b),
        constructor=constructor(b, Reach.columns),
    )


@semantics(SelectReduceOp)
def select_reduce(b: Binding) -> Computed:
    holds = predicate_condition(b.op)

    def choose(predicate: Array, x: Array, y: Any, out: Array) -> None:
        select(holds(predicate), x, y, out)

    sources = (b.read("predicate", raw=True), b.read("on_true"), b.read("on_false"))
    return Computed(
        choose,
        sources,
        b.into(),
        early=3,
        accumulators=accumulator_use(b),
        constructor=constructor(b, Reach.elements),
    )


@semantics(SequenceBoundsOp)
def sequence_bounds(b: Binding) -> Opaque:
    ids = b.reader("segment_ids", raw=True)  # float32 cannot represent all int32 ids
    dst = b.as_stored().slot

    def step(env: Env) -> None:
        written = env[dst]
        written[...] = _bounds(ids(env)[0]).reshape(written.shape)

    sources = (b.read("segment_ids", raw=True),)
    return Opaque(step, declared(b, Reach.tiles, sources, b.as_stored()))


def _bounds(ids: Array) -> Array:
    """Return, for each element, the first index of its run of equal ids, and the end of the run.

    The shape is (2, n). Elements with id 0 have n as the first and -1 as the second number.
    """
    count = len(ids)
    starts = np.flatnonzero(np.append(True, ids[1:] != ids[:-1]))
    ends = np.append(starts[1:], count)
    bounds = np.repeat([starts, ends], ends - starts, axis=1)
    bounds[:, ids == 0] = [[count], [-1]]
    return bounds
