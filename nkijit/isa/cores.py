"""Instructions that two cores of a logical NeuronCore run together."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

from xdsl.ir import SSAValue

from nkijit.dialects.core_program import MAX_CORES
from nkijit.dialects.hardware.words import dma_engine, engine
from nkijit.dialects.nisa.cores import CoreBarrierOp, SendrecvOp
from nkijit.dialects.nki.kernel import shared_tensors
from nkijit.dialects.python_values import as_index, one_line
from nkijit.dialects.rule_texts.cores import BARRIER_ALONE, BARRIER_ON_CHIP
from nkijit.dialects.tiles import info_of
from nkijit.tracing.emit import NkiInstruction, emit
from nkijit.tracing.tensor import NkiTensor
from nkijit.tracing.tracer import Storage, Tracer, tracer_for

__all__ = ["core_barrier", "sendrecv"]

_engine, _dma_engine = engine, dma_engine


def core_barrier(
    data: NkiTensor,
    cores: tuple[int, ...],
    engine: engine = _engine.gpsimd,
    name: str | None = None,
) -> NkiInstruction:
    """Wait until both cores have reached the barrier.

    Args:
        data: the tensor in shared HBM that both cores use; after the barrier, both cores see all
            writes to this tensor from before the barrier. If `data` is a tile on chip, this holds
            for every tensor in shared HBM, and a warning is reported.
        cores: (0, 1). With a single core, e.g. (0,) or 0, no core waits, and a warning is reported.
        engine: the engine that waits.
        name: name of the instruction.

    For kernels launched with `kernel[2]`, NeuronCore-v3 and newer. A core that never reaches the
    barrier is reported as a deadlock. Source: NKI API reference, nki.isa.core_barrier.

    Example:

        nisa.core_barrier(shared, (0, 1))
    """
    arguments = {"data": data, "cores": cores, "engine": engine, "name": name}
    tracer = tracer_for(CoreBarrierOp.name)
    given = cast(Any, cores)
    several = cast("Sequence[Any]", given if isinstance(given, (tuple, list)) else (given,))
    if len(several) == 1 and as_index(several[0]) in range(MAX_CORES):
        tracer.record(
            BARRIER_ALONE, CoreBarrierOp.name, f"'cores' is {one_line(cores)}, which is one core"
        )
        return NkiInstruction(None)
    shared = shared_tensors(tracer.kernel)
    on_chip = isinstance(cast(Any, data), NkiTensor) and data.buffer.on_chip
    if not (on_chip and tracer.core[1] == MAX_CORES and shared):
        return emit(CoreBarrierOp, arguments)
    message = f"'data' must be in shared_hbm, it is in {data.buffer.value}"
    tracer.record(BARRIER_ON_CHIP, CoreBarrierOp.name, message)
    *others, last = [_whole(tracer, value) for value in shared]
    for tensor in others:
        emit(CoreBarrierOp, {**arguments, "data": tensor, "name": None})
    return emit(CoreBarrierOp, {**arguments, "data": last})


def _whole(tracer: Tracer, value: SSAValue) -> NkiTensor:
    info = info_of(value)
    name = value.name_hint or "tensor"
    storage = Storage(tracer, value, info.shape, info.dtype, info.region, name)
    return NkiTensor(info.shape, info.dtype.name, storage)


def sendrecv(
    src: NkiTensor,
    dst: NkiTensor,
    send_to_rank: int,
    recv_from_rank: int,
    pipe_id: int,
    dma_engine: dma_engine = _dma_engine.dma,
    name: str | None = None,
) -> NkiInstruction:
    """Send a tile to the other core, and receive a tile from the other core.

    Args:
        src: (P, …) tile in SBUF that is sent.
        dst: (P, …) tile in SBUF that receives, of the shape and dtype of `src`.
        send_to_rank: core that receives `src`, 0 or 1.
        recv_from_rank: core that sends its `src`, 0 or 1.
        pipe_id: the number of the exchange: the two instructions with the same number belong
            together.
        dma_engine: `dma`, or `gpsimd_dma` for at most 1024 (32-bit types), 512 (16-bit types) or
            256 bytes (8-bit types) per partition.
        name: name of the instruction.

    Example:

        nisa.sendrecv(x, out, send_to_rank=1 - core, recv_from_rank=1 - core, pipe_id=0)

    For kernels launched with `kernel[2]`, NeuronCore-v3 and newer.
    Source: NKI API reference, nki.isa.sendrecv.
    """
    return emit(SendrecvOp, locals())
