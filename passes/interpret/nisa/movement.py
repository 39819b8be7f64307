"""What data movement does."""

from __future__ import annotations

import numpy as np

from nkijit.dialects.nisa.movement import DmaComputeOp, DmaCopyOp, MemsetOp, TensorCopyOp
from nkijit.passes.interpret.binding import Binding, Env, Step, semantics


def _copy(b: Binding) -> Step:
    """Equal data types keep their bits; others go through float32 and are rounded once."""
    shape = b.tile("dst").shape
    if b.dtype("src") is not b.dtype("dst"):
        source = b.read("src", shape)
        load = source.read

        # A new float32 array comes out of loading, so source and destination may overlap.
        scratch = b.scratch(shape)
        store = b.store(scratch, shape, "dst")

        def convert(env: Env) -> None:
            env[scratch][...] = load(env)
            store(env)

        return convert
    source = b.read("src", shape, raw=True)
    dst = b.read("dst", shape, raw=True)
    into = dst.slot
    if source.direct:
        slot = source.slot
        return lambda env: np.copyto(env[into], env[slot])
    return lambda env: np.copyto(env[into], source.read(env))


@semantics(DmaComputeOp)
def dma_compute(b: Binding) -> Step:
    shape = b.tile("dst").shape
    sources = [
        b.item("srcs", i).read("srcs", shape) for i in range(len(b.op.operands_named("srcs")))
    ]
    scratch = b.scratch(shape)
    store = b.store(scratch, shape, "dst")

    def add(env: Env) -> None:
        total = env[scratch]
        np.copyto(total, sources[0].read(env))
        for source in sources[1:]:
            np.add(total, source.read(env), total)
        store(env)

    return add


semantics(DmaCopyOp)(_copy)
semantics(TensorCopyOp)(_copy)


@semantics(MemsetOp)
def memset(b: Binding) -> Step:
    value = b.rounded(b.value("value"), "dst")
    dst = b.read("dst", b.tile("dst").shape, raw=True).slot
    return lambda env: np.copyto(env[dst], value)
