"""Generated patterns."""

from __future__ import annotations

from collections.abc import Sequence

from nkijit.dialects.nisa.pattern import IotaOp
from nkijit.tracing.emit import NkiInstruction, emit
from nkijit.tracing.tensor import NkiTensor

__all__ = ["iota"]


def iota(
    dst: NkiTensor,
    pattern: Sequence[Sequence[int]],
    offset: int = 0,
    channel_multiplier: int = 0,
    name: str | None = None,
) -> NkiInstruction:
    """Write `offset + p * channel_multiplier + Σ index * step` on the GpSimd Engine.

    Values are computed in 32-bit integers and converted to the dtype of `dst`.

    Args:
        dst: (P, …) tile in SBUF.
        pattern: one to four [step, count] pairs; their counts' product is the number of
            elements per partition.
        offset: int32 added to every value.
        channel_multiplier: int32 multiplied with the partition index p.
        name: name of the instruction.

    Example:

        nisa.iota(positions, [[1, 512]], channel_multiplier=512)

    Source: NKI API reference, nki.isa.iota.
    """
    return emit(IotaOp, locals())
