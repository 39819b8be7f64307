"""Data movement: dma_copy, tensor_copy, memset."""

from __future__ import annotations

from nkijit.dialects.access import Indirection
from nkijit.dialects.attributes import DgeModeAttr, EngineAttr, OobModeAttr
from nkijit.dialects.constraints import (
    HBM,
    ON_CHIP,
    SBUF,
    argument_since,
    computable,
    engine_supported,
    free_size_match,
    gpsimd_without_psum,
    in_buffer,
    indirect_on_engines,
    partitions_match,
    scalar_engine_scatters_to_sbuf,
    size_match,
    tile_of,
)
from nkijit.dialects.declare import Finding, NisaOp, Rule, Stage, instruction
from nkijit.dialects.dtypes import Kind
from nkijit.dialects.fields import number, opt_integer, tile, word, written
from nkijit.dialects.hardware import Target, dge_mode, engine, nc_version, oob_mode
from nkijit.dialects.rule_texts import DMA_ARGUMENTS, PACKED_ZERO, VECTOR_DGE
from nkijit.dialects.tiles import info_of, is_tile

MAX_DMA_PRIORITY = 3


def by_vector(op: NisaOp) -> bool:
    """True when an operand is addressed by a vector of indices."""
    return any(
        is_tile(value) and info_of(value).indirection is Indirection.vector
        for _, value in op.given_operands()
    )


def gathers_with_software() -> Rule:
    """A vector of indices needs descriptors that software makes."""

    def check(op: NisaOp, target: Target) -> Finding | None:
        mode = op.value_of("dge_mode")
        if mode in (dge_mode.unknown, dge_mode.swdge) or not by_vector(op):
            return None
        return Finding(f"'dge_mode' is {mode.name}, a vector of indices needs swdge or unknown")

    return Rule(VECTOR_DGE, check)


def _dma_arguments(op: NisaOp, target: Target) -> Finding | None:
    priority = op.value_of("priority")
    if priority is not None and not 0 <= priority <= MAX_DMA_PRIORITY:
        return Finding(f"'priority' must be 0 to {MAX_DMA_PRIORITY}, it is {priority}")
    chosen, mode = op.value_of("engine"), op.value_of("dge_mode")
    if chosen is engine.unknown:
        return None
    if mode is not dge_mode.hwdge:
        return Finding(f"'engine' goes with dge_mode.hwdge only, 'dge_mode' is {mode.name}")
    if chosen not in (engine.sync, engine.scalar):
        return Finding(f"'engine' must be sync or scalar, it is {chosen.name}")
    return None


@instruction(
    engines=(engine.dma,),
    rules=(
        in_buffer((*HBM, SBUF), "dst", "src"),
        size_match("src", "dst"),
        computable("src", "dst", unless_same_dtype=True),
        argument_since(
            nc_version.gen3,
            "dge_mode.hwdge",
            lambda op: op.value_of("dge_mode") is dge_mode.hwdge,
        ),
        argument_since(
            nc_version.gen4, "'priority'", lambda op: op.value_of("priority") is not None
        ),
        Rule(DMA_ARGUMENTS, _dma_arguments),
        gathers_with_software(),
        argument_since(nc_version.gen3, "a vector of indices", by_vector),
    ),
    stages=(Stage("DMA_COPY", ("dst", "src")),),
)
class DmaCopyOp(NisaOp):
    """`dst = src`, between HBM and SBUF in any combination, element order row-major."""

    name = "nisa.dma_copy"

    dst = written(Indirection.vector)
    src = tile(Indirection.vector)
    priority = opt_integer()
    oob_mode = word(OobModeAttr, oob_mode.error)
    dge_mode = word(DgeModeAttr, dge_mode.unknown)
    engine = word(EngineAttr, engine.unknown)


@instruction(
    engines=(engine.vector, engine.scalar, engine.gpsimd),
    rules=(
        in_buffer(ON_CHIP, "dst", "src"),
        partitions_match("src", "dst"),
        free_size_match("src", "dst"),
        computable("src", "dst", unless_same_dtype=True),
        engine_supported(),
        gpsimd_without_psum("dst", "src"),
        argument_since(
            nc_version.gen3,
            "tensor_copy on the Scalar Engine",
            lambda op: op.value_of("engine") is engine.scalar,
        ),
        indirect_on_engines((engine.vector, engine.scalar), "dst", "src"),
        scalar_engine_scatters_to_sbuf("dst"),
    ),
    stages=(Stage("TENSOR_COPY", ("dst", "src")),),
)
class TensorCopyOp(NisaOp):
    """`dst = src` on chip; bit-exact when the data types are equal."""

    name = "nisa.tensor_copy"

    dst = written(Indirection.tensor)
    src = tile(Indirection.tensor)
    engine = word(EngineAttr, engine.unknown)


def _packed_zero(op: NisaOp, target: Target) -> Finding | None:
    dst = tile_of(op, "dst")
    if dst is None or dst.dtype.kind is not Kind.packed or op.value_of("value") == 0:
        return None
    return Finding(
        f"'dst' is {dst.dtype.name} and can only be set to 0, 'value' is {op.value_of('value')}",
        ("dst",),
    )


@instruction(
    engines=(engine.vector, engine.gpsimd),
    rules=(
        in_buffer(ON_CHIP, "dst"),
        engine_supported(),
        gpsimd_without_psum("dst"),
        Rule(PACKED_ZERO, _packed_zero),
    ),
    stages=(Stage("MEMSET", ("dst",)),),
)
class MemsetOp(NisaOp):
    """`dst = value`, a compile-time constant."""

    name = "nisa.memset"

    dst = written()
    value = number()
    engine = word(EngineAttr, engine.unknown)
