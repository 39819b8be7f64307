"""Data movement: dma_copy, dma_compute, tensor_copy, memset."""

from __future__ import annotations

import math

from xdsl.ir import SSAValue

from nkijit.dialects.access import Indirection
from nkijit.dialects.attributes import DgeModeAttr, EngineAttr, OobModeAttr
from nkijit.dialects.costs.dma import by_vector, computes, copies, moving
from nkijit.dialects.costs.engines import MEMSET, copying
from nkijit.dialects.declare.fields import (
    flag,
    number,
    operator,
    opt_integer,
    opt_numbers,
    tile,
    tiles,
    word,
    written,
)
from nkijit.dialects.declare.instruction import instruction
from nkijit.dialects.declare.operation import NisaOp
from nkijit.dialects.declare.queries import HBM, ON_CHIP, SBUF, engine_of, required_tile
from nkijit.dialects.declare.rules.effects import only_with_indices
from nkijit.dialects.declare.rules.operands import (
    computable,
    constant_held,
    gpsimd_without_psum,
    in_buffer,
)
from nkijit.dialects.declare.rules.shapes import (
    free_size_match,
    not_transposed,
    partitions_match,
    size_match,
)
from nkijit.dialects.declare.rules.targets import argument_since, engine_supported
from nkijit.dialects.declare.spec import Rule, Stage, Violation
from nkijit.dialects.dtypes import Kind
from nkijit.dialects.hardware.targets import Target
from nkijit.dialects.hardware.words import dge_mode, engine, nc_version, oob_mode
from nkijit.dialects.nki.views import access_of, base_of, index_of
from nkijit.dialects.rule_texts.access import DMA_COMPUTE, INDIRECT_ENGINE, VECTOR_DGE
from nkijit.dialects.rule_texts.operands import HWDGE_DTYPE, MEMSET_DTYPE, MEMSET_FLOAT, PACKED_ZERO
from nkijit.dialects.rule_texts.operators import DMA_ARGUMENTS
from nkijit.dialects.tiles import info_of

MAX_DMA_PRIORITY = 3


def gathers_with_software() -> Rule:
    """Return the rule that a vector of indices requires software-generated descriptors."""

    def check(op: NisaOp, target: Target) -> Violation | None:
        mode = op.value_of("dge_mode")
        if mode in (dge_mode.unknown, dge_mode.swdge) or not by_vector(op):
            return None
        return Violation(f"'dge_mode' is {mode.name}, a vector of indices needs swdge or unknown")

    return Rule(VECTOR_DGE, check)


def _priority(op: NisaOp, target: Target) -> Violation | None:
    priority = op.value_of("priority")
    if priority is None or 0 <= priority <= MAX_DMA_PRIORITY:
        return None
    return Violation(f"'priority' must be 0 to {MAX_DMA_PRIORITY}, it is {priority}")


PRIORITY_RULES = (
    argument_since(nc_version.gen4, "'priority'", lambda op: op.value_of("priority") is not None),
    Rule(DMA_ARGUMENTS, _priority),
)
"""Rules of the `priority` argument."""

DMA_QUEUE_RULES = (
    argument_since(
        nc_version.gen3,
        "dge_mode.hwdge",
        lambda op: op.value_of("dge_mode") is dge_mode.hwdge,
    ),
    *PRIORITY_RULES,
    gathers_with_software(),
)
"""Rules of the arguments that select the engine, the descriptors and the queue of a DMA."""


def _dma_engine(op: NisaOp, target: Target) -> Violation | None:
    chosen, mode = op.value_of("engine"), op.value_of("dge_mode")
    if chosen is engine.unknown:
        return None
    if mode is not dge_mode.hwdge:
        return Violation(f"'engine' goes with dge_mode.hwdge only, 'dge_mode' is {mode.name}")
    if chosen not in (engine.sync, engine.scalar):
        return Violation(f"'engine' must be sync or scalar, it is {chosen.name}")
    return None


def _hwdge_dtypes(op: NisaOp, target: Target) -> Violation | None:
    dst, src = required_tile(op, "dst"), required_tile(op, "src")
    if op.value_of("dge_mode") is not dge_mode.hwdge:
        return None
    if dst.dtype is src.dtype:
        return None
    return Violation(
        f"with dge_mode.hwdge nothing is converted, 'dst' is {dst.dtype.name}, 'src' is "
        f"{src.dtype.name}",
        ("dst", "src"),
    )


@instruction(
    engines=(engine.dma,),
    rules=(
        in_buffer((*HBM, SBUF), "dst", "src"),
        size_match("src", "dst"),
        not_transposed("dst", "src"),
        computable("src", "dst", unless_same_dtype=True),
        Rule(HWDGE_DTYPE, _hwdge_dtypes),
        *DMA_QUEUE_RULES,
        Rule(DMA_ARGUMENTS, _dma_engine),
        only_with_indices("oob_mode"),
    ),
    stages=(Stage("DMA_COPY", ("dst", "src"), moving(copies)),),
)
class DmaCopyOp(NisaOp):
    """`dst = src` between HBM and SBUF in any combination, in row-major order of elements."""

    name = "nisa.dma_copy"

    dst = written(Indirection.vector)
    src = tile(Indirection.vector)
    priority = opt_integer()
    oob_mode = word(OobModeAttr, oob_mode.error)
    dge_mode = word(DgeModeAttr, dge_mode.unknown)
    engine = word(EngineAttr, engine.unknown)


MAX_DMA_SOURCES = 16


def _dma_compute(op: NisaOp, target: Target) -> Violation | None:
    sources = [info_of(value) for value in op.operands_named("srcs")]
    if op.value_of("reduce_op") != "add":
        return Violation(f"'reduce_op' must be nl.add, it is nl.{op.value_of('reduce_op')}")
    if len(sources) > MAX_DMA_SOURCES:
        return Violation(f"there are {len(sources)} sources, {MAX_DMA_SOURCES} at most", ("srcs",))
    scales = op.value_of("scales")
    if scales is not None and (len(scales) != len(sources) or any(s != 1 for s in scales)):
        return Violation(f"'scales' must be 1.0 for each source, it is {list(scales)}")
    for f, value in op.given_operands():
        if info_of(value).indirection is Indirection.scalar:
            return Violation(f"the address of '{f.name}' is not known at compile time", (f.name,))
    if not by_vector(op):
        if op.value_of("oob_mode") is not oob_mode.error:
            return Violation("'oob_mode' is skip, and no operand is addressed by indices")
        return None
    if not op.value_of("unique_indices"):
        return Violation("'unique_indices' is False, indices must be unique")
    return _read_modify_write(op)


def _read_modify_write(op: NisaOp) -> Violation | None:
    dst, values = op.operands_named("dst")[0], op.operands_named("srcs")
    if len(values) != 2:
        return Violation(f"with indices there are two sources, not {len(values)}", ("srcs",))
    if not any(_same_elements(value, dst) for value in values):
        return Violation("with indices one source is 'dst' itself", ("srcs", "dst"))
    other = values[1] if _same_elements(values[0], dst) else values[0]
    scatters = info_of(dst).indirection is Indirection.vector
    if scatters and info_of(other).region is not SBUF:
        return Violation("what is scattered lives in SBUF", ("srcs",))
    if not scatters and info_of(dst).region is not SBUF:
        return Violation("what gathered elements are added to lives in SBUF", ("dst",))
    return None


def _same_elements(a: SSAValue, b: SSAValue) -> bool:
    return base_of(a) is base_of(b) and access_of(a) == access_of(b) and index_of(a) is index_of(b)


@instruction(
    engines=(engine.dma,),
    rules=(
        in_buffer((*HBM, SBUF), "dst", "srcs"),
        size_match("srcs", "dst"),
        computable("dst", "srcs"),
        Rule(DMA_COMPUTE, _dma_compute),
    ),
    stages=(Stage("DMA_COMPUTE", ("dst", "srcs"), moving(computes)),),
)
class DmaComputeOp(NisaOp):
    """`dst = srcs[0] + srcs[1] + …` in the DMA engines, in float32."""

    name = "nisa.dma_compute"

    dst = written(Indirection.vector)
    srcs = tiles(Indirection.vector)
    reduce_op = operator()
    scales = opt_numbers()
    unique_indices = flag(default=True)
    oob_mode = word(OobModeAttr, oob_mode.error)


def _indirect_copy(op: NisaOp, target: Target) -> Violation | None:
    tiles = [info_of(value) for _, value in op.given_operands()]
    if engine_of(op, target) is not engine.gpsimd:
        return None
    if all(tile.indirection is not Indirection.tensor for tile in tiles):
        return None
    return Violation("'engine' is gpsimd, and a tile is addressed with .indirect()")


@instruction(
    engines=(engine.vector, engine.scalar, engine.gpsimd),
    rules=(
        in_buffer(ON_CHIP, "dst", "src"),
        partitions_match("src", "dst"),
        free_size_match("src", "dst"),
        not_transposed("dst", "src"),
        computable("src", "dst", unless_same_dtype=True),
        engine_supported(),
        gpsimd_without_psum("dst", "src"),
        Rule(INDIRECT_ENGINE, _indirect_copy),
        argument_since(
            nc_version.gen3,
            "tensor_copy on the Scalar Engine",
            lambda op: op.value_of("engine") is engine.scalar,
        ),
    ),
    stages=(Stage("TENSOR_COPY", ("dst", "src"), copying("src")),),
    per_partition=True,
)
class TensorCopyOp(NisaOp):
    """`dst = src` on chip; bit-exact when the data types are equal."""

    name = "nisa.tensor_copy"

    dst = written(Indirection.tensor)
    src = tile(Indirection.tensor)
    engine = word(EngineAttr, engine.unknown)


def _packed_zero(op: NisaOp, target: Target) -> Violation | None:
    dst = required_tile(op, "dst")
    if dst.dtype.kind is not Kind.packed or op.value_of("value") == 0:
        return None
    return Violation(
        f"'dst' is {dst.dtype.name} and can only be set to 0, 'value' is {op.value_of('value')}",
        ("dst",),
    )


def _integer_value(op: NisaOp, target: Target) -> Violation | None:
    value = op.value_of("value")
    return None if isinstance(value, int) or value.is_integer() else _float_in_integers(op, value)


def _integer_as_float(op: NisaOp, target: Target) -> Violation | None:
    value = op.value_of("value")
    is_integer = not isinstance(value, int) and value.is_integer()
    return _float_in_integers(op, value) if is_integer else None


def _float_in_integers(op: NisaOp, value: float) -> Violation | None:
    dst = required_tile(op, "dst")
    if not dst.dtype.is_integer:
        return None
    if value.is_integer():
        help = f"write the value as an integer, {int(value)} in the place of {value}"
    elif math.isfinite(value):
        help = f"write an integer, or allocate 'dst' as nl.float32 to hold {value}"
    else:
        help = "allocate 'dst' as nl.float32, or write the smallest or the largest integer"
    return Violation(f"'dst' is {dst.dtype.name}, but 'value' is the float {value}", ("dst",), help)


@instruction(
    engines=(engine.vector, engine.gpsimd),
    rules=(
        in_buffer(ON_CHIP, "dst"),
        engine_supported(),
        gpsimd_without_psum("dst"),
        Rule(PACKED_ZERO, _packed_zero),
        Rule(MEMSET_DTYPE, _integer_value),
        Rule(MEMSET_FLOAT, _integer_as_float),
        constant_held("value"),
    ),
    stages=(Stage("MEMSET", ("dst",), MEMSET),),
    per_partition=True,
)
class MemsetOp(NisaOp):
    """`dst = value`, a compile-time constant."""

    name = "nisa.memset"

    dst = written()
    value = number()
    engine = word(EngineAttr, engine.unknown)
