"""What reductions over free dimensions compute."""

from __future__ import annotations

import numpy as np

from nkijit.dialects.constraints import is_bitvec
from nkijit.dialects.nisa.reduce import TensorReduceOp, reduced_dims
from nkijit.passes.interpret.binding import Binding, Env, Step, semantics
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
