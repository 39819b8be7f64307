"""Searches: max8, nc_find_index8, nc_match_replace8, topk, nonzero_with_count."""

from __future__ import annotations

from nkijit.dialects.costs.engines import TOPK, on_gpsimd, streaming
from nkijit.dialects.declare.fields import (
    flag,
    integer,
    number,
    opt_written,
    required_integer,
    tile,
    updated,
    written,
)
from nkijit.dialects.declare.instruction import instruction
from nkijit.dialects.declare.operation import NisaOp
from nkijit.dialects.declare.queries import ON_CHIP, SBUF, required_tile
from nkijit.dialects.declare.rules.operands import (
    computable,
    constant_held,
    dtype_in,
    in_buffer,
)
from nkijit.dialects.declare.rules.shapes import (
    at_most_dims,
    free_size_in,
    free_size_match,
    partitions_match,
    whole_gpsimd_cores,
)
from nkijit.dialects.declare.rules.targets import since
from nkijit.dialects.declare.spec import Rule, Stage, Violation
from nkijit.dialects.hardware.targets import (
    PARTITIONS_PER_GPSIMD_CORE,
    Target,
    gpsimd_core_elements,
)
from nkijit.dialects.hardware.words import engine, nc_version
from nkijit.dialects.rule_texts.shapes import COUNT_SLOT, TOPK_ORDER, TOPK_SIZE
from nkijit.dialects.spelling import numbered

SEARCHED = 8
"""Number of values that a search of the Vector Engine finds, or looks up, at once."""
MIN_ELEMENTS, MAX_ELEMENTS = 8, 16384
"""Legal elements per partition of the input of max8 and nc_find_index8, both inclusive."""
TOPK_MIN, TOPK_END, TOPK_K_END = 8, 65536, 32768
"""Limits of topk: TOPK_MIN <= n < TOPK_END elements, 1 <= k < TOPK_K_END results."""


@instruction(
    engines=(engine.vector,),
    rules=(
        in_buffer(ON_CHIP, "dst", "src"),
        partitions_match("src", "dst"),
        at_most_dims(3, "src"),
        at_most_dims(2, "dst"),
        free_size_in(MIN_ELEMENTS, MAX_ELEMENTS, "src"),
        free_size_in(SEARCHED, SEARCHED, "dst"),
        computable("dst", "src"),
    ),
    stages=(Stage("MAX8", ("dst", "src"), streaming("src")),),
)
class Max8Op(NisaOp):
    """`dst` = the 8 largest elements of each partition of `src`, largest first."""

    name = "nisa.max8"

    dst = written()
    src = tile()


@instruction(
    engines=(engine.vector,),
    rules=(
        in_buffer(ON_CHIP, "dst", "data", "vals"),
        partitions_match("data", "vals", "dst"),
        at_most_dims(3, "data", "vals"),
        at_most_dims(2, "dst"),
        free_size_in(MIN_ELEMENTS, MAX_ELEMENTS, "data"),
        free_size_in(SEARCHED, SEARCHED, "vals", "dst"),
        dtype_in(("uint16", "uint32"), "dst"),
        computable("data", "vals"),
    ),
    stages=(Stage("FIND_INDEX8", ("dst", "data", "vals"), streaming("data")),),
)
class NcFindIndex8Op(NisaOp):
    """`dst` = the index of each of the 8 `vals` in its partition of `data`."""

    name = "nisa.nc_find_index8"

    dst = written()
    data = tile()
    vals = tile()


@instruction(
    engines=(engine.vector,),
    rules=(
        in_buffer(ON_CHIP, "dst", "data", "vals", "dst_idx"),
        partitions_match("data", "vals", "dst", "dst_idx"),
        free_size_match("data", "dst"),
        free_size_in(SEARCHED, SEARCHED, "vals", "dst_idx"),
        # The type of indices is documented only for nc_find_index8; int32 can hold them as well.
        dtype_in(("uint16", "uint32", "int32"), "dst_idx"),
        computable("dst", "data", "vals"),
        constant_held("imm"),
    ),
    stages=(Stage("MATCH_REPLACE8", ("dst", "data", "vals", "dst_idx"), streaming("data")),),
)
class NcMatchReplace8Op(NisaOp):
    """`dst` = `data` with the first of each of the 8 `vals` replaced by `imm`.

    `dst_idx` = the indices of the replaced elements.
    """

    name = "nisa.nc_match_replace8"

    dst = written()
    data = tile()
    vals = tile()
    imm = number()
    dst_idx = opt_written()


def _topk_size(op: NisaOp, target: Target) -> Violation | None:
    n = op.value_of("n")
    if not TOPK_MIN <= n < TOPK_END:
        return Violation(f"'n' must be {TOPK_MIN} to {TOPK_END - 1}, it is {n}")
    src, values = required_tile(op, "src"), required_tile(op, "val_dst")
    held = gpsimd_core_elements(src.free_size)
    if held < n:
        return Violation(
            f"{PARTITIONS_PER_GPSIMD_CORE} partitions of 'src' have {numbered(held, 'element')}, "
            f"'n' is {n}",
            ("src",),
        )
    if not values.free_size <= min(n, TOPK_K_END - 1):
        return Violation(
            f"'val_dst' has {numbered(values.free_size, 'element')} per partition, at most "
            f"{min(n, TOPK_K_END - 1)} of {n} can be returned",
            ("val_dst",),
        )
    return None


def _topk_order(op: NisaOp, target: Target) -> Violation | None:
    return Violation("'sorted' is True") if op.value_of("sorted") else None


@instruction(
    engines=(engine.gpsimd,),
    rules=(
        in_buffer((SBUF,), "val_dst", "idx_dst", "src"),
        dtype_in(("bfloat16",), "val_dst", "src"),
        dtype_in(("uint32",), "idx_dst"),
        partitions_match("src", "val_dst", "idx_dst"),
        free_size_match("val_dst", "idx_dst"),
        at_most_dims(2, "val_dst", "idx_dst", "src"),
        whole_gpsimd_cores("src", "val_dst", "idx_dst"),
        Rule(TOPK_SIZE, _topk_size),
        Rule(TOPK_ORDER, _topk_order),
    ),
    stages=(
        Stage(
            "TOPK",
            ("val_dst", "idx_dst", "src"),
            TOPK,
        ),
    ),
)
class TopkOp(NisaOp):
    """The largest of `n` elements in each 16 partitions of `src`, and their indices.

    Elements and results are ordered by column, and by partition within a column. So the results
    fill a sixteenth of each destination; the remaining elements are unchanged.
    """

    name = "nisa.topk"

    val_dst = updated(partial=True)
    idx_dst = updated(partial=True)
    src = tile(partial=True)
    n = required_integer()
    sorted = flag()


def _count_slot(op: NisaOp, target: Target) -> Violation | None:
    src, dst = required_tile(op, "src"), required_tile(op, "dst")
    if dst.free_size == src.free_size + 1:
        return None
    return Violation(
        f"'dst' must have {numbered(src.free_size + 1, 'element')} per partition, one more than "
        "'src', it has "
        f"{dst.free_size}",
        ("dst", "src"),
    )


@instruction(
    engines=(engine.gpsimd,),
    since=nc_version.gen3,
    rules=(
        since(nc_version.gen3),
        in_buffer((SBUF,), "dst", "src"),
        dtype_in(("float32", "int32"), "src"),
        dtype_in(("int32",), "dst"),
        partitions_match("src", "dst"),
        Rule(COUNT_SLOT, _count_slot),
    ),
    stages=(Stage("NONZERO_WITH_COUNT", ("dst", "src"), on_gpsimd("src")),),
)
class NonzeroWithCountOp(NisaOp):
    """`dst` = the indices of the nonzero elements of `src`, padding, and their count.

    Only every 16th partition is written: the first partition of each GpSimd core. All other
    partitions are unchanged.
    """

    name = "nisa.nonzero_with_count"

    dst = updated(partial=True)
    src = tile(partial=True)
    index_offset = integer(0)
    padding_val = integer(-1)
