"""What generated patterns are."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from nkijit.dialects.nisa.pattern import IotaOp
from nkijit.passes.interpret.binding import Array, Binding, Env, Step, semantics


def affine_values(b: Binding, derive: Callable[[Array], Array]) -> Callable[[Env], Array]:
    """What `derive` makes of the affine values, once where `offset` is known while compiling.

    The values are those of `pattern`, `offset` and `channel_multiplier`: int32, in the shape of
    `dst`.
    """
    partitions = b.tile("dst").partitions
    values = np.arange(partitions, dtype=np.int64) * b.value("channel_multiplier")
    for step, count in b.value("pattern"):
        values = values[..., None] + np.arange(count, dtype=np.int64) * step
    values = values.reshape(b.tile("dst").shape)
    # 32-bit arithmetic: wrap what overflows.
    number = b.number("offset")
    if number is not None:
        fixed = derive((values + int(number)).astype(np.int32))
        return lambda env: fixed
    offset = b.register("offset")
    return lambda env: derive((values + offset(env)).astype(np.int32))


@semantics(IotaOp)
def iota(b: Binding) -> Step:
    stored = affine_values(b, lambda values: b.rounded(values, "dst"))
    dst = b.read("dst", b.tile("dst").shape, raw=True).slot
    return lambda env: np.copyto(env[dst], stored(env))
