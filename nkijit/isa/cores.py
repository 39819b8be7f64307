"""Two cores of a logical NeuronCore."""

from __future__ import annotations

from nkijit.dialects.hardware.words import dma_engine, engine
from nkijit.dialects.nisa.cores import CoreBarrierOp, SendrecvOp
from nkijit.instructions import NkiInstruction, emit
from nkijit.tensor import NkiTensor

_engine, _dma_engine = engine, dma_engine


def core_barrier(
    data: NkiTensor,
    cores: tuple[int, ...],
    engine: engine = _engine.gpsimd,
    name: str | None = None,
) -> NkiInstruction:
    """Wait until both cores are here.

    Args:
        data: the tensor in shared HBM that both cores use; what either wrote in it before the
            barrier, both see after it.
        cores: (0, 1).
        engine: the engine that waits.
        name: name of the instruction.

    For kernels launched with `kernel[2]`, NeuronCore-v3 and newer. A core that never comes is
    reported as a deadlock. Source: NKI API reference, nki.isa.core_barrier.
    """
    return emit(CoreBarrierOp, locals())


def sendrecv(
    src: NkiTensor,
    dst: NkiTensor,
    send_to_rank: int,
    recv_from_rank: int,
    pipe_id: int,
    dma_engine: dma_engine = _dma_engine.dma,
    name: str | None = None,
) -> NkiInstruction:
    """Send a tile to the other core and receive one.

    Args:
        src: (P, …) tile in SBUF that is sent.
        dst: (P, …) tile in SBUF of the same shape and dtype that receives.
        send_to_rank: core that receives `src`, 0 or 1.
        recv_from_rank: core whose `src` comes here, 0 or 1.
        pipe_id: the cores meet at equal numbers.
        dma_engine: `dma`, or `gpsimd_dma` for at most 1024, 512 or 256 bytes per partition of 32,
            16 or 8-bit types.
        name: name of the instruction.

    For kernels launched with `kernel[2]`, NeuronCore-v3 and newer.
    Source: NKI API reference, nki.isa.sendrecv.
    """
    return emit(SendrecvOp, locals())
