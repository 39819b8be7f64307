"""What generated patterns are."""

from __future__ import annotations

import numpy as np

from nkijit.dialects.nisa.pattern import IotaOp
from nkijit.passes.interpret.binding import Array, Binding, Step, semantics


def affine_values(b: Binding) -> Array:
    """int32 values of `pattern`, `offset` and `channel_multiplier`, in the shape of `dst`."""
    partitions = b.tile("dst").partitions
    values = np.arange(partitions, dtype=np.int64) * b.value("channel_multiplier")
    values += b.value("offset")
    for step, count in b.value("pattern"):
        values = values[..., None] + np.arange(count, dtype=np.int64) * step
    # 32-bit arithmetic: wrap what overflows.
    return values.astype(np.int32).reshape(b.tile("dst").shape)


@semantics(IotaOp)
def iota(b: Binding) -> Step:
    stored = b.rounded(affine_values(b), "dst")
    dst = b.read("dst", b.tile("dst").shape, raw=True).slot
    return lambda env: np.copyto(env[dst], stored)
