"""Semantics of generated patterns."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from nkijit.dialects.declare.operation import NisaOp
from nkijit.dialects.declare.queries import required_tile
from nkijit.dialects.nisa.pattern import IotaOp
from nkijit.passes.interpret.records.binding import Binding
from nkijit.passes.interpret.records.environment import Array
from nkijit.passes.interpret.records.operands import Read
from nkijit.passes.interpret.records.records import Fill, Generated, OfRegister, Opaque
from nkijit.passes.interpret.semantics.registry import semantics


def affine_numbers(op: NisaOp) -> Array:
    """Return the values of `pattern` and `channel_multiplier` as int64, in the shape of `dst`."""
    dst = required_tile(op, "dst")
    values = np.arange(dst.partitions, dtype=np.int64) * op.value_of("channel_multiplier")
    for step, count in op.value_of("pattern"):
        values = values[..., None] + np.arange(count, dtype=np.int64) * step
    return values.reshape(dst.shape)


def affine_values(b: Binding, derive: Callable[[Array], Array]) -> Array | Read:
    """Return `derive` of the affine values: an array if `offset` is constant, else a function.

    The affine values of `pattern`, `offset` and `channel_multiplier` are int32, in the shape of
    `dst`.
    """
    values = affine_numbers(b.op)
    # 32-bit arithmetic: overflow wraps.
    number = b.number("offset")
    if number is not None:
        return derive((values + int(number)).astype(np.int32))
    offset = b.register("offset")
    return lambda env: derive((values + offset(env)).astype(np.int32))


def affine_of_register(b: Binding, name: tuple[object, ...]) -> OfRegister:
    """Return a function of the affine values, the offset of which is a register."""
    return OfRegister(name, b.register("offset"), affine_numbers(b.op))


@semantics(IotaOp)
def iota(b: Binding) -> Fill | Opaque:
    stored, into = affine_values(b, lambda values: b.rounded(values, "dst")), b.as_stored()
    if not callable(stored):
        return Fill(stored, into)
    dst = into.slot
    of = affine_of_register(b, ("affine", into.dtype.name))
    return Opaque(lambda env: np.copyto(env[dst], stored(env)), Generated(stored, of, into))
