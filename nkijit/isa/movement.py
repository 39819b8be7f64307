"""Data movement."""

from __future__ import annotations

from nkijit.dialects.hardware.words import dge_mode, engine, oob_mode
from nkijit.dialects.nisa.movement import DmaComputeOp, DmaCopyOp, MemsetOp, TensorCopyOp
from nkijit.tracing.emit import NkiInstruction, emit
from nkijit.tracing.operators import OperatorLike
from nkijit.tracing.tensor import NkiTensor

__all__ = ["dma_copy", "dma_compute", "tensor_copy", "memset"]

_engine, _dge_mode, _oob_mode = engine, dge_mode, oob_mode


def dma_copy(
    dst: NkiTensor,
    src: NkiTensor,
    priority: int | None = None,
    oob_mode: oob_mode = _oob_mode.error,
    dge_mode: dge_mode = _dge_mode.unknown,
    engine: engine = _engine.unknown,
    name: str | None = None,
) -> NkiInstruction:
    """`dst = src` by DMA, between HBM and SBUF in any combination.

    Equal dtypes are copied bit by bit; otherwise values are converted through float32.

    Args:
        dst: tensor in HBM or SBUF.
        src: tensor in HBM or SBUF with as many elements as `dst`, copied in row-major order.
        priority: 0 (first) to 3, NeuronCore-v4 and newer.
        oob_mode: the effect of an address out of bounds, if addresses are known only at run time.
        dge_mode: the unit that builds the descriptors; hwdge on NeuronCore-v3 and newer, with
            equal dtypes.
        engine: the engine that triggers the transfer: sync or scalar, with hwdge only; by default
            gpsimd with swdge, else sync.
        name: name of the instruction.

    Example:

        nisa.dma_copy(dst=x, src=hbm[0:128])

    Source: NKI API reference, nki.isa.dma_copy.
    """
    return emit(DmaCopyOp, locals())


def dma_compute(
    dst: NkiTensor,
    srcs: list[NkiTensor],
    reduce_op: OperatorLike,
    scales: list[float] | None = None,
    unique_indices: bool = True,
    oob_mode: oob_mode = _oob_mode.error,
    name: str | None = None,
) -> NkiInstruction:
    """`dst = srcs[0] + srcs[1] + …` in the DMA engines, in float32 and rounded once.

    With a vector of indices (`t.ap(…, vector_offset=…)`, `t.vector_select`) the instruction adds in
    place. Scattered: `dst[i] = dst[i] + src`, with dst in HBM and src in SBUF. Gathered:
    `dst = dst + src[i]`, with dst in SBUF and src in HBM.

    Args:
        dst: tensor in HBM or SBUF.
        srcs: 1 to 16 tensors in HBM or SBUF with as many elements as `dst`; with indices two
            tensors, one of which is the view `dst`.
        reduce_op: nl.add.
        scales: 1.0 for each source, or None.
        unique_indices: must be True; the sum for repeated indices is not documented.
        oob_mode: `skip` leaves out rows with an index out of bounds, with indices only.
        name: name of the instruction.

    Example:

        nisa.dma_compute(hbm, [hbm, other_hbm], nl.add)

    Source: NKI API reference, nki.isa.dma_compute.
    """
    return emit(DmaComputeOp, locals())


def tensor_copy(
    dst: NkiTensor,
    src: NkiTensor,
    engine: engine = _engine.unknown,
    name: str | None = None,
) -> NkiInstruction:
    """`dst = src` on chip, on the Vector, Scalar or GpSimd Engine.

    Equal dtypes are copied bit by bit; otherwise values are converted through float32.

    Args:
        dst: (P, …) tile in SBUF or PSUM.
        src: (P, …) tile in SBUF or PSUM with as many elements per partition as `dst`.
        engine: vector, scalar (NeuronCore-v3 and newer) or gpsimd (SBUF only).
        name: name of the instruction.

    Example:

        nisa.tensor_copy(x, psum)

    Source: NKI API reference, nki.isa.tensor_copy.
    """
    return emit(TensorCopyOp, locals())


def memset(
    dst: NkiTensor,
    value: float,
    engine: engine = _engine.unknown,
    name: str | None = None,
) -> NkiInstruction:
    """Fill `dst` with a compile-time constant, on the Vector or GpSimd Engine.

    Args:
        dst: (P, …) tile in SBUF or PSUM; of a packed x4 type only with value 0.
        value: number, converted to the tile's dtype.
        engine: vector or gpsimd.
        name: name of the instruction.

    Example:

        nisa.memset(x, 0.0)

    Source: NKI API reference, nki.isa.memset.
    """
    return emit(MemsetOp, locals())
