"""Two cores of a logical NeuronCore: core_barrier, sendrecv."""

from __future__ import annotations

from nkijit.dialects.attributes import DmaEngineAttr, EngineAttr
from nkijit.dialects.core_program import MAX_CORES
from nkijit.dialects.costs.dma import exchanges, moving
from nkijit.dialects.costs.engines import CORE_BARRIER
from nkijit.dialects.declare.fields import integers, required_integer, tile, word, written
from nkijit.dialects.declare.instruction import instruction
from nkijit.dialects.declare.operation import NisaOp
from nkijit.dialects.declare.queries import SBUF, required_tile
from nkijit.dialects.declare.rules.operands import in_buffer, same_dtype
from nkijit.dialects.declare.rules.shapes import same_shape
from nkijit.dialects.declare.rules.targets import engine_supported, since
from nkijit.dialects.declare.spec import Rule, Stage, Violation
from nkijit.dialects.hardware.targets import Target
from nkijit.dialects.hardware.words import MemoryRegion, dma_engine, engine, nc_version
from nkijit.dialects.nki.kernel import cores_of
from nkijit.dialects.rule_texts.cores import (
    BARRIER_CORES,
    GPSIMD_DMA_SIZE,
    SENDRECV_RANK,
    TWO_CORES,
)

CORES = tuple(range(MAX_CORES))
"""The cores of a logical NeuronCore."""


def _two_cores(op: NisaOp, target: Target) -> Violation | None:
    if cores_of(op) == len(CORES):
        return None
    return Violation("the kernel is launched on one core")


def _barrier_cores(op: NisaOp, target: Target) -> Violation | None:
    cores = op.value_of("cores")
    return None if tuple(cores) == CORES else Violation(f"'cores' must be {CORES}, it is {cores}")


@instruction(
    engines=(engine.gpsimd, engine.vector, engine.scalar, engine.tensor, engine.sync),
    since=nc_version.gen3,
    rules=(
        since(nc_version.gen3),
        in_buffer((MemoryRegion.shared_hbm,), "data"),
        engine_supported(),
        Rule(BARRIER_CORES, _barrier_cores),
        Rule(TWO_CORES, _two_cores),
    ),
    stages=(Stage("CORE_BARRIER", ("data",), CORE_BARRIER),),
)
class CoreBarrierOp(NisaOp):
    """Wait until both cores arrive; afterwards both see all writes to `data`."""

    name = "nisa.core_barrier"

    data = tile()
    cores = integers()
    engine = word(EngineAttr, engine.gpsimd)


def _ranks(op: NisaOp, target: Target) -> Violation | None:
    for name in ("send_to_rank", "recv_from_rank"):
        rank = op.value_of(name)
        if rank not in CORES:
            return Violation(f"'{name}' must be 0 or 1, it is {rank}")
    return None


GPSIMD_DMA_BYTES_PER_BYTE = 256
"""Limit of the GpSimd Engine's DMA: bytes per partition, times the size of an element."""


def _gpsimd_dma_size(op: NisaOp, target: Target) -> Violation | None:
    src = required_tile(op, "src")
    if op.value_of("dma_engine") is not dma_engine.gpsimd_dma:
        return None
    limit = GPSIMD_DMA_BYTES_PER_BYTE * src.dtype.itemsize
    if src.partition_bytes <= limit:
        return None
    return Violation(
        f"dma_engine.gpsimd_dma moves at most {limit} bytes per partition of {src.dtype.name}, "
        f"'src' has {src.partition_bytes}",
        ("src",),
    )


@instruction(
    engines=(engine.dma,),
    since=nc_version.gen3,
    rules=(
        since(nc_version.gen3),
        in_buffer((SBUF,), "src", "dst"),
        same_dtype("src", "dst"),
        same_shape("src", "dst"),
        Rule(SENDRECV_RANK, _ranks),
        Rule(GPSIMD_DMA_SIZE, _gpsimd_dma_size),
        Rule(TWO_CORES, _two_cores),
    ),
    stages=(Stage("SENDRECV", ("dst", "src"), moving(exchanges)),),
)
class SendrecvOp(NisaOp):
    """Send `src` to the other core, and receive a tile from the other core into `dst`."""

    name = "nisa.sendrecv"

    src = tile()
    dst = written()
    send_to_rank = required_integer()
    recv_from_rank = required_integer()
    pipe_id = required_integer()
    dma_engine = word(DmaEngineAttr, dma_engine.dma)
