"""What transposes by DMA do."""

from __future__ import annotations

import numpy as np

from nkijit.dialects.nisa.transpose import DMA_AXES, DmaTransposeOp
from nkijit.passes.interpret.binding import Binding, Env, Step, semantics


@semantics(DmaTransposeOp)
def dma_transpose(b: Binding) -> Step:
    shape = b.tile("src").shape
    source = b.read("src", shape, raw=True)
    dst = b.read("dst", b.tile("dst").shape, raw=True).slot
    axes = DMA_AXES[len(shape)]
    valid = b.valid_rows("src")
    if valid is not None:

        def gather(env: Env) -> None:
            # Rows become the last dimension; those out of bounds leave dst as it is.
            rows = env[valid]
            moved = source.read(env).transpose(axes)
            np.copyto(env[dst], moved, where=True if rows is None else rows)

        return gather

    def step(env: Env) -> None:
        # NumPy buffers the copy when source and destination share memory.
        np.copyto(env[dst], source.read(env).transpose(axes))

    return step
