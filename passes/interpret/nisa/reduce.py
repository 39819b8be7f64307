"""What reductions over free dimensions and over partitions compute."""

from __future__ import annotations

import numpy as np

from nkijit.dialects.declare.queries import is_bitvec
from nkijit.dialects.nisa.reduce import TensorPartitionReduceOp, TensorReduceOp, reduced_dims
from nkijit.dialects.operators import AVERAGE
from nkijit.passes.interpret.binding import Array, Binding, Env, Step, semantics
from nkijit.passes.interpret.functions import BITVEC_REDUCE, REDUCE


@semantics(TensorReduceOp)
def tensor_reduce(b: Binding) -> Step:
    data = b.tile("data")
    count = reduced_dims(len(data.shape), b.value("axis"))
    assert count is not None
    length = int(np.prod(data.shape[-count:]))
    rows = (data.size // length, length)
    bitvec = is_bitvec(b.op, "op")
    # (P, kept, reduced) merges into rows for any layout whose kept dimensions are evenly spaced.
    source = b.read("data", rows, raw=bitvec)
    reduce = (BITVEC_REDUCE if bitvec else REDUCE)[b.value("op")]
    shape = (data.partitions, rows[0] // data.partitions)
    if bitvec:
        dst = b.read("dst", raw=True)

        def bits(env: Env) -> None:
            written = env[dst.slot]
            written[...] = reduce(source.read(env)).view(written.dtype).reshape(written.shape)

        return bits

    scratch = b.scratch(shape)
    store = b.store(scratch, shape, "dst")
    negate = b.value("negate")

    def step(env: Env) -> None:
        out = env[scratch]
        out[...] = reduce(source.read(env)).reshape(shape)
        if negate:
            np.negative(out, out)
        store(env)

    return step


@semantics(TensorPartitionReduceOp)
def tensor_partition_reduce(b: Binding) -> Step:
    word = b.value("op")
    bitvec = is_bitvec(b.op, "op")
    source = b.read("data", raw=bitvec)
    if bitvec:
        combine, dst = BITVEC_REDUCE[word], b.read("dst", raw=True)

        def bits(env: Env) -> None:
            written = env[dst.slot]
            written[...] = combine(source.read(env).T).view(written.dtype).reshape(written.shape)

        return bits
    average = word == AVERAGE
    reduce = REDUCE["add" if average else word]
    partitions = np.float32(b.tile("data").partitions)

    def over_partitions(x: Array, out: Array) -> None:
        out[...] = reduce(x.T).T
        if average:
            np.divide(out, partitions, out)

    step, _ = b.compute(over_partitions, [source], early=1)
    return step
