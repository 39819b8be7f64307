"""What generated patterns are."""

from __future__ import annotations

import numpy as np

from nkijit.dialects.nisa.pattern import IotaOp
from nkijit.passes.interpret.binding import Binding, Step, semantics


@semantics(IotaOp)
def iota(b: Binding) -> Step:
    partitions = b.tile("dst").partitions
    values = np.arange(partitions, dtype=np.int64) * b.value("channel_multiplier")
    values += b.value("offset")
    for step, count in b.value("pattern"):
        values = values[..., None] + np.arange(count, dtype=np.int64) * step
    # 32-bit arithmetic: wrap what overflows.
    wrapped = values.astype(np.int32)
    stored = b.rounded(wrapped.reshape(b.tile("dst").shape), "dst")
    dst = b.read("dst", b.tile("dst").shape, raw=True).slot
    return lambda env: np.copyto(env[dst], stored)
