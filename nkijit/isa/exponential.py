"""The exponential of the Vector Engine."""

from __future__ import annotations

from nkijit.dialects.hardware.words import reduce_cmd
from nkijit.dialects.nisa.exponential import ExponentialOp
from nkijit.tracing.emit import NkiInstruction, emit
from nkijit.tracing.tensor import NkiTensor

__all__ = ["exponential"]

_reduce_cmd = reduce_cmd


def exponential(
    dst: NkiTensor,
    src: NkiTensor,
    max_value: float | NkiTensor = 0.0,
    reduce_res: NkiTensor | None = None,
    reduce_cmd: reduce_cmd = _reduce_cmd.idle,
    reduce_init: float | NkiTensor = 0.0,
    name: str | None = None,
) -> NkiInstruction:
    """`dst = exp(src - max_value)` on the Vector Engine, in float32, with a running sum.

    NeuronCore-v4 and newer. After `reduce_cmd.idle` the accumulators are undefined.

    Args:
        dst: (P, …) tile of up to 4 dimensions in SBUF or PSUM; float8_e4m3, float8_e5m2,
            float16, bfloat16, float32, tfloat32, or an integer other than uint32.
        src: tile with as many elements per partition as `dst` and a dtype as for `dst`, but also
            uint32 and not tfloat32.
        max_value: number or (P, 1) float32 tile.
        reduce_res: (P, 1) floating-point tile that receives the accumulators.
        reduce_cmd: idle, reset_reduce, reduce, or load_reduce (start from `reduce_init`).
        reduce_init: number or (P, 1) float32 tile, with load_reduce only.
        name: name of the instruction.

    Example:

        nisa.exponential(out, x, max_value=column)

    Source: NKI API reference, nki.isa.exponential.
    """
    return emit(ExponentialOp, locals())
