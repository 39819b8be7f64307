"""Semantics of reductions over free dimensions and over partitions."""

from __future__ import annotations

import math

from nkijit.dialects.declare.queries import is_bitvec
from nkijit.dialects.nisa.reduce import TensorPartitionReduceOp, TensorReduceOp, reduced_dims
from nkijit.dialects.operators import AVERAGE
from nkijit.passes.interpret.records.binding import Binding
from nkijit.passes.interpret.records.records import Arithmetic, Reduce
from nkijit.passes.interpret.semantics.registry import semantics


def _arithmetic(b: Binding) -> Arithmetic:
    return Arithmetic.bits if is_bitvec(b.op, "op") else Arithmetic.float32


@semantics(TensorReduceOp)
def tensor_reduce(b: Binding) -> Reduce:
    data = b.tile("data")
    count = reduced_dims(len(data.shape), b.value("axis"))
    assert count is not None
    length = math.prod(data.shape[-count:])
    rows = (data.size // length, length)
    arithmetic = _arithmetic(b)
    # (P, kept, reduced) merges into rows for any layout whose kept dimensions are evenly spaced.
    source = b.read("data", rows, raw=arithmetic is Arithmetic.bits)
    into = b.into("dst", (data.partitions, rows[0] // data.partitions))
    return Reduce(source, b.value("op"), into, arithmetic, negate=b.value("negate"))


@semantics(TensorPartitionReduceOp)
def tensor_partition_reduce(b: Binding) -> Reduce:
    word, arithmetic = b.value("op"), _arithmetic(b)
    average = word == AVERAGE
    return Reduce(
        b.read("data", raw=arithmetic is Arithmetic.bits),
        "add" if average else word,
        b.into(),
        arithmetic,
        over_partitions=True,
        divisor=b.tile("data").partitions if average else 1,
    )
